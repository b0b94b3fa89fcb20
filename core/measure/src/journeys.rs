//! [`JourneyCounters`]: what sessions did beyond their single requests.

use wavetank_plan::Key;
use wavetank_units::Nanos;

use crate::{CheckSeries, Histogram, RendezvousRelease, SessionSeries};

/// Counters of sessions beyond their single requests, for one interval or summed up. Empty if every
/// session is a single request without checks. Such sessions are derived from the request counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JourneyCounters {
    /// Sessions, one entry per (phase, scenario).
    pub sessions: Vec<SessionSeries>,
    /// Checks and counts, one entry per key with a step that has any.
    pub asked: Vec<CheckSeries>,
    /// Steps timed as one, one entry per (phase, scenario, group).
    pub groups: Vec<GroupSeries>,
    /// Rendezvous releases, at most [`RendezvousRelease::SHOWN_MAX`] in an interval.
    pub meetings: Vec<RendezvousRelease>,
    /// Meetings beyond that.
    pub meetings_untold: u64,
}

/// Times of a group: from the start of its first step to the end of its last, pauses included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupSeries {
    /// Index into the plan's phases: that of the session.
    pub phase: u16,
    /// Index into the plan's scenarios.
    pub scenario: u16,
    /// Index into [`wavetank_plan::Scenario::groups`].
    pub group: u16,
    /// One time for each session that reached the end of the group.
    pub times: Histogram,
}

impl GroupSeries {
    /// The identifying numbers: phase, scenario, group.
    pub const fn name(&self) -> (u16, u16, u16) {
        (self.phase, self.scenario, self.group)
    }
}

impl JourneyCounters {
    /// Whether nothing happened and no session is in progress.
    pub fn is_empty(&self) -> bool {
        self.sessions.iter().all(|series| series.counts.is_empty() && series.open == 0)
            && self.asked.iter().all(CheckSeries::is_empty)
            && self.groups.iter().all(|series| series.times.is_empty())
            && self.meetings.is_empty()
            && self.meetings_untold == 0
    }

    /// The sessions of (phase, scenario), made if missing.
    pub fn sessions_mut(&mut self, phase: u16, scenario: u16) -> &mut SessionSeries {
        let make = || SessionSeries { phase, scenario, ..SessionSeries::default() };
        entry(&mut self.sessions, |series| (series.phase, series.scenario) == (phase, scenario), make)
    }

    /// The checks and counts of `key`, made if missing.
    pub fn asked_mut(&mut self, key: Key) -> &mut CheckSeries {
        let make = || CheckSeries { key, ..CheckSeries::default() };
        entry(&mut self.asked, |series| series.key == key, make)
    }

    /// The group of (phase, scenario, group), made if missing.
    pub fn group_mut(&mut self, phase: u16, scenario: u16, group: u16) -> &mut GroupSeries {
        let make = || GroupSeries { phase, scenario, group, ..GroupSeries::default() };
        entry(&mut self.groups, |series| series.name() == (phase, scenario, group), make)
    }

    /// Adds a rendezvous release. A new one beyond [`RendezvousRelease::SHOWN_MAX`] is only
    /// counted.
    pub fn add_rendezvous_release(&mut self, meeting: &RendezvousRelease) {
        // Most often it is the latest.
        match self.meetings.iter().rposition(|known| known.name() == meeting.name()) {
            Some(known) => self.meetings[known].merge(meeting),
            None if self.meetings.len() < RendezvousRelease::SHOWN_MAX => self.meetings.push(*meeting),
            // A release is reported once with the number of users present, and later with their
            // requests.
            None => self.meetings_untold += u64::from(meeting.present > 0),
        }
    }

    /// Adds `other`. Exact, and the same in any order as long as all rendezvous releases fit.
    /// Gauges are left unchanged, see [`JourneyCounters::merge_gauges`]. Lists end up sorted.
    pub fn merge(&mut self, other: &Self) {
        for theirs in &other.sessions {
            self.sessions_mut(theirs.phase, theirs.scenario).merge(theirs);
        }
        for theirs in &other.asked {
            self.asked_mut(theirs.key).merge(theirs);
        }
        for theirs in &other.groups {
            self.group_mut(theirs.phase, theirs.scenario, theirs.group).times.merge(&theirs.times);
        }
        other.meetings.iter().for_each(|theirs| self.add_rendezvous_release(theirs));
        self.meetings_untold += other.meetings_untold;
        self.sort();
    }

    /// Adds another thread's or agent's gauges of the same seal.
    pub fn merge_gauges(&mut self, other: &Self) {
        for theirs in &other.sessions {
            self.sessions_mut(theirs.phase, theirs.scenario).open += theirs.open;
        }
    }

    /// Another seal begins: its gauges are added next.
    pub fn clear_gauges(&mut self) {
        self.sessions.iter_mut().for_each(|series| series.open = 0);
    }

    /// Move instants on by `zero`, from a thread's clock to the run's.
    pub fn shift(&mut self, zero: impl Fn(Nanos) -> Nanos) {
        for meeting in self.meetings.iter_mut().filter(|meeting| meeting.sent > 0) {
            meeting.first_sent = zero(meeting.first_sent);
            meeting.last_sent = zero(meeting.last_sent);
        }
    }

    pub(crate) fn sort(&mut self) {
        self.sessions.sort_by_key(|series| (series.phase, series.scenario));
        self.asked.sort_by_key(|series| series.key);
        self.groups.sort_by_key(GroupSeries::name);
        self.meetings.sort_by_key(RendezvousRelease::name);
    }
}

/// The element that is meant, put at the end if missing.
fn entry<T>(list: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
    let at = list.iter().position(is).unwrap_or_else(|| {
        list.push(make());
        list.len() - 1
    });
    &mut list[at]
}
