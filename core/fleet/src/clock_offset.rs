//! [`ClockOffset`]: how far an agent's clock is from the controller's.

use std::collections::BTreeMap;

use wavetank_units::Nanos;

use crate::constants::{DRIFT_MAX_PPM, PROBE_EVERY, PROBE_EVERY_MAX, PROBES, PROBES_AT_ONCE_MAX, PROBES_MAX};

/// Measures the offset of a clock with request and reply, and keeps the probe with the smallest
/// round trip (Cristian's algorithm). The reply was stamped at some instant of the round trip, so
/// the error is at most half of it, however unequal the two ways are.
#[derive(Clone, Debug)]
pub(crate) struct ClockOffset {
    /// Probes without a reply, by number, with the instant they were sent.
    pending: BTreeMap<u64, Nanos>,
    next_id: u64,
    /// Replies in this measurement, and how many it needs.
    replies: u32,
    needed: u32,
    send_at: Option<Nanos>,
    /// Probes since the last reply.
    unanswered: i64,
    turn: ProbeTurn,
    best: Option<Sample>,
}

/// When an agent of a large fleet is probed. The agents take turns, so that probes and replies do
/// not delay everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProbeTurn {
    /// How long after the start of a measurement the agent gets its first probe.
    delay: Nanos,
    /// Time between two probes.
    every: Nanos,
}

impl ProbeTurn {
    /// The only agent.
    pub(crate) const ALONE: Self = Self { delay: Nanos::ZERO, every: PROBE_EVERY };

    /// The turn of agent `index` among `count`.
    pub(crate) fn new(index: usize, count: usize) -> Self {
        let turns = count.div_ceil(PROBES_AT_ONCE_MAX).max(1);
        let time = |turns: usize| Nanos(PROBE_EVERY.0 * i64::try_from(turns).unwrap_or(i64::MAX));
        Self { delay: time(index % turns), every: time(turns) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Agent's clock minus controller's.
    offset: Nanos,
    error: Nanos,
    /// When it was taken, on the controller's clock.
    at: Nanos,
}

impl ClockOffset {
    /// A clock of which nothing is known.
    pub(crate) const fn unknown() -> Self {
        Self {
            pending: BTreeMap::new(),
            next_id: 0,
            replies: 0,
            needed: 0,
            send_at: None,
            unanswered: 0,
            turn: ProbeTurn::ALONE,
            best: None,
        }
    }

    /// The controller's own clock.
    pub(crate) fn shared() -> Self {
        let exact = Sample { offset: Nanos::ZERO, error: Nanos::ZERO, at: Nanos::MAX };
        Self { best: Some(exact), ..Self::unknown() }
    }

    /// Starts a measurement. The former result stays until a better one is known.
    pub(crate) fn begin(&mut self, turn: ProbeTurn, now: Nanos) {
        if self.best.is_none_or(|best| best.at != Nanos::MAX) {
            (self.turn, self.unanswered) = (turn, 0);
            (self.replies, self.needed, self.send_at) = (0, PROBES, Some(now.after(turn.delay)));
            self.pending.clear();
        }
    }

    /// Makes more probes, because the result is too uncertain; false if there were enough.
    pub(crate) fn extend(&mut self, now: Nanos) -> bool {
        let more = (self.needed + PROBES).min(PROBES_MAX);
        let extended = more > self.needed && self.needed > 0;
        if extended {
            self.needed = more;
            self.send_at.get_or_insert(now);
        }
        extended
    }

    /// Whether the measurement is complete.
    pub(crate) const fn is_measured(&self) -> bool {
        self.best.is_some() && self.replies >= self.needed
    }

    /// When the next probe is due.
    pub(crate) const fn send_at(&self) -> Option<Nanos> {
        self.send_at
    }

    /// The number of the probe to send now.
    pub(crate) fn poll_probe(&mut self, now: Nanos) -> Option<u64> {
        self.send_at.filter(|at| now >= *at)?;
        // An agent or a link that is slow gets fewer probes, not more and more.
        let every = Nanos(self.turn.every.0 * (1 + self.unanswered));
        self.send_at = Some(now.after(every.min(PROBE_EVERY_MAX.max(self.turn.every))));
        self.unanswered += 1;
        let id = self.next_id;
        self.next_id += 1;
        self.pending.insert(id, now);
        if self.pending.len() > PROBES_MAX as usize {
            self.pending.pop_first();
        }
        Some(id)
    }

    /// An agent answered probe `id` when its clock showed `stamp`.
    pub(crate) fn handle_reply(&mut self, id: u64, stamp: Nanos, now: Nanos) {
        let Some(sent) = self.pending.remove(&id).filter(|sent| now >= *sent) else { return };
        let round_trip = now.0 - sent.0;
        // Rounded up, so that the true offset is within the error.
        let error = Nanos(round_trip / 2 + 1);
        let sample =
            Sample { offset: Nanos(stamp.0.saturating_sub(sent.0 + round_trip / 2)), error, at: now };
        if self.best.is_none_or(|best| sample.error <= best.error_at(now)) {
            self.best = Some(sample);
        }
        self.replies += 1;
        self.unanswered = 0;
        if self.replies >= self.needed {
            self.send_at = None;
        }
    }

    /// Most that the offset is wrong at an instant; `None` if it is unknown.
    pub(crate) fn error_at(&self, at: Nanos) -> Option<Nanos> {
        self.best.map(|best| best.error_at(at))
    }

    /// An instant of the controller's clock on the agent's.
    pub(crate) fn to_agent(&self, at: Nanos) -> Nanos {
        at.after(self.best.map_or(Nanos::ZERO, |best| best.offset))
    }

    /// An instant of the agent's clock on the controller's.
    pub(crate) fn to_controller(&self, at: Nanos) -> Nanos {
        Nanos(at.0.saturating_sub(self.best.map_or(0, |best| best.offset.0)))
    }
}

impl Sample {
    fn error_at(&self, at: Nanos) -> Nanos {
        let age = i64::try_from(at.since(self.at)).unwrap_or(i64::MAX);
        self.error.after(Nanos(age / 1_000_000 * DRIFT_MAX_PPM + DRIFT_MAX_PPM * i64::from(age > 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probes with these one-way delays in ns, to a clock that is `offset` ahead: the result is
    /// within its error, and the error is half of the shortest round trip.
    fn check(offset: i64, delays: &[(i64, i64)]) {
        let mut clock = ClockOffset::unknown();
        let mut now = Nanos::from_secs(5);
        clock.begin(ProbeTurn::ALONE, now);
        assert!(!clock.is_measured());
        for (there, back) in delays {
            let id = clock.poll_probe(now).expect("a probe is due");
            assert_eq!(clock.poll_probe(now), None, "the next one is due later");
            let stamp = Nanos(now.0 + there + offset);
            clock.handle_reply(id, stamp, Nanos(now.0 + there + back));
            clock.handle_reply(id, Nanos::ZERO, Nanos(now.0 + there + back));
            now = now.after(Nanos::SECOND);
        }
        assert!(clock.is_measured() && clock.send_at().is_none());
        let shortest = delays.iter().map(|(there, back)| there + back).min().expect("some");
        let measured = clock.to_agent(now) - now;
        let error = clock.error_at(now).expect("measured");
        assert!((measured.0 - offset).abs() <= error.0, "{measured} for {offset}, error {error}");
        let drift = Nanos((delays.len() as i64 + 1) * DRIFT_MAX_PPM * 1_000);
        assert!(error >= Nanos(shortest / 2) && error <= Nanos(shortest / 2 + 1).after(drift), "{error}");
        assert_eq!(clock.to_controller(clock.to_agent(now)), now);
    }

    #[test]
    fn the_offset_is_within_the_error_of_the_shortest_probe() {
        let delays = |shortest: (i64, i64)| {
            let mut delays = vec![(3_000_000, 9_000_000); PROBES as usize];
            delays[5] = shortest;
            delays
        };
        for offset in [0, 7, -40_000_000_000, 5_000_000_000] {
            check(offset, &delays((100, 100)));
            check(offset, &delays((0, 1_000_000)));
            check(offset, &delays((1_000_000, 0)));
        }
    }

    #[test]
    fn more_probes_are_limited_and_a_shared_clock_needs_none() {
        let mut clock = ClockOffset::unknown();
        assert!(!clock.extend(Nanos::ZERO), "there is no measurement yet");
        clock.begin(ProbeTurn::ALONE, Nanos::ZERO);
        let extensions =
            std::iter::repeat_with(|| clock.extend(Nanos::ZERO)).take_while(|more| *more).count();
        assert_eq!(extensions as u32, PROBES_MAX / PROBES - 1);
        let mut shared = ClockOffset::shared();
        shared.begin(ProbeTurn::ALONE, Nanos::ZERO);
        assert!(shared.is_measured() && shared.send_at().is_none());
        assert_eq!(shared.error_at(Nanos::from_secs(1_000_000)), Some(Nanos::ZERO));
    }

    #[test]
    fn agents_of_a_large_fleet_take_turns() {
        let check = |count: usize, every_ms: i64| {
            let turns: Vec<_> = (0..count).map(|index| ProbeTurn::new(index, count)).collect();
            assert!(turns.iter().all(|turn| turn.every == Nanos::from_millis(every_ms)), "{count}");
            for turn in &turns {
                let same = turns.iter().filter(|other| other.delay == turn.delay).count();
                assert!(same <= PROBES_AT_ONCE_MAX && turn.delay < turn.every, "{count}: {turn:?}");
            }
        };
        check(1, 20);
        check(80, 20);
        check(81, 40);
        check(1_000, 260);
        check(10_000, 2_500);
    }

    #[test]
    fn an_agent_that_does_not_answer_is_probed_less_and_less() {
        let mut clock = ClockOffset::unknown();
        clock.begin(ProbeTurn::ALONE, Nanos::ZERO);
        let mut sent = Vec::new();
        for millis in 0..1_000 {
            let now = Nanos::from_millis(millis);
            sent.extend(clock.poll_probe(now).map(|id| (id, now)));
        }
        let millis: Vec<i64> = sent.iter().map(|(_, at)| at.0 / 1_000_000).collect();
        assert_eq!(millis, [0, 20, 60, 120, 200, 300, 420, 560, 720, 900]);
        let now = Nanos::from_secs(1);
        clock.handle_reply(sent[9].0, now, now);
        let next = clock.poll_probe(Nanos::from_secs(2)).and(clock.send_at());
        assert_eq!(next, Some(Nanos::from_millis(2_020)), "it answers again");
    }
}
