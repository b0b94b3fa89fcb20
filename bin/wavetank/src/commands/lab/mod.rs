//! `wavetank lab`: a whole cluster on this machine, one file a verb.

mod check;
mod down;
mod exec;
mod fault;
mod loaded;
mod logs;
mod pool;
mod run;
mod status;
#[cfg(target_os = "linux")]
mod followed;
mod up;

use wavetank_lab::LabsFolder;
use wavetank_plan::UserError;

use crate::cli::{LabArgs, LabDeed};

/// Carry out what was asked; the exit code is that of the command for `exec`, else 0.
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
