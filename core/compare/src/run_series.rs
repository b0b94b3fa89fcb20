//! [`RunSeries`]: one stored run, cut into columns for comparing.

use wavetank_measure::{Histogram, Interval, PhaseWindows, StepSeries};
use wavetank_plan::Plan;
use wavetank_units::Nanos;

use crate::ColumnCounts;
use crate::column_counts::merge;

/// Columns of a run at most; where there would be more, they become twice as long.
const COLUMNS_MAX: usize = 240;
/// Steps that are compared each by itself at most; all are in the whole.
pub const STEPS_MAX: usize = 200;

/// The counts of a run over time, without the requests and connects of warm-ups.
#[derive(Clone, Debug, Default)]
pub struct RunSeries {
    /// Length of a column.
    pub column: Nanos,
    /// All judged requests.
    pub whole: ScopeSeries,
    /// The series of each step that occurred, by scenario and step.
    pub steps: Vec<((u16, u16), ScopeSeries)>,
    /// Connections lost (0) of those opened (1), including warm-up, when most connections of the
    /// load are opened.
    pub lost: ColumnCounts,
    /// TCP connect times of connections for judged phases.
    pub connect: LatencyBuckets,
    /// Greetings of a protocol.
    pub hello: LatencyBuckets,
    /// Round trips of pings.
    pub ping: LatencyBuckets,
}

/// Requests of one scope.
#[derive(Clone, Debug, Default)]
pub struct ScopeSeries {
    /// Requests done in the measured window (0), and the milliseconds of the window (1).
    pub rate: ColumnCounts,
    /// Failed (0) of offered (1).
    pub failed: ColumnCounts,
    /// Never sent.
    pub dropped: u64,
    /// Response times.
    pub response: LatencyBuckets,
    /// Service times.
    pub service: LatencyBuckets,
}

/// Times by buckets of [`Histogram`].
#[derive(Clone, Debug, Default)]
pub struct LatencyBuckets {
    /// The counts of buckets.
    pub strip: ColumnCounts,
    /// The longest, nanoseconds.
    pub max: u64,
    /// How many.
    pub count: u64,
}

/// Builds a [`RunSeries`] from intervals, which may arrive in any order.
#[derive(Clone, Debug)]
pub struct RunSeriesBuilder {
    spans: PhaseWindows,
    begin: Nanos,
    cut: RunSeries,
}

impl RunSeriesBuilder {
    /// Creates an empty builder for `plan`.
    pub fn new(plan: &Plan) -> Self {
        let judged = plan.phases.iter().filter(|phase| !phase.warmup);
        let begin = judged.map(|phase| phase.start).min().unwrap_or(Nanos::ZERO);
        let cut = RunSeries { column: Nanos::SECOND, ..RunSeries::default() };
        Self { spans: PhaseWindows::new(plan), begin, cut }
    }

    /// Sets that phase number `phase` ended at `at`, before its planned end or without one. Call it
    /// before adding any interval.
    pub fn phase_ended(&mut self, phase: u16, at: Nanos) {
        self.spans.phase_ended(phase, at);
    }

    /// Adds an interval. `timed` says whether its time counts, since time passes once for any
    /// number of agents.
    pub fn add(&mut self, interval: &Interval, timed: bool) {
        let column = self.column_of(interval.from);
        let cut = &mut self.cut;
        let in_window = self.spans.in_window(interval);
        let time = if timed { self.spans.time_in(None, interval).0 / 1_000_000 } else { 0 };
        cut.whole.rate.add(column, 1, time as u64);
        for series in interval.steps.iter().filter(|series| !self.spans.is_warmup(series.key.phase)) {
            cut.whole.add(series, column, in_window);
            let name = (series.key.scenario, series.key.step);
            let at = match cut.steps.binary_search_by_key(&name, |(known, _)| *known) {
                Ok(at) => at,
                Err(_) if cut.steps.len() >= STEPS_MAX => continue,
                Err(at) => {
                    let mut scope = ScopeSeries::default();
                    scope.strips_mut().into_iter().for_each(|strip| strip.column = cut.column);
                    cut.steps.insert(at, (name, scope));
                    at
                }
            };
            cut.steps[at].1.add(series, column, in_window);
        }
        for series in interval.targets.iter().filter(|series| !self.spans.is_warmup(series.phase)) {
            cut.connect.add(&series.connect, column);
            cut.hello.add(&series.hello, column);
            cut.ping.add(&series.ping, column);
        }
        cut.lost.add(column, 0, interval.conns.lost);
        cut.lost.add(column, 1, interval.conns.opened);
    }

    /// The run. A step's rate is over the same time as the whole.
    pub fn finish(mut self) -> RunSeries {
        let whole = &self.cut.whole.rate;
        for (_, scope) in &mut self.cut.steps {
            for (column, cells) in whole.columns.iter().enumerate() {
                let time = cells.iter().find(|(index, _)| *index == 1).map_or(0, |&(_, time)| time);
                scope.rate.add(column, 1, time);
            }
        }
        self.cut
    }

    /// Returns the number of the column that contains `at`. Instants before the load belong to the
    /// first column.
    fn column_of(&mut self, at: Nanos) -> usize {
        loop {
            let number = ((at - self.begin).0.max(0) / self.cut.column.0) as usize;
            if number < COLUMNS_MAX {
                return number;
            }
            self.cut.column = self.cut.column.after(self.cut.column);
            self.cut.halve();
        }
    }
}

impl RunSeries {
    /// Requests of one step, by scenario and step.
    pub fn step(&self, key: (u16, u16)) -> Option<&ScopeSeries> {
        self.steps.binary_search_by_key(&key, |(known, _)| *known).ok().map(|at| &self.steps[at].1)
    }

    fn halve(&mut self) {
        let scopes = self.steps.iter_mut().map(|(_, scope)| scope).chain([&mut self.whole]);
        for scope in scopes {
            scope.strips_mut().into_iter().for_each(ColumnCounts::halve);
        }
        self.lost.halve();
        self.connect.strip.halve();
        self.hello.strip.halve();
        self.ping.strip.halve();
    }
}

impl ScopeSeries {
    fn strips_mut(&mut self) -> [&mut ColumnCounts; 4] {
        [&mut self.rate, &mut self.failed, &mut self.response.strip, &mut self.service.strip]
    }

    fn add(&mut self, series: &StepSeries, column: usize, in_window: bool) {
        let counters = &series.counters;
        self.rate.add(column, 0, if in_window { counters.done } else { 0 });
        self.failed.add(column, 0, counters.failed());
        self.failed.add(column, 1, counters.offered);
        self.dropped += counters.dropped();
        self.response.add(&series.response, column);
        self.service.add(&series.service, column);
    }
}

impl LatencyBuckets {
    fn add(&mut self, times: &Histogram, column: usize) {
        let cells: Vec<(u16, u64)> = times.iter().map(|(index, n)| (index as u16, n)).collect();
        if !cells.is_empty() {
            merge(self.strip.column_mut(column), &cells);
        }
        self.max = self.max.max(times.max());
        self.count += times.count();
    }
}
