//! [`OpenedRun`]: an archive read back, finished or not.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wavetank_plan::Plan;
use wavetank_record::{
    DecodeError, EnvironmentDoc, EventLine, IntervalLine, OverflowGuard, PlanDoc, RunRecord, SampleLine,
};
use wavetank_units::{Code, UserError, sanitize};

use crate::agent_reader::AgentReader;
use crate::archive_error::{newer, not_an_archive, unread};
use crate::contents::{line_files, unreadable};
use crate::file_access::{LINE_BYTES_MAX, is_locked, open_file, read_text};
use crate::pack::Unpacked;
use crate::read_ahead::{ALL_HANDED_ON, for_each_decoded};
use crate::read_report::{ArchiveItem, ReadReport};

/// An archive, with everything small already read.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedRun {
    /// Its folder.
    pub dir: PathBuf,
    /// `run.json`; `None` if the run never finished.
    pub record: Option<RunRecord>,
    /// Text of `plan.yaml`; empty if it is missing.
    pub plan_yaml: String,
    /// `environment.json`, if it could be read.
    pub environment: Option<EnvironmentDoc>,
    /// `events.jsonl`, damaged lines left out.
    pub events: Vec<EventLine>,
    /// `samples.jsonl`, damaged lines left out.
    pub samples: Vec<SampleLine>,
    /// The pack that the archive came from. `dir` is then a temporary folder, which is removed with
    /// the last copy of this value.
    pub(crate) pack: Option<Arc<Unpacked>>,
}

/// Opens the archive at `path`: a folder, or a packed run.
///
/// # Errors
/// A usage error if `path` is not an archive, if its `run.json` is unreadable, or if the pack was
/// altered.
pub fn open(path: &Path) -> Result<OpenedRun, UserError> {
    if path.is_file() {
        let unpacked = Arc::new(Unpacked::new(path)?);
        return open_folder(unpacked.dir(), Some(&unpacked));
    }
    open_folder(path, None)
}

fn open_folder(dir: &Path, pack: Option<&Arc<Unpacked>>) -> Result<OpenedRun, UserError> {
    let reported = pack.map_or(dir, |pack| pack.path());
    let run_json = read_text(&dir.join("run.json"))?;
    let plan_yaml = read_text(&dir.join("plan.yaml"))?;
    if run_json.is_none() && plan_yaml.is_none() {
        return Err(not_an_archive(reported));
    }
    let record = run_json.as_deref().map(RunRecord::from_json).transpose();
    let record = record.map_err(|error| unread(reported, pack.is_some(), "run.json", &error))?;
    // A finished run can be reported without `environment.json`.
    let environment = read_text(&dir.join("environment.json")).ok().flatten();
    Ok(OpenedRun {
        dir: dir.to_owned(),
        record,
        plan_yaml: plan_yaml.unwrap_or_default(),
        environment: environment.and_then(|text| EnvironmentDoc::from_json(&text).ok()),
        events: read_lines(&dir.join("events.jsonl"), EventLine::decode)?,
        samples: read_lines(&dir.join("samples.jsonl"), SampleLine::decode)?,
        pack: pack.cloned(),
    })
}

impl OpenedRun {
    /// The location for messages: the archive's folder, or the packed run that it came from.
    pub fn display_path(&self) -> String {
        sanitize(&self.pack.as_ref().map_or(&*self.dir, |pack| pack.path()).to_string_lossy()).into_owned()
    }

    /// Whether a process writes to it at this moment.
    pub fn is_written(&self) -> bool {
        self.record.is_none() && is_locked(&self.dir)
    }

    /// Whether it was taken from a packed run.
    pub const fn is_packed(&self) -> bool {
        self.pack.is_some()
    }

    /// Passes every sealed interval to `visit`, in the order of their numbers. If there are several
    /// agents, their intervals of one start come as one of the whole fleet, in order of time
    /// ([`wavetank_measure::FleetMerger`]), and the agent's name is [`FLEET`](crate::FLEET).
    /// Intervals are streamed, since the histograms of an hour do not fit into memory.
    ///
    /// # Errors
    /// A usage error if the files cannot be read at all.
    pub fn read_intervals(&self, mut visit: impl FnMut(ArchiveItem<'_>)) -> Result<ReadReport, UserError> {
        self.read_intervals_until(|sealed| {
            visit(sealed);
            ControlFlow::Continue(())
        })
    }

    /// Like [`read_intervals`](Self::read_intervals), but stops when `visit` breaks.
    pub(crate) fn read_intervals_until(
        &self,
        mut visit: impl FnMut(ArchiveItem<'_>) -> ControlFlow<()>,
    ) -> Result<ReadReport, UserError> {
        let paths = line_files(&self.dir.join("intervals"))?;
        let fleet = self.record.as_ref().and_then(|record| record.fleet.as_ref());
        let path = match &paths[..] {
            // Of a larger fleet, only one agent may have delivered.
            [path] if fleet.is_none_or(|fleet| fleet.agents.len() == 1) => path,
            _ => return self.read_fleet(&paths, visit),
        };
        let (mut agent, mut counted) = (AgentReader::default(), OverflowGuard::default());
        let mut flow = ControlFlow::Continue(());
        let torn = for_each_interval(path, |read| {
            match read {
                Ok(line) => agent.take(line, &mut |sealed| {
                    let fits = counted.admit(&line.interval);
                    if fits {
                        flow = visit(sealed);
                    }
                    fits
                }),
                Err(error) => agent.refuse(error),
            }
            flow
        })?;
        agent.report.torn = u64::from(torn);
        Ok(agent.report)
    }
}

impl OpenedRun {
    /// Returns the plan, complete enough to judge the run again, with the changes of the load that
    /// were made while it ran.
    ///
    /// # Errors
    /// A usage error if `plan.yaml` is missing or damaged, or differs from the plan that `run.json`
    /// was made with.
    pub fn plan(&self) -> Result<Plan, UserError> {
        let hash = self.record.as_ref().map_or("", |record| record.plan_hash.as_str());
        let read = PlanDoc::from_yaml(&self.plan_yaml).and_then(|doc| doc.plan()).and_then(|plan| {
            // Under another plan, the numbers would be reported wrongly.
            let changed = !hash.is_empty() && PlanDoc::hash(&self.plan_yaml) != hash;
            let changed = changed
                .then(|| DecodeError::new("it is not the plan that was run: its SHA-256 is different"));
            changed.map_or(Ok(plan), Err)
        });
        let read = read.map(|mut plan| {
            for (at, phase, change) in self.events.iter().filter_map(EventLine::load_change) {
                // The run made this change, so the plan can take it, unless the line is damaged.
                let _ = plan.change_load(at, phase, change);
            }
            plan
        });
        read.map_err(|error| {
            if error.is_newer() {
                return newer(&self.display_path(), "plan.yaml", &error);
            }
            let hint = match (&self.record, self.plan_yaml.is_empty()) {
                (Some(_), _) => "`run.json` is intact: use `wavetank report RUN` to show what it contains",
                (None, true) => "the run was stopped before its load started: there is nothing to report",
                (None, false) => {
                    "the sealed intervals are still in `intervals/`: restore the original `plan.yaml` to report them"
                }
            };
            let message = format!("cannot read `plan.yaml` of `{}`: {error}", self.display_path());
            UserError::usage(Code::ArchiveDamaged, message, hint)
        })
    }
}

fn read_lines<T, E>(path: &Path, decode: impl Fn(&[u8]) -> Result<T, E>) -> Result<Vec<T>, UserError> {
    let mut lines = Vec::new();
    for_each_line(path, |line| lines.extend(decode(line).ok()))?;
    Ok(lines)
}

/// Passes complete lines to `visit`, without their newline. Returns whether the file ended without
/// one.
pub(crate) fn for_each_line(path: &Path, mut visit: impl FnMut(&[u8])) -> Result<bool, UserError> {
    for_each_line_from(path, 0, |line| {
        visit(line);
        ControlFlow::Continue(())
    })
}

/// Like [`for_each_line`] for lines with intervals: a few threads read ahead, until `visit` breaks.
fn for_each_interval(
    path: &Path,
    visit: impl FnMut(&Result<IntervalLine, DecodeError>) -> ControlFlow<()>,
) -> Result<bool, UserError> {
    let decode = |bytes: &[u8], earlier: Option<Result<IntervalLine, DecodeError>>| {
        let mut line = earlier.and_then(Result::ok).unwrap_or_default();
        line.decode_again(bytes).map(|()| line)
    };
    let read = open_file(path).and_then(|file| for_each_decoded(file, ALL_HANDED_ON, decode, visit));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        read => read.map_err(|error| unreadable(path, &error)),
    }
}

/// Like [`for_each_line`], but starts at byte `from`, which is the start of a line, and stops when
/// `visit` breaks.
pub(crate) fn for_each_line_from(
    path: &Path,
    from: u64,
    mut visit: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<bool, UserError> {
    let mut file = match open_file(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(unreadable(path, &error)),
    };
    if from > 0 {
        file.seek(SeekFrom::Start(from)).map_err(|error| unreadable(path, &error))?;
    }
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let bytes = read.map_err(|error| unreadable(path, &error))?;
        if bytes == 0 {
            return Ok(false);
        }
        if line.pop() != Some(b'\n') {
            return Ok(true);
        }
        if visit(&line).is_break() {
            return Ok(false);
        }
    }
}
