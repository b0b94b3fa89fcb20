//! The keeper: the one process that a lab depends on. Its network namespace is the lab's switch,
//! the hosts are its children.
//!
//! It starts the lab while the requester waits at the other end of its standard input, and undoes
//! everything if that end closes first. After that it waits for requests at its socket, and for the
//! end.

mod bring_up;
mod broadcast;
mod clients;
mod host_channel;
mod host_link;
mod run_lock;
mod running_lab;

use std::os::unix::net::UnixListener;

use serde_json::Value;
use wavetank_units::UserError;

use crate::json_socket::JsonSocket;
use crate::lab_spec::LabSpec;
use crate::refusals::interrupted;
use crate::{LabFolder, response};

use running_lab::RunningLab;

pub(crate) use clients::host_unknown;

/// Runs the keeper from start to end. Fails only if the error cannot be sent to the requester.
pub(crate) fn run(folder: LabFolder) -> Result<(), UserError> {
    let mut up = JsonSocket::from_stdin()?;
    match raised(folder, &mut up) {
        Ok((kept, listener)) => {
            // The lab is complete and stored as such. From here on it stays, even if the requester
            // is gone.
            let _ = up.send(&response::ok(&Value::Null));
            drop(up);
            kept.serve(&listener)
        }
        Err(error) => {
            let _ = up.send(&response::from_result(&Err(error)));
            Ok(())
        }
    }
}

fn raised(folder: LabFolder, up: &mut JsonSocket) -> Result<(RunningLab, UnixListener), UserError> {
    let order = match up.receive() {
        Ok(Some(order)) => LabSpec::read(&order.to_string())?,
        Ok(None) | Err(_) => return Err(interrupted()),
    };
    bring_up::bring_up(folder, order, up)
}
