//! [`HookResults`]: what a run does once before and once after its load, around the load itself.

use std::sync::Arc;

use wavetank_diagnose::{HookCheck, HookFailure, HookResult, RunEnd};
use wavetank_driver::{Clock, Signals};
use wavetank_engine::{EarlyEnd, LoadConfig, SingleUser, TraceEvent, WalkResult};
use wavetank_measure::{Selection, Totals};
use wavetank_plan::{Guard, Plan};
use wavetank_record::{EventKind, EventLine, Setup};
use wavetank_store::ArchiveWriter;
use wavetank_units::{Nanos, UserError};

use super::dns_refresh::DnsRefresher;
use super::event_runner::{EventRunner, ExecutorFactory};
use super::fleet_package::FleetPackage;
use super::live_metrics::LiveMetrics;
use super::redaction::Redaction;
use super::run_control::RunControl;
use super::{LoadResult, LoadSide, RunConsole, RunController, SamplingConfig};

/// Results of the run's `before` and `after` steps.
#[derive(Default)]
pub(crate) struct HookResults {
    pub(crate) before: HookResult,
    pub(crate) after: HookResult,
}

/// What a load is carried out with.
pub(crate) struct LoadContext<'a> {
    pub(crate) plan: &'a Arc<Plan>,
    pub(crate) hash: &'a str,
    pub(crate) clock: Clock,
    pub(crate) signals: Signals,
    /// Decides over addresses that names come to have while the load runs.
    pub(crate) guard: &'a Guard,
    /// The command as typed, for hints.
    pub(crate) command: &'a str,
    /// What is sampled during the load.
    pub(crate) truth: SamplingConfig<'a>,
    /// Who does what the plan's events say; `None`: it has none.
    pub(crate) hands: Option<ExecutorFactory<'a>>,
    /// Returns what is missing of the lab that the run goes to; `None` outside of a lab.
    pub(crate) loss: Option<&'a dyn Fn() -> Option<String>>,
    /// What other processes see of the run, and how they control it.
    pub(crate) control: &'a RunControl<'a>,
}

/// The load, with what comes before and after it. Fails only where this host cannot.
pub(crate) fn run_load(
    way: &LoadContext<'_>,
    (mut means, fleet): (LoadConfig, Option<FleetPackage>),
    (archive, metrics): (Option<ArchiveWriter>, Option<LiveMetrics>),
    talk: &mut dyn RunConsole,
) -> Result<(LoadResult, HookResults), UserError> {
    let LoadContext { plan, hash, clock, signals, guard, command, truth, hands, loss, control } = *way;
    let events = hands.map(|hands| EventRunner::new(&plan.events, hands)).transpose()?;
    let names = || DnsRefresher::start(plan, guard, command);
    let mut bounds = HookResults::default();
    if plan.around.before.is_none() && plan.around.after.is_none() {
        let side = fleet.map_or_else(|| Ok(LoadSide::Local(means)), |fleet| fleet.into_side(&[]))?;
        let conductor = RunController::new(Arc::clone(plan), hash, clock, side, signals, archive, talk);
        let conductor = conductor.controlled(control).renewing(names()).with_sampling(truth);
        return Ok((conductor.with_events(events).with_metrics(metrics).in_lab(loss).run()?, bounds));
    }
    let cancelled = || signals.received() > 0;
    let mut alone = SingleUser::new(plan, &means, clock, &cancelled)?;
    let before = alone.before(&mut |happened| logged(talk, happened));
    bounds.before = hook_result(plan, &before);
    let ending = match before.early {
        Some(EarlyEnd::Cancelled) => Some(RunEnd::Signal),
        Some(EarlyEnd::Run) if before.failure.is_none() => {
            let what = "ended the run before its load".to_owned();
            bounds.before.faults.push(HookFailure { step: "end: run".to_owned(), what });
            Some(RunEnd::BeforeFailed)
        }
        _ => before.failure.is_some().then_some(RunEnd::BeforeFailed),
    };
    if let Some(ending) = ending {
        return Ok((LoadResult::nothing(plan, ending, archive), bounds));
    }
    said(talk, "before", &bounds.before);
    let done = plan.around.before.as_ref().map(|_| done(EventKind::BeforeDone, plan, &bounds.before));
    let mut archive = archive;
    store(&mut archive, done.as_ref(), talk);
    means.journeys.set_initial_variables(&before.variables);
    let side =
        fleet.map_or_else(|| Ok(LoadSide::Local(means)), |fleet| fleet.into_side(&before.variables))?;
    let conductor = RunController::new(Arc::clone(plan), hash, clock, side, signals, archive, talk);
    let conductor = conductor.controlled(control).renewing(names()).with_sampling(truth);
    let mut conducted = conductor.with_events(events).with_metrics(metrics).in_lab(loss).run()?;
    conducted.events.splice(0..0, done);
    // Who interrupts a run wants it to end; and without a load there is nothing to look back at.
    let loaded = conducted.started.is_some() && !matches!(conducted.ending, RunEnd::Signal);
    if loaded && plan.around.after.is_some() {
        let counts = counted(plan, conducted.ledger.totals(), &before.counts);
        let after = alone.after(&before.variables, &counts, &mut |happened| logged(talk, happened));
        bounds.after = hook_result(plan, &after);
        said(talk, "after", &bounds.after);
        let done = self::done(EventKind::AfterDone, plan, &bounds.after);
        store(&mut conducted.archive, Some(&done), talk);
        conducted.events.push(done);
        if after.early == Some(EarlyEnd::Cancelled) {
            conducted.ending = RunEnd::Signal;
        }
    }
    Ok((conducted, bounds))
}

/// Returns the event that lets an archive give the same counts when it is read back. Hooks are not
/// on the run's clock: `before` ended before the load started, and `after` started when it was
/// over.
fn done(kind: EventKind, plan: &Plan, around: &HookResult) -> EventLine {
    let begins = plan.phases.iter().map(|phase| phase.start).min().unwrap_or(Nanos::ZERO);
    let at = if kind == EventKind::BeforeDone { begins } else { plan.load_end().unwrap_or(begins) };
    let &HookResult { sent, done, failed, .. } = around;
    let text = format!("{done} done, {failed} failed");
    EventLine { setup: Some(Setup { sent, done, failed }), ..EventLine::new(at, kind, text) }
}

fn store(archive: &mut Option<ArchiveWriter>, event: Option<&EventLine>, talk: &mut dyn RunConsole) {
    if let Some(problem) = archive.as_mut().zip(event).and_then(|(archive, event)| archive.event(event)) {
        talk.warn(&format!("{problem}; the run goes on\nhint: {}", problem.hint()));
    }
}

/// Returns what every `count` of the whole run has counted, including warm-up and the run's
/// `before`, as a target counts it.
fn counted(plan: &Plan, totals: &Totals, before: &[u64]) -> Vec<u64> {
    let mut all = vec![0; plan.shared.counts.len()];
    for (sum, count) in all.iter_mut().zip(before) {
        *sum += count;
    }
    for series in totals.target_counts(Selection::Judged).chain(totals.target_counts(Selection::Warmup)) {
        for (name, count) in &series.counts {
            all[usize::from(*name)] += count;
        }
    }
    all
}

fn hook_result(plan: &Plan, walked: &WalkResult) -> HookResult {
    let redaction = Redaction::new(plan);
    let checks = walked.checks.iter().map(|check| HookCheck {
        step: check.step.clone(),
        check: check.check.clone(),
        held: check.instead.is_none(),
        found: check.instead.as_deref().map(|found| redaction.redact(found)).unwrap_or_default(),
    });
    let faults = walked
        .faults
        .iter()
        .map(|fault| HookFailure { step: fault.step.clone(), what: redaction.redact(&fault.trouble.detail) });
    HookResult {
        sent: walked.sent,
        done: walked.done,
        failed: walked.failed,
        checks: checks.collect(),
        faults: faults.collect(),
    }
}

fn logged(talk: &mut dyn RunConsole, happened: TraceEvent<'_>) {
    if let TraceEvent::Logged(line) = happened {
        talk.info(&format!("log        {line}"));
    }
}

/// One line for each of the two.
fn said(talk: &mut dyn RunConsole, which: &str, around: &HookResult) {
    if around.sent > 0 {
        talk.info(&format!("{which:<10} {} done, {} failed", around.done, around.failed));
    }
}
