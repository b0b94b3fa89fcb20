//! [`HookResults`]: what a run does once before and once after its load, around the load itself.

use std::sync::Arc;

use wavetank_diagnose::{HookCheck, HookFailure, HookResult, RunEnd};
use wavetank_driver::{Clock, Signals};
use wavetank_engine::{EarlyEnd, LoadConfig, SingleUser, TraceEvent, WalkResult};
use wavetank_measure::{Selection, Totals};
use wavetank_plan::{Guard, Plan};
use wavetank_record::{EventKind, EventLine, Setup};
use wavetank_store::ArchiveWriter;
use wavetank_units::{Nanos, Sentence, UserError, phrase, sentence};

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
    pub(crate) executors: Option<ExecutorFactory<'a>>,
    /// Returns what is missing of the lab that the run goes to; `None` outside of a lab.
    pub(crate) loss: Option<&'a dyn Fn() -> Option<Sentence>>,
    /// What other processes see of the run, and how they control it.
    pub(crate) control: &'a RunControl<'a>,
}

/// The load, with what comes before and after it. Fails only where this host cannot.
pub(crate) fn run_load(
    context: &LoadContext<'_>,
    (mut config, fleet): (LoadConfig, Option<FleetPackage>),
    (archive, metrics): (Option<ArchiveWriter>, Option<LiveMetrics>),
    console: &mut dyn RunConsole,
) -> Result<(LoadResult, HookResults), UserError> {
    let LoadContext { plan, hash, clock, signals, guard, command, truth, executors, loss, control } =
        *context;
    let events = executors.map(|executors| EventRunner::new(&plan.events, executors)).transpose()?;
    let names = || DnsRefresher::start(plan, guard, command);
    let mut hook_results = HookResults::default();
    if plan.around.before.is_none() && plan.around.after.is_none() {
        let side = fleet.map_or_else(|| Ok(LoadSide::Local(config)), |fleet| fleet.into_side(&[]))?;
        let controller = RunController::new(Arc::clone(plan), hash, clock, side, signals, archive, console);
        let controller = controller.controlled(control).dns_refresher(names()).with_sampling(truth);
        return Ok((controller.with_events(events).with_metrics(metrics).in_lab(loss).run()?, hook_results));
    }
    let cancelled = || signals.received() > 0;
    let mut single_user = SingleUser::new(plan, &config, clock, &cancelled)?;
    let before = single_user.before(&mut |happened| logged(console, happened));
    hook_results.before = hook_result(plan, &before);
    let ending = match before.early {
        Some(EarlyEnd::Cancelled) => Some(RunEnd::Signal),
        Some(EarlyEnd::Run) if before.failure.is_none() => {
            let what = phrase!("ended the run before its load");
            hook_results.before.faults.push(HookFailure { step: "end: run".to_owned(), what });
            Some(RunEnd::BeforeFailed)
        }
        _ => before.failure.is_some().then_some(RunEnd::BeforeFailed),
    };
    if let Some(ending) = ending {
        return Ok((LoadResult::nothing(plan, ending, archive), hook_results));
    }
    said(console, "before", &hook_results.before);
    let done = plan.around.before.as_ref().map(|_| done(EventKind::BeforeDone, plan, &hook_results.before));
    let mut archive = archive;
    store(&mut archive, done.as_ref(), console);
    config.journeys.set_initial_variables(&before.variables);
    let side =
        fleet.map_or_else(|| Ok(LoadSide::Local(config)), |fleet| fleet.into_side(&before.variables))?;
    let controller = RunController::new(Arc::clone(plan), hash, clock, side, signals, archive, console);
    let controller = controller.controlled(control).dns_refresher(names()).with_sampling(truth);
    let mut result = controller.with_events(events).with_metrics(metrics).in_lab(loss).run()?;
    result.events.splice(0..0, done);
    // Who interrupts a run wants it to end; and without a load there is nothing to look back at.
    let loaded = result.started.is_some() && !matches!(result.ending, RunEnd::Signal);
    if loaded && plan.around.after.is_some() {
        let counts = counted(plan, result.ledger.totals(), &before.counts);
        let after = single_user.after(&before.variables, &counts, &mut |happened| logged(console, happened));
        hook_results.after = hook_result(plan, &after);
        said(console, "after", &hook_results.after);
        let done = self::done(EventKind::AfterDone, plan, &hook_results.after);
        store(&mut result.archive, Some(&done), console);
        result.events.push(done);
        if after.early == Some(EarlyEnd::Cancelled) {
            result.ending = RunEnd::Signal;
        }
    }
    Ok((result, hook_results))
}

/// Returns the event that lets an archive give the same counts when it is read back. Hooks are not
/// on the run's clock: `before` ended before the load started, and `after` started when it was
/// over.
fn done(kind: EventKind, plan: &Plan, result_of: &HookResult) -> EventLine {
    let begins = plan.phases.iter().map(|phase| phase.start).min().unwrap_or(Nanos::ZERO);
    let at = if kind == EventKind::BeforeDone { begins } else { plan.load_end().unwrap_or(begins) };
    let &HookResult { sent, done, failed, .. } = result_of;
    let text = sentence!("{done} done, {failed} failed");
    EventLine { setup: Some(Setup { sent, done, failed }), ..EventLine::new(at, kind, text) }
}

fn store(archive: &mut Option<ArchiveWriter>, event: Option<&EventLine>, console: &mut dyn RunConsole) {
    if let Some(problem) = archive.as_mut().zip(event).and_then(|(archive, event)| archive.event(event)) {
        console.warn(&format!("{problem}; the run goes on\nhint: {}", problem.hint()));
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
        found: check
            .instead
            .as_deref()
            .map(|found| Sentence::quoted(redaction.redact(found)))
            .unwrap_or_default(),
    });
    let faults = walked.faults.iter().map(|fault| {
        let what = Sentence::quoted(redaction.redact(&fault.trouble.detail));
        HookFailure { step: fault.step.clone(), what }
    });
    HookResult {
        sent: walked.sent,
        done: walked.done,
        failed: walked.failed,
        checks: checks.collect(),
        faults: faults.collect(),
    }
}

fn logged(console: &mut dyn RunConsole, happened: TraceEvent<'_>) {
    if let TraceEvent::Logged(line) = happened {
        console.info(&format!("log        {line}"));
    }
}

/// One line for each of the two.
fn said(console: &mut dyn RunConsole, which: &str, result_of: &HookResult) {
    if result_of.sent > 0 {
        console.info(&format!("{which:<10} {} done, {} failed", result_of.done, result_of.failed));
    }
}
