//! [`Spool`]: an agent's own copy of its intervals, until the archive has them durably.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use wavetank_fleet::{Adjustments, EndCause, RunId};
use wavetank_pace::Partition;
use wavetank_plan::constants::FSYNC_EVERY;
use wavetank_record::{SpoolEnd, SpoolHead, SpoolLine, SpoolState};
use wavetank_units::Nanos;

use crate::StoreProblem;
use crate::file_access::sync_dir;
use crate::line_digest::LineDigest;
use crate::line_file::LineFile;

/// The names of spools: `spool-<run>.jsonl`.
pub(crate) const PREFIX: &str = "spool-";
pub(crate) const SUFFIX: &str = ".jsonl";
/// The run, the share and the agent of a spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolMeta {
    /// The run.
    pub run: RunId,
    /// Epoch of the controller that offered the share.
    pub epoch: u64,
    /// SHA-256 of `plan.yaml`, in hexadecimal.
    pub plan_hash: String,
    /// The agent's share of the load.
    pub share: Partition,
    /// Name of the agent.
    pub agent: String,
}

/// An agent's own copy of its intervals: one file per run, readable by its owner alone.
///
/// The file is locked while this value exists, so that [`Spool::find`] of another process skips
/// it. Lines are synced as those of an archive are.
pub struct Spool {
    path: PathBuf,
    lines: LineFile,
    /// A second handle of the file, for reading.
    reader: File,
    /// Place and length of each interval's line; `None` if it is not stored.
    pub(crate) places: Vec<Option<(u64, usize)>>,
    pub(crate) digest: LineDigest,
    /// When the file was last synced.
    synced: Option<Nanos>,
    /// A sync that failed, until it is taken.
    problem: Option<StoreProblem>,
}

impl Spool {
    /// Creates the spool of one run in the folder `dir`, which is created with mode 0700 if it is
    /// missing.
    ///
    /// # Errors
    /// The file could not be created, e.g. because the run has a spool already.
    pub fn create(dir: &Path, meta: &SpoolMeta) -> Result<Self, StoreProblem> {
        make_dir(dir).map_err(|error| StoreProblem::new(dir, error))?;
        let path = dir.join(format!("{PREFIX}{}{SUFFIX}", meta.run.0));
        let wrong = |error| StoreProblem::new(&path, error);
        let mut options = private();
        let file = options.read(true).append(true).create_new(true).open(&path).map_err(wrong)?;
        let made = Self::begin(&path, file, meta);
        if made.is_err() {
            // Clean-up only: it has no interval.
            let _ = fs::remove_file(&path);
        }
        let spool = made?;
        sync_dir(dir)?;
        Ok(spool)
    }

    /// Writes the first line into an empty file.
    fn begin(path: &Path, file: File, meta: &SpoolMeta) -> Result<Self, StoreProblem> {
        // On a file system without locks, the spool is written without one.
        let _ = file.try_lock();
        let reader = File::open(path).map_err(|error| StoreProblem::new(path, error))?;
        let mut spool = Self::over(path, file, reader, 0);
        let Partition { first, width, of } = meta.share;
        spool.lines.append(
            SpoolLine::Spool(SpoolHead {
                v: SpoolHead::VERSION,
                run: meta.run.0,
                epoch: meta.epoch,
                plan_hash: meta.plan_hash.clone(),
                share: (first, width, of),
                agent: meta.agent.clone(),
            })
            .encode(),
        )?;
        spool.lines.sync()?;
        Ok(spool)
    }

    /// A spool over `file`, with `bytes` of whole lines.
    pub(crate) fn over(path: &Path, file: File, reader: File, bytes: u64) -> Self {
        Self {
            path: path.to_owned(),
            lines: LineFile::with_file(path, file, bytes),
            reader,
            places: Vec::new(),
            digest: LineDigest::default(),
            synced: None,
            problem: None,
        }
    }

    /// Number of intervals so far, those that could not be stored included. It is the number of
    /// the next one.
    pub fn intervals(&self) -> u64 {
        self.places.len() as u64
    }

    /// Appends the line of the next interval, at `now`, and returns the interval's number. Also
    /// syncs the file when it is due.
    ///
    /// # Errors
    /// The line could not be written. Its number is used up, and the interval is unstored.
    pub fn append(&mut self, now: Nanos, line: &str) -> Result<u64, StoreProblem> {
        let (seq, place) = (self.intervals(), self.lines.bytes());
        let written = self.lines.append(line.to_owned());
        self.places.push(written.is_ok().then_some((place, line.len())));
        written?;
        self.digest.add(line);
        if now.since(*self.synced.get_or_insert(now)) >= FSYNC_EVERY.0 as u64 {
            self.synced = Some(now);
            self.problem = self.lines.sync().err().or(self.problem.take());
        }
        Ok(seq)
    }

    /// Returns the line of an interval, without its newline; `None` if it is not stored or cannot
    /// be read.
    pub fn line(&self, seq: u64) -> Option<String> {
        let (place, length) = (*self.places.get(usize::try_from(seq).ok()?)?)?;
        let mut reader = &self.reader;
        let mut bytes = vec![0; length];
        reader.seek(SeekFrom::Start(place)).ok()?;
        reader.read_exact(&mut bytes).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// SHA-256 over the stored lines in order, each with its newline, in hexadecimal.
    pub fn digest(&self) -> String {
        self.digest.hex()
    }

    /// The numbers below [`Spool::intervals`] that are not stored.
    pub fn unstored(&self) -> Vec<u64> {
        (0..).zip(&self.places).filter(|(_, place)| place.is_none()).map(|(seq, _)| seq).collect()
    }

    /// Returns a failed sync, once.
    pub const fn take_problem(&mut self) -> Option<StoreProblem> {
        self.problem.take()
    }

    /// Records the epoch that the agent accepted last, and the changes that it received. Needed
    /// whenever one of them changes.
    ///
    /// # Errors
    /// The file could not be written and synced.
    pub fn record_state(&mut self, epoch: u64, adjustments: Adjustments) -> Result<(), StoreProblem> {
        let Adjustments { received, refused } = adjustments;
        self.record(&SpoolLine::State(SpoolState { epoch, received, refused }))
    }

    /// Records the end of the agent's part, and syncs the file.
    ///
    /// # Errors
    /// The file could not be written and synced.
    pub fn record_end(&mut self, cause: EndCause, adjustments: Adjustments) -> Result<(), StoreProblem> {
        let Adjustments { received, refused } = adjustments;
        let cause = cause_name(cause).to_owned();
        self.record(&SpoolLine::End(SpoolEnd { cause, received, refused }))
    }

    /// Waits until everything is on the disk.
    ///
    /// # Errors
    /// The file could not be synced.
    pub fn sync(&mut self) -> Result<(), StoreProblem> {
        self.lines.sync()
    }

    /// Removes the file.
    ///
    /// # Errors
    /// The file could not be removed.
    pub fn delete(self) -> Result<(), StoreProblem> {
        fs::remove_file(&self.path).map_err(|error| StoreProblem::new(&self.path, error))?;
        self.path.parent().map_or(Ok(()), sync_dir)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn record(&mut self, line: &SpoolLine) -> Result<(), StoreProblem> {
        self.lines.append(line.encode())?;
        self.lines.sync()
    }
}

/// The names of causes in the file.
const CAUSES: [(EndCause, &str); 6] = [
    (EndCause::Plan, "plan"),
    (EndCause::Command, "command"),
    (EndCause::NotStarted, "not_started"),
    (EndCause::Orphaned, "orphaned"),
    (EndCause::Overdue, "overdue"),
    (EndCause::Crashed, "crashed"),
];

pub(crate) fn cause_name(cause: EndCause) -> &'static str {
    CAUSES.iter().find(|(known, _)| *known == cause).map_or("crashed", |(_, name)| name)
}

pub(crate) fn cause_of(name: &str) -> Option<EndCause> {
    CAUSES.iter().find(|(_, known)| *known == name).map(|(cause, _)| *cause)
}

/// Creates the folder for its owner alone.
fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(dir)
}

/// How a file is created that only its owner can read and write.
fn private() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has permissions to set"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/dev/full` rejects every write, even from root.
    #[test]
    fn an_interval_that_the_disk_refuses_is_unstored() {
        let (path, temp) = (Path::new("/dev/full"), tempfile::tempdir().expect("a folder for the test"));
        let open = |path| OpenOptions::new().read(true).append(true).open(path).expect("it can be opened");
        let mut spool = Spool::over(path, open(path), open(path), 0);
        let problem = spool.append(Nanos::ZERO, "{}").expect_err("there is no room");
        assert_eq!(problem.source.kind(), io::ErrorKind::StorageFull);
        assert_eq!((spool.intervals(), spool.unstored(), spool.line(0)), (1, vec![0], None));
        assert_eq!(spool.digest(), LineDigest::default().hex(), "it is not in the digest");
        // The disk has room again: the next number follows.
        let path = temp.path().join("spool-1.jsonl");
        fs::write(&path, "").expect("the folder is writable");
        (spool.lines, spool.reader) = (LineFile::with_file(&path, open(&path), 0), open(&path));
        assert_eq!(spool.append(Nanos::ZERO, "{\"v\":2}").expect("there is room"), 1);
        assert_eq!((spool.line(0), spool.line(1)), (None, Some("{\"v\":2}".to_owned())));
    }

    #[test]
    fn causes_have_names() {
        for (cause, name) in CAUSES {
            assert_eq!((cause_name(cause), cause_of(name)), (name, Some(cause)));
        }
        assert_eq!(cause_of("later"), None);
    }
}
