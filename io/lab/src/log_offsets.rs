//! [`LogOffsets`]: the sizes of a lab's logs at one moment, and what was appended since.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Result, Seek as _, SeekFrom};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, OFlags, StatxFlags, statx};

use crate::LabFolder;
use crate::logs::{LogFile, found};

/// Maximum number of bytes returned from the end of one log.
const LOG_BYTES_MAX: u64 = 1 << 20;
/// The same for all logs together. Many logs get an equal share each.
const LOGS_BYTES_MAX: u64 = 32 << 20;
/// Maximum number of logs returned for a lab.
const LOGS_MAX: usize = 2_048;

/// The offset of each log. The default value has no offsets, so everything counts as new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogOffsets(BTreeMap<(String, String), Mark>);

/// A file and its length. The birth time is included because the inode number of a deleted file may
/// be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    device: u64,
    inode: u64,
    born: (i64, u32),
    bytes: u64,
}

/// The new text of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPart {
    /// The name of the host.
    pub host: String,
    /// The log's name, as in [`LogFile`].
    pub name: String,
    /// The text. Of a long text it is the end, below a line that says so.
    pub text: String,
}

/// The new text of all logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogParts {
    /// In the order of hosts and names.
    pub parts: Vec<LogPart>,
    /// Number of logs that were left out for lack of room.
    pub untold: usize,
}

impl LogOffsets {
    /// Returns the current ends of the logs of `hosts`.
    pub fn now<'h>(folder: &LabFolder, hosts: impl Iterator<Item = &'h str>) -> Self {
        let mut marks = BTreeMap::new();
        for (host, log) in all(folder, hosts) {
            // A log that cannot be opened now is returned from its start later.
            if let Ok((_, mark)) = open(&log.path) {
                marks.insert((host, log.name), mark);
            }
        }
        Self(marks)
    }

    /// Returns what was appended to the logs of `hosts`, and moves the offsets to the current ends.
    /// A log without new text, or one that cannot be read, is left out.
    pub fn read_new<'h>(&mut self, folder: &LabFolder, hosts: impl Iterator<Item = &'h str>) -> LogParts {
        let mut logs = Vec::new();
        // A full log continues in another file; both count as one log.
        for (host, log) in all(folder, hosts).into_iter().filter(|(_, log)| !log.name.ends_with(OLDER)) {
            match self.since(&host, &log) {
                // A log without new text takes no room.
                Ok(since) if since.bytes() == 0 => drop(self.0.insert((host, log.name), since.end)),
                Ok(_) => logs.push((host, log)),
                Err(_) => {}
            }
        }
        let untold = logs.len().saturating_sub(LOGS_MAX);
        logs.truncate(LOGS_MAX);
        let share = LOG_BYTES_MAX.min(LOGS_BYTES_MAX / logs.len().max(1) as u64);
        let part = |(host, log): (String, LogFile)| {
            let (text, mark) = self.since(&host, &log).and_then(|since| since.last(share)).ok()?;
            self.0.insert((host.clone(), log.name.clone()), mark);
            (!text.is_empty()).then_some(LogPart { host, name: log.name, text })
        };
        LogParts { parts: logs.into_iter().filter_map(part).collect(), untold }
    }

    /// Returns what was appended to a log since its offset.
    fn since(&self, host: &str, log: &LogFile) -> Result<Since> {
        Since::of(self.0.get(&(host.to_owned(), log.name.clone())), &log.path)
    }
}

/// The suffix of the first half of a log, once there are two.
const OLDER: &str = ".older";

fn all<'h>(folder: &LabFolder, hosts: impl Iterator<Item = &'h str>) -> Vec<(String, LogFile)> {
    hosts.flat_map(|host| found(folder, host).into_iter().map(|log| (host.to_owned(), log))).collect()
}

/// Opens a log and returns its current length. A host's services control the folder, so anything
/// but a regular file is rejected.
fn open(path: &Path) -> Result<(File, Mark)> {
    let never_elsewhere = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(never_elsewhere.cast_signed()).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(std::io::Error::from(std::io::ErrorKind::InvalidInput));
    }
    let reported = statx(&file, c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME)?;
    let born = (reported.stx_btime.tv_sec, reported.stx_btime.tv_nsec);
    Ok((file, Mark { device: about.dev(), inode: about.ino(), born, bytes: about.len() }))
}

impl Mark {
    /// Returns the offset at which `self` continues `before`; `None` if it is another file.
    fn behind(&self, before: Option<&Self>) -> Option<u64> {
        let before = before?;
        let own = |mark: &Self| (mark.device, mark.inode, mark.born);
        // A truncated file started again at 0.
        (own(self) == own(before)).then_some(if self.bytes < before.bytes { 0 } else { before.bytes })
    }
}

/// The part of a log after an offset.
struct Since {
    /// Files with start offset and length, the oldest text first.
    pieces: Vec<(File, u64, u64)>,
    /// Whether an unknown amount of text may be missing.
    more: bool,
    /// The current end.
    end: Mark,
}

impl Since {
    /// Opens the log at `path` and finds the part after `mark`.
    fn of(mark: Option<&Mark>, path: &Path) -> Result<Self> {
        let (file, end) = open(path)?;
        let (mut pieces, mut more) = (Vec::new(), false);
        let from = end.behind(mark);
        if from.is_none()
            && let Ok((file, older)) = open(&path.with_extension("older.log"))
            // A file that was just renamed to the older one is read once.
            && (older.device, older.inode) != (end.device, end.inode)
        {
            let from = older.behind(mark);
            // The older file may be the first one, or may have replaced others that were full
            // before it.
            more = from.is_none();
            let from = from.unwrap_or(0);
            pieces.push((file, from, older.bytes - from));
        }
        let from = from.unwrap_or(0);
        pieces.push((file, from, end.bytes - from));
        Ok(Self { pieces, more, end })
    }

    fn bytes(&self) -> u64 {
        self.pieces.iter().map(|(.., bytes)| bytes).sum()
    }

    /// Returns its last `share` bytes, and the offset of the end.
    fn last(self, share: u64) -> Result<(String, Mark)> {
        let mut left_out = self.bytes().saturating_sub(share);
        let mut bytes = Vec::new();
        let mut skipped = left_out;
        for (mut file, from, length) in self.pieces {
            let skip = skipped.min(length);
            skipped -= skip;
            file.seek(SeekFrom::Start(from + skip))?;
            file.take(length - skip).read_to_end(&mut bytes)?;
        }
        if left_out == 0 {
            return Ok((String::from_utf8_lossy(&bytes).into_owned(), self.end));
        }
        // The rest starts with a whole line, if it has one.
        let cut = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        left_out += cut as u64;
        let text = String::from_utf8_lossy(&bytes[cut..]);
        let at_least = if self.more { "at least " } else { "" };
        let head = format!(
            "wavetank: {at_least}{left_out} bytes before this are left out: only the end of a long log is kept\n"
        );
        Ok((head + &text, self.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Lab {
        _root: tempfile::TempDir,
        folder: LabFolder,
    }

    impl Lab {
        fn new() -> Self {
            let root = tempfile::tempdir().expect("temporary folders can be made");
            let folder = LabFolder::from_argument(root.path().join("shop")).expect("a name that fits");
            std::fs::create_dir_all(folder.host_folder("app")).expect("can be made");
            Self { _root: root, folder }
        }

        fn write(&self, file: &str, text: &str) {
            std::fs::write(self.folder.host_folder("app").join(file), text).expect("can be written");
        }

        fn mark(&self) -> LogOffsets {
            LogOffsets::now(&self.folder, ["app"].into_iter())
        }

        #[track_caller]
        fn check(&self, from: &LogOffsets, expected: &[(&str, &str)]) {
            let mut marks = from.clone();
            let reported = marks.read_new(&self.folder, ["app", "gone"].into_iter());
            let found: Vec<_> =
                reported.parts.iter().map(|part| (part.name.as_str(), part.text.as_str())).collect();
            assert_eq!((found.as_slice(), reported.untold), (expected, 0));
            let again = marks.read_new(&self.folder, ["app"].into_iter());
            assert_eq!(again, LogParts::default(), "nothing is returned twice");
        }
    }

    #[test]
    fn new_lines_are_found_wherever_they_were_written() {
        let lab = Lab::new();
        lab.write("web.log", "one\n");
        lab.write("db.log", "");
        lab.write("db.cfg", "no log");
        lab.check(&LogOffsets::default(), &[("web", "one\n")]);
        let mark = lab.mark();
        lab.check(&mark, &[]);
        lab.write("web.log", "one\ntwo\n");
        lab.write("new.log", "hello\n");
        lab.check(&mark, &[("new", "hello\n"), ("web", "two\n")]);
        // The log is full and continues in another file.
        let log = |name: &str| lab.folder.host_folder("app").join(name);
        std::fs::rename(log("web.log"), log("web.older.log")).expect("it is there");
        lab.write("web.log", "three\n");
        lab.check(&mark, &[("new", "hello\n"), ("web", "two\nthree\n")]);
        // The log was truncated because no other file could be created.
        let mark = lab.mark();
        lab.write("web.log", "4\n");
        lab.check(&mark, &[("web", "4\n")]);
    }

    #[test]
    fn only_the_end_of_a_long_log_is_shown_and_marked() {
        let lab = Lab::new();
        let lines: Vec<String> = (0..300_000).map(|number| format!("line {number}\n")).collect();
        lab.write("web.log", &lines.concat());
        let reported = LogOffsets::default().read_new(&lab.folder, ["app"].into_iter());
        let text = &reported.parts[0].text;
        let (head, rest) = text.split_once('\n').expect("there are lines");
        assert_eq!(head.split(' ').nth(1), Some((lines.concat().len() - rest.len()).to_string().as_str()));
        assert!(head.ends_with("left out: only the end of a long log is kept"), "{head}");
        assert!(rest.starts_with("line ") && rest.ends_with("line 299999\n"), "whole lines");
        assert!(rest.len() as u64 <= LOG_BYTES_MAX && rest.len() as u64 > LOG_BYTES_MAX - 20);
        // Files that were full before the older of the two are gone; whether there were any is
        // unknown.
        let from_its_middle = lab.mark();
        let full = |name: &str| lab.folder.host_folder("app").join(name);
        let head = |mut marks: LogOffsets| {
            let reported = marks.read_new(&lab.folder, ["app"].into_iter());
            reported.parts[0].text.split(" bytes ").next().expect("a head").to_owned()
        };
        std::fs::rename(full("web.log"), full("web.older.log")).expect("it is there");
        lab.write("web.log", &lines.concat());
        assert!(head(LogOffsets::default()).starts_with("wavetank: at least "));
        assert!(!head(from_its_middle.clone()).contains("at least"));
        std::fs::rename(full("web.log"), full("web.older.log")).expect("it is there");
        lab.write("web.log", &lines.concat());
        assert!(head(from_its_middle).starts_with("wavetank: at least "));
    }

    #[test]
    fn only_logs_that_say_something_share_the_room() {
        let lab = Lab::new();
        for number in 0..LOGS_MAX {
            lab.write(&format!("silent{number}.log"), "");
        }
        lab.write("web.log", &"a line\n".repeat(100_000));
        let reported = LogOffsets::default().read_new(&lab.folder, ["app"].into_iter());
        assert_eq!((reported.parts.len(), reported.untold), (1, 0));
        assert_eq!(reported.parts[0].text.len(), 700_000, "all of it");
    }

    #[test]
    fn what_is_no_file_is_no_log() {
        let lab = Lab::new();
        let secret = lab.folder.path().join("secret");
        std::fs::write(&secret, "secret").expect("can be written");
        let host = lab.folder.host_folder("app");
        std::os::unix::fs::symlink(&secret, host.join("link.log")).expect("can be made");
        std::fs::create_dir(host.join("folder.log")).expect("can be made");
        lab.check(&LogOffsets::default(), &[]);
    }
}
