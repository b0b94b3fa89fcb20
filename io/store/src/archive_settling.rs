//! [`ArchiveSettling`]: adds what agents kept to the archive of a run that is over.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use wavetank_record::{EventLine, IntervalExtras, IntervalLine, RunRecord, SampleLine};

use crate::StoreProblem;
use crate::archive_writer::write_record;
use crate::contents::line_files;
use crate::file_access::{LINE_BYTES_MAX, open_file, sync_dir};
use crate::folder_name::free_stem;
use crate::found_spool::Scan;

/// Ending of the name of a file that replaces another one once it is complete.
const PARTIAL: &str = "partial";
/// Bytes that are searched at a time for the last newline of a file.
const TAIL_BYTES: u64 = 64 << 10;

/// The archive of a run that no process writes, open for the intervals that it lacks.
///
/// Files of intervals are replaced as a whole, so that an archive has each interval once wherever
/// the process ends. [`ArchiveSettling::finish`] makes all of it durable.
pub struct ArchiveSettling {
    dir: PathBuf,
    /// The plan, locked as by the writer of a run in progress.
    held: File,
}

/// Why an archive cannot be settled, or a spool cannot be merged.
#[derive(Debug)]
pub enum SettleProblem {
    /// Another process writes to the archive.
    InUse,
    /// A file of the archive could not be read or written.
    Store(StoreProblem),
    /// The spool could not be read to its end.
    Transfer(io::Error),
    /// The content of the spool is not that of this run, or differs from the archive.
    Differs(String),
}

/// What a spool added to an archive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedSpool {
    /// Intervals that the archive did not have.
    pub added: u64,
    /// Lines of the spool that cannot be read.
    pub damaged: u64,
    /// Digest of the spool's intervals, for its deletion.
    pub digest: String,
    /// What came with those of the added intervals that have samples, events or logged lines.
    pub extras: Vec<IntervalExtras>,
}

impl Drop for ArchiveSettling {
    fn drop(&mut self) {
        let _ = self.held.unlock();
    }
}

impl ArchiveSettling {
    /// Locks the archive at `dir`, a folder.
    ///
    /// # Errors
    /// If another process writes to it, or its plan cannot be opened.
    pub fn open(dir: &Path) -> Result<Self, SettleProblem> {
        let path = dir.join("plan.yaml");
        let wrong = |error| SettleProblem::Store(StoreProblem::new(&path, error));
        let held = open_file(&path).map_err(wrong)?;
        if matches!(held.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(SettleProblem::InUse);
        }
        Ok(Self { dir: dir.to_owned(), held })
    }

    /// Merges the lines of an agent's spool into the agent's intervals. `lines` are those of the
    /// file, from its first line on, in `bytes` bytes.
    ///
    /// # Errors
    /// If the spool could not be read, is that of another agent or epoch, or has another content of
    /// an interval than the archive. The archive is unchanged then.
    pub fn merge(
        &mut self,
        (agent, epoch): (&str, u64),
        lines: impl BufRead,
        bytes: u64,
    ) -> Result<MergedSpool, SettleProblem> {
        let (path, partial) = self.agent_file(agent)?;
        let merged = Merge { agent, epoch, out: None, result: MergedSpool::default() };
        let merged = merged.run(&path, &partial, lines.take(bytes), bytes);
        if merged.is_err() {
            // Clean-up only: a file with this name is no part of the archive.
            let _ = fs::remove_file(&partial);
        }
        let merged = merged?;
        let put = fs::rename(&partial, &path).map_err(|error| StoreProblem::new(&path, error));
        put.and_then(|()| sync_dir(&self.dir.join("intervals"))).map_err(SettleProblem::Store)?;
        Ok(merged)
    }

    /// Returns the file of an agent's intervals, and the one that replaces it.
    fn agent_file(&self, agent: &str) -> Result<(PathBuf, PathBuf), SettleProblem> {
        let folder = self.dir.join("intervals");
        let mut taken = BTreeSet::new();
        let files = line_files(&folder).map_err(|error| SettleProblem::Differs(error.message))?;
        let own = files.iter().find(|path| {
            taken.insert(path.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase());
            first_agent(path).as_deref() == Some(agent)
        });
        let path = own.cloned().unwrap_or_else(|| folder.join(free_stem(agent, &mut taken) + ".jsonl"));
        let partial = path.with_extension(PARTIAL);
        Ok((path, partial))
    }

    /// Adds events to the archive.
    ///
    /// # Errors
    /// The file could not be written and synced.
    pub fn add_events(&mut self, events: &[EventLine]) -> Result<(), StoreProblem> {
        append(&self.dir.join("events.jsonl"), events.iter().map(EventLine::encode))
    }

    /// Adds examples of requests to the archive.
    ///
    /// # Errors
    /// The file could not be written and synced.
    pub fn add_samples(&mut self, samples: &[SampleLine]) -> Result<(), StoreProblem> {
        append(&self.dir.join("samples.jsonl"), samples.iter().map(SampleLine::encode))
    }

    /// Adds records of the controller's journal.
    ///
    /// # Errors
    /// The file could not be written and synced.
    pub fn add_journal(&mut self, records: Vec<String>) -> Result<(), StoreProblem> {
        append(&self.dir.join("fleet.jsonl"), records.into_iter())
    }

    /// Writes `run.json`, in place of the former one if there is one. Everything is on the disk
    /// then.
    ///
    /// # Errors
    /// The record could not be written and synced.
    pub fn finish(self, record: &RunRecord) -> Result<(), StoreProblem> {
        write_record(&self.dir, record)
    }
}

/// One pass over both files. All numbers grow in each of them.
struct Merge<'a> {
    agent: &'a str,
    epoch: u64,
    out: Option<BufWriter<File>>,
    result: MergedSpool,
}

impl Merge<'_> {
    fn run(
        mut self,
        path: &Path,
        partial: &Path,
        mut lines: impl BufRead,
        bytes: u64,
    ) -> Result<MergedSpool, SettleProblem> {
        let wrong = |error| SettleProblem::Store(StoreProblem::new(partial, error));
        self.out = Some(BufWriter::new(File::create(partial).map_err(wrong)?));
        let mut own = OwnLines::open(path, self.epoch).map_err(wrong)?;
        let (mut scan, mut place, mut line) = (Scan::default(), 0_u64, Vec::new());
        while place < bytes {
            line.clear();
            let read = (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            let read = read.map_err(SettleProblem::Transfer)?;
            if line.pop() != Some(b'\n') {
                return Err(SettleProblem::Transfer(io::ErrorKind::UnexpectedEof.into()));
            }
            let before = scan.places.len();
            scan.take(place, &line);
            place += read as u64;
            self.check_head(&scan)?;
            // An interval is the last one that the scan knows.
            if scan.places.len() > before {
                self.interval(&mut own, scan.places.len() as u64 - 1, &line).map_err(
                    |problem| match problem {
                        MergeProblem::Io(error) => wrong(error),
                        MergeProblem::Differs(text) => SettleProblem::Differs(text),
                    },
                )?;
            }
        }
        while let Some((_, line)) = own.next.take() {
            self.write(&line).map_err(wrong)?;
            own.advance().map_err(wrong)?;
        }
        let out =
            self.out.take().expect("it was opened").into_inner().map_err(|error| wrong(error.into()))?;
        out.sync_all().map_err(wrong)?;
        (self.result.digest, self.result.damaged) = (scan.digest.hex(), self.result.damaged + scan.damaged);
        Ok(self.result)
    }

    fn check_head(&self, scan: &Scan) -> Result<(), SettleProblem> {
        match &scan.meta {
            None => Err(SettleProblem::Differs("its first line cannot be read".to_owned())),
            Some(meta) if meta.agent != self.agent => {
                Err(SettleProblem::Differs(format!("it is that of the agent {}", meta.agent)))
            }
            Some(_) => Ok(()),
        }
    }

    /// Takes interval `seq` of the spool, after those of the archive that are before it.
    fn interval(&mut self, own: &mut OwnLines, seq: u64, line: &[u8]) -> Result<(), MergeProblem> {
        while let Some((_, known)) = own.next.take_if(|(known, _)| *known < seq) {
            self.write(&known)?;
            own.advance()?;
        }
        if let Some((_, known)) = own.next.take_if(|(known, _)| *known == seq) {
            if known != line {
                let text = format!("interval {seq} differs from that in the archive");
                return Err(MergeProblem::Differs(text));
            }
            self.write(&known)?;
            own.advance()?;
            return Ok(());
        }
        let fits = IntervalLine::decode(line)
            .is_ok_and(|read| read.agent == self.agent && read.epoch == self.epoch && !read.checkpoint);
        let Some(extras) = IntervalExtras::decode(line).ok().filter(|_| fits) else {
            self.result.damaged += 1;
            return Ok(());
        };
        self.result.added += 1;
        if !(extras.samples.is_empty() && extras.events.is_empty() && extras.logs.is_empty()) {
            self.result.extras.push(extras);
        }
        Ok(self.write(line)?)
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let out = self.out.as_mut().expect("it is open until the end");
        out.write_all(line)?;
        out.write_all(b"\n")
    }
}

enum MergeProblem {
    Io(io::Error),
    Differs(String),
}

impl From<io::Error> for MergeProblem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The intervals of an agent that an archive has. Lines that cannot be read are left out.
struct OwnLines {
    reader: Option<BufReader<File>>,
    epoch: u64,
    /// The next interval, with its number.
    next: Option<(u64, Vec<u8>)>,
    after: u64,
}

impl OwnLines {
    fn open(path: &Path, epoch: u64) -> io::Result<Self> {
        let reader = match open_file(path) {
            Ok(file) => Some(BufReader::with_capacity(1 << 16, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut lines = Self { reader, epoch, next: None, after: 0 };
        lines.advance()?;
        Ok(lines)
    }

    fn advance(&mut self) -> io::Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        loop {
            let mut line = Vec::new();
            reader.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if line.pop() != Some(b'\n') {
                return Ok(());
            }
            let number = IntervalLine::decode(&line).ok().filter(|read| read.epoch == self.epoch);
            if let Some(read) = number.filter(|read| read.seq >= self.after) {
                self.after = read.seq + 1;
                self.next = Some((read.seq, line));
                return Ok(());
            }
        }
    }
}

/// Returns the agent of the first interval in a file.
fn first_agent(path: &Path) -> Option<String> {
    let mut line = Vec::new();
    let mut reader = BufReader::new(open_file(path).ok()?);
    reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
    IntervalLine::decode(line.strip_suffix(b"\n")?).ok().map(|read| read.agent)
}

/// Appends lines to a file, after its last whole line, and syncs it.
fn append(path: &Path, lines: impl Iterator<Item = String>) -> Result<(), StoreProblem> {
    let write = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        let whole = whole_bytes(&mut file)?;
        file.set_len(whole)?;
        file.seek(SeekFrom::Start(whole))?;
        let text: String = lines.map(|line| line + "\n").collect();
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|error| StoreProblem::new(path, error))
}

/// Returns the length of a file up to its last newline.
fn whole_bytes(file: &mut File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    while end > 0 {
        let from = end.saturating_sub(TAIL_BYTES);
        let mut bytes = vec![0; (end - from) as usize];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut bytes)?;
        if let Some(at) = bytes.iter().rposition(|&byte| byte == b'\n') {
            return Ok(from + at as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}
