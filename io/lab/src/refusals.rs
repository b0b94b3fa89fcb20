//! Reasons to refuse a lab: missing rights, and an interruption.

use rustix::thread::{CapabilitySet, capabilities};
use wavetank_units::{Code, ExitCode, UserError};

/// Returns an error unless this process may create namespaces and networks.
pub fn privileged() -> Result<(), UserError> {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    match capabilities(None) {
        Ok(own) if own.effective.contains(needed) => Ok(()),
        _ => Err(no_root()),
    }
}

/// The requester does not wait for the lab any more.
pub(crate) fn interrupted() -> UserError {
    UserError {
        exit: ExitCode::Signal,
        ..UserError::refused(
            Code::LabInterrupted,
            "interrupted before the lab was complete; nothing of it is left",
            "",
        )
    }
}

/// The error while another process holds the folder of the lab of this name.
pub(crate) fn held(name: &str) -> UserError {
    let message = format!("another process is working on lab `{name}`");
    UserError::refused(Code::LabHeld, message, "check `wavetank lab status` and try again")
}

/// The error for users without the right.
pub(crate) fn no_root() -> UserError {
    let message = "a lab needs root: it is made of namespaces, virtual links and control groups";
    UserError::refused(
        Code::LabRoot,
        message,
        "use `sudo wavetank lab …`, or a container with CAP_SYS_ADMIN and CAP_NET_ADMIN",
    )
}
