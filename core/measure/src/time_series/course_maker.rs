//! [`TimeSeriesBuilder`]: makes a [`TimeSeries`] of intervals.

use wavetank_plan::Plan;
use wavetank_units::Nanos;

use super::cells::{StepBuckets, StepTotals};
use super::column::TimeBucket;
use super::grid::BucketGrid;
use super::untimed::CheckpointOnly;
use super::{TimeSeries, bucket_length};
use crate::{Interval, PhaseWindows, RequestCounters};

/// Builds a [`TimeSeries`]. Intervals may arrive in any order, from one agent or merged from
/// several. Each of several agents may also have its own builder; [`TimeSeriesBuilder::absorb`]
/// then merges them, with the same result.
#[derive(Clone, Debug)]
pub struct TimeSeriesBuilder {
    spans: PhaseWindows,
    columns_max: usize,
    grid: BucketGrid,
    cells: StepBuckets,
    warmup_after: RequestCounters,
    untimed: Option<CheckpointOnly>,
}

impl TimeSeriesBuilder {
    /// Creates an empty builder for `plan`, with at most `columns_max` buckets, which is limited to
    /// 3 up to [`TimeSeries::COLUMNS_MAX`]. Buckets start with a length of 1 s and become longer as
    /// needed.
    pub fn new(plan: &Plan, columns_max: usize) -> Self {
        let len = bucket_length::shortest_bucket_length(0, 0, 1);
        Self {
            spans: PhaseWindows::new(plan),
            columns_max: columns_max.clamp(3, TimeSeries::COLUMNS_MAX),
            grid: BucketGrid::new(len),
            cells: StepBuckets::new(len),
            warmup_after: RequestCounters::default(),
            untimed: None,
        }
    }

    /// Sets the time range of all intervals if it is known beforehand, so that buckets have the
    /// best length from the start. Merging buckets sometimes makes them longer than needed, because
    /// 5 s cannot be made of buckets of 2 s. Must be called before any interval is added. Intervals
    /// outside the range are still accepted.
    #[must_use]
    pub fn spanning(mut self, from: Nanos, until: Nanos) -> Self {
        let len = bucket_length::shortest_bucket_length(from.0, until.0, self.columns_max - 1);
        (self.grid, self.cells) = (BucketGrid::new(len), StepBuckets::new(len));
        self
    }

    /// Phase number `phase` ended at `at`, before its planned end or without one. Must be called
    /// before any interval is added.
    pub fn phase_ended(&mut self, phase: u16, at: Nanos) {
        self.spans.phase_ended(phase, at);
    }

    /// Adds an interval.
    pub fn add(&mut self, interval: &Interval) {
        self.reach((interval.from.0, interval.from.0));
        let in_warmup = self.spans.in_warmup(interval);
        let mut open = [0; 2];
        for series in &interval.steps {
            let warmup = self.spans.is_warmup(series.key.phase);
            open[usize::from(warmup)] += series.open;
            if warmup && !in_warmup {
                self.warmup_after.merge(&series.counters);
                continue;
            }
            let building = self.grid.column(warmup, interval.from);
            building.column.add_step(series);
            if !warmup {
                self.cells.add(series, interval.from);
            }
        }
        for series in &interval.phases {
            let warmup = self.spans.is_warmup(series.phase);
            if !warmup || in_warmup {
                let column = &mut self.grid.column(warmup, interval.from).column;
                column.lag.merge(&series.lag);
                column.wait.merge(&series.wait);
            }
        }
        // A judged key cannot have requests in the warm-up's time, but nothing depends on it.
        if in_warmup && self.grid.has(false, interval.from) {
            let building = self.grid.column(false, interval.from);
            let gauges = building.cover(interval);
            building.set_gauges(gauges, (open[0], 0, 0, 0));
        }
        let building = self.grid.column(in_warmup, interval.from);
        let gauges = building.cover(interval);
        let conns = &interval.conns;
        let own = open[usize::from(in_warmup)];
        building.set_gauges(gauges, (own, interval.users, conns.opening, conns.open));
        building.column.add_rest(interval);
    }

    /// Adds the sum of all intervals up to a checkpoint, after some intervals of the agent in this
    /// builder were lost. The counts of the lost intervals are then known, but not their times.
    /// Later intervals are added as before.
    pub fn checkpoint(&mut self, sum: &Interval) {
        let (known_column, known_steps) = self.known();
        let mut whole = TimeBucket::default();
        let mut steps = StepTotals::new();
        for series in sum.steps.iter().filter(|series| !self.spans.is_warmup(series.key.phase)) {
            whole.add_step(series);
            let total = steps.entry((series.key.scenario, series.key.step)).or_default();
            total.0.merge(&series.counters);
            total.1.merge(&series.response);
        }
        for series in sum.phases.iter().filter(|series| !self.spans.is_warmup(series.phase)) {
            whole.lag.merge(&series.lag);
            whole.wait.merge(&series.wait);
        }
        (whole.conns, whole.bytes, whole.packets) = (sum.conns, sum.bytes, sum.packets);
        let steps =
            steps.iter().map(|(name, whole)| (*name, CheckpointOnly::step(whole, known_steps.get(name))));
        let more =
            CheckpointOnly { steps: steps.collect(), column: CheckpointOnly::column(&whole, &known_column) };
        self.untimed.get_or_insert_default().absorb(&more);
    }

    /// Adds the data of another builder for the same plan.
    pub fn absorb(&mut self, mut other: Self) {
        if let Some(reach) = other.grid.reach {
            self.reach(reach);
        }
        if let Some(reach) = self.grid.reach {
            other.columns_max = self.columns_max;
            other.reach(reach);
        }
        while self.grid.len != other.grid.len {
            let shorter = if self.grid.len < other.grid.len { &mut *self } else { &mut other };
            let Some(longer) = bucket_length::next(shorter.grid.len) else { return };
            shorter.widen(longer);
        }
        while self.cells.len != other.cells.len {
            let shorter = if self.cells.len < other.cells.len { &mut *self } else { &mut other };
            let Some(longer) = bucket_length::next(shorter.cells.len) else { return };
            shorter.cells.widen(longer);
        }
        self.grid.merge(other.grid);
        self.cells.absorb(other.cells);
        self.warmup_after.merge(&other.warmup_after);
        if let Some(theirs) = &other.untimed {
            self.untimed.get_or_insert_default().absorb(theirs);
        }
    }

    /// The course.
    pub fn finish(self) -> TimeSeries {
        let Self { grid, cells, warmup_after, untimed, .. } = self;
        let mut course = TimeSeries {
            column: Nanos(grid.len),
            step_column: Nanos(cells.len),
            warmup_after,
            ..TimeSeries::default()
        };
        course.columns = grid.finish();
        (course.steps, course.steps_untold) = cells.finish();
        let untimed = untimed.map(|untimed| Box::new(untimed.add_to(&mut course.steps)));
        let judged = course.columns.iter().filter(|column| !column.warmup);
        for column in judged.chain(untimed.as_deref()) {
            course.counters.merge(&column.counters);
            course.response.merge(&column.response);
            course.service.merge(&column.service);
            course.lag.merge(&column.lag);
            course.wait.merge(&column.wait);
        }
        course.untimed = untimed;
        course
    }

    fn reach(&mut self, reach: (i64, i64)) {
        self.grid.extend_range(reach, self.columns_max);
        while self.cells.len < self.grid.len {
            // Both start with the same length and take the same steps, so a cell is never shorter
            // than a bucket.
            let Some(longer) = bucket_length::next(self.cells.len) else { return };
            self.cells.widen(longer);
        }
    }

    fn widen(&mut self, len: i64) {
        self.grid.widen(len);
        while self.cells.len < self.grid.len {
            let Some(longer) = bucket_length::next(self.cells.len) else { return };
            self.cells.widen(longer);
        }
    }

    /// Returns the sum of all judged keys so far, and that of each step; connections and traffic of
    /// the warm-up included.
    fn known(&self) -> (TimeBucket, StepTotals) {
        let mut known = TimeBucket::default();
        self.grid.judged.values().for_each(|building| known.merge(&building.column));
        for building in self.grid.warmup.values() {
            known.conns.merge(&building.column.conns);
            known.bytes.merge(&building.column.bytes);
            known.packets.merge(&building.column.packets);
        }
        let mut steps = self.cells.totals();
        if let Some(untimed) = &self.untimed {
            known.merge(&untimed.column);
            for (&name, (counters, response)) in &untimed.steps {
                let mine = steps.entry(name).or_default();
                mine.0.merge(counters);
                mine.1.merge(response);
            }
        }
        (known, steps)
    }
}
