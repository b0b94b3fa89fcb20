//! Counters of sessions rather than requests: sessions, checks, groups, rendezvous.
//!
//! Sessions that are one plain request are not recorded here. They are counted as requests and cost
//! nothing extra.

use wavetank_measure::{
    CheckCount, CheckSeries, DropReason, GroupSeries, JourneyCounters, RendezvousRelease, SessionSeries,
};
use wavetank_plan::{Key, Plan, Step};
use wavetank_units::Nanos;

use super::Recorder;

/// The indices into the interval's lists, and gauges.
pub(super) struct SeriesIndex {
    scenarios: usize,
    /// By index of a key among all keys: its index in the list of keys with checks or counts;
    /// `u32::MAX`: not in it.
    asked: Vec<u32>,
    /// For each scenario, the start of its groups in the list of a phase, and the number of groups
    /// in the list.
    group_base: Vec<usize>,
    groups: usize,
    /// Sessions in progress, by phase and scenario.
    open: Vec<u64>,
}

impl SeriesIndex {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut next = 0;
        let mut place = |asked: bool| {
            let place = if asked { next } else { u32::MAX };
            next += u32::from(asked);
            place
        };
        let steps = || plan.scenarios.iter().flat_map(|scenario| &scenario.steps);
        let asked = plan.phases.iter().flat_map(|_| steps()).map(|step| place(is_asked(step))).collect();
        let (mut group_base, mut groups) = (Vec::with_capacity(plan.scenarios.len()), 0);
        for scenario in &plan.scenarios {
            group_base.push(groups);
            groups += scenario.groups.len();
        }
        let scenarios = plan.scenarios.len();
        let open = vec![0; plan.phases.len() * scenarios];
        Self { scenarios, asked, group_base, groups, open }
    }

    /// Sets the gauges of a sealed interval, and removes series without events.
    pub(super) fn seal(&self, journeys: &mut JourneyCounters) {
        for (series, open) in journeys.sessions.iter_mut().zip(&self.open) {
            series.open = *open;
        }
        journeys.sessions.retain(|series| series.open > 0 || !series.counts.is_empty());
        journeys.asked.retain(|series| !series.is_empty());
        journeys.groups.retain(|series| !series.times.is_empty());
    }
}

/// Creates an entry for every check, count and group of `plan`. Entries for sessions are created on
/// first use.
pub(super) fn empty(plan: &Plan) -> JourneyCounters {
    let mut journeys = JourneyCounters::default();
    for phase in 0..u16::try_from(plan.phases.len()).expect("the plan limits phases") {
        for (scenario, it) in (0_u16..).zip(&plan.scenarios) {
            for (step, asked) in (0_u16..).zip(&it.steps).filter(|(_, step)| is_asked(step)) {
                let key = Key { phase, scenario, step };
                let checks = vec![CheckCount::default(); asked.checks.len()];
                journeys.asked.push(CheckSeries { key, checks, counts: Vec::new() });
            }
            for (group, _) in (0_u16..).zip(&it.groups) {
                journeys.groups.push(GroupSeries { phase, scenario, group, ..GroupSeries::default() });
            }
        }
    }
    journeys
}

fn is_asked(step: &Step) -> bool {
    !step.checks.is_empty() || !step.counts.is_empty()
}

impl Recorder {
    /// Counts a session of `scenario` that is intended in `phase`, the one in which it would start.
    /// It then either starts or is dropped.
    pub(crate) fn session_offered(&mut self, phase: u16, scenario: u16) {
        let (series, open) = self.sessions(phase, scenario);
        series.counts.offered += 1;
        *open += 1;
    }

    /// Counts the start of a session. Must follow directly after
    /// [`session_offered`](Self::session_offered), before the next seal.
    pub(crate) fn session_started(&mut self, phase: u16, scenario: u16) {
        self.sessions(phase, scenario).0.counts.started += 1;
    }

    /// Counts a session that never starts; its requests are not offered.
    pub(crate) fn session_dropped(&mut self, phase: u16, scenario: u16, reason: DropReason) {
        let (series, open) = self.sessions(phase, scenario);
        series.counts.dropped_by[reason as usize] += 1;
        *open -= 1;
    }

    /// Counts the end of a session. `failed`: one of its requests failed, or it was ended for that
    /// reason. A session that is cut at the end of the run is not recorded here and stays open.
    pub(crate) fn session_ended(&mut self, phase: u16, scenario: u16, failed: bool) {
        let (series, open) = self.sessions(phase, scenario);
        series.counts.done += u64::from(!failed);
        series.counts.failed += u64::from(failed);
        *open -= 1;
    }

    /// Sessions that started and have not ended, according to the counters.
    pub(crate) fn open_sessions(&self) -> u64 {
        self.journeys.open.iter().sum()
    }

    /// Records the checks and counts of a response to a request of `key`. The checks at the indices
    /// in `broken` failed, all others of its step passed. The response was counted under each of
    /// `counted`.
    pub(crate) fn checks_done(&mut self, key: Key, broken: &[u16], counted: &[u16]) {
        let place = self.journeys.asked[self.index(key)];
        // A step without checks and counts has no entry.
        if let Some(series) = self.current.journeys.asked.get_mut(place as usize) {
            series.answer(broken);
            for &count in counted {
                series.add(count, 1);
            }
        }
    }

    /// Records that a session of (phase, scenario) reached the end of its group number `group`,
    /// `ns` after the group's start.
    pub(crate) fn group(&mut self, phase: u16, scenario: u16, group: u16, ns: u64) {
        let SeriesIndex { groups, group_base, .. } = &self.journeys;
        let at = usize::from(phase) * groups + group_base[usize::from(scenario)] + usize::from(group);
        self.current.journeys.groups[at].times.record(ns);
    }

    /// Records that users of this thread leave a rendezvous.
    ///
    /// `meeting` contains the phase, place and number of the rendezvous. `of` is the number of
    /// users it waits for over *all* threads, `present` the number that leave on *this thread*. It
    /// also says whether the wait timed out. Its `sent` is 0. With several threads, each records
    /// its own users under the same number.
    pub(crate) fn rendezvous_released(&mut self, meeting: &RendezvousRelease) {
        self.current.journeys.add_rendezvous_release(meeting);
    }

    /// Records that a user released from meeting `number` at `place` sent its next request at `at`,
    /// on the thread's clock.
    pub(crate) fn rendezvous_sent(&mut self, phase: u16, place: u16, number: u64, at: Nanos) {
        let mut meeting = RendezvousRelease { phase, place, number, ..RendezvousRelease::default() };
        meeting.sent_at(at);
        self.current.journeys.add_rendezvous_release(&meeting);
    }

    fn sessions(&mut self, phase: u16, scenario: u16) -> (&mut SessionSeries, &mut u64) {
        if self.current.journeys.sessions.is_empty() {
            self.make_sessions();
        }
        let at = usize::from(phase) * self.journeys.scenarios + usize::from(scenario);
        (&mut self.current.journeys.sessions[at], &mut self.journeys.open[at])
    }

    /// Never reached in a run of plain requests.
    #[cold]
    fn make_sessions(&mut self) {
        let scenarios = u16::try_from(self.journeys.scenarios).expect("the plan limits scenarios");
        let phases = u16::try_from(self.current.phases.len()).expect("the plan limits phases");
        let of_phase = |phase| (0..scenarios).map(move |scenario| (phase, scenario));
        let all = (0..phases).flat_map(of_phase);
        let series = |(phase, scenario)| SessionSeries { phase, scenario, ..SessionSeries::default() };
        self.current.journeys.sessions = all.map(series).collect();
        self.empty.journeys.sessions.clone_from(&self.current.journeys.sessions);
    }
}
