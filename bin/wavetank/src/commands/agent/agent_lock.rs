//! [`AgentLock`]: one agent for each folder, and which process it is.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use rustix::process::{Flock, FlockType, Pid, fcntl_getlk};

/// Name of the lock file in an agent's folder.
pub(super) const AGENT_LOCK: &str = "agent.lock";

/// The lock on the folder of an agent or of a broker.
///
/// The kernel releases it when the process ends, and knows which process has it. So a number in a
/// file that belongs to another process by now misleads nothing.
#[derive(Debug)]
pub(in crate::commands) struct AgentLock(
    #[expect(dead_code, reason = "the lock ends when the file is closed")] File,
);

impl AgentLock {
    /// Locks the file `name` in `folder`, which is created if it is missing; `None` if another
    /// process has the lock.
    pub(in crate::commands) fn take(folder: &Path, name: &str) -> Result<Option<Self>> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(folder.join(name))?;
        match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self(file))),
            Err(Errno::AGAIN | Errno::ACCESS) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the process that has the lock on the file `name` in `folder`; `None` if there is
    /// none.
    ///
    /// # Errors
    /// If the file cannot be read, or if its process is on another host or in another container.
    pub(in crate::commands) fn holder(folder: &Path, name: &str) -> Result<Option<Pid>> {
        let file = match OpenOptions::new().read(true).write(true).open(folder.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(lock) = fcntl_getlk(&file, &Flock::from(FlockType::WriteLock))? else { return Ok(None) };
        if lock.typ == FlockType::Unlocked {
            return Ok(None);
        }
        let elsewhere = || Error::other("the agent runs on another host or in another container");
        lock.pid.map(Some).ok_or_else(elsewhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_an_agent_has_no_holder() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("agent");
        assert_eq!(AgentLock::holder(&folder, AGENT_LOCK).expect("no file"), None);
        let lock = AgentLock::take(&folder, AGENT_LOCK).expect("a folder of ours").expect("no other agent");
        drop(lock);
        assert_eq!(AgentLock::holder(&folder, AGENT_LOCK).expect("a file"), None);
    }
}
