//! [`compare_sides`]: loaded runs to a comparison.

use std::collections::{BTreeMap, BTreeSet};

use wavetank_compare::{
    CompareContext, CompareOptions, MetricComparison, STEPS_MAX, SideRun, compare, compare_doc, differences,
    machines,
};
use wavetank_plan::Plan;
use wavetank_record::{CompareAnswer, CompareDoc, SideDoc, Status};
use wavetank_units::{Code, Sentence, UserError, phrase, sanitize, sentence};

use super::LoadedRun;
use crate::cli::CompareSettings;

/// Most differences listed, in addition to doubts about single runs, which are all listed. Runs
/// that differ in one value often differ in all.
const WARNINGS_MAX: usize = 12;
/// Placeholders in a warning: for the first run, and for the runs with the same warning.
const FIRST: &str = "\u{1}";
const RUNS: &str = "\0";

/// Compares the runs `b` with the runs `a`; neither is empty.
///
/// # Errors
/// A usage error if a run is on both sides, the loads are of different kinds, or a requested value
/// does not exist.
pub(crate) fn compare_sides(
    a: &[LoadedRun],
    b: &[LoadedRun],
    wishes: &CompareSettings,
) -> Result<CompareDoc, UserError> {
    let all: Vec<&LoadedRun> = a.iter().chain(b).collect();
    check_distinct(&all)?;
    let mut warnings = warnings(a, b)?;
    let (steps, apart) = common_steps(&all.iter().map(|run| &run.plan).collect::<Vec<_>>());
    warnings.extend(uncompared_note(&apart));
    let rows = rows([a, b], wishes, steps)?;
    let side = |runs: &[LoadedRun]| SideDoc { runs: runs.iter().map(LoadedRun::doc).collect() };
    let reported = CompareContext {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: wishes.seed,
        max_regression: wishes.max_regression,
        sides: [side(a), side(b)],
        warnings,
        ..CompareContext::default()
    };
    let mut doc = compare_doc(&rows, reported);
    advise(&mut doc);
    doc.notes.extend(steps_note(&all));
    Ok(doc)
}

/// No run is named twice.
pub(crate) fn check_distinct(all: &[&LoadedRun]) -> Result<(), UserError> {
    let earlier = |(number, run): &(usize, &&LoadedRun)| all[..*number].iter().any(|one| is_same(one, run));
    all.iter().enumerate().find(earlier).map_or(Ok(()), |(_, run)| {
        let message = format!("run `{}` is named twice: a run does not differ from itself", run.record.id);
        Err(UserError::usage(Code::SameRun, message, "name each run once; wavetank runs list"))
    })
}

/// The values of both sides, those that are asked for among them.
pub(super) fn rows(
    sides: [&[LoadedRun]; 2],
    wishes: &CompareSettings,
    steps: BTreeMap<(u16, u16), String>,
) -> Result<Vec<MetricComparison>, UserError> {
    let asked = CompareOptions { metrics: wishes.metrics.clone(), seed: wishes.seed, steps };
    let [a, b] = sides.map(|side| side.iter().map(|run| run.data.clone()).collect::<Vec<SideRun>>());
    let rows = compare(&a, &b, &asked);
    let Some(missing) = asked.metrics.iter().find(|name| rows.iter().all(|row| row.name != **name)) else {
        return Ok(rows);
    };
    let known: Vec<&str> = rows.iter().map(|row| row.name.as_str()).take(20).collect();
    let message = format!("--metric: these runs have no `{missing}`");
    Err(UserError::usage(Code::MetricUnknown, message, format!("use one of: {}", known.join(" "))))
}

/// Returns other reasons for a difference: doubts about single runs, then differences between the
/// first run and others.
fn warnings(a: &[LoadedRun], b: &[LoadedRun]) -> Result<Vec<Sentence>, UserError> {
    let first = &a[0];
    let of_a = first.record.id.as_str();
    // Each difference with the runs that have it.
    let mut differing: Vec<(Sentence, Vec<&str>)> = Vec::new();
    for run in a[1..].iter().chain(b) {
        let id = run.record.id.as_str();
        let reported = differences(&first.plan, &run.plan, [FIRST, RUNS]);
        let reported = reported.or_else(|_| differences(&first.plan, &run.plan, [of_a, id]))?;
        for said in reported.into_iter().chain(machines(&first.machine, &run.machine, [FIRST, RUNS])) {
            match differing.iter_mut().find(|(known, _)| *known == said) {
                Some((_, ids)) => ids.push(id),
                None => differing.push((said, vec![id])),
            }
        }
    }
    let a_differs =
        differing.iter().any(|(_, ids)| a.iter().any(|run| ids.contains(&run.record.id.as_str())))
            || a.iter().any(|run| run.opened.environment.is_none());
    let of_b: Vec<&str> = b.iter().map(|run| run.record.id.as_str()).collect();
    let mut warnings: Vec<Sentence> = a.iter().chain(b).flat_map(doubts).collect();
    let left_out = differing.len().saturating_sub(WARNINGS_MAX);
    warnings.extend(differing.into_iter().take(WARNINGS_MAX).map(|(said, ids)| {
        // If all of A are alike and none of B is, the sides differ, whichever run was checked
        // first.
        if ids == of_b && !a_differs {
            by_sides(&said)
        } else {
            said.replace(FIRST, of_a).replace(RUNS, &ids.join(", "))
        }
    }));
    if left_out > 0 {
        warnings.push(sentence!("{left_out} more of this kind"));
    }
    Ok(warnings)
}

/// Replaces the runs in a difference by their sides.
fn by_sides(said: &Sentence) -> Sentence {
    let both = (format!("runs {FIRST} and {RUNS}"), "A and B");
    let each = [(format!("run {FIRST}"), "A"), (format!("run {RUNS}"), "B")];
    [both].into_iter().chain(each).fold(said.clone(), |said, (runs, side)| said.replace(&runs, side))
}

/// Returns a note if runs have more steps than are compared individually.
fn steps_note(all: &[&LoadedRun]) -> Option<Sentence> {
    let steps =
        |run: &&LoadedRun| -> usize { run.plan.scenarios.iter().map(|scenario| scenario.steps.len()).sum() };
    let most = all.iter().map(steps).max()?;
    (most > STEPS_MAX).then(|| {
        sentence!(
            "the first {STEPS_MAX} of {most} steps are compared individually; values without a step cover all steps"
        )
    })
}

/// Returns whether two are the same run, also by another path or from a pack, which is unpacked to
/// a separate folder while it is read.
fn is_same(a: &LoadedRun, b: &LoadedRun) -> bool {
    let reported = |run: &LoadedRun| (run.record.id.clone(), run.record.started_at.clone());
    a.opened.dir == b.opened.dir || reported(a) == reported(b)
}

/// Returns reasons to doubt a run's numbers.
fn doubts(run: &LoadedRun) -> Vec<Sentence> {
    let id = &run.record.id;
    let mut doubts = Vec::new();
    match run.record.verdict.status {
        Status::Invalid => {
            doubts.push(sentence!(
                "run {id} is INVALID: the generator or the network path, not the target, determined its numbers"
            ));
        }
        Status::Incomplete => doubts.push(sentence!("run {id} is INCOMPLETE: part of it is missing")),
        Status::Pass | Status::Fail => {}
    }
    if let Some(rehearsal) = &run.record.rehearsal {
        doubts.push(sentence!("run {id} rehearses: {rehearsal}"));
    }
    if !run.damage.is_empty() {
        doubts.push(sentence!("the archive of run {id} is damaged: {}", run.damage));
    }
    if run.opened.environment.is_none() {
        doubts.push(sentence!(
            "the machine of run {id} is unknown: its `environment.json` is missing or cannot be read"
        ));
    }
    doubts
}

/// Adds notes on how certain the result is, and what would make it more certain.
fn advise(doc: &mut CompareDoc) {
    let (a, b) = (doc.a.runs.len(), doc.b.runs.len());
    // The value with the difference that needs the fewest runs.
    let needed = |doc: &CompareDoc| {
        let all = doc.metrics.iter().filter_map(|metric| Some((metric.runs_needed?, metric.name.clone())));
        all.min_by_key(|(runs, _)| *runs)
    };
    if a.min(b) > 1 {
        if a.min(b) == 2 {
            doc.notes.push(phrase!("two runs say little about how much runs differ: intervals are wide"));
        }
        let worth = |(runs, _): &(u32, String)| *runs as usize > a.min(b) && *runs <= 20;
        let soonest = needed(doc).filter(|_| doc.answer == CompareAnswer::NoDifference).filter(worth);
        if let Some((runs, name)) = soonest {
            doc.notes
                .push(sentence!("the difference in {name} needs the fewest runs: about {runs} per side"));
        }
        return;
    }
    if a.max(b) > 1 {
        let few = if a == 1 { "A" } else { "B" };
        doc.notes.push(sentence!("{few} is one run: its variation is assumed to be that of the other side"));
        return;
    }
    if doc.metrics.iter().any(|metric| metric.low.is_some()) {
        doc.notes.push(phrase!(
            "intervals come from blocks within the two runs; they do not include the variation between runs"
        ));
    }
    let more = RUNS_ADVISED - 1;
    doc.next.push(sentence!(
        "run each side {more} more times, in turn, and compare {RUNS_ADVISED} with {RUNS_ADVISED}: wavetank compare A1,A2,A3 \
         B1,B2,B3"
    ));
    if let Some((runs, name)) = needed(doc).filter(|(runs, _)| *runs > RUNS_ADVISED) {
        doc.notes.push(sentence!(
            "at least {runs} runs per side are needed to show the difference in {name}, and no fewer for any other"
        ));
    }
}

/// Number of runs per side that is enough on most machines.
const RUNS_ADVISED: u32 = 3;

/// Returns the steps that are the same in all runs, and the names of those that are not, each once.
/// Runs of a single step have none, because the step is the whole run.
pub(super) fn common_steps(plans: &[&Plan]) -> (StepNames, Vec<String>) {
    let several = plans.iter().all(|plan| plan.scenarios.len() > 1);
    let named: Vec<StepNames> = plans.iter().map(|plan| step_names(plan, several)).collect();
    if named.iter().all(|names| names.len() < 2) {
        return (StepNames::new(), Vec::new());
    }
    let is_common = |key, name: &String| named.iter().all(|names| names.get(key) == Some(name));
    let apart: BTreeSet<_> = named.iter().flatten().filter(|(key, name)| !is_common(key, name)).collect();
    let mut reported: Vec<String> = Vec::new();
    for (_, name) in apart {
        if !reported.contains(name) {
            reported.push(name.clone());
        }
    }
    let common = named[0].iter().filter(|(key, name)| is_common(key, name));
    (common.map(|(key, name)| (*key, name.clone())).collect(), reported)
}

/// Returns a note that the steps with these names are not compared individually.
fn uncompared_note(names: &[String]) -> Option<Sentence> {
    let more = names.len().saturating_sub(STEPS_TOLD);
    let some = names.iter().take(STEPS_TOLD).map(|name| sanitize(name)).collect::<Vec<_>>().join(", ");
    let listed = match more {
        0 => sentence!("{some}"),
        more => sentence!("{some} and {more} more"),
    };
    (!names.is_empty()).then(|| {
        sentence!(
            "steps that differ between runs, or are at another position, are not compared individually: {listed}"
        )
    })
}

/// What steps are called, by scenario and step.
pub(super) type StepNames = BTreeMap<(u16, u16), String>;
/// Most step names listed.
const STEPS_TOLD: usize = 5;

/// Returns the names of steps as conditions write them. A scenario's name precedes the step's if
/// all plans have several scenarios.
fn step_names(plan: &Plan, several: bool) -> StepNames {
    let mut names = BTreeMap::new();
    for (scenario, it) in (0_u16..).zip(&plan.scenarios) {
        for (step, one) in (0_u16..).zip(&it.steps) {
            let name = if several { format!("{}: {}", it.name, one.name) } else { one.name.clone() };
            names.insert((scenario, step), name);
        }
    }
    names
}
