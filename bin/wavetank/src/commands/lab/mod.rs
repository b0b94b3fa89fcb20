//! `wavetank lab`: a test cluster on this machine, one file per subcommand. Topology files are
//! checked on every system; everything else needs Linux.

mod check;
#[cfg(target_os = "linux")]
mod down;
#[cfg(target_os = "linux")]
mod exec;
#[cfg(target_os = "linux")]
mod fault;
mod lab_file;
#[cfg(target_os = "linux")]
mod log_follower;
#[cfg(target_os = "linux")]
mod logs;
#[cfg(target_os = "linux")]
mod machine_facts;
#[cfg(target_os = "linux")]
mod pool;
mod preflight;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod status;
#[cfg(target_os = "linux")]
mod up;

#[cfg(target_os = "linux")]
use wavetank_lab::LabsFolder;
#[cfg(target_os = "linux")]
use wavetank_plan::UserError;

#[cfg(any(test, not(target_os = "linux")))]
pub(super) use check::check;

#[cfg(target_os = "linux")]
use crate::cli::{LabArgs, LabCommand};

/// Runs the subcommand. Returns the command's exit code for `exec`, else 0.
#[cfg(target_os = "linux")]
pub(crate) fn lab(args: LabArgs) -> Result<u8, UserError> {
    let labs = LabsFolder::system();
    let name = args.lab.as_deref();
    match args.deed {
        LabCommand::Check { file, format } => check::check(&file, format),
        LabCommand::Up { file } => up::up(&labs, name, &file),
        LabCommand::Run { file, args } => run::run(&labs, name, &file, *args),
        LabCommand::Status { format } => status::status(&labs, name, format),
        LabCommand::Exec { host, words } => exec::exec(&labs.choose_with(name, &host, None)?, &host, &words),
        LabCommand::Logs { host, service, follow } => {
            let folder = labs.choose_with(name, &host, service.as_deref())?;
            logs::logs(&folder, &host, service.as_deref(), follow)
        }
        LabCommand::Pool { host, ask, format } => {
            pool::pool(&labs.choose_with(name, &host, ask.service())?, &host, &ask, format)
        }
        LabCommand::Fault { host, what } => {
            fault::fault(&labs.choose_with(name, &host, what.service())?, &host, &what)
        }
        LabCommand::Down => down::down(&labs.choose(name).inspect_err(|_| labs.remove_stale())?),
    }
}
