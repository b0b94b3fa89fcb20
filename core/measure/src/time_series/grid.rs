//! [`BucketGrid`]: the columns of a course while it is made.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use wavetank_units::Nanos;

use super::bucket_length;
use super::column::TimeBucket;
use crate::Interval;

/// Columns of one kind by their number: their begin divided by the length.
pub(super) type Columns = BTreeMap<i64, BucketBuilder>;

/// The buckets so far: of the warm-up, and of the judged load. All have the same length.
#[derive(Clone, Debug)]
pub(super) struct BucketGrid {
    /// Nanoseconds.
    pub(super) len: i64,
    pub(super) warmup: Columns,
    pub(super) judged: Columns,
    /// The earliest and the latest start of an interval.
    pub(super) reach: Option<(i64, i64)>,
}

/// A bucket, and the source of its gauges.
#[derive(Clone, Debug, Default)]
pub(super) struct BucketBuilder {
    pub(super) column: TimeBucket,
    /// End and start of the latest interval, the source of these gauges. The start is needed too,
    /// because an interval without length ends together with the one before it.
    seal: Option<(Nanos, Nanos)>,
}

impl BucketGrid {
    pub(super) fn new(len: i64) -> Self {
        Self { len, warmup: Columns::new(), judged: Columns::new(), reach: None }
    }

    /// The column of instant `at`, made if missing.
    pub(super) fn column(&mut self, warmup: bool, at: Nanos) -> &mut BucketBuilder {
        let columns = if warmup { &mut self.warmup } else { &mut self.judged };
        columns.entry(at.0.div_euclid(self.len)).or_default()
    }

    /// Whether there is a column of instant `at`.
    pub(super) fn has(&self, warmup: bool, at: Nanos) -> bool {
        let columns = if warmup { &self.warmup } else { &self.judged };
        columns.contains_key(&at.0.div_euclid(self.len))
    }

    /// Extends the range to intervals that start between `first` and `last`. Buckets become longer
    /// until everything so far fits into `columns_max` buckets.
    pub(super) fn extend_range(&mut self, (first, last): (i64, i64), columns_max: usize) {
        let (first, last) = self.reach.map_or((first, last), |(a, b)| (a.min(first), b.max(last)));
        self.reach = Some((first, last));
        // One bucket may occur twice, if the warm-up ends inside it.
        while bucket_length::count(first, last, self.len) >= columns_max as u128 {
            let Some(longer) = bucket_length::next(self.len) else { return };
            self.widen(longer);
        }
    }

    /// Make columns of `len`, a multiple of the length so far.
    pub(super) fn widen(&mut self, len: i64) {
        let factor = len / self.len;
        for columns in [&mut self.warmup, &mut self.judged] {
            for (number, column) in std::mem::take(columns) {
                put(columns, number.div_euclid(factor), column);
            }
        }
        self.len = len;
    }

    /// The columns without a gap, those of the warm-up first.
    pub(super) fn finish(self) -> Vec<TimeBucket> {
        let len = self.len;
        let whole = |columns: Columns, warmup: bool| {
            let numbers = columns.keys().next().copied().zip(columns.keys().next_back().copied());
            let mut columns = columns;
            let all = numbers.map(|(first, last)| first..=last).into_iter().flatten();
            all.map(move |number| {
                let found = columns.remove(&number).map(|building| building.column);
                let mut column = found.unwrap_or_else(|| TimeBucket {
                    from: Nanos(number.saturating_mul(len)),
                    len: Nanos(len),
                    ..TimeBucket::default()
                });
                column.warmup = warmup;
                column.status.0.sort_unstable();
                column
            })
        };
        whole(self.warmup, true).chain(whole(self.judged, false)).collect()
    }

    /// Adds the buckets of `other`, which have the same length.
    pub(super) fn merge(&mut self, other: Self) {
        for (mine, theirs) in [(&mut self.warmup, other.warmup), (&mut self.judged, other.judged)] {
            for (number, column) in theirs {
                put(mine, number, column);
            }
        }
    }
}

/// Adds `column` to the bucket with this number, or moves it there, because copying its histograms
/// is expensive.
fn put(columns: &mut Columns, number: i64, column: BucketBuilder) {
    match columns.entry(number) {
        Entry::Occupied(mut same) => same.get_mut().merge(&column),
        Entry::Vacant(empty) => drop(empty.insert(column)),
    }
}

impl BucketBuilder {
    /// Extends its place in time to `interval`. Returns whether gauges are to be set or added, if
    /// any: intervals of several agents with one seal add up, and gauges of an earlier interval are
    /// out of date.
    pub(super) fn cover(&mut self, interval: &Interval) -> Option<Gauges> {
        self.column.intervals += 1;
        self.extend(interval.from, interval.end());
        self.seal_at((interval.end(), interval.from))
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let Some(seal) = other.seal else { return };
        self.extend(other.column.from, other.column.end());
        let gauges = self.seal_at(seal);
        self.column.merge(&other.column);
        let theirs =
            (other.column.open, other.column.users, other.column.conns.opening, other.column.conns.open);
        self.set_gauges(gauges, theirs);
    }

    /// Gauges: open requests, users, connections being opened and open.
    pub(super) fn set_gauges(
        &mut self,
        gauges: Option<Gauges>,
        (open, users, opening, conns): (u64, u64, u64, u64),
    ) {
        let column = &mut self.column;
        match gauges {
            None => {}
            Some(Gauges::Set) => {
                (column.open, column.users) = (open, users);
                (column.conns.opening, column.conns.open) = (opening, conns);
            }
            Some(Gauges::Add) => {
                column.open += open;
                column.users += users;
                column.conns.opening += opening;
                column.conns.open += conns;
            }
        }
    }

    fn extend(&mut self, from: Nanos, end: Nanos) {
        let empty = self.seal.is_none();
        let column = &mut self.column;
        let (first, last) = if empty { (from, end) } else { (column.from.min(from), column.end().max(end)) };
        (column.from, column.len) = (first, Nanos(last.0.saturating_sub(first.0)));
    }

    fn seal_at(&mut self, seal: (Nanos, Nanos)) -> Option<Gauges> {
        let known = self.seal.replace(self.seal.map_or(seal, |known| known.max(seal)));
        match known {
            Some(known) if known == seal => Some(Gauges::Add),
            Some(known) if known > seal => None,
            _ => Some(Gauges::Set),
        }
    }
}

/// What to do with the gauges of a seal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gauges {
    /// They are the latest.
    Set,
    /// They are of another agent at the same seal.
    Add,
}
