//! [`SideTimeSeries`]: all runs of a side over time, merged.

use std::collections::BTreeMap;

use wavetank_measure::{Histogram, TimeSeries};
use wavetank_record::RunRecord;
use wavetank_units::Nanos;

use crate::completeness::known_fraction;

/// All runs of a side over time. Instants are on each run's own clock, so the first seconds of all
/// runs coincide.
#[derive(Clone, Debug, Default)]
pub struct SideTimeSeries {
    /// The common length of the columns: that of the run with the longest columns.
    column: Nanos,
    slots: BTreeMap<i64, Slot>,
    response: Histogram,
    /// Requests of all runs; the next field is the number of them with a known time.
    offered: u64,
    known: f64,
}

/// The results in a column, of all runs together.
#[derive(Clone, Debug, Default)]
struct Slot {
    /// Measured time in it, of all runs.
    len: Nanos,
    done: u64,
    response: Histogram,
}

impl SideTimeSeries {
    /// Merge the time series of the run `record`, within its measured window. Time before the
    /// window, and time after it with responses still awaited, is left out.
    pub fn add(&mut self, course: &TimeSeries, record: &RunRecord) {
        let length = Nanos((record.duration_s.0 * 1e9) as i64);
        self.response.merge(&course.response);
        self.offered = self.offered.saturating_add(record.requests.offered);
        self.known += known_fraction(record) * record.requests.offered as f64;
        if course.column > self.column {
            self.widen(course.column);
        }
        for column in course.judged().iter().filter(|column| column.intervals > 0) {
            if column.from < Nanos::ZERO || column.from >= length {
                continue;
            }
            let slot = self.slots.entry(column.from.0 / self.column.0.max(1)).or_default();
            slot.len = slot.len.after(column.len);
            slot.done += column.counters.done;
            slot.response.merge(&column.response);
        }
    }

    fn widen(&mut self, column: Nanos) {
        let old = std::mem::take(&mut self.slots);
        for (at, slot) in old {
            let into = self.slots.entry(at * self.column.0 / column.0).or_default();
            into.len = into.len.after(slot.len);
            into.done += slot.done;
            into.response.merge(&slot.response);
        }
        self.column = column;
    }

    /// Response times of all runs.
    pub(super) const fn response(&self) -> &Histogram {
        &self.response
    }

    /// The share of requests with a known time; the others were dropped.
    pub(super) fn known_share(&self) -> f64 {
        if self.offered == 0 { 1.0 } else { self.known / self.offered as f64 }
    }

    /// End of the last column.
    pub(super) fn end(&self) -> Nanos {
        self.slots.last_key_value().map_or(Nanos::ZERO, |(at, _)| Nanos((at + 1) * self.column.0))
    }

    /// Starts of the columns that are not empty.
    pub(super) fn begins(&self) -> impl Iterator<Item = Nanos> {
        self.slots.keys().map(|at| Nanos(at * self.column.0))
    }

    /// Requests done per second and run in the column that contains `at`.
    pub(super) fn rate(&self, at: Nanos) -> Option<f64> {
        let slot = self.slots.get(&(at.0 / self.column.0.max(1)))?;
        (slot.len > Nanos::ZERO).then(|| slot.done as f64 / slot.len.as_secs_f64())
    }

    /// A percentile of the response times in the column that contains `at`, in nanoseconds.
    pub(super) fn percentile(&self, at: Nanos, q: f64) -> Option<f64> {
        let slot = self.slots.get(&(at.0 / self.column.0.max(1)))?;
        slot.response.percentile(q).map(|ns| ns as f64)
    }

    /// Whether fewer than ten samples of the column that contains `at` are above that percentile.
    pub(super) fn is_uncertain(&self, at: Nanos, q: f64) -> bool {
        self.slots.get(&(at.0 / self.column.0.max(1))).is_some_and(|slot| slot.response.is_uncertain(q))
    }

    /// The middles of the columns with the value that `of` returns for each.
    pub(super) fn points(&self, of: impl Fn(Nanos) -> Option<f64>) -> Vec<(Nanos, Option<f64>)> {
        self.begins().map(|from| (Nanos(from.0 + self.column.0 / 2), of(from))).collect()
    }
}
