//! Session data, for golden files and at random.

use wavetank_measure::{
    CheckCount, CheckSeries, GroupSeries, JourneyCounters, RendezvousRelease, SessionSeries,
};
use wavetank_plan::Key;
use wavetank_units::Nanos;

use super::Random;

/// One of everything.
pub(crate) fn journeys() -> JourneyCounters {
    let mut journeys = JourneyCounters::default();
    let sessions = journeys.sessions_mut(1, 0);
    sessions.counts.offered = 9;
    sessions.counts.started = 8;
    sessions.counts.done = 4;
    sessions.counts.failed = 1;
    sessions.counts.dropped_by[0] = 1;
    sessions.open = 3;
    let asked = journeys.asked_mut(Key { phase: 1, scenario: 0, step: 0 });
    asked.checks = vec![CheckCount { held: 5, failed: 0 }, CheckCount { held: 4, failed: 1 }];
    asked.counts = vec![(0, 4)];
    journeys.group_mut(1, 0, 0).times.record(2_000_000_000);
    let mut meeting =
        RendezvousRelease { phase: 1, of: 10, present: 8, by_wait: true, ..RendezvousRelease::default() };
    meeting.sent_at(Nanos::from_millis(3_100));
    meeting.sent_at(Nanos::from_millis(3_104));
    journeys.add_rendezvous_release(&meeting);
    journeys
}

/// Anything, or nothing.
pub(crate) fn random(random: &mut Random) -> JourneyCounters {
    if random.below(3) == 0 {
        return JourneyCounters::default();
    }
    let sessions = (0..random.below(3)).map(|phase| {
        let mut series = SessionSeries { phase: phase as u16, scenario: 7, ..SessionSeries::default() };
        series.counts.offered = random.magnitude(40);
        series.counts.dropped_by[random.below(5) as usize] = random.magnitude(40);
        series.open = random.magnitude(20);
        series
    });
    let sessions = sessions.collect();
    let asked = (0..random.below(3)).map(|step| CheckSeries {
        key: Key { phase: 0, scenario: 2, step: step as u16 },
        checks: (0..random.below(4)).map(|_| check(random)).collect(),
        counts: (0..random.below(3)).map(|count| (count as u16, random.magnitude(40))).collect(),
    });
    let asked = asked.collect();
    let groups = (0..random.below(3)).map(|group| GroupSeries {
        phase: 1,
        scenario: 0,
        group: group as u16,
        times: random.histogram(),
    });
    let groups = groups.collect();
    let meetings = (0..random.below(3)).map(|number| {
        let mut meeting =
            RendezvousRelease { number, of: random.magnitude(40), ..RendezvousRelease::default() };
        for _ in 0..random.below(3) {
            meeting.sent_at(Nanos(random.magnitude(45) as i64 - (1 << 40)));
        }
        meeting
    });
    let meetings = meetings.collect();
    JourneyCounters { sessions, asked, groups, meetings, meetings_untold: random.below(2) }
}

fn check(random: &mut Random) -> CheckCount {
    CheckCount { held: random.magnitude(40), failed: random.magnitude(40) }
}
