//! The keeper: the one process a lab lives by. Its network namespace is the lab's switch, the hosts are its children.
//!
//! It raises the lab while whoever asked for it waits at the other end of its standard input, and undoes everything if
//! that end closes first. Then it waits: for questions at its socket, for the end.

mod bring_up;
mod broadcast;
mod clients;
mod host_channel;
mod host_link;
mod run_lock;
mod running_lab;

use std::os::unix::net::UnixListener;

use serde_json::Value;
use wavetank_plan::UserError;

use crate::json_socket::JsonSocket;
use crate::lab_spec::LabSpec;
use crate::up::interrupted;
use crate::{LabFolder, response};

use running_lab::RunningLab;

pub(crate) use clients::host_unknown;

/// What the keeper does from its start to its end. Fails only where there is nobody to tell.
pub(crate) fn run(folder: LabFolder) -> Result<(), UserError> {
    let mut up = JsonSocket::from_stdin()?;
    match raised(folder, &mut up) {
        Ok((kept, listener)) => {
            // Whole and stored as that: from here on it stays, whether somebody still listens or not.
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
