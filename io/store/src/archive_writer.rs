//! [`ArchiveWriter`]: writes the archive of a run in progress.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use wavetank_measure::{HostSample, Interval, TargetSample};
use wavetank_plan::constants;
use wavetank_record::{EnvironmentDoc, EventLine, IntervalLine, RunRecord, SampleLine, TargetLine, WallTime};
use wavetank_units::Nanos;

use crate::agent_files::AgentFiles;
use crate::contents::SERVICES_FOLDER;
use crate::cumulative::Cumulative;
use crate::file_access::{sync_dir, write_atomic};
use crate::folder_name::{file_stem, sanitized};
use crate::host_file_writer::HostFileWriter;
use crate::line_file::LineFile;
use crate::{RunsDir, StoreProblem};

/// Data of a run that is known before its first packet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunMeta {
    /// Name of the run; part of the folder's name.
    pub name: String,
    /// Id of the run, e.g. from [`crate::new_id`]; the end of the folder's name.
    pub id: String,
    /// Wall time of instant 0, read once.
    pub started: WallTime,
    /// Name of the agent that produced the intervals; `local` on a single host.
    pub agent: String,
    /// Number of the agent's current start.
    pub epoch: u64,
    /// Text of `plan.yaml`.
    pub plan_yaml: String,
    /// `environment.json`.
    pub environment: EnvironmentDoc,
}

/// Writes one archive. Only [`ArchiveWriter::create`] and [`ArchiveWriter::finish`] return every
/// failure. In between, only the first failure is returned. Later ones appear only as gaps, and the
/// load goes on.
pub struct ArchiveWriter {
    dir: PathBuf,
    agent: String,
    epoch: u64,
    /// Number of the next interval.
    seq: u64,
    intervals: LineFile,
    /// Intervals of a fleet's agents.
    agents: AgentFiles,
    events: LineFile,
    /// The journal of a fleet's controller. The file is created with its first line.
    fleet: LineFile,
    samples: LineFile,
    /// Samples of this host. The file is created with its first line, in a separate folder.
    host: HostFileWriter,
    /// Samples of the hosts of a lab, by name.
    others: Vec<(String, HostFileWriter)>,
    /// The target's own count.
    truth: LineFile,
    /// When all files were last synced.
    synced: Option<Nanos>,
    /// Sum of all intervals, for checkpoints.
    cumulative: Cumulative,
    /// When the last checkpoint was written.
    checkpointed: Option<Nanos>,
    /// An interval could not be written, so a checkpoint is needed to replace it.
    gap: bool,
    /// A problem was returned already.
    reported: bool,
    /// The plan file, locked while this writer exists, so that commands that remove or pack runs
    /// skip this one. The lock ends with the process in any case.
    held: File,
}

impl Drop for ArchiveWriter {
    fn drop(&mut self) {
        // Load threads may hold a copy of the descriptor in separate descriptor tables. Unlocking
        // releases the lock for all of them.
        let _ = self.held.unlock();
    }
}

impl ArchiveWriter {
    /// Creates the folder and writes everything known before the load.
    ///
    /// # Errors
    /// A file could not be written. The caller reports this and runs without an archive.
    pub fn create(runs_dir: &RunsDir, meta: &RunMeta) -> Result<Self, StoreProblem> {
        let dir = runs_dir.folder(meta.started, &meta.name, &meta.id);
        fs::create_dir_all(runs_dir.path()).map_err(|error| StoreProblem::new(runs_dir.path(), error))?;
        fs::create_dir(&dir).map_err(|error| StoreProblem::new(&dir, error))?;
        Self::fill(runs_dir, dir.clone(), meta).inspect_err(|_| {
            // The folder holds nothing of the run. If it were left behind, it would be the latest
            // run, and a damaged one.
            let _ = fs::remove_dir_all(&dir);
        })
    }

    /// Writes everything known before the load into the new folder `dir`.
    fn fill(runs_dir: &RunsDir, dir: PathBuf, meta: &RunMeta) -> Result<Self, StoreProblem> {
        let intervals = dir.join("intervals");
        fs::create_dir(&intervals).map_err(|error| StoreProblem::new(&intervals, error))?;
        let held = write_held(&dir.join("plan.yaml"), &meta.plan_yaml)?;
        write_atomic(&dir.join("environment.json"), &(meta.environment.to_json() + "\n"))?;
        sync_dir(&dir)?;
        sync_dir(runs_dir.path())?;
        Ok(Self {
            agent: meta.agent.clone(),
            epoch: meta.epoch,
            seq: 0,
            intervals: LineFile::new(&intervals.join(format!("{}.jsonl", sanitized(&meta.agent)))),
            agents: AgentFiles::new(&intervals),
            events: LineFile::new(&dir.join("events.jsonl")),
            fleet: LineFile::new(&dir.join("fleet.jsonl")),
            samples: LineFile::new(&dir.join("samples.jsonl")),
            host: HostFileWriter::new(&dir, &sanitized(&meta.agent)),
            others: Vec::new(),
            truth: LineFile::new(&dir.join("truth.jsonl")),
            synced: None,
            cumulative: Cumulative::default(),
            checkpointed: None,
            gap: false,
            reported: false,
            held,
            dir,
        })
    }

    /// The archive's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Adds a sealed interval, merged over threads, at `now`. Also writes a checkpoint and syncs
    /// the files when they are due.
    pub fn interval(&mut self, now: Nanos, interval: &Interval) -> Option<StoreProblem> {
        self.cumulative.add(interval);
        let mut outcome = self.intervals.append(self.line(false, interval));
        let due = now.since(*self.checkpointed.get_or_insert(now)) >= constants::CHECKPOINT_EVERY.0 as u64;
        if outcome.is_ok() && (due || self.gap) {
            outcome = self.intervals.append(self.line(true, self.cumulative.sum()));
            self.checkpointed = Some(now);
        }
        self.gap = outcome.is_err();
        self.seq += 1;
        let synced = self.sync_when_due(now);
        self.report_once(outcome.and(synced))
    }

    /// Adds the line of an agent's interval at `now`, byte by byte and without its newline. Also
    /// syncs the files when that is due. Each agent has its own file, so an archive has either
    /// these intervals or those of [`ArchiveWriter::interval`].
    ///
    /// A line that could not be written is not in the agent's digest.
    pub fn agent_interval(&mut self, now: Nanos, agent: &str, line: &str) -> Option<StoreProblem> {
        let outcome = self.agents.append(agent, line);
        let synced = self.sync_when_due(now);
        self.report_once(outcome.and(synced))
    }

    /// SHA-256 over the written lines of an agent in order, each with its newline, in hexadecimal.
    /// It is that of [`crate::Spool::digest`] if both have the same lines.
    pub fn agent_digest(&self, agent: &str) -> String {
        self.agents.digest(agent)
    }

    /// Waits until everything written so far is on the disk. A controller confirms digests only
    /// after that, because agents then delete their spools.
    ///
    /// # Errors
    /// A file could not be synced.
    pub fn sync_now(&mut self) -> Result<(), StoreProblem> {
        self.sync().and_then(|()| sync_dir(&self.dir.join("intervals")))
    }

    /// Adds a record of a fleet's controller, and waits until it is on the disk.
    pub fn fleet_record(&mut self, line: String) -> Option<StoreProblem> {
        let outcome = self.fleet.append(line).and_then(|()| self.fleet.sync());
        self.report_once(outcome)
    }

    /// Adds an event.
    pub fn event(&mut self, event: &EventLine) -> Option<StoreProblem> {
        let outcome = self.events.append(event.encode());
        self.report_once(outcome)
    }

    /// Adds an example request.
    pub fn sample(&mut self, sample: &SampleLine) -> Option<StoreProblem> {
        let outcome = self.samples.append(sample.encode());
        self.report_once(outcome)
    }

    /// Adds a sample of the host that owns the run clock.
    pub fn host(&mut self, sample: &HostSample) -> Option<StoreProblem> {
        let outcome = self.host.append(sample);
        self.report_once(outcome)
    }

    /// Adds a sample of another host on this machine, a host of a lab, by its name.
    pub fn other_host(&mut self, name: &str, sample: &HostSample) -> Option<StoreProblem> {
        let known = self.others.iter().position(|(known, _)| known == name);
        let at = known.unwrap_or_else(|| {
            self.others.push((name.to_owned(), HostFileWriter::new(&self.dir, &file_stem(name))));
            self.others.len() - 1
        });
        let outcome = self.others[at].1.append(sample);
        self.report_once(outcome)
    }

    /// Adds a count reported by the target.
    pub fn truth(&mut self, sample: TargetSample) -> Option<StoreProblem> {
        let outcome = self.truth.append(TargetLine(sample).encode());
        self.report_once(outcome)
    }

    /// Appends `text` to the stored log of a service on a host of a lab.
    pub fn service_log(&mut self, host: &str, name: &str, text: &str) -> Option<StoreProblem> {
        let outcome = append_log(&self.dir, host, name, text);
        self.report_once(outcome)
    }

    /// Writes `run.json`, which marks the run as finished, and returns the archive's folder. The
    /// file appears complete or not at all. It is written even if an earlier file could not be
    /// synced.
    ///
    /// # Errors
    /// The record or an earlier file could not be written and synced.
    pub fn finish(mut self, record: &RunRecord) -> Result<PathBuf, StoreProblem> {
        let synced = self.sync_now();
        write_record(&self.dir, record)?;
        synced.map(|()| self.dir.clone())
    }

    fn line(&self, checkpoint: bool, interval: &Interval) -> String {
        IntervalLine::encode_interval(&self.agent, self.epoch, self.seq, checkpoint, interval)
    }

    fn sync_when_due(&mut self, now: Nanos) -> Result<(), StoreProblem> {
        if now.since(*self.synced.get_or_insert(now)) < constants::FSYNC_EVERY.0 as u64 {
            return Ok(());
        }
        self.synced = Some(now);
        self.sync()
    }

    fn sync(&mut self) -> Result<(), StoreProblem> {
        self.intervals.sync()?;
        self.agents.sync()?;
        self.events.sync()?;
        self.host.sync()?;
        self.others.iter_mut().try_for_each(|(_, file)| file.sync())?;
        self.truth.sync()?;
        self.samples.sync()
    }

    fn report_once(&mut self, outcome: Result<(), StoreProblem>) -> Option<StoreProblem> {
        let problem = outcome.err()?;
        (!std::mem::replace(&mut self.reported, true)).then_some(problem)
    }
}

/// Writes `run.json` into the folder of an archive. The file appears complete or not at all.
pub(crate) fn write_record(dir: &Path, record: &RunRecord) -> Result<(), StoreProblem> {
    let (partial, whole) = (dir.join("run.json.partial"), dir.join("run.json"));
    let written = write_atomic(&partial, &(record.to_json() + "\n"))
        .and_then(|()| fs::rename(&partial, &whole).map_err(|error| StoreProblem::new(&whole, error)));
    if let Err(problem) = written {
        // Clean-up only: a file without the final name is ignored.
        let _ = fs::remove_file(&partial);
        return Err(problem);
    }
    sync_dir(dir)
}

/// Appends to `services/HOST/NAME.log` inside the archive, for any host and log name. File names
/// are lower case, so no two of them differ in case alone.
fn append_log(dir: &Path, host: &str, name: &str, text: &str) -> Result<(), StoreProblem> {
    let folder = dir.join(SERVICES_FOLDER).join(file_stem(host).to_ascii_lowercase());
    let path = folder.join(format!("{}.log", file_stem(name).to_ascii_lowercase()));
    let append = || -> io::Result<()> {
        fs::create_dir_all(&folder)?;
        let mut file = File::options().create(true).append(true).open(&path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    append().map_err(|error| StoreProblem::new(&path, error))
}

/// Writes and syncs a small file, and returns it open and locked.
fn write_held(path: &Path, text: &str) -> Result<File, StoreProblem> {
    let write = || -> io::Result<File> {
        let mut file = File::options().read(true).write(true).create_new(true).open(path)?;
        // On a file system without locks, the archive is written without one.
        let _ = file.lock();
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(file)
    };
    write().map_err(|error| StoreProblem::new(path, error))
}
