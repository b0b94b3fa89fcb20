//! [`HybridSleep`]: sleep first, spin last.

use wavetank_plan::Nanos;

/// Decides how long to sleep before an exact instant. The kernel wakes a thread late by tens of
/// microseconds; so the sleep ends a margin early and the rest is spun. The margin follows the kernel's
/// own lateness, so that no more is spun than needed.
pub(crate) struct HybridSleep {
    /// Nothing where the thread does not spin.
    margin: Option<i64>,
    /// Where the last sleep was to end, if the margin is to learn from it.
    asked: Option<Nanos>,
}

/// The margin covers this share of wake-ups (hundredths).
const COVERED: i64 = 90;
/// How fast the margin follows, in nanoseconds per wake-up and hundredth.
const STEP_NS: i64 = 20;
const MARGIN_NS_MIN: i64 = 5_000;
const MARGIN_NS_MAX: i64 = 150_000;
const MARGIN_NS_START: i64 = 60_000;

/// A wait shorter than this was no sleep but the price of the call: the thread was busy.
const CALL_NS_MAX: u64 = 5_000;

/// A sleep that ends so late is no matter of the kernel's timers, nor of one turn of another program.
const STOOD_STILL_NS_MIN: u64 = 10_000_000;

impl HybridSleep {
    /// An idle thread looks around at least this often: of its standing still no more is taken for sleep. It costs
    /// 50 wake-ups a second, which is nothing.
    pub(crate) const NAP: Nanos = Nanos::from_millis(20);

    /// Whether a wait that worked until `worked` and ended at `after` slept in between.
    pub(crate) fn slept(worked: Nanos, after: Nanos) -> bool {
        after.since(worked) > CALL_NS_MAX
    }

    /// How long the thread stood still in a wait that worked until `worked`, was to end by `until` and ended at
    /// `after`: stopped by a signal, frozen with its container, or its CPU taken away. What is left of the wait's
    /// own bound may have been sleep; nobody can tell.
    pub(crate) fn stood_still(worked: Nanos, until: Nanos, after: Nanos) -> Option<u64> {
        let over = after.since(worked.max(until));
        (over >= STOOD_STILL_NS_MIN).then_some(over)
    }

    /// For a thread with a CPU of its own.
    pub(crate) const fn spinning() -> Self {
        Self { margin: Some(MARGIN_NS_START), asked: None }
    }

    /// For one of `threads` on `cpus` (0: who knows). Where there are more threads than CPUs, whoever spins keeps the others
    /// from their instants, who wake the later, learn longer margins and spin for longer: 53 threads spent most
    /// of two CPUs on that. They sleep to the instant itself, and take it up as late as the kernel wakes them.
    pub(crate) const fn for_thread(threads: usize, cpus: usize) -> Self {
        if cpus != 0 && threads > cpus { Self { margin: None, asked: None } } else { Self::spinning() }
    }

    /// Until when to sleep, given that `exact` must be met to the microsecond and `coarse` within a
    /// millisecond. An instant not after `now` means: do not sleep, spin.
    pub(crate) fn sleep_deadline(&mut self, now: Nanos, exact: Option<Nanos>, coarse: Nanos) -> Nanos {
        self.asked = None;
        let Some(exact) = exact else { return coarse };
        let Some(margin) = self.margin else { return exact.min(coarse) };
        let left = exact.0.saturating_sub(now.0);
        if left <= margin {
            return now.min(coarse);
        }
        // The kernel rounds a timeout by up to a thousandth of its length: approach long ones in steps.
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

    /// The sleep ended by itself at `now`: learn how late.
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

    /// A kernel that wakes late by each of `lateness` in turn: where does the margin settle?
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
        // 80 % of wake-ups at 10 µs, 20 % at 90 µs: nine in ten covered needs the slow ones.
        check(&[10_000, 10_000, 10_000, 10_000, 90_000], 80_000..=100_000);
        check(&[10_000_000], MARGIN_NS_MAX..=MARGIN_NS_MAX);
    }

    #[test]
    fn a_wait_that_overshoots_its_end_by_far_stood_still() {
        let at = Nanos::from_millis;
        let stood_still = |worked, until, after| HybridSleep::stood_still(at(worked), at(until), at(after));
        assert_eq!(stood_still(0, 20, 1_020), Some(1_000_000_000));
        assert_eq!(stood_still(0, 20, 15), None, "something came");
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
        assert_eq!(until(3, 0)[0], Nanos(50), "nobody knows: it spins");
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
