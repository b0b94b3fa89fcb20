//! [`JourneysLine`]: the `journeys` of an interval line: counters of sessions beyond their single
//! requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wavetank_measure::{
    CheckCount, CheckSeries, DropReason, GroupSeries, Histogram, JourneyCounters, RendezvousRelease,
    SessionCounts, SessionSeries,
};
use wavetank_plan::Key;
use wavetank_units::Nanos;

use crate::DecodeError;
use crate::histogram_code::HistogramCode;

/// Absent where every session was one plain request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct JourneysLine<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sessions: Vec<SessionsLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asked: Vec<CheckLine>,
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<GroupLine<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    meetings: Vec<MeetingLine>,
    #[serde(skip_serializing_if = "is_zero")]
    meetings_untold: u64,
}

/// Counts of one phase and scenario; `open` is a gauge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct SessionsLine {
    phase: u16,
    scenario: u16,
    offered: u64,
    started: u64,
    done: u64,
    failed: u64,
    open: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    dropped_by: BTreeMap<String, u64>,
}

/// Checks by their place in the step as `[held, failed]`, counts as `[index, count]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct CheckLine {
    key: [u16; 3],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<(u64, u64)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counts: Vec<(u16, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct GroupLine<'a> {
    phase: u16,
    scenario: u16,
    group: u16,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    times: Option<HistogramCode<'a>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct MeetingLine {
    phase: u16,
    place: u16,
    number: u64,
    of: u64,
    present: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    by_wait: bool,
    sent: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_sent_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_sent_ns: Option<i64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl JourneysLine<'static> {
    /// Returns `None` if there is nothing to store.
    pub(crate) fn new(journeys: &JourneyCounters) -> Option<Self> {
        // Taken apart by name, so that a new field cannot be forgotten here.
        let JourneyCounters { sessions, asked, groups, meetings, meetings_untold } = journeys;
        (*journeys != JourneyCounters::default()).then(|| Self {
            sessions: sessions.iter().map(SessionsLine::new).collect(),
            asked: asked.iter().map(CheckLine::new).collect(),
            groups: groups.iter().map(GroupLine::new).collect(),
            meetings: meetings.iter().map(MeetingLine::new).collect(),
            meetings_untold: *meetings_untold,
        })
    }
}

impl JourneysLine<'_> {
    pub(crate) fn decode(self) -> Result<JourneyCounters, DecodeError> {
        Ok(JourneyCounters {
            sessions: self.sessions.into_iter().map(SessionsLine::decode).collect::<Result<_, _>>()?,
            asked: self.asked.into_iter().map(CheckLine::decode).collect(),
            groups: self.groups.into_iter().map(GroupLine::decode).collect::<Result<_, _>>()?,
            meetings: self.meetings.into_iter().map(MeetingLine::decode).collect::<Result<_, _>>()?,
            meetings_untold: self.meetings_untold,
        })
    }
}

impl SessionsLine {
    fn new(series: &SessionSeries) -> Self {
        let SessionSeries { phase, scenario, counts, open } = *series;
        let SessionCounts { offered, started, done, failed, dropped_by } = counts;
        let occurred = DropReason::ALL.iter().zip(dropped_by).filter(|&(_, n)| n > 0);
        let dropped_by = occurred.map(|(reason, n)| (reason.name().to_owned(), n)).collect();
        Self { phase, scenario, offered, started, done, failed, open, dropped_by }
    }

    fn decode(self) -> Result<SessionSeries, DecodeError> {
        let Self { phase, scenario, offered, started, done, failed, open, dropped_by: named } = self;
        let mut dropped_by = [0; DropReason::ALL.len()];
        for (name, n) in named {
            let reason = DropReason::parse(&name);
            let reason =
                reason.ok_or_else(|| DecodeError::new(format!("sessions: unknown drop reason `{name}`")))?;
            dropped_by[reason as usize] = n;
        }
        let counts = SessionCounts { offered, started, done, failed, dropped_by };
        Ok(SessionSeries { phase, scenario, counts, open })
    }
}

impl CheckLine {
    fn new(series: &CheckSeries) -> Self {
        let CheckSeries { key, checks, counts } = series;
        let checks = checks.iter().map(|&CheckCount { held, failed }| (held, failed)).collect();
        Self { key: [key.phase, key.scenario, key.step], checks, counts: counts.clone() }
    }

    fn decode(self) -> CheckSeries {
        let [phase, scenario, step] = self.key;
        let checks = self.checks.into_iter().map(|(held, failed)| CheckCount { held, failed }).collect();
        CheckSeries { key: Key { phase, scenario, step }, checks, counts: self.counts }
    }
}

impl GroupLine<'static> {
    fn new(series: &GroupSeries) -> Self {
        let GroupSeries { phase, scenario, group, times } = series;
        Self { phase: *phase, scenario: *scenario, group: *group, times: HistogramCode::new(times) }
    }
}

impl GroupLine<'_> {
    fn decode(self) -> Result<GroupSeries, DecodeError> {
        let Self { phase, scenario, group, times } = self;
        let times = times.map_or_else(
            || Ok(Histogram::default()),
            |code| code.decode(&Histogram::default(), Histogram::default()),
        )?;
        Ok(GroupSeries { phase, scenario, group, times })
    }
}

impl MeetingLine {
    fn new(meeting: &RendezvousRelease) -> Self {
        let RendezvousRelease { phase, place, number, of, present, by_wait, sent, first_sent, last_sent } =
            *meeting;
        let reported = |at: Nanos| (sent > 0).then_some(at.0);
        let (first_sent_ns, last_sent_ns) = (reported(first_sent), reported(last_sent));
        Self { phase, place, number, of, present, by_wait, sent, first_sent_ns, last_sent_ns }
    }

    fn decode(self) -> Result<RendezvousRelease, DecodeError> {
        let Self { phase, place, number, of, present, by_wait, sent, first_sent_ns, last_sent_ns } = self;
        let (first_sent, last_sent) = match (sent, first_sent_ns, last_sent_ns) {
            (0, None, None) => (Nanos::ZERO, Nanos::ZERO),
            (1.., Some(first), Some(last)) if first <= last => (Nanos(first), Nanos(last)),
            _ => return Err(DecodeError::new("meetings: the times of sent requests are inconsistent")),
        };
        Ok(RendezvousRelease { phase, place, number, of, present, by_wait, sent, first_sent, last_sent })
    }
}

/// All numbers that are added up when journeys are merged.
pub(crate) fn counts(journeys: &JourneyCounters) -> impl Iterator<Item = u64> + '_ {
    let sessions = journeys.sessions.iter().flat_map(|series| {
        let SessionCounts { offered, started, done, failed, dropped_by } = series.counts;
        [offered, started, done, failed, series.open].into_iter().chain(dropped_by)
    });
    let asked = journeys.asked.iter().flat_map(|series| {
        let checks = series.checks.iter().flat_map(|check| [check.held, check.failed]);
        checks.chain(series.counts.iter().map(|&(_, n)| n))
    });
    let groups = journeys.groups.iter().map(|series| series.times.count());
    let meetings = journeys.meetings.iter().flat_map(|meeting| [meeting.of, meeting.present, meeting.sent]);
    sessions.chain(asked).chain(groups).chain(meetings).chain([journeys.meetings_untold])
}
