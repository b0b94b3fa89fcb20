//! [`Slowest`]: the slowest responses of each step on this thread, as examples.

use wavetank_plan::{Key, Plan};

use crate::messages::{RequestTimes, SlowSample};

/// The slowest responses; see the module documentation. Warm-up has none.
pub(super) struct Slowest {
    /// By index of a key: a response that is not slower than this is not among the slowest. It is a
    /// single number, so that each request costs only one comparison.
    from: Vec<u64>,
    /// The kept responses, by index of a step.
    kept: Vec<Vec<(SlowSample, SlowRequest)>>,
}

/// Whether it was returned already.
type SlowRequest = bool;

impl Slowest {
    /// Number of responses kept for each step.
    const KEPT: usize = 10;

    pub(super) fn new(plan: &Plan, steps: usize) -> Self {
        let from = |warmup: bool| if warmup { u64::MAX } else { 0 };
        let of_phase = |warmup: bool| std::iter::repeat_n(from(warmup), steps);
        let from = plan.phases.iter().flat_map(|phase| of_phase(phase.warmup)).collect();
        Self { from, kept: vec![Vec::new(); steps] }
    }

    /// Whether a response after `response` ns to a request at `place` is among the slowest.
    #[inline]
    pub(super) fn would_keep(&self, place: usize, response: u64) -> bool {
        response > self.from[place]
    }

    /// Keeps it in place of the fastest kept one. This is rare: it happens for some 10 ln n of n
    /// responses.
    #[cold]
    #[inline(never)]
    pub(super) fn keep(&mut self, place: usize, key: Key, times: RequestTimes, status: u16) {
        let step = place % self.kept.len();
        let kept = &mut self.kept[step];
        let slow = SlowSample { key, times, status };
        let quickest = kept.iter().enumerate().min_by_key(|(_, (slow, _))| slow.times.response);
        match quickest.map(|(at, _)| at).filter(|_| kept.len() >= Self::KEPT) {
            Some(at) => kept[at] = (slow, false),
            None => kept.push((slow, false)),
        }
        if kept.len() >= Self::KEPT {
            let least = kept.iter().map(|(slow, _)| slow.times.response).min().unwrap_or(0);
            let same_step = self.from.iter_mut().skip(step).step_by(self.kept.len());
            for from in same_step.filter(|from| **from != u64::MAX) {
                *from = least;
            }
        }
    }

    /// Returns the responses that are among the slowest now and were not returned yet.
    pub(super) fn take(&mut self) -> Vec<SlowSample> {
        let mut fresh = Vec::new();
        for (slow, reported) in self.kept.iter_mut().flatten() {
            if !std::mem::replace(reported, true) {
                fresh.push(*slow);
            }
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use wavetank_units::Nanos;

    use super::*;

    fn offer(slowest: &mut Slowest, place: usize, response: u64) {
        if slowest.would_keep(place, response) {
            let times =
                RequestTimes { intended: Nanos::ZERO, response, service: 0, lag: 0, ttfb: 0, transfer: 0 };
            slowest.keep(place, Key { step: (place % 2) as u16, ..Key::default() }, times, 200);
        }
    }

    #[track_caller]
    fn check(slowest: &mut Slowest, expected: &[(u16, u64)]) {
        let mut reported: Vec<_> =
            slowest.take().iter().map(|slow| (slow.key.step, slow.times.response)).collect();
        reported.sort_unstable();
        assert_eq!(reported, expected);
    }

    #[test]
    fn the_slowest_of_each_step_over_all_phases_but_the_warmup() {
        // Two steps in three phases, the first of them warm-up.
        let from = [u64::MAX, u64::MAX, 0, 0, 0, 0];
        let mut slowest = Slowest { from: from.to_vec(), kept: vec![Vec::new(); 2] };
        offer(&mut slowest, 0, 1_000_000);
        check(&mut slowest, &[]);
        offer(&mut slowest, 2, 7);
        offer(&mut slowest, 5, 3);
        check(&mut slowest, &[(0, 7), (1, 3)]);
        check(&mut slowest, &[]);
        // In one second more responses occur than are kept, each slower than the last. Only the
        // last ones are reported.
        (1..=1_000).for_each(|n| offer(&mut slowest, if n % 2 == 0 { 2 } else { 4 }, n));
        let last: Vec<_> = (991..=1_000).map(|n| (0, n)).collect();
        check(&mut slowest, &last);
        offer(&mut slowest, 2, 990);
        offer(&mut slowest, 4, 995);
        offer(&mut slowest, 1, 5_000);
        check(&mut slowest, &[(0, 995)]);
    }
}
