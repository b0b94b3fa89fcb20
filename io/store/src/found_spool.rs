//! [`FoundSpoolFile`]: the spools that earlier processes of an agent left.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use wavetank_fleet::{Adjustments, EndCause, FoundSpool, RunId};
use wavetank_pace::Partition;
use wavetank_record::{IntervalLine, SpoolEnd, SpoolHead, SpoolLine, SpoolState};

use crate::StoreProblem;
use crate::file_access::LINE_BYTES_MAX;
use crate::line_digest::LineDigest;
use crate::spool::{PREFIX, SUFFIX, Spool, SpoolMeta, cause_of};

/// The start of a spool's first line.
const HEAD: &[u8] = b"{\"spool\":";
/// Maximum number of entries of the folder that are looked at.
pub(crate) const ENTRIES_MAX: usize = 4_096;

/// A spool that an agent's earlier process left.
pub struct FoundSpoolFile {
    /// The spool, open for resending its lines and for deletion.
    pub spool: Spool,
    /// The content, for [`wavetank_fleet::Agent::recover`].
    pub found: FoundSpool,
    /// Its run and agent. The epoch is that of the first line.
    pub meta: SpoolMeta,
}

impl Spool {
    /// Opens the spools that earlier processes left in `dir`, by run. A last line without its
    /// newline is removed from each file, and a file without a whole line is deleted. Spools of
    /// running processes, and files that are no spools of this version, are left as they are.
    ///
    /// # Errors
    /// The folder or a spool could not be read. A missing folder has no spools.
    pub fn find(dir: &Path) -> Result<Vec<FoundSpoolFile>, StoreProblem> {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreProblem::new(dir, error)),
        };
        let mut found = Vec::new();
        for entry in entries.take(ENTRIES_MAX) {
            let entry = entry.map_err(|error| StoreProblem::new(dir, error))?;
            // A link could lead out of the folder.
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let name = entry.file_name();
            if let Some(run) = name.to_str().and_then(run_of).filter(|_| is_file) {
                let path = entry.path();
                let read = FoundSpoolFile::open(&path, run);
                found.extend(read.map_err(|error| StoreProblem::new(&path, error))?);
            }
        }
        found.sort_by_key(|it| it.meta.run);
        Ok(found)
    }
}

impl FoundSpoolFile {
    /// Reads one file; `None` if it is in use, empty, or no spool of `run`.
    fn open(path: &Path, run: RunId) -> io::Result<Option<Self>> {
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Ok(None);
        }
        let reader = File::open(path)?;
        let mut scan = Scan::default();
        let whole = scan.read(BufReader::with_capacity(1 << 16, &reader))?;
        if whole == 0 && scan.has_torn_head {
            fs::remove_file(path)?;
        }
        let Some(meta) = scan.meta.filter(|meta| meta.run == run) else { return Ok(None) };
        if whole < file.metadata()?.len() {
            file.set_len(whole)?;
            file.sync_all()?;
        }
        let mut spool = Spool::over(path, file, reader, whole);
        (spool.places, spool.digest) = (scan.places, scan.digest);
        let found = FoundSpool {
            run,
            epoch: scan.epoch.max(meta.epoch),
            intervals: spool.intervals(),
            unstored: spool.unstored(),
            digest: spool.digest(),
            cause: scan.cause.unwrap_or(EndCause::Crashed),
            adjustments: scan.adjustments,
        };
        Ok(Some(Self { spool, found, meta }))
    }
}

/// What the lines of a file contain.
#[derive(Default)]
pub(crate) struct Scan {
    pub(crate) meta: Option<SpoolMeta>,
    /// The file ended within its first line.
    has_torn_head: bool,
    pub(crate) places: Vec<Option<(u64, usize)>>,
    pub(crate) digest: LineDigest,
    epoch: u64,
    /// `None`: the agent has not written its end.
    pub(crate) cause: Option<EndCause>,
    pub(crate) adjustments: Adjustments,
    /// Lines that cannot be read.
    pub(crate) damaged: u64,
}

impl Scan {
    /// Reads all lines, and returns the length of the complete ones.
    pub(crate) fn read(&mut self, mut reader: impl BufRead) -> io::Result<u64> {
        let (mut whole, mut line) = (0, Vec::new());
        loop {
            line.clear();
            let bytes = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                let shorter = line.len().min(HEAD.len());
                self.has_torn_head = whole == 0 && line[..shorter] == HEAD[..shorter];
                return Ok(whole);
            }
            line.pop();
            self.take(whole, &line);
            whole += bytes as u64;
            if self.meta.is_none() {
                // It is no spool, so it is left as it is.
                return Ok(whole);
            }
        }
    }

    /// Takes the line at `place`. A damaged one is as good as not stored.
    pub(crate) fn take(&mut self, place: u64, line: &[u8]) {
        match SpoolLine::decode(line) {
            Ok(Some(SpoolLine::Spool(head))) if place == 0 => self.meta = Some(meta(head)),
            Ok(Some(SpoolLine::State(SpoolState { epoch, received, refused }))) => {
                self.epoch = self.epoch.max(epoch);
                self.adjustments = Adjustments { received, refused };
            }
            Ok(Some(SpoolLine::End(SpoolEnd { cause, received, refused }))) => {
                self.cause = cause_of(&cause);
                self.adjustments = Adjustments { received, refused };
            }
            Ok(None) => self.take_interval(place, line),
            Ok(Some(SpoolLine::Spool(_))) | Err(_) => self.damaged += 1,
        }
    }

    fn take_interval(&mut self, place: u64, line: &[u8]) {
        let number = IntervalLine::number(line).ok().map(|(_, seq)| seq);
        let next = self.places.len() as u64;
        // Each interval missing in between takes a place. More than fit into a file are damage.
        let is_next = |seq: &u64| (next..=next.saturating_add(UNSTORED_MAX)).contains(seq);
        let (Some(seq), Ok(text)) = (number.filter(is_next), std::str::from_utf8(line)) else {
            self.damaged += 1;
            return;
        };
        self.places.resize(seq as usize, None);
        self.places.push(Some((place, line.len())));
        self.digest.add(text);
    }
}

/// Most intervals in a row that can be missing: those of a year.
const UNSTORED_MAX: u64 = 1 << 25;

fn meta(head: SpoolHead) -> SpoolMeta {
    let SpoolHead { v: _, run, epoch, plan_hash, share: (first, width, of), agent } = head;
    SpoolMeta { run: RunId(run), epoch, plan_hash, share: Partition { first, width, of }, agent }
}

/// The run of a spool's file name.
pub(crate) fn run_of(name: &str) -> Option<RunId> {
    let number = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok().map(RunId))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_run() {
        assert_eq!(run_of("spool-7.jsonl"), Some(RunId(7)));
        for name in ["spool-.jsonl", "spool-x.jsonl", "spool-+7.jsonl", "spool-7", "7.jsonl"] {
            assert_eq!(run_of(name), None, "{name}");
        }
    }
}
