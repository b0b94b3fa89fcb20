//! The keeper: the one process a lab lives by. Its network namespace is the lab's switch, the hosts are its children.
//!
//! It raises the lab while whoever asked for it waits at the other end of its standard input, and undoes everything if
//! that end closes first. Then it waits: for questions at its socket, for the end.

mod ask_within;
mod clients;
mod host_link;
mod kept;
mod raise;
mod talk;
mod turn;

use std::os::unix::net::UnixListener;

use serde_json::Value;
use wavetank_plan::UserError;

use crate::line::Line;
use crate::order::Order;
use crate::up::interrupted;
use crate::{LabFolder, answer};

use kept::Kept;

pub(crate) use clients::host_unknown;

/// What the keeper does from its start to its end. Fails only where there is nobody to tell.
pub(crate) fn run(folder: LabFolder) -> Result<(), UserError> {
    let mut up = Line::of_standard_input()?;
    match raised(folder, &mut up) {
        Ok((kept, listener)) => {
            // Whole and stored as that: from here on it stays, whether somebody still listens or not.
            let _ = up.send(&answer::ok(&Value::Null));
            drop(up);
            kept.keep(&listener)
        }
        Err(error) => {
            let _ = up.send(&answer::of(&Err(error)));
            Ok(())
        }
    }
}

fn raised(folder: LabFolder, up: &mut Line) -> Result<(Kept, UnixListener), UserError> {
    let order = match up.receive() {
        Ok(Some(order)) => Order::read(&order.to_string())?,
        Ok(None) | Err(_) => return Err(interrupted()),
    };
    raise::raise(folder, order, up)
}
