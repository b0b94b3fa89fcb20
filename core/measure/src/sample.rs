//! [`ConditionSample`]: the data of one period of time that one condition needs.

use wavetank_units::Nanos;

use crate::Histogram;

/// Counts that one condition is judged by. Which events they count depends on its subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConditionCounts {
    /// Offered requests of the same keys (for connections, started openings).
    pub(crate) offered: u64,
    /// Done, failed and dropped, of the same keys (opened and failed, for connections).
    pub(crate) resolved: u64,
    /// Dropped, of the same keys.
    pub(crate) dropped: u64,
    /// The part of `dropped` with a generator reason.
    pub(crate) dropped_by_generator: u64,
    /// The subject itself.
    pub(crate) count: u64,
    /// The value of `count` without the generator's failures and drops.
    pub(crate) count_without_generator: u64,
    /// The part of `count` inside the time of the span.
    pub(crate) timed: u64,
    pub(crate) timed_without_generator: u64,
    /// Time of the span covered.
    pub(crate) time: Nanos,
}

/// A [`ConditionCounts`] with the times, where the subject is a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConditionSample {
    pub(crate) tally: ConditionCounts,
    /// The times themselves.
    pub(crate) times: Histogram,
    /// Lag of the same keys, where the times contain it.
    pub(crate) lag: Histogram,
}

impl ConditionCounts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.each(other, |mine, theirs| mine + theirs);
        self.time += other.time;
    }

    pub(crate) fn take_away(&mut self, other: &Self) {
        self.each(other, |mine, theirs| mine - theirs);
        self.time = self.time - other.time;
    }

    /// `n` more of the subject.
    pub(crate) fn add_count(&mut self, n: u64, timed: bool) {
        self.count += n;
        self.count_without_generator += n;
        self.timed += if timed { n } else { 0 };
        self.timed_without_generator += if timed { n } else { 0 };
    }

    /// Adds `n` requests that were offered and dropped, `by_generator` of them for reasons of the
    /// generator. `counts` says that drops are the subject of the condition.
    pub(crate) fn add_dropped(&mut self, n: u64, by_generator: u64, counts: bool, timed: bool) {
        self.offered += n;
        self.resolved += n;
        self.dropped += n;
        self.dropped_by_generator += by_generator;
        if counts {
            let without = n - by_generator;
            self.count += n;
            self.count_without_generator += without;
            self.timed += if timed { n } else { 0 };
            self.timed_without_generator += if timed { without } else { 0 };
        }
    }

    fn each(&mut self, other: &Self, combine: impl Fn(u64, u64) -> u64) {
        self.offered = combine(self.offered, other.offered);
        self.resolved = combine(self.resolved, other.resolved);
        self.dropped = combine(self.dropped, other.dropped);
        self.dropped_by_generator = combine(self.dropped_by_generator, other.dropped_by_generator);
        self.count = combine(self.count, other.count);
        self.count_without_generator = combine(self.count_without_generator, other.count_without_generator);
        self.timed = combine(self.timed, other.timed);
        self.timed_without_generator = combine(self.timed_without_generator, other.timed_without_generator);
    }
}

impl ConditionSample {
    pub(crate) fn add(&mut self, other: &Self) {
        self.tally.add(&other.tally);
        self.times.merge(&other.times);
        self.lag.merge(&other.lag);
    }

    pub(crate) fn clear(&mut self) {
        self.tally = ConditionCounts::default();
        self.times.clear();
        self.lag.clear();
    }
}
