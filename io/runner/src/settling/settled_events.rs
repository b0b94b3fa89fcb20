//! Events that are written down when a run is settled, and what its record keeps of the former one.

use std::collections::BTreeMap;

use wavetank_diagnose::{HookCheck, HookFailure, HookResult};
use wavetank_plan::Plan;
use wavetank_record::{AgentEndDoc, EventKind, EventLine, HookDoc, IntervalExtras, SampleLine};
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use super::agent_facts::AgentFacts;
use crate::SampleStore;

/// Lines of journeys that are kept of what spools add.
const LOGS_MAX: usize = 1_000;

/// What spools add to the other files of an archive.
pub(super) struct AddedLines {
    pub(super) events: Vec<EventLine>,
    samples: SampleStore,
    pub(super) added_samples: Vec<SampleLine>,
    logs: usize,
}

impl AddedLines {
    /// Nothing yet. `samples` are those that the archive has.
    pub(super) fn new(plan: &Plan, samples: &[SampleLine]) -> Self {
        let mut store = SampleStore::new(plan);
        let _ = store.add_lines(samples.to_vec());
        Self { events: Vec::new(), samples: store, added_samples: Vec::new(), logs: 0 }
    }

    /// Adds what came with the intervals of an agent.
    pub(super) fn add(&mut self, agent: &str, extras: Vec<IntervalExtras>) {
        for extras in extras {
            self.added_samples.extend(self.samples.add_lines(extras.samples));
            let events = extras.events.into_iter();
            self.events.extend(events.map(|event| EventLine { agent: agent.to_owned(), ..event }));
            for line in extras.logs.into_iter().take(LOGS_MAX - self.logs) {
                self.logs += 1;
                let event = EventLine::new(Nanos(line.at_ns), EventKind::Log, Sentence::quoted(line.text));
                self.events.push(EventLine { phase: Some(line.phase), ..event });
            }
        }
    }
}

/// Returns what is missing of a run apart from intervals. The controller of one that `is_finished`
/// saw its end.
pub(super) fn losses(plan: &Plan, events: &[EventLine], is_finished: bool) -> Vec<Sentence> {
    let failed = events.iter().filter(|event| event.kind == "thread_failed");
    let mut lost: Vec<Sentence> = failed.map(|event| sentence!("{}: {}", event.agent, event.text)).collect();
    if !is_finished && plan.around.after.is_some() {
        lost.push(phrase!("wavetank was stopped before the run was over"));
    }
    lost
}

/// Returns the result of a run's `before` or `after` from its record.
pub(super) fn hook_result(doc: &HookDoc) -> HookResult {
    let checks = doc.checks.iter().map(|check| HookCheck {
        step: check.step.clone(),
        check: check.name.clone(),
        held: check.ok,
        found: check.found.clone(),
    });
    let faults =
        doc.faults.iter().map(|fault| HookFailure { step: fault.step.clone(), what: fault.what.clone() });
    // Their requests are in the events.
    HookResult { checks: checks.collect(), faults: faults.collect(), ..HookResult::default() }
}

/// The event that intervals came from a spool. `at` is the end of the last one.
pub(super) fn settled(agent: &str, added: u64, at: Nanos) -> EventLine {
    let text = sentence!("agent {agent}: {added} intervals came from its spool");
    EventLine { agent: agent.to_owned(), ..EventLine::new(at, EventKind::Settled, text) }
}

/// The losses of agents that the controller did not see: their processes ended early, or nothing is
/// known of their end. Readers count what they held as lost.
pub(super) fn unseen_losses(
    events: &[EventLine],
    ends: &[(String, AgentEndDoc)],
    facts: &BTreeMap<String, AgentFacts>,
) -> Vec<EventLine> {
    let is_known =
        |name: &str| events.iter().any(|event| event.kind == EventKind::AgentLost && event.agent == name);
    let is_lost = |end| matches!(end, AgentEndDoc::Crashed | AgentEndDoc::Lost);
    let lost = ends.iter().filter(|(name, end)| is_lost(*end) && !is_known(name));
    lost.map(|(name, _)| {
        let at = facts.get(name).map_or(Nanos::ZERO, |facts| facts.end);
        let event = EventLine::new(at, EventKind::AgentLost, sentence!("agent {name} is silent"));
        EventLine { agent: name.clone(), ..event }
    })
    .collect()
}

/// The ends of phases that a number of requests ended, if the controller did not write them.
pub(super) fn phase_ends(
    plan: &Plan,
    events: &[EventLine],
    facts: &BTreeMap<String, AgentFacts>,
) -> Vec<EventLine> {
    let drained: Option<Vec<Nanos>> = facts.values().map(|facts| facts.drained).collect();
    let Some(at) = drained.and_then(|all| all.into_iter().max()) else { return Vec::new() };
    let is_known = |index: u16| {
        events.iter().any(|event| event.kind == EventKind::PhaseEnded && event.phase == Some(index))
    };
    let phases = (0_u16..).zip(&plan.phases).filter(|(index, phase)| {
        let by_count = phase.end().is_none_or(|end| at < end);
        by_count && phase.is_counted() && !phase.warmup && !is_known(*index)
    });
    phases
        .map(|(index, phase)| {
            let text = sentence!("phase {} ended", phase.name);
            EventLine { phase: Some(index), ..EventLine::new(at, EventKind::PhaseEnded, text) }
        })
        .collect()
}
