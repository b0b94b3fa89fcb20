//! [`settled_record`]: the record of a run, computed again from its completed archive.

use std::collections::BTreeMap;

use wavetank_diagnose::{FleetGaps, RunContext, RunEnd, Throttling};
use wavetank_measure::{ErrorClass, Ledger};
use wavetank_plan::{Phase, Plan};
use wavetank_record::{
    AgentDoc, AgentEndDoc, ConnectionMemory, EnvironmentDoc, EventKind, EventLine, FleetDoc, FleetStatusDoc,
    HookDoc, PlanDoc, RunRecord,
};
use wavetank_report::{Examples, RunFacts, build_record, lacking_agents, requests_outside_load};
use wavetank_store::OpenedRun;
use wavetank_units::{Nanos, Sentence, UserError, sentence};

use super::agent_facts::AgentFacts;
use super::settled_events::{hook_result, losses};
use super::unsettled_run::cannot_settle;
use crate::note_fault;

/// Returns the record of a run with the agents `fleet`. `opened` is its completed archive, with the
/// former record if there is one.
///
/// # Errors
/// If the archive cannot be read.
pub(super) fn settled_record(
    opened: &OpenedRun,
    (plan, fleet): (&Plan, FleetDoc),
    facts: &BTreeMap<String, AgentFacts>,
) -> Result<RunRecord, UserError> {
    let environment = environment(opened)?;
    let former = opened.record.as_ref();
    // Intervals are read with the agents and numbers that are known now.
    let known = RunRecord { fleet: Some(fleet.clone()), ..RunRecord::default() };
    let mut with_fleet = opened.clone();
    with_fleet.record = Some(known);
    let (mut ledger, read) = with_fleet.ledger(plan)?;
    let is_lost = |agent: &AgentDoc| matches!(agent.end, AgentEndDoc::Crashed | AgentEndDoc::Lost);
    if fleet.agents.iter().any(is_lost) {
        // What an agent did after its last interval is missing, so counts need not add up.
        ledger.mark_incomplete();
    } else {
        // Noted in the ledger; the verdict mentions it.
        let _ = ledger.close();
    }
    let damage = (read.damaged > 0).then(|| read.unread_text());
    let lost = losses(plan, &opened.events, former.is_some()).into_iter().chain(damage).collect();
    let ending = ending(plan, &opened.events, facts, &ledger);
    let hook = |doc: Option<&HookDoc>| doc.map(hook_result).unwrap_or_default();
    let circumstances = RunContext {
        cpus: fleet.agents.iter().map(|agent| agent.cores).sum(),
        fleet: Some(FleetGaps {
            agents: fleet.agents.len() as u64,
            lacking: lacking_agents(&fleet),
            tolerated: fleet.status == FleetStatusDoc::Tolerated,
        }),
        lost,
        faults: faults(opened),
        accounting: accounting(facts),
        rehearsal: environment.rehearsal.is_some(),
        before: hook(former.and_then(|record| record.before.as_ref())),
        after: hook(former.and_then(|record| record.after.as_ref())),
        ..usage(facts)
    };
    let sum = |of: fn(&AgentDoc) -> f64| fleet.agents.iter().map(of).sum();
    let mut record = build_record(RunFacts {
        plan,
        plan_hash: &PlanDoc::hash(&opened.plan_yaml),
        environment: &environment,
        ledger: &ledger,
        ending: &ending,
        circumstances: &circumstances,
        cpu_s: (sum(|agent| agent.cpu_user_s.0), sum(|agent| agent.cpu_system_s.0)),
        peak_rss_bytes: fleet.agents.iter().map(|agent| agent.peak_rss_bytes).max().unwrap_or(0),
        connection_memory: memory(facts),
        setup: requests_outside_load(environment.probe.is_some(), &opened.events),
        events: &opened.events,
        samples: &Examples::select(plan, &opened.samples),
    });
    record.fleet = Some(fleet);
    if let Some(former) = former {
        let missing = former.notes.iter().filter(|note| !record.notes.contains(note));
        let mut missing: Vec<Sentence> = missing.cloned().collect();
        record.notes.append(&mut missing);
        if former.next.is_empty() {
            record.next.clear();
        }
    }
    Ok(record)
}

/// Returns what the archive has of the command and its host. The start of the load is that of the
/// former record, which the controller knew at its end.
fn environment(opened: &OpenedRun) -> Result<EnvironmentDoc, UserError> {
    let environment = opened.environment.clone().ok_or_else(|| {
        let hint =
            "the sealed seconds are in `intervals/`, one line each; `wavetank runs show` lists the rest";
        cannot_settle(&opened.display_path(), "it has no readable `environment.json`", hint)
    })?;
    let started = opened.record.as_ref().map(|record| record.started_at.clone());
    Ok(EnvironmentDoc { started_at: started.unwrap_or(environment.started_at), ..environment })
}

/// Returns how the run ended, by its events.
fn ending(
    plan: &Plan,
    events: &[EventLine],
    facts: &BTreeMap<String, AgentFacts>,
    ledger: &Ledger,
) -> RunEnd {
    let end = events.iter().find_map(|event| match EventKind::from_name(&event.kind)? {
        EventKind::SignalReceived => Some(RunEnd::Signal),
        EventKind::StoppedOnLoss => Some(RunEnd::AgentLost),
        EventKind::StopFired => {
            let (condition, at) = ledger.stop_fired()?;
            Some(RunEnd::StopFired { condition: condition.to_owned(), at })
        }
        EventKind::Hopeless => ledger.only_class().map(|class| RunEnd::Hopeless { class }),
        EventKind::RunEnded => step_failed(plan, facts),
        _ => None,
    });
    let is_counted = plan.phases.iter().any(Phase::is_counted);
    let hopeless = || ledger.only_class().filter(|_| is_counted).map(|class| RunEnd::Hopeless { class });
    end.or_else(hopeless).unwrap_or(RunEnd::Finished)
}

/// Returns the step with the failure that ended the run, if one did.
fn step_failed(plan: &Plan, facts: &BTreeMap<String, AgentFacts>) -> Option<RunEnd> {
    let request = facts.values().find_map(|facts| facts.end_run.filter(|end| end.failed.is_some()))?;
    let scenario = plan.scenarios.get(usize::from(request.scenario))?;
    let step = scenario.steps.get(usize::from(request.failed?))?.name.clone();
    Some(RunEnd::StepFailed { step, scenario: scenario.name.clone() })
}

/// Returns the first failure of each class on which a hint depends.
fn faults(opened: &OpenedRun) -> Vec<(ErrorClass, Sentence)> {
    let mut faults = Vec::new();
    for sample in opened.samples.iter().filter(|sample| sample.kind == "failed") {
        if let Some(class) = ErrorClass::ALL.into_iter().find(|class| class.name() == sample.class) {
            note_fault(&mut faults, class, Some(&sample.detail));
        }
    }
    faults
}

fn accounting(facts: &BTreeMap<String, AgentFacts>) -> Vec<Sentence> {
    let all = facts.iter().flat_map(|(name, facts)| facts.accounting.iter().map(move |text| (name, text)));
    all.map(|(name, text)| sentence!("{name}: {text}")).collect()
}

/// Returns how well the hosts of the agents could send.
fn usage(facts: &BTreeMap<String, AgentFacts>) -> RunContext {
    let health = || facts.values().filter_map(|facts| facts.health.as_ref());
    let throttled = health().filter_map(|health| health.throttled_ns).max().filter(|ns| *ns > 0);
    let stopped = throttled.map(|ns| Nanos(i64::try_from(ns).unwrap_or(i64::MAX)));
    RunContext {
        steal: health().filter_map(|health| health.steal.map(|share| share.0)).reduce(f64::max),
        throttling: stopped.map(|stopped| Throttling { stopped, ..Throttling::default() }),
        ..RunContext::default()
    }
}

/// Returns the memory of all connections together.
fn memory(facts: &BTreeMap<String, AgentFacts>) -> Option<ConnectionMemory> {
    let mut all = facts.values().filter_map(|facts| facts.memory).peekable();
    all.peek()?;
    let mut sum = ConnectionMemory::default();
    for memory in all {
        sum.connections += memory.connections;
        sum.grown_bytes += memory.grown_bytes;
    }
    sum.bytes_per_connection = sum.grown_bytes / sum.connections.max(1);
    Some(sum)
}
