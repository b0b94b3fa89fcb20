//! The parts of a record about sessions: sessions, checks, counts, groups, rendezvous, and the
//! hooks around the load.

use std::collections::BTreeMap;

use wavetank_diagnose::HookResult;
use wavetank_measure::{DropReason, RendezvousRelease, Selection, SessionSeries, Totals};
use wavetank_plan::Plan;
use wavetank_record::{
    CheckDoc, GroupDoc, HookCheckDoc, HookDoc, HookFailureDoc, Number, RendezvousDoc, RendezvousReleaseDoc,
    Sessions, Setup,
};
use wavetank_units::Nanos;

use crate::compose::times;
use crate::counts::occurred;

/// Sessions of some keys.
pub(crate) fn sessions(plan: &Plan, totals: &Totals, selection: Selection) -> Sessions {
    let SessionSeries { counts, open, .. } = totals.sessions(plan, selection);
    Sessions {
        offered: counts.offered,
        started: counts.started,
        done: counts.done,
        failed: counts.failed,
        dropped: counts.dropped(),
        open,
    }
}

/// Why judged sessions never started.
pub(crate) fn sessions_dropped_by(plan: &Plan, totals: &Totals) -> BTreeMap<String, u64> {
    let counts = totals.sessions(plan, Selection::Judged).counts;
    occurred(&DropReason::ALL.map(DropReason::name), &counts.dropped_by)
}

/// Every check of every step, whether or not it ran.
pub(crate) fn checks(plan: &Plan, totals: &Totals) -> Vec<CheckDoc> {
    let mut docs = Vec::new();
    for (number, scenario) in (0_u16..).zip(&plan.scenarios) {
        for (index, step) in (0_u16..).zip(&scenario.steps) {
            for (place, check) in step.checks.iter().enumerate() {
                let asked = totals.target_counts(Selection::Step(number, index));
                let counts = asked.filter_map(|series| series.checks.get(place));
                let (held, failed) =
                    counts.fold((0, 0), |(held, failed), count| (held + count.held, failed + count.failed));
                docs.push(CheckDoc {
                    name: check.text.clone(),
                    step: step.name.clone(),
                    scenario: scenario.name.clone(),
                    held,
                    failed,
                });
            }
        }
    }
    docs
}

/// What steps counted.
pub(crate) fn counts(plan: &Plan, totals: &Totals) -> BTreeMap<String, u64> {
    let count = |(index, name): (u16, &String)| {
        let counted = totals.target_counts(Selection::Judged).map(|series| series.counted(index));
        (name.clone(), counted.sum())
    };
    (0_u16..).zip(&plan.shared.counts).map(count).collect()
}

/// Every group that was passed.
pub(crate) fn groups(plan: &Plan, totals: &Totals) -> Vec<GroupDoc> {
    let all = totals.groups(Selection::Judged);
    let doc = |series: &wavetank_measure::GroupSeries| {
        let scenario = plan.scenarios.get(usize::from(series.scenario))?;
        let name = scenario.groups.get(usize::from(series.group))?.clone();
        Some(GroupDoc { name, scenario: scenario.name.clone(), time_us: times(&series.times, 0, None) })
    };
    all.iter().filter_map(doc).collect()
}

/// Every rendezvous, met or not.
pub(crate) fn rendezvous(plan: &Plan, totals: &Totals) -> Vec<RendezvousDoc> {
    let judged = |meeting: &&RendezvousRelease| !totals.spans().is_warmup(meeting.phase);
    let doc = |(place, name): (u16, &String)| {
        let mut meetings: Vec<_> = totals.journeys.meetings.iter().filter(judged).collect();
        meetings.retain(|meeting| meeting.place == place);
        let skew = meetings.iter().filter_map(|meeting| meeting.skew()).max();
        let listed = meetings.iter().take(RendezvousDoc::MEETINGS_MAX);
        RendezvousDoc {
            name: name.clone(),
            met: meetings.len() as u64,
            by_wait: meetings.iter().filter(|meeting| meeting.by_wait).count() as u64,
            present: meetings.iter().map(|meeting| meeting.present).sum(),
            skew_us: skew.map(micros),
            meetings: listed.map(|meeting| meeting_doc(plan, meeting)).collect(),
        }
    };
    (0_u16..).zip(&plan.shared.rendezvous).map(doc).collect()
}

fn meeting_doc(plan: &Plan, meeting: &RendezvousRelease) -> RendezvousReleaseDoc {
    let RendezvousRelease { of, present, by_wait, sent, first_sent, .. } = *meeting;
    let phase = plan.phases.get(usize::from(meeting.phase));
    RendezvousReleaseDoc {
        phase: phase.map(|phase| phase.name.clone()).unwrap_or_default(),
        of,
        present,
        by_wait,
        sent,
        at_s: (sent > 0).then(|| Number(first_sent.as_secs_f64())),
        skew_us: meeting.skew().map(micros),
    }
}

const fn micros(length: Nanos) -> Number {
    Number(length.0 as f64 / 1e3)
}

/// Result of `before` or `after`; `None` if the plan has none.
pub(crate) fn loop_doc(around: &HookResult) -> Option<HookDoc> {
    let checks = around.checks.iter().map(|check| HookCheckDoc {
        step: check.step.clone(),
        name: check.check.clone(),
        ok: check.held,
        found: check.found.clone(),
    });
    let faults = around.faults.iter();
    let faults = faults.map(|fault| HookFailureDoc { step: fault.step.clone(), what: fault.what.clone() });
    let doc = HookDoc { checks: checks.collect(), faults: faults.collect() };
    (*around != HookResult::default()).then_some(doc)
}

/// Requests that no counter includes: those of the probe, and of the hooks around the load.
pub(crate) fn setup(probe: Setup, before: &HookResult, after: &HookResult) -> Setup {
    Setup {
        sent: probe.sent + before.sent + after.sent,
        done: probe.done + before.done + after.done,
        failed: probe.failed + before.failed + after.failed,
    }
}
