//! [`StepBuckets`]: each step over time while a course is made.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use wavetank_plan::constants::SERIES_MAX;
use wavetank_units::Nanos;

use super::compact_histogram::CompactHistogram;
use super::step_time_series::{StepBucket, StepTimeSeries};
use super::{TimeSeries, bucket_length};
use crate::{Histogram, RequestCounters, StepSeries};

/// Counts and times of each step over some time, by scenario and step.
pub(super) type StepTotals = BTreeMap<(u16, u16), (RequestCounters, Histogram)>;

/// The buckets of each step, at most [`TimeSeries::CELLS_MAX`] over all steps. Buckets become
/// longer to stay below it.
#[derive(Clone, Debug)]
pub(super) struct StepBuckets {
    /// Nanoseconds.
    pub(super) len: i64,
    /// By (scenario, step), then by number: the start divided by the length.
    steps: BTreeMap<(u16, u16), BTreeMap<i64, Cell>>,
    count: usize,
    untold: u64,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    counters: RequestCounters,
    response: CompactHistogram,
}

impl StepBuckets {
    pub(super) fn new(len: i64) -> Self {
        Self { len, steps: BTreeMap::new(), count: 0, untold: 0 }
    }

    pub(super) fn add(&mut self, series: &StepSeries, at: Nanos) {
        let name = (series.key.scenario, series.key.step);
        if self.is_untold(name) {
            self.untold += series.counters.offered;
            return;
        }
        let number = at.0.div_euclid(self.len);
        let cell = cell(&mut self.steps, &mut self.count, name, number);
        cell.counters.merge(&series.counters);
        cell.response.merge(series.response.occupied());
        self.shrink();
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.untold += other.untold;
        for (name, columns) in other.steps {
            if self.is_untold(name) {
                self.untold += columns.values().map(|theirs| theirs.counters.offered).sum::<u64>();
                continue;
            }
            let mine = self.steps.entry(name).or_default();
            for (number, theirs) in columns {
                match mine.entry(number) {
                    Entry::Occupied(mut same) => same.get_mut().merge(&theirs),
                    Entry::Vacant(empty) => {
                        self.count += 1;
                        empty.insert(theirs);
                    }
                }
            }
        }
        self.shrink();
    }

    /// Make cells of `len`, a multiple of the length so far.
    pub(super) fn widen(&mut self, len: i64) {
        let factor = len / self.len;
        self.count = 0;
        for columns in self.steps.values_mut() {
            for (number, theirs) in std::mem::take(columns) {
                columns.entry(number.div_euclid(factor)).or_default().merge(&theirs);
            }
            self.count += columns.len();
        }
        self.len = len;
    }

    /// Returns the totals of each step over all time, to compare with those of a checkpoint.
    pub(super) fn totals(&self) -> StepTotals {
        let total = |columns: &BTreeMap<i64, Cell>| {
            let (mut counters, mut response) = (RequestCounters::default(), Histogram::default());
            for cell in columns.values() {
                counters.merge(&cell.counters);
                cell.response.add_to(&mut response);
            }
            (counters, response)
        };
        self.steps.iter().map(|(&name, columns)| (name, total(columns))).collect()
    }

    pub(super) fn finish(self) -> (Vec<StepTimeSeries>, u64) {
        let (len, mut scratch) = (self.len, Histogram::default());
        let course = |((scenario, step), columns): ((u16, u16), BTreeMap<i64, Cell>)| {
            let mut course = StepTimeSeries { scenario, step, ..StepTimeSeries::default() };
            for (number, cell) in columns {
                scratch.clear();
                cell.response.add_to(&mut scratch);
                course.counters.merge(&cell.counters);
                course.response.merge(&scratch);
                course.columns.push(StepBucket {
                    from: Nanos(number.saturating_mul(len)),
                    offered: cell.counters.offered,
                    done: cell.counters.done,
                    failed: cell.counters.failed(),
                    dropped: cell.counters.dropped(),
                    samples: scratch.count(),
                    p50: scratch.percentile(50.0),
                    p99: scratch.percentile(99.0),
                    max: scratch.max(),
                });
            }
            course
        };
        (self.steps.into_iter().map(course).collect(), self.untold)
    }

    fn is_untold(&self, name: (u16, u16)) -> bool {
        self.steps.len() >= SERIES_MAX && !self.steps.contains_key(&name)
    }

    fn shrink(&mut self) {
        while self.count > TimeSeries::CELLS_MAX {
            let Some(longer) = bucket_length::next(self.len) else { return };
            self.widen(longer);
        }
    }
}

fn cell<'a>(
    steps: &'a mut BTreeMap<(u16, u16), BTreeMap<i64, Cell>>,
    count: &mut usize,
    name: (u16, u16),
    number: i64,
) -> &'a mut Cell {
    steps.entry(name).or_default().entry(number).or_insert_with(|| {
        *count += 1;
        Cell::default()
    })
}

impl Cell {
    fn merge(&mut self, other: &Self) {
        self.counters.merge(&other.counters);
        self.response.merge(other.response.bounds());
    }
}
