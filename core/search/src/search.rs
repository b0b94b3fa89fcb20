//! [`Search`]: which level is tried next.

use crate::ladder::{higher, inside, lower};
use crate::shuffle::shuffle;
use crate::sustained_share::SustainedShares;
use crate::{
    LevelTallies, Point, RunOutcome, RunRequest, SearchEnd, SearchResult, Setup, Stage, StopReason, bounds,
    half_crossing, isotonic_fit,
};

/// Largest factor on the length of a run that is repeated because it could not decide.
const STRETCH_MAX: u32 = 8;
/// Runs of one level that the generator may spoil before it counts as the limit.
const SPOILED_MAX: u32 = 3;
/// How often levels are added below and above: twice by one distance, then each time twice as far
/// from the last.
const ADDED_MAX: u32 = 12;

/// The state machine. Call [`next`](Self::next), execute that run, and pass its outcome to
/// [`result`](Self::result), until `next` returns `None`.
#[derive(Clone, Debug)]
pub struct Search {
    setup: Setup,
    stage: Stage,
    /// The current level, until the random order.
    level: f64,
    /// Results at that level so far.
    tries: Vec<RunOutcome>,
    /// The highest level that held.
    low: Option<f64>,
    /// The lowest level that did not.
    high: Option<f64>,
    /// The lowest level at which the generator was the limit.
    generator: Option<f64>,
    /// The remaining runs of the random order, the next one last.
    pending: Vec<f64>,
    /// Levels with runs that the generator spoiled, once for each run.
    spoiled: Vec<f64>,
    tally: LevelTallies,
    kept: SustainedShares,
    /// From one level of the random order to the next.
    ratio: f64,
    added: u32,
    stretch: u32,
    runs: u32,
    end: Option<SearchEnd>,
}

impl Search {
    /// A search that has not begun. `setup` is one that [`Setup::check`] lets pass.
    pub fn new(setup: Setup) -> Self {
        Self {
            stage: Stage::Climb,
            level: setup.from,
            tries: Vec::new(),
            low: None,
            high: None,
            generator: None,
            pending: Vec::new(),
            spoiled: Vec::new(),
            tally: LevelTallies::default(),
            kept: SustainedShares::default(),
            ratio: 1.0 + setup.step,
            added: 0,
            stretch: 1,
            runs: 0,
            end: None,
            setup,
        }
    }

    /// Returns the next run to make; `None` when the search is over.
    pub fn next(&self) -> Option<RunRequest> {
        if self.end.is_some() {
            return None;
        }
        let level = match self.stage {
            Stage::Measure => *self.pending.last()?,
            Stage::Climb | Stage::Confirm | Stage::Narrow | Stage::Check => self.level,
        };
        Some(RunRequest { level, stage: self.stage, stretch: self.stretch })
    }

    /// Handles the outcome of the requested run. `kept` is the share (0 to 1) of its load that was
    /// certainly done in time
    /// ([`QueueGrowth::done_in_time_share`](crate::QueueGrowth::done_in_time_share)); 1 where
    /// nothing can queue up, as with users who wait for their responses.
    pub fn result(&mut self, seen: RunOutcome, kept: f64) {
        let Some(wanted) = self.next() else { return };
        self.runs += 1;
        if seen == RunOutcome::Pass {
            self.kept.add(wanted.level, kept);
        }
        if seen == RunOutcome::Undecided {
            if self.stretch >= STRETCH_MAX {
                self.end = Some(SearchEnd::Stopped(StopReason::Undecided));
            }
            // It stays longer: what decides one level is needed by the next as well.
            self.stretch *= 2;
        } else if self.stage == Stage::Measure {
            self.measured(wanted.level, seen);
        } else {
            self.tries.push(seen);
            self.tried();
        }
        if self.runs >= self.setup.runs_max && self.end.is_none() {
            self.end = Some(SearchEnd::Stopped(StopReason::Runs));
        }
    }

    /// Ends it before its time.
    pub fn stop(&mut self, why: StopReason) {
        self.end.get_or_insert(SearchEnd::Stopped(why));
    }

    fn tried(&mut self) {
        let decided = match self.stage {
            Stage::Confirm => majority(&self.tries, self.setup.repeats.div_ceil(2) as usize),
            // A level that passes is accepted after one run, and so is one that only narrows the
            // bracket.
            Stage::Climb if self.tries == [RunOutcome::Pass] => Some(RunOutcome::Pass),
            Stage::Narrow if self.tries[0] != RunOutcome::Generator => Some(self.tries[0]),
            // A search that ends at its first level, or because of the generator, must not do so
            // for a single disturbance.
            Stage::Climb if self.low.is_none() => majority(&self.tries, SPOILED_MAX as usize),
            _ => majority(&self.tries, 2).filter(|&seen| seen != RunOutcome::Generator || self.spoiled_out()),
        };
        let Some(seen) = decided else { return };
        self.tries.clear();
        match (self.stage, seen) {
            (Stage::Climb, RunOutcome::Pass) => self.climb_on(),
            (Stage::Confirm, RunOutcome::Pass) => {
                let end = if self.generator.is_some() { SearchEnd::Generator } else { SearchEnd::Above };
                self.end = Some(end);
            }
            (Stage::Confirm, RunOutcome::Fail) => {
                // It held before and does not now: the knee is near, below it.
                self.high = Some(self.level);
                let below = self.setup.grain.nearest(self.level / self.setup.factor);
                self.low = Some(below.max(self.setup.from));
                self.narrow();
            }
            (Stage::Narrow, RunOutcome::Pass) => {
                self.low = Some(self.level);
                self.narrow();
            }
            (_, RunOutcome::Fail) => self.failed(),
            (_, _) => self.limited(),
        }
    }

    /// Whether the generator was the limit so often that it is one.
    fn spoiled_out(&self) -> bool {
        self.tries.iter().filter(|&&seen| seen == RunOutcome::Generator).count() >= SPOILED_MAX as usize
    }

    /// The level held: the next one, or the last once more.
    fn climb_on(&mut self) {
        self.low = Some(self.level);
        if self.level >= self.setup.to {
            self.stage = Stage::Confirm;
            return;
        }
        self.level = self.setup.grain.nearest(self.level * self.setup.factor).min(self.setup.to);
    }

    /// The level did not hold.
    fn failed(&mut self) {
        self.high = Some(self.level);
        if self.low.is_none() {
            self.end = Some(SearchEnd::Below);
        } else {
            self.narrow();
        }
    }

    /// The generator is the limit at this level.
    fn limited(&mut self) {
        self.generator = Some(self.level);
        match (self.stage, self.low) {
            (Stage::Climb, Some(low)) => {
                self.level = low;
                self.stage = Stage::Confirm;
            }
            (Stage::Narrow, Some(_)) => {
                // It cannot be an end of the bracket for measuring, but no level above it can be
                // one either.
                self.high = Some(self.level);
                self.narrow();
            }
            _ => self.end = Some(SearchEnd::Generator),
        }
    }

    /// Halves the bracket, or goes to the levels inside it.
    fn narrow(&mut self) {
        let (Some(low), Some(high)) = (self.low, self.high) else { return };
        let middle = self.setup.grain.nearest((low * high).sqrt());
        let narrow = high / low <= self.setup.bracket() * (1.0 + 1e-9);
        if !narrow && low < middle && middle < high {
            self.stage = Stage::Narrow;
            self.level = middle;
            return;
        }
        if self.setup.quick {
            // Without further levels, the ends of the bracket are all that is known beyond these.
            self.tally.add(low, true);
            if self.generator.is_none_or(|most| high < most) {
                self.tally.add(high, false);
            }
        }
        self.stage = Stage::Measure;
        self.ratio = (high / low).powf(1.0 / (f64::from(self.setup.levels) + 1.0)).max(1.0 + self.setup.step);
        let mut levels = inside(&self.setup, low, high);
        levels.retain(|&level| self.generator.is_none_or(|most| level < most));
        self.plan(&levels);
    }

    /// All runs of `levels`, in random order.
    fn plan(&mut self, levels: &[f64]) {
        for _ in 0..self.setup.repeats {
            self.pending.extend_from_slice(levels);
        }
        shuffle(&mut self.pending, self.setup.seed, u64::from(self.added));
        if self.pending.is_empty() {
            self.settle();
        }
    }

    /// A run of the random order that decided something.
    fn measured(&mut self, level: f64, seen: RunOutcome) {
        self.pending.pop();
        if seen == RunOutcome::Generator {
            self.spoiled.push(level);
            let spoiled = self.spoiled.iter().filter(|one| one.total_cmp(&level).is_eq()).count();
            if spoiled as u32 >= SPOILED_MAX {
                self.generator = Some(self.generator.map_or(level, |most| most.min(level)));
                self.pending.retain(|&one| one < level);
            } else {
                // Later, when what disturbed it may be over.
                self.pending.insert(0, level);
            }
        } else {
            self.tally.add(level, seen == RunOutcome::Pass);
        }
        if self.pending.is_empty() {
            self.settle();
        }
    }

    /// All that was planned was run: is that enough?
    fn settle(&mut self) {
        let levels = self.tally.levels();
        let proven = bounds(levels);
        let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
            self.end = Some(self.ended(false));
            return;
        };
        let ratio = self.ratio.powi(1 << self.added.saturating_sub(1).min(10));
        let most = self.generator.map_or(self.setup.to, |at| at.min(self.setup.to));
        let mut more = Vec::new();
        if self.added < ADDED_MAX && !self.setup.quick {
            if proven.low.is_none() {
                more.extend(lower(&self.setup, first.level, ratio));
            }
            if proven.high.is_none() {
                let next = higher(&self.setup, last.level, ratio, most);
                more.extend(next.filter(|&level| self.generator.is_none_or(|at| level < at)));
            }
        }
        if more.is_empty() {
            self.end = Some(self.ended(proven.high.is_some()));
        } else {
            self.added += 1;
            self.plan(&more);
        }
    }

    /// Returns the kind of end when no run is left.
    fn ended(&self, high_proven: bool) -> SearchEnd {
        let fit = isotonic_fit(self.tally.levels());
        match half_crossing(self.tally.levels(), &fit) {
            Some(_) if high_proven || self.generator.is_none() => SearchEnd::Found,
            // If even the lowest level fails, the limit of the generator does not matter.
            None if fit.last().is_some_and(|&chance| chance < 0.5) => SearchEnd::Below,
            _ if self.generator.is_some() => SearchEnd::Generator,
            _ => SearchEnd::Above,
        }
    }

    /// Returns the result so far, or the final one.
    pub fn answer(&self) -> SearchResult {
        let levels = self.tally.levels();
        let fit = isotonic_fit(levels);
        let proven = bounds(levels);
        let points: Vec<_> = levels
            .iter()
            .zip(&fit)
            .map(|(one, &chance)| Point { level: one.level, runs: one.runs(), passed: one.passed, chance })
            .collect();
        // Without proof the ends are the highest level that mostly passed, and the lowest that
        // mostly failed. A search that was stopped has too few runs for that.
        let end = self.end.unwrap_or(SearchEnd::Stopped(StopReason::UnderWay));
        let stopped = matches!(end, SearchEnd::Stopped(_));
        let (held, broke) = if stopped { unanimous(&points) } else { likely(&points) };
        let (low, high) = (proven.low.or(held).or(self.low), proven.high.or(broke).or(self.high));
        // Levels that contradict each other strongly can prove both ends the wrong way round. The
        // knee is then between them.
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (Some(low.min(high)), Some(high.max(low))),
            ends => ends,
        };
        let high = high.filter(|_| !matches!(end, SearchEnd::Above | SearchEnd::Generator));
        let low_level = low;
        // If a level beyond failed, a queue may hide in one that passed. Without such a level, the
        // bound is the offered load.
        let sustained = |level: f64| match self.kept.share_at(level) {
            share if share < 1.0 && high.is_some() => self.setup.grain.nearest(level * share),
            _ => level,
        };
        let low = low.map(sustained);
        let within = |knee: f64| knee.max(low.unwrap_or(knee)).min(high.unwrap_or(knee));
        let at = half_crossing(levels, &fit).map(|knee| within(sustained(self.setup.grain.below(knee))));
        let knee = match end {
            SearchEnd::Found => at,
            SearchEnd::Above | SearchEnd::Generator => low,
            SearchEnd::Below => None,
            // Only the bracket is known until both of its ends are proven.
            SearchEnd::Stopped(_) => at.filter(|_| proven.low.is_some() && proven.high.is_some()),
        };
        SearchResult {
            end,
            knee,
            low: low.filter(|_| end != SearchEnd::Below),
            low_level: low_level.filter(|_| end != SearchEnd::Below),
            low_proven: proven.low.is_some(),
            high,
            high_proven: proven.high.is_some(),
            generator_at: self.generator,
            points,
        }
    }
}

/// Returns the highest level that mostly passed, and the lowest that mostly failed.
fn likely(points: &[Point]) -> (Option<f64>, Option<f64>) {
    let held = points.iter().rev().find(|point| point.chance >= 0.5);
    let broke = points.iter().find(|point| point.chance < 0.5);
    (held.map(|point| point.level), broke.map(|point| point.level))
}

/// Returns the highest level up to which every run passed, and the lowest from which on none did.
fn unanimous(points: &[Point]) -> (Option<f64>, Option<f64>) {
    let held = points.iter().take_while(|point| point.passed == point.runs).last();
    let broke = points.iter().rev().take_while(|point| point.passed == 0).last();
    (held.map(|point| point.level), broke.map(|point| point.level))
}

/// Returns the outcome that at least `needed` of `tries` agree on.
fn majority(tries: &[RunOutcome], needed: usize) -> Option<RunOutcome> {
    let kinds = [RunOutcome::Pass, RunOutcome::Fail, RunOutcome::Generator];
    kinds.into_iter().find(|&kind| tries.iter().filter(|&&seen| seen == kind).count() >= needed)
}
