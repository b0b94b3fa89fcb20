//! [`QueueGrowth`]: whether the offered load exceeded what the target can do, whatever the
//! thresholds say.
//!
//! In the open loop an overloaded target is not slow immediately. Its queue grows, and in a short
//! run every response may still be in time. A stable queue holds what arrives in a mean response
//! time (Little's law). A queue that grows evenly holds about twice that in the end, since the mean
//! is that of its middle.

/// Growth that counts: of all that was asked for in the window.
pub const GROWTH_MAX: f64 = 0.005;
/// Random variation of the number of open requests that is not growth, in standard deviations.
const NOISE: f64 = 3.0;

/// The requests in and out during the measured window of a run in the open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueGrowth {
    /// Requests asked for in it.
    pub offered: f64,
    /// Of those, the ones that were answered, failed or were dropped in it.
    pub resolved: f64,
    /// Length of the window in seconds.
    pub window_s: f64,
    /// Mean response time in seconds, of those answered later too.
    pub response_s: f64,
    /// The shortest response time in seconds.
    pub fastest_s: f64,
}

impl QueueGrowth {
    /// Returns the growth of the queue in the window as a share of the offered load; 0 if it did
    /// not grow.
    pub fn growth(&self) -> f64 {
        if self.offered <= 0.0 || self.window_s <= 0.0 {
            return 0.0;
        }
        let under_way = (self.offered - self.resolved).max(0.0);
        let standing = self.offered / self.window_s * self.response_s;
        let grown = 2.0 * (under_way - standing);
        // The number of open requests at an instant is random, too.
        if grown <= NOISE * (1.0 + under_way.sqrt()) { 0.0 } else { grown / self.offered }
    }

    /// Returns the share (0 to 1) of the offered load that the target certainly did in time. It
    /// excludes the requests that were open at the end and would not have been if every response
    /// had been as fast as the fastest. A queue cannot have grown by more than that. 1 if nothing
    /// was offered.
    pub fn done_in_time_share(&self) -> f64 {
        if self.offered <= 0.0 || self.window_s <= 0.0 {
            return 1.0;
        }
        let standing = self.offered / self.window_s * self.fastest_s;
        let queue = (self.offered - self.resolved - standing).clamp(0.0, self.offered);
        1.0 - queue / self.offered
    }

    /// Whether the target cannot do what it is asked for.
    pub fn overloaded(&self) -> bool {
        self.growth() > GROWTH_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target of `capacity` requests a second that needs `work_s` for each, in a run of
    /// `window_s` after a warm-up of `warmup_s`, all evenly spaced.
    fn run(rate: f64, capacity: f64, work_s: f64, (warmup_s, window_s): (f64, f64)) -> QueueGrowth {
        let late = |at: f64| work_s + (rate / capacity - 1.0).max(0.0) * at;
        let last = late(warmup_s + window_s);
        let mean = f64::midpoint(late(warmup_s), last);
        let offered = rate * window_s;
        let under_way = (rate * last).min(offered).floor();
        QueueGrowth {
            offered,
            resolved: offered - under_way,
            window_s,
            response_s: mean,
            fastest_s: late(warmup_s),
        }
    }

    #[track_caller]
    fn check(rate: f64, capacity: f64, work_s: f64, times: (f64, f64), overloaded: bool) {
        let flow = run(rate, capacity, work_s, times);
        assert_eq!(flow.overloaded(), overloaded, "{rate} of {capacity}: {flow:?} grows {}", flow.growth());
    }

    #[test]
    fn a_target_that_keeps_up_has_no_growing_queue() {
        for work_s in [0.0001, 0.004, 0.2, 1.0] {
            check(2_500.0, 2_500.0, work_s, (0.5, 5.0), false);
            check(1_000.0, 2_500.0, work_s, (0.0, 2.0), false);
            check(10.0, 2_500.0, work_s, (0.0, 10.0), false);
        }
    }

    #[test]
    fn one_percent_too_much_is_seen_in_seconds() {
        check(2_525.0, 2_500.0, 0.004, (0.5, 5.0), true);
        check(10_100.0, 10_000.0, 0.001, (0.5, 2.0), true);
        check(5_000.0, 2_500.0, 0.004, (0.0, 2.0), true);
        // A long answer hides it for longer, not for ever.
        check(2_750.0, 2_500.0, 0.2, (0.5, 5.0), true);
        check(2_510.0, 2_500.0, 0.004, (0.5, 5.0), false);
    }

    /// The load that is certainly done is at most the target's capacity, and hardly less.
    #[test]
    fn a_hidden_queue_is_not_taken_for_capacity() {
        for (rate, capacity, work_s) in
            [(252.0, 250.0, 0.008), (505.0, 500.0, 0.004), (2_500.0, 2_500.0, 0.2), (1_000.0, 2_500.0, 0.01)]
        {
            let sure = rate * run(rate, capacity, work_s, (0.5, 2.0)).done_in_time_share();
            let able = rate.min(capacity);
            assert!(sure <= able * 1.001 && sure >= able * 0.99, "{rate} of {capacity}: {sure}");
        }
        assert!((QueueGrowth::default().done_in_time_share() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_few_requests_are_chance() {
        check(11.0, 10.0, 0.1, (0.0, 2.0), false);
        assert!(!QueueGrowth::default().overloaded());
    }
}
