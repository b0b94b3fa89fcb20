//! Reads the intervals of several agents as those of the whole fleet.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use wavetank_measure::FleetMerger;
use wavetank_record::{EventKind, IntervalLine, OverflowGuard};
use wavetank_units::{Nanos, UserError};

use crate::OpenedRun;
use crate::agent_reader::AgentReader;
use crate::contents::unreadable;
use crate::file_access::{LINE_BYTES_MAX, open_file};
use crate::read_report::{AgentGap, ArchiveItem, ReadReport};

/// The agent's name in intervals that are merged from several agents.
pub const FLEET: &str = "fleet";

/// Bytes of lines that are read from a file in one go, or one line if that is longer. Files are
/// closed in between, because a process may have fewer files open than a fleet has agents.
const BATCH_BYTES: u64 = 64 << 10;

impl OpenedRun {
    /// Passes the merged intervals of the files at `paths` to `visit`, until `visit` breaks.
    pub(crate) fn read_fleet(
        &self,
        paths: &[PathBuf],
        mut visit: impl FnMut(ArchiveItem<'_>) -> ControlFlow<()>,
    ) -> Result<ReadReport, UserError> {
        let mut fleet = Fleet::open(self, paths)?;
        let (mut report, mut counted) = (ReadReport::default(), OverflowGuard::default());
        let mut line = IntervalLine { agent: FLEET.to_owned(), epoch: 1, ..IntervalLine::default() };
        let mut flow = ControlFlow::Continue(());
        while let Some(from) = fleet.next_start()
            && flow.is_continue()
        {
            fleet.merge(from)?;
            while let Some(interval) = fleet.merger.poll() {
                // Gauges of agents that are late are counted again in each interval.
                if !counted.admit(&interval) {
                    report.damaged += 1;
                    continue;
                }
                line.interval = interval;
                flow = visit(ArchiveItem::Next(&line));
                (line.seq, report.intervals) = (line.seq + 1, report.intervals + 1);
                if flow.is_break() {
                    break;
                }
            }
        }
        for file in &mut fleet.files {
            if flow.is_continue() {
                file.agent.expect(file.sealed);
            }
            report.add_file(&file.agent.report);
            report.gaps.push(AgentGap { agent: file.name.clone(), missing: file.agent.report.missing });
        }
        Ok(report)
    }

    /// The instant at which an agent was lost, if it was.
    fn lost_at(&self, agent: &str) -> Option<Nanos> {
        let mut events =
            self.events.iter().filter(|event| event.kind == EventKind::AgentLost && event.agent == agent);
        events.next_back().map(|event| Nanos(event.at_ns))
    }
}

/// The files of all agents, read in step.
struct Fleet {
    files: Vec<FleetFile>,
    merger: FleetMerger,
    counted: OverflowGuard,
}

impl Fleet {
    fn open(run: &OpenedRun, paths: &[PathBuf]) -> Result<Self, UserError> {
        let mut counted = OverflowGuard::default();
        let mut files = Vec::new();
        for path in paths {
            let mut file = FleetFile::new(path);
            file.advance(&mut counted)?;
            if let Some(head) = &file.head {
                file.name.clone_from(&head.agent);
                file.lost_at = run.lost_at(&head.agent);
            }
            files.push(file);
        }
        // An agent that delivered nothing has no file, but a number and intervals that are missing.
        let known = run.record.iter().filter_map(|record| record.fleet.as_ref());
        for agent in known.flat_map(|fleet| &fleet.agents) {
            if let Some(file) = files.iter_mut().find(|file| file.name == agent.name) {
                file.sealed = agent.intervals;
            } else {
                let mut file = FleetFile::new(Path::new(""));
                (file.name, file.sealed) = (agent.name.clone(), agent.intervals);
                files.push(file);
            }
        }
        // Load threads have the number of their agent by the order of names.
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let merger = FleetMerger::new(files.len().try_into().unwrap_or(u16::MAX));
        Ok(Self { files, merger, counted })
    }

    /// The earliest start that is not merged yet.
    fn next_start(&self) -> Option<Nanos> {
        self.files.iter().filter_map(|file| file.head.as_ref()).map(|head| head.interval.from).min()
    }

    /// Merges the intervals that start at `from`.
    fn merge(&mut self, from: Nanos) -> Result<(), UserError> {
        for (number, file) in (0_u16..).zip(&mut self.files) {
            if let Some(head) = file.head.take_if(|head| head.interval.from == from) {
                file.last = Some(from);
                // The fleet's intervals are in order, so there are no amendments.
                let _ = self.merger.deliver(number, file.given, head.interval);
                file.given += 1;
                file.advance(&mut self.counted)?;
            } else if file.head.is_none() {
                file.report_end(&mut self.merger, number, from);
            }
        }
        self.merger.seal_until(from);
        Ok(())
    }
}

/// The file of one agent.
struct FleetFile {
    path: PathBuf,
    /// Name of the agent, or that of the file if it has no readable line.
    name: String,
    agent: AgentReader,
    /// Place of the bytes after the batch.
    next: u64,
    /// Complete lines.
    batch: Vec<u8>,
    /// Place in the batch of the next line.
    at: usize,
    /// The next interval.
    head: Option<IntervalLine>,
    /// Start of the latest merged interval.
    last: Option<Nanos>,
    /// Number of merged intervals.
    given: u64,
    lost_at: Option<Nanos>,
    /// How many intervals the agent sealed, if the run's record has that number.
    sealed: u64,
}

impl FleetFile {
    fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            agent: AgentReader::default(),
            next: 0,
            batch: Vec::new(),
            at: 0,
            head: None,
            last: None,
            given: 0,
            lost_at: None,
            sealed: 0,
        }
    }

    /// Reads up to the next interval that is new. One that starts before its predecessor is
    /// damaged.
    fn advance(&mut self, counted: &mut OverflowGuard) -> Result<(), UserError> {
        while let Some(line) = self.line()? {
            let begin = self.last;
            match IntervalLine::decode(&self.batch[line]) {
                // The sum of an agent's intervals belongs to no second of the fleet.
                Ok(line) if line.checkpoint => {}
                Ok(line) => {
                    let mut is_new = false;
                    self.agent.take(&line, &mut |_| {
                        let follows = begin.is_none_or(|begin| begin < line.interval.from);
                        is_new = follows && counted.admit(&line.interval);
                        is_new
                    });
                    if is_new {
                        self.head = Some(line);
                        return Ok(());
                    }
                }
                Err(error) => self.agent.refuse(&error),
            }
        }
        Ok(())
    }

    /// Returns the place in the batch of the next line, without its newline.
    fn line(&mut self) -> Result<Option<std::ops::Range<usize>>, UserError> {
        if self.at == self.batch.len() {
            self.fill().map_err(|error| unreadable(&self.path, &error))?;
        }
        let length = self.batch[self.at..].iter().position(|&byte| byte == b'\n');
        Ok(length.map(|length| {
            let begin = self.at;
            self.at += length + 1;
            begin..begin + length
        }))
    }

    /// Reads the next complete lines.
    fn fill(&mut self) -> io::Result<()> {
        self.batch.clear();
        self.at = 0;
        let mut file = open_file(&self.path)?;
        file.seek(SeekFrom::Start(self.next))?;
        let mut reader = BufReader::with_capacity(BATCH_BYTES as usize, file);
        reader.by_ref().take(BATCH_BYTES).read_to_end(&mut self.batch)?;
        if !self.batch.contains(&b'\n') {
            reader.take(LINE_BYTES_MAX).read_until(b'\n', &mut self.batch)?;
        }
        let whole = self.batch.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        self.agent.report.torn = u64::from(whole == 0 && !self.batch.is_empty());
        self.batch.truncate(whole);
        self.next += whole as u64;
        Ok(())
    }

    /// Reports the end of the file to `merger` as of the interval that starts at `from`.
    fn report_end(&self, merger: &mut FleetMerger, number: u16, from: Nanos) {
        match self.lost_at {
            Some(at) if self.last.is_none_or(|last| last < at) => {
                // Until it was missed, the agent counted as late.
                if from >= at {
                    merger.agent_lost(number);
                }
            }
            _ => merger.agent_ended(number),
        }
    }
}
