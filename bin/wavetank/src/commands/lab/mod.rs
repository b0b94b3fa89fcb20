//! `wavetank lab`: a whole cluster on this machine, one file a verb. What a topology file says is told on every system; the
//! rest is Linux's.

mod check;
#[cfg(target_os = "linux")]
mod down;
#[cfg(target_os = "linux")]
mod exec;
#[cfg(target_os = "linux")]
mod fault;
#[cfg(target_os = "linux")]
mod followed;
mod loaded;
#[cfg(target_os = "linux")]
mod logs;
#[cfg(target_os = "linux")]
mod pool;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod status;
#[cfg(target_os = "linux")]
mod this_machine;
mod tried;
#[cfg(target_os = "linux")]
mod up;

#[cfg(target_os = "linux")]
use wavetank_lab::LabsFolder;
#[cfg(target_os = "linux")]
use wavetank_plan::UserError;

#[cfg(any(test, not(target_os = "linux")))]
pub(super) use check::check;

#[cfg(target_os = "linux")]
use crate::cli::{LabArgs, LabDeed};

/// Carry out what was asked; the exit code is that of the command for `exec`, else 0.
#[cfg(target_os = "linux")]
pub(crate) fn lab(args: LabArgs) -> Result<u8, UserError> {
    let labs = LabsFolder::of_this_machine();
    let name = args.lab.as_deref();
    match args.deed {
        LabDeed::Check { file, format } => check::check(&file, format),
        LabDeed::Up { file } => up::up(&labs, name, &file),
        LabDeed::Run { file, args } => run::run(&labs, name, &file, *args),
        LabDeed::Status { format } => status::status(&labs, name, format),
        LabDeed::Exec { host, words } => exec::exec(&labs.choose(name)?, &host, &words),
        LabDeed::Logs { host, service, follow } => {
            logs::logs(&labs.choose(name)?, &host, service.as_deref(), follow)
        }
        LabDeed::Pool { host, ask, format } => pool::pool(&labs.choose(name)?, &host, &ask, format),
        LabDeed::Fault { host, what } => fault::fault(&labs.choose(name)?, &host, &what),
        LabDeed::Down => down::down(&labs.choose(name).inspect_err(|_| labs.tidy())?),
    }
}
