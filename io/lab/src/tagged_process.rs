//! [`TaggedProcess`]: a process of a lab, identified by a name that is never reused.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::LabTag;

/// The commands with a tag in their command line.
const COMMANDS: [&[u8]; 4] = [b"lab-keeper", b"lab-host", b"lab-enter", b"lab-errand"];

/// A process. Its number alone may be reused; number and start time together are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaggedProcess {
    /// Its number in the machine's first PID namespace.
    pub pid: u32,
    /// Its start time in clock ticks since boot: field 22 of `/proc/PID/stat`, proc(5).
    pub start: u64,
}

impl TaggedProcess {
    /// Returns the process that has this number now; `None` if there is none.
    pub fn for_pid(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some(Self { pid, start: start_time(&stat)? })
    }

    /// Returns a handle on the process while it lives, no matter which program it is.
    pub fn handle(self) -> Option<OwnedFd> {
        let handle = open(self.pid)?;
        // This check comes after the handle was opened, so the number cannot be reused any more.
        (Self::for_pid(self.pid) == Some(self)).then_some(handle)
    }

    /// Returns a handle on the process if it lives and has `mark` in its command line.
    pub fn marked(self, mark: &LabTag) -> Option<OwnedFd> {
        self.handle().filter(|_| bears(self.pid, mark))
    }
}

/// Returns handles on all processes with `mark` in their command line.
pub(crate) fn find_marked(mark: &LabTag) -> Vec<OwnedFd> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|pid| bears(*pid, mark))
        .filter_map(|pid| TaggedProcess::for_pid(pid)?.marked(mark))
        .collect()
}

/// Whether there is a process with `mark` and the argument `word` in its command line.
pub(crate) fn any_matching(mark: &LabTag, word: &[u8]) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else { return false };
    let mut lines = entries.flatten().filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|words| words_bear(&words, mark) && words.split(|byte| *byte == 0).any(|one| one == word))
}

/// Sends SIGKILL to the process.
pub(crate) fn kill(handle: impl AsFd) {
    // The process may just have ended, which is fine.
    let _ = pidfd_send_signal(handle, Signal::KILL);
}

/// Whether the process has ended within `limit`.
pub(crate) fn ended(handle: impl AsFd, limit: Duration) -> bool {
    let timeout = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    let mut handles = [PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN)];
    loop {
        match poll(&mut handles, Some(&timeout)) {
            Ok(ready) => return ready > 0,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

fn open(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn bears(pid: u32, mark: &LabTag) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| words_bear(&words, mark))
}

/// Whether a command line in the format of `/proc/PID/cmdline` is `PROGRAM COMMAND --mark MARK …`.
/// Processes that merely mention the mark, such as `grep`, do not match.
fn words_bear(words: &[u8], mark: &LabTag) -> bool {
    let mut words = words.split(|byte| *byte == 0).skip(1);
    words.next().is_some_and(|command| COMMANDS.contains(&command))
        && words.next() == Some(b"--mark")
        && words.next() == Some(mark.to_string().as_bytes())
}

/// The program's name in the second field may contain blanks and brackets. Fields are counted after
/// the last bracket.
fn start_time(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> LabTag {
        LabTag::parse("wavetank-shop-0badcafe").expect("a mark")
    }

    #[track_caller]
    fn check(words: &str, bears: bool) {
        assert_eq!(words_bear(words.replace(' ', "\0").as_bytes(), &mark()), bears, "{words}");
    }

    #[test]
    fn only_our_own_commands_bear_a_mark() {
        check("wavetank lab-keeper --mark wavetank-shop-0badcafe --folder /run", true);
        check("/opt/x lab-host --mark wavetank-shop-0badcafe --host lb1", true);
        check("wavetank lab-errand --mark wavetank-shop-0badcafe --wait --host lb1", true);
        check("wavetank lab-host --mark wavetank-shop-0badcaff --host lb1", false);
        check("grep lab-host --mark", false);
        check("grep wavetank-shop-0badcafe --mark wavetank-shop-0badcafe", false);
        check("", false);
    }

    #[test]
    fn the_start_time_is_read_behind_any_name() {
        let fields = (3..=30).map(|field| field.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(start_time(&format!("7 (a ) b) {fields}")), Some(22));
        assert_eq!(start_time("7 (a"), None);
    }

    #[test]
    fn a_process_of_another_start_is_another_process() {
        let own = TaggedProcess::for_pid(std::process::id()).expect("this process is there");
        assert!(own.handle().is_some());
        assert!(own.marked(&mark()).is_none(), "a test has no mark");
        assert!(TaggedProcess { start: own.start + 1, ..own }.handle().is_none());
    }
}
