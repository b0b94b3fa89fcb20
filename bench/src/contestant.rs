//! [`Contestant`]: a generator with its command, in a comparison of work that only files describe.

use anyhow::{Context as _, Result};

use crate::claims::{self, ReportedResult};
use crate::command_text::shown;
use crate::engine::Engine;
use crate::meter::{Job, Used};
use crate::paired_rounds::Turn;
use crate::server::{Counted, Server};
use crate::session::Session;

/// Reads the reported counts from the output of a generator.
type CountReader = Box<dyn Fn(&Used) -> Result<ReportedResult>>;

/// A generator and its command.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    words: Vec<String>,
    /// Exit codes other than 0 that are not errors.
    fine: &'static [i32],
    /// Reads the reported counts of what was done and sent from its output.
    claim: CountReader,
    /// Cost of an almost empty run, in µs and in cycles.
    start: (f64, f64),
}

/// The work of a turn.
#[derive(Clone, Copy)]
pub(crate) struct WorkUnit {
    /// What the target counts.
    pub(crate) counted: Counted,
    /// How many of these one unit of work has.
    pub(crate) per_unit: u64,
    /// Most of these that are in flight at the end, and that a generator need not report.
    pub(crate) in_flight: usize,
    /// How long the generator should take.
    pub(crate) seconds: u32,
}

impl Contestant {
    /// Returns ours: `wavetank run` with `arguments`, on one thread of `engine`.
    pub(crate) fn wavetank(session: &Session, engine: Engine, arguments: &str) -> Self {
        let line = format!(
            "{} run {arguments} --threads 1 --engine {} --format json --quiet --runs-dir {}",
            session.wavetank.display(),
            engine.name(),
            session.folder.path().join("runs").display()
        );
        let words = line.split(' ').map(str::to_owned).collect();
        // The verdict is not compared. Exit codes 1, 3 and 4 mean that the run completed.
        let fine = &[1, 3, 4];
        Self::new("wavetank", words, fine, |used| claims::wavetank(&used.stdout))
    }

    /// Returns a generator that starts from nothing.
    pub(crate) fn new(
        name: &'static str,
        words: Vec<String>,
        fine: &'static [i32],
        claim: impl Fn(&Used) -> Result<ReportedResult> + 'static,
    ) -> Self {
        Self { name, words, fine, claim: Box::new(claim), start: (0.0, 0.0) }
    }

    /// Returns a peer with the command `line`, split at spaces.
    pub(crate) fn peer(
        name: &'static str,
        line: &str,
        claim: impl Fn(&Used) -> Result<ReportedResult> + 'static,
    ) -> Self {
        Self::new(name, line.split(' ').map(str::to_owned).collect(), &[], claim)
    }

    /// Subtracts the cost of `idle`, an almost empty run, from every turn.
    pub(crate) fn subtract(&mut self, session: &Session, idle: &Self, seconds: u32) -> Result<()> {
        let used = Job { words: &idle.words, fine: idle.fine, seconds, cycles_of: &[] }.run(session)?;
        self.start = (used.cpu_us, used.cycles.unwrap_or(0.0));
        println!("subtracted {:.0} ms, what an almost empty run of {} uses", used.cpu_us / 1e3, self.name);
        Ok(())
    }

    /// Prints its command.
    pub(crate) fn print(&self) {
        println!("{:<10} {}", self.name, shown(&self.words));
    }

    /// Runs one turn and checks the reported count against the target's count.
    pub(crate) fn turn(&self, session: &Session, server: &Server, unit: WorkUnit) -> Result<Turn> {
        let before = server.count_of(unit.counted)?;
        let job = Job { words: &self.words, fine: self.fine, seconds: unit.seconds, cycles_of: &[] };
        let used = job.run(session)?;
        let claim = (self.claim)(&used).with_context(|| format!("`{}`", shown(&self.words)))?;
        let seen = server.count_of_since(unit.counted, before)?;
        let cpu_us = used.cpu_us - self.start.0;
        let too_short = (cpu_us <= 0.0).then(|| format!("{} used less than its start", self.name));
        Ok(Turn {
            done: claim.done / unit.per_unit,
            cpu_us,
            cycles: used.cycles.map(|cycles| cycles - self.start.1),
            peak_rss_bytes: used.peak_rss_bytes,
            void: claim.doubt(seen, unit.in_flight).or(too_short),
        })
    }
}
