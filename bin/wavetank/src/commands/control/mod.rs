//! Commands for running runs: `wavetank status`, `attach`, `stop`, `set` and `event`.

mod attach;
mod detach;
mod selection;
mod status;

use wavetank_control::{ControlReply, ControlRequest, client};
use wavetank_runner::run_folder;
use wavetank_units::{Code, ExitCode, UserError, sanitize};

use crate::cli::ControlCommand;
use crate::output;
pub(crate) use detach::{DETACHED, detach, leave_terminal};
use selection::{ended, select};

/// Runs the command. Exit 0 if it was carried out; 2 if there is no such run or it does not take
/// the request. `attach` exits as the run does.
pub(crate) fn control(command: &ControlCommand) -> Result<u8, UserError> {
    match command {
        ControlCommand::Status(args) => status::status(args),
        ControlCommand::Attach(args) => attach::attach(args),
        ControlCommand::Stop(args) => request(args.run.as_deref(), &ControlRequest::Stop { now: args.now }),
        ControlCommand::Set(args) => {
            let (run, load) = args.resolve()?;
            request(run, &ControlRequest::Set { load: load.into(), phase: args.phase.clone() })
        }
        ControlCommand::Event(args) => {
            request(args.run.as_deref(), &ControlRequest::Mark { text: args.text.clone() })
        }
    }
}

/// Sends a request to a run and prints its reply.
fn request(run: Option<&str>, request: &ControlRequest) -> Result<u8, UserError> {
    let state = select(run)?;
    let reply = client::send(&run_folder(), &state.id, request).map_err(|error| ended(&state, &error))?;
    match reply {
        ControlReply::Accepted(text) => {
            output::print(&format!("{}: {}\n", sanitize(&state.name), sanitize(&text)))?;
            Ok(ExitCode::Pass as u8)
        }
        ControlReply::Rejected { message, hint } => {
            Err(UserError::usage(Code::RequestRejected, message, hint))
        }
        ControlReply::State(_) => {
            let hint = "update wavetank, or stop the run with Ctrl-C";
            Err(UserError::usage(Code::RequestRejected, "the run does not understand the request", hint))
        }
    }
}
