//! [`unreachable_agent`]: the error of a command that needs a running agent.

use std::io::ErrorKind;
use std::path::Path;

use wavetank_units::{Code, UserError};

/// No agent answers in this folder.
pub(super) fn unreachable_agent(folder: &Path, error: &std::io::Error) -> UserError {
    let reason = match error.kind() {
        // There is no socket, or one without a process.
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => format!("none runs in {}", folder.display()),
        _ => format!("{}: {error}", folder.display()),
    };
    UserError::refused(
        Code::AgentUnreachable,
        format!("cannot reach the agent: {reason}"),
        "start it: wavetank fleet up --fleet FILE",
    )
}
