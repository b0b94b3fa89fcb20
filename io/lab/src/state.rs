//! [`LabState`]: the state of a lab, stored as `lab.json` in its folder.
//!
//! It is written before anything else is created and again whenever more is known, always by
//! renaming a whole file into place. Programs of the same machine read it while the lab lives. It
//! is not read later, so it is no stored format.

use std::io::{ErrorKind, Result, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wavetank_driver::Clock;
use wavetank_units::{Code, UserError, sanitize};

use crate::{LabFolder, LabTag, TaggedProcess, tagged_process};

/// The file's name in the lab's folder.
pub(crate) const STATE_FILE: &str = "lab.json";

/// The version of `lab.json` that this program writes and reads.
const VERSION: u32 = 1;

/// The phase of a lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It is being brought up.
    Rising,
    /// It is complete.
    Up,
    /// It is being taken down.
    Falling,
}

/// A host's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostState {
    /// The host's name.
    pub name: String,
    /// PID 1 of its PID namespace, as numbered by the machine.
    pub process: TaggedProcess,
}

/// The data about a lab in addition to its topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabState {
    /// The lab's tag.
    pub mark: LabTag,
    /// The phase.
    pub phase: Phase,
    /// The keeper's process.
    pub keeper: TaggedProcess,
    /// Its hosts in the topology's order; empty until all have been started.
    pub hosts: Vec<HostState>,
}

/// The file's fields.
#[derive(Serialize, Deserialize)]
struct Stored {
    v: u32,
    mark: String,
    phase: Phase,
    keeper: TaggedProcess,
    hosts: Vec<HostState>,
}

impl LabState {
    /// Writes the state into `folder`.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let Self { mark, phase, keeper, hosts } = self;
        let stored = Stored {
            v: VERSION,
            mark: mark.to_string(),
            phase: *phase,
            keeper: *keeper,
            hosts: hosts.clone(),
        };
        let unfinished = folder.join("lab.json.new");
        let mut file = std::fs::File::create(&unfinished)?;
        file.write_all(serde_json::to_string(&stored)?.as_bytes())?;
        std::fs::rename(unfinished, folder.join(STATE_FILE))
    }

    /// Reads the state from `folder`; `None` if there is no file, as at the very start of a lab.
    pub(crate) fn read(folder: &Path) -> std::result::Result<Option<Self>, UserError> {
        let path = folder.join(STATE_FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&path, &error.to_string())),
        };
        let stored: Stored =
            serde_json::from_str(&text).map_err(|error| unreadable(&path, &error.to_string()))?;
        let Stored { v, mark, phase, keeper, hosts } = stored;
        if v != VERSION {
            return Err(unreadable(&path, &format!("it is of version {v}, not {VERSION}")));
        }
        let mark = LabTag::parse(&mark).ok_or_else(|| unreadable(&path, "its mark is invalid"))?;
        Ok(Some(Self { mark, phase, keeper, hosts }))
    }
}

/// Whether the lab in `folder` has a live keeper.
pub fn is_kept(folder: &LabFolder) -> bool {
    let state = LabState::read(folder.path()).ok().flatten();
    state.is_some_and(|state| state.keeper.marked(&state.mark).is_some())
}

/// Waits, no longer than `limit`, until all hosts of a lab with an ended keeper have ended. The
/// lab's logs do not grow any more afterwards.
pub fn wait_for_end(state: &LabState, limit: Duration) {
    let clock = Clock::starting_now();
    for handle in state.hosts.iter().filter_map(|host| host.process.handle()) {
        let left = limit.saturating_sub(Duration::from_nanos(clock.now().0.unsigned_abs()));
        tagged_process::ended(handle, left);
    }
}

fn unreadable(path: &Path, why: &str) -> UserError {
    let message = format!("`{}` cannot be read: {}", sanitize(&path.display().to_string()), sanitize(why));
    let hint = "take a lab down with the version of wavetank that brought it up; it left that folder, and \
                control groups named `wavetank-NAME-…`";
    UserError::refused(Code::LabState, message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> LabState {
        let keeper = TaggedProcess { pid: 7, start: 99 };
        let hosts = vec![HostState { name: "lb1".to_owned(), process: TaggedProcess { pid: 8, start: 100 } }];
        let mark = LabTag::generate("shop").expect("a name that fits");
        LabState { mark, phase: Phase::Rising, keeper, hosts }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        assert_eq!(LabState::read(folder.path()).expect("readable"), None);
        for phase in [Phase::Rising, Phase::Up, Phase::Falling] {
            let state = LabState { phase, ..state() };
            state.write(folder.path()).expect("can be written");
            assert_eq!(LabState::read(folder.path()).expect("readable"), Some(state));
        }
    }

    #[test]
    fn what_cannot_be_ours_is_refused() {
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        state().write(folder.path()).expect("can be written");
        let path = folder.path().join(STATE_FILE);
        let whole = std::fs::read_to_string(&path).expect("just written");
        let damaged = [
            whole[..whole.len() / 2].to_owned(),
            whole.replace("\"v\":1", "\"v\":2"),
            whole.replace("-shop-", "/"),
        ];
        for text in damaged {
            std::fs::write(&path, &text).expect("can be written");
            let error = LabState::read(folder.path()).expect_err(&text);
            assert_eq!(error.code, "lab_state", "{error}");
        }
    }
}
