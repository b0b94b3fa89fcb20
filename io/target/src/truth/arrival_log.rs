//! [`ArrivalLog`]: the arrival times of requests on one thread.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use wavetank_units::Nanos;

use super::counter::Counter;
use super::{Arrivals, Gaps};

/// Number of timestamps kept: 1 MiB.
const STAMPS_MAX: usize = 131_072;
/// Number of timestamps in one block. Memory is allocated block by block, shortly before its use.
const STAMPS_PER_BLOCK: usize = 2_048;
/// Number of blocks.
const BLOCKS: usize = STAMPS_MAX / STAMPS_PER_BLOCK;
/// Number of seconds with separate counts.
const SECONDS_MAX: usize = 3_600;

type Block = Box<[AtomicI64; STAMPS_PER_BLOCK]>;

/// Timestamps and counts per second, written by one thread and readable by all at any time.
#[derive(Debug)]
pub(crate) struct ArrivalLog {
    /// In order, since the clock of a thread never goes back.
    stamps: [OnceLock<Block>; BLOCKS],
    stamps_len: AtomicUsize,
    /// Whether there were more timestamps than are kept.
    is_full: AtomicBool,
    per_second: Vec<Counter>,
    /// Number of seconds started.
    seconds: AtomicUsize,
    later: Counter,
    /// End of the current second, so that a division is needed only once a second. Initially the
    /// minimum.
    second_end: AtomicI64,
}

impl Default for ArrivalLog {
    fn default() -> Self {
        Self {
            stamps: [const { OnceLock::new() }; BLOCKS],
            stamps_len: AtomicUsize::new(0),
            is_full: AtomicBool::new(false),
            per_second: (0..SECONDS_MAX).map(|_| Counter::default()).collect(),
            seconds: AtomicUsize::new(0),
            later: Counter::default(),
            second_end: AtomicI64::new(i64::MIN),
        }
    }
}

impl ArrivalLog {
    /// Notes a request that came at `now`. The first request of all threads came at `first`, which
    /// may be a little later than `now` if two threads were first.
    #[inline]
    pub(crate) fn note(&self, now: Nanos, first: Nanos) {
        let len = self.stamps_len.load(Ordering::Relaxed);
        if let Some(block) = self.stamps.get(len / STAMPS_PER_BLOCK) {
            block.get_or_init(new_block)[len % STAMPS_PER_BLOCK].store(now.0, Ordering::Relaxed);
            self.stamps_len.store(len + 1, Ordering::Release);
        } else {
            self.is_full.store(true, Ordering::Relaxed);
        }
        if now.0 < self.second_end.load(Ordering::Relaxed) {
            self.count_in_second();
        } else {
            self.next_second(now, first);
        }
    }

    #[inline]
    fn count_in_second(&self) {
        if let Some(count) = self.per_second.get(self.seconds.load(Ordering::Relaxed).wrapping_sub(1)) {
            count.add(1);
        }
    }

    /// Notes a request that came after the end of the current second.
    #[cold]
    fn next_second(&self, now: Nanos, first: Nanos) {
        let second = (now.since(first) / 1_000_000_000) as usize;
        if second >= SECONDS_MAX {
            return self.later.add(1);
        }
        let begun = self.seconds.load(Ordering::Relaxed).min(second);
        self.per_second[begun..=second].iter().for_each(|count| count.set(0));
        self.second_end.store(first.after(Nanos::from_secs(second as i64 + 1)).0, Ordering::Relaxed);
        self.seconds.store(second + 1, Ordering::Release);
        self.count_in_second();
    }

    /// Clears the log. Its memory is kept.
    pub(super) fn clear(&self) {
        self.stamps_len.store(0, Ordering::Relaxed);
        self.is_full.store(false, Ordering::Relaxed);
        self.seconds.store(0, Ordering::Relaxed);
        self.later.set(0);
        self.second_end.store(i64::MIN, Ordering::Relaxed);
    }

    /// Returns the content of the log.
    pub(super) fn read(&self) -> Arrived {
        let len = self.stamps_len.load(Ordering::Acquire);
        let stamps = self.stamps.iter().map_while(OnceLock::get).flat_map(|block| block.iter()).take(len);
        let stamps: Vec<_> = stamps.map(|stamp| Nanos(stamp.load(Ordering::Relaxed))).collect();
        let seconds = self.seconds.load(Ordering::Acquire);
        Arrived {
            full_at: stamps.last().copied().filter(|_| self.is_full.load(Ordering::Relaxed)),
            stamps,
            per_second: self.per_second.iter().take(seconds).map(Counter::get).collect(),
            later: self.later.get(),
        }
    }
}

#[cold]
fn new_block() -> Block {
    Box::new([const { AtomicI64::new(0) }; STAMPS_PER_BLOCK])
}

/// An [`ArrivalLog`] at one instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrived {
    stamps: Vec<Nanos>,
    per_second: Vec<u64>,
    later: u64,
    /// The last instant up to which `stamps` is complete, if it is not complete.
    full_at: Option<Nanos>,
}

/// Merges the logs of all threads.
pub(super) fn merge<'a>(logs: impl Iterator<Item = &'a Arrived> + Clone) -> Arrivals {
    let mut arrivals = Arrivals::default();
    // After the first thread stopped stamping, the gaps would be wrong: its requests would be
    // missing.
    let full_at = logs.clone().filter_map(|log| log.full_at).min();
    let mut stamps: Vec<Nanos> = Vec::new();
    for log in logs {
        arrivals.later += log.later;
        if arrivals.per_second.len() < log.per_second.len() {
            arrivals.per_second.resize(log.per_second.len(), 0);
        }
        for (sum, count) in arrivals.per_second.iter_mut().zip(&log.per_second) {
            *sum += count;
        }
        let upto = log.stamps.partition_point(|&stamp| full_at.is_none_or(|full_at| stamp <= full_at));
        stamps.extend_from_slice(&log.stamps[..upto]);
    }
    // The data consists of a few sorted runs, which this sort merges efficiently.
    stamps.sort();
    arrivals.gaps_us = gaps(&stamps, full_at.is_none());
    if let (Some(&first), Some(&last)) = (stamps.first(), stamps.last()) {
        arrivals.span_s = (last - first).as_secs_f64();
    }
    arrivals
}

fn gaps(stamps: &[Nanos], complete: bool) -> Gaps {
    let mut lengths: Vec<Nanos> = stamps.windows(2).map(|pair| pair[1] - pair[0]).collect();
    lengths.sort_unstable();
    let (Some(min), Some(max)) = (lengths.first(), lengths.last()) else {
        return Gaps { complete, ..Gaps::default() };
    };
    let count = lengths.len();
    let percentile = |q: f64| {
        let rank = (q * count as f64).ceil() as usize;
        lengths[rank.clamp(1, count) - 1].as_micros_f64()
    };
    Gaps {
        count: count as u64,
        complete,
        min: min.as_micros_f64(),
        mean: (stamps[count] - stamps[0]).as_micros_f64() / count as f64,
        p50: percentile(0.5),
        p90: percentile(0.9),
        p99: percentile(0.99),
        p99_9: percentile(0.999),
        max: max.as_micros_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn log(stamps: &[i64], first: i64) -> Arrived {
        let log = ArrivalLog::default();
        // Entries from before the clearing must not be visible.
        log.note(Nanos(first + 3 * SECOND), Nanos(first));
        log.clear();
        for &stamp in stamps {
            log.note(Nanos(stamp), Nanos(first));
        }
        log.read()
    }

    #[test]
    fn counts_by_second_over_threads() {
        let one = log(&[7, 8, SECOND + 6, SECOND + 7, 4 * SECOND], 7);
        // Two threads were first; this one's stamp is a little before the agreed one.
        let other = log(&[5, 2 * SECOND + 8, 2 * SECOND + 9], 7);
        let arrivals = merge([&one, &other].into_iter());
        assert_eq!(arrivals.per_second, [4, 1, 2, 1]);
        assert_eq!(arrivals.later, 0);
        assert_eq!(arrivals.gaps_us.count, 7);
        assert!((arrivals.span_s - 4.0).abs() < 1e-6);
    }

    #[test]
    fn an_hour_is_counted_by_second_and_the_rest_in_all() {
        let end = 3_600 * SECOND;
        let arrivals = merge([&log(&[0, end - 1, end, end + 1, 9 * end], 0)].into_iter());
        assert_eq!((arrivals.per_second.len(), arrivals.later), (3_600, 3));
        assert_eq!(arrivals.per_second.iter().sum::<u64>(), 2);
    }

    #[test]
    fn gaps_are_those_of_all_threads_together() {
        let even: Vec<_> = (0..1_000).map(|i| i * 200_000).collect();
        let odd: Vec<_> = (0..1_000).map(|i| i * 200_000 + 100_000).collect();
        let gaps = merge([&log(&even, 0), &log(&odd, 0)].into_iter()).gaps_us;
        assert_eq!((gaps.count, gaps.complete), (1_999, true));
        for gap in [gaps.min, gaps.mean, gaps.p50, gaps.p99_9, gaps.max] {
            assert!((gap - 100.0).abs() < 1e-9, "{gaps:?}");
        }
    }

    #[test]
    fn a_full_log_ends_the_gaps_of_all() {
        let many: Vec<_> = (0..STAMPS_MAX as i64 + 5).map(|i| i * 10).collect();
        let sparse: Vec<_> = (0..3_000).map(|i| i * 1_000).collect();
        let gaps = merge([&log(&many, 0), &log(&sparse, 0)].into_iter()).gaps_us;
        assert!(!gaps.complete);
        assert!((gaps.max - 0.01).abs() < 1e-9, "after the full log's end there are gaps of 1 µs: {gaps:?}");
    }

    #[test]
    fn nothing_and_one_have_no_gaps() {
        for stamps in [&[][..], &[5]] {
            assert_eq!(
                merge([&log(stamps, 5)].into_iter()).gaps_us,
                Gaps { complete: true, ..Gaps::default() }
            );
        }
    }
}
