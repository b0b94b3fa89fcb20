//! [`HostProcess`]: a command in a host that runs next to this process.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use serde_json::json;

use crate::json_socket::JsonSocket;

/// A command that [`crate::HostHandle::start`] started in a host. It ends when this value is
/// dropped or this process ends: with SIGHUP, and two seconds later with SIGKILL.
#[derive(Debug)]
pub struct HostProcess {
    line: JsonSocket,
}

impl HostProcess {
    pub(crate) const fn new(line: JsonSocket) -> Self {
        Self { line }
    }

    /// Whether it has ended, after at most `wait`.
    pub fn ends_within(&self, wait: Duration) -> bool {
        let limit = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
        // The only message is that it has ended. A signal may end the wait early.
        poll(&mut [PollFd::new(&self.line, PollFlags::IN)], Some(&limit)).is_ok_and(|ready| ready > 0)
    }

    /// Asks it to end by SIGTERM. Dropping the value afterwards ends it in any case.
    pub fn terminate(&mut self) {
        // It may just have ended.
        let _ = self.line.send(&json!({ "signal": Signal::TERM.as_raw() }));
    }
}
