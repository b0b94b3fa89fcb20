//! [`HostEnd`]: how a command on one host ended.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// Exit code of ssh where it could not connect or log in, or where the connection broke (ssh(1)).
const SSH_FAILED: i32 = 255;

/// How a command on one host ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostEnd {
    /// The command ended with this exit code.
    Exit(i32),
    /// ssh did not reach the host, did not log in, or lost the connection; its message.
    Unreachable(String),
    /// ssh itself could not be started, or was killed from outside.
    SshFailed(String),
    /// The time limit ended it.
    TimedOut,
    /// An interrupt ended it, or it was not started any more.
    Interrupted,
}

impl HostEnd {
    /// Returns the end of an ssh process. `said` is its standard error.
    pub(crate) fn of_status(status: ExitStatus, said: &str) -> Self {
        match (status.code(), status.signal()) {
            (Some(SSH_FAILED), _) => Self::Unreachable(last_line(said)),
            (Some(code), _) => Self::Exit(code),
            (None, signal) => Self::SshFailed(format!("signal {}", signal.unwrap_or_default())),
        }
    }

    /// Whether the command ended well.
    pub fn is_success(&self) -> bool {
        *self == Self::Exit(0)
    }

    /// Returns how it ended, as text; `None`: well.
    pub fn failure(&self) -> Option<String> {
        match self {
            Self::Exit(0) => None,
            Self::Exit(code) => Some(format!("exit {code}")),
            Self::Unreachable(why) => Some(format!("unreachable: {why}")),
            Self::SshFailed(why) => Some(format!("ssh: {why}")),
            Self::TimedOut => Some("timed out".to_owned()),
            Self::Interrupted => Some("interrupted".to_owned()),
        }
    }
}

/// Returns the last line of what ssh said, without the host's name, which differs between hosts
/// that failed alike.
fn last_line(said: &str) -> String {
    let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given").trim();
    let line = line.strip_prefix("ssh: ").unwrap_or(line);
    match line.rsplit_once(": ") {
        Some((start, why)) if start.starts_with("connect to host ") || start.contains('@') => why.to_owned(),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_without_names() {
        let check = |said: &str, expected: &str| assert_eq!(last_line(said), expected);
        check("ssh: connect to host load1 port 22: Connection refused\r\n", "Connection refused");
        check("ops@load1: Permission denied (publickey).\n", "Permission denied (publickey).");
        check("banner\nHost key verification failed.\n\n", "Host key verification failed.");
        check("", "no reason given");
    }
}
