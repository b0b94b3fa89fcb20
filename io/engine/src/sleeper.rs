//! [`HybridSleep`]: sleep first, spin last.

use wavetank_units::Nanos;

/// Decides how long to sleep before an exact instant.
///
/// The kernel wakes a thread tens of microseconds late. The sleep therefore ends early by a margin,
/// and the thread spins for the rest. The margin follows the kernel's lateness, so that the thread
/// spins no longer than needed.
pub(crate) struct HybridSleep {
    /// The margin in nanoseconds; `None` if the thread does not spin.
    margin: Option<i64>,
    /// When the last sleep was to end, if the margin is to be adjusted from it.
    asked: Option<Nanos>,
}

/// The share of wake-ups that the margin covers, in hundredths.
const COVERED: i64 = 90;
/// The step by which the margin follows that percentile of the kernel's delays (stochastic
/// approximation), in nanoseconds per wake-up and hundredth.
const STEP_NS: i64 = 20;
const MARGIN_NS_MIN: i64 = 5_000;
const MARGIN_NS_MAX: i64 = 150_000;
const MARGIN_NS_START: i64 = 60_000;

/// A shorter wait was no sleep but the cost of the call, because the thread was busy.
const CALL_NS_MAX: u64 = 5_000;

/// A sleep that ends this late was delayed by more than an inexact timer or one time slice of
/// another program.
const STOOD_STILL_NS_MIN: u64 = 10_000_000;

impl HybridSleep {
    /// An idle thread wakes up at least this often, which limits the time of a stall that is taken
    /// for sleep. The cost of 50 wake-ups a second is negligible.
    pub(crate) const NAP: Nanos = Nanos::from_millis(20);

    /// Whether a wait that worked until `worked` and ended at `after` slept in between.
    pub(crate) fn slept(worked: Nanos, after: Nanos) -> bool {
        after.since(worked) > CALL_NS_MAX
    }

    /// Returns for how long the thread was stalled in a wait that worked until `worked`, was to end
    /// by `until` and ended at `after`.
    ///
    /// A stall is caused by a signal, a frozen container or a lost CPU. Time up to the wait's own
    /// limit may have been sleep; this cannot be distinguished.
    pub(crate) fn stood_still(worked: Nanos, until: Nanos, after: Nanos) -> Option<u64> {
        let over = after.since(worked.max(until));
        (over >= STOOD_STILL_NS_MIN).then_some(over)
    }

    /// For a thread with a CPU of its own.
    pub(crate) const fn spinning() -> Self {
        Self { margin: Some(MARGIN_NS_START), asked: None }
    }

    /// For one of `threads` on `cpus` (0: unknown).
    ///
    /// With more threads than CPUs, a spinning thread delays the others. These wake later, learn
    /// longer margins and spin even longer: 53 threads spent most of two CPUs on that. Such threads
    /// sleep to the instant itself, and continue as late as the kernel wakes them.
    pub(crate) const fn for_thread(threads: usize, cpus: usize) -> Self {
        if cpus != 0 && threads > cpus { Self { margin: None, asked: None } } else { Self::spinning() }
    }

    /// Returns until when to sleep. `exact` must be met to the microsecond, `coarse` within a
    /// millisecond. If the result is not after `now`, the thread must spin instead of sleeping.
    pub(crate) fn sleep_deadline(&mut self, now: Nanos, exact: Option<Nanos>, coarse: Nanos) -> Nanos {
        self.asked = None;
        let Some(exact) = exact else { return coarse };
        let Some(margin) = self.margin else { return exact.min(coarse) };
        let left = exact.0.saturating_sub(now.0);
        if left <= margin {
            return now.min(coarse);
        }
        // The kernel may round a timeout by up to a thousandth of its length. Long timeouts are
        // therefore approached in steps.
        let sleep = (left - margin).min(left - left / 64);
        let until = Nanos(now.0 + sleep);
        if coarse < until {
            return coarse;
        }
        if left < 2_000_000 {
            self.asked = Some(until);
        }
        until
    }

    /// Adjusts the margin after a sleep that ended by itself at `now`.
    pub(crate) fn woke(&mut self, now: Nanos) {
        let (Some(asked), Some(margin)) = (self.asked.take(), self.margin) else { return };
        let late = now.0 - asked.0;
        let step = if late > margin { COVERED } else { COVERED - 100 };
        self.margin = Some((margin + step * STEP_NS).clamp(MARGIN_NS_MIN, MARGIN_NS_MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks to which value the margin converges if the kernel wakes late by each of `lateness` in
    /// turn.
    fn check(lateness: &[i64], expect: std::ops::RangeInclusive<i64>) {
        let mut sleeper = HybridSleep::spinning();
        let mut now = Nanos::ZERO;
        for turn in 0..200_000 {
            let exact = now.after(Nanos::from_millis(1));
            let until = sleeper.sleep_deadline(now, Some(exact), Nanos::MAX);
            assert!(until < exact);
            now = Nanos(until.0 + lateness[turn % lateness.len()]);
            sleeper.woke(now);
            now = now.max(exact);
        }
        let margin = sleeper.margin.expect("it spins");
        assert!(expect.contains(&margin), "margin {margin} not in {expect:?}");
    }

    #[test]
    fn the_margin_follows_the_kernel() {
        check(&[20_000], 15_000..=25_000);
        check(&[1_000], MARGIN_NS_MIN..=7_000);
        // 80 % of wake-ups at 10 µs, 20 % at 90 µs: covering nine in ten requires the slow ones.
        check(&[10_000, 10_000, 10_000, 10_000, 90_000], 80_000..=100_000);
        check(&[10_000_000], MARGIN_NS_MAX..=MARGIN_NS_MAX);
    }

    #[test]
    fn a_wait_that_overshoots_its_end_by_far_stood_still() {
        let at = Nanos::from_millis;
        let stood_still = |worked, until, after| HybridSleep::stood_still(at(worked), at(until), at(after));
        assert_eq!(stood_still(0, 20, 1_020), Some(1_000_000_000));
        assert_eq!(stood_still(0, 20, 15), None, "an event arrived");
        assert_eq!(stood_still(0, 20, 29), None, "late as wake-ups are");
        assert_eq!(stood_still(5, 0, 105), Some(100_000_000), "it was not to sleep at all");
    }

    #[test]
    fn more_threads_than_cpus_sleep_to_the_instant_itself() {
        let until = |threads, cpus| {
            let mut sleeper = HybridSleep::for_thread(threads, cpus);
            sleeper.woke(Nanos(0));
            [Nanos(100), Nanos::from_secs(64)]
                .map(|exact| sleeper.sleep_deadline(Nanos(50), Some(exact), Nanos::MAX))
        };
        assert_eq!(until(3, 2), [Nanos(100), Nanos::from_secs(64)]);
        assert_eq!(until(2, 2)[0], Nanos(50), "each has its own: it spins");
        assert_eq!(until(3, 0)[0], Nanos(50), "unknown CPUs: it spins");
        let coarse = HybridSleep::for_thread(3, 2).sleep_deadline(Nanos(50), Some(Nanos(100)), Nanos(70));
        assert_eq!(coarse, Nanos(70));
    }

    #[test]
    fn long_sleeps_approach_in_steps_and_near_ones_spin() {
        let mut sleeper = HybridSleep::spinning();
        let until = sleeper.sleep_deadline(Nanos::ZERO, Some(Nanos::from_secs(64)), Nanos::MAX);
        assert_eq!(until, Nanos::from_secs(63));
        assert_eq!(sleeper.sleep_deadline(Nanos(100), Some(Nanos(200)), Nanos::MAX), Nanos(100));
        assert_eq!(sleeper.sleep_deadline(Nanos(100), None, Nanos(500)), Nanos(500));
        assert_eq!(sleeper.sleep_deadline(Nanos(0), Some(Nanos::from_secs(1)), Nanos(500)), Nanos(500));
    }
}
