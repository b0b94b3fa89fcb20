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
use wavetank_units::UserError;

#[cfg(any(test, not(target_os = "linux")))]
pub(super) use check::check;

#[cfg(target_os = "linux")]
use crate::cli::LabCommand;

/// Runs the subcommand. Returns the command's exit code for `exec`, else 0.
#[cfg(target_os = "linux")]
pub(crate) fn lab(command: LabCommand) -> Result<u8, UserError> {
    let labs = LabsFolder::system();
    match command {
        LabCommand::Check(args) => check::check(&args.file, args.format),
        LabCommand::Up(args) => up::up(&labs, args.lab.as_deref(), &args.file),
        LabCommand::Run(args) => run::run(&labs, *args),
        LabCommand::Status(args) => status::status(&labs, args.which.lab.as_deref(), args.format),
        LabCommand::Exec(args) => {
            let folder = labs.choose_with(args.which.lab.as_deref(), &args.host, None)?;
            exec::exec(&folder, &args.host, &args.words)
        }
        LabCommand::Logs(args) => {
            let service = args.service.as_deref();
            let folder = labs.choose_with(args.which.lab.as_deref(), &args.host, service)?;
            logs::logs(&folder, &args.host, service, args.follow)
        }
        LabCommand::Pool(args) => {
            let command = args.command();
            let folder = labs.choose_with(args.which.lab.as_deref(), &args.host, command.service())?;
            pool::pool(&folder, &args.host, &command, args.format)
        }
        LabCommand::Fault(args) => {
            let command = args.command()?;
            let folder = labs.choose_with(args.which.lab.as_deref(), &args.host, command.service())?;
            fault::fault(&folder, &args.host, &command)
        }
        LabCommand::Down(args) => {
            down::down(&labs.choose(args.lab.as_deref()).inspect_err(|_| labs.remove_stale())?)
        }
    }
}
