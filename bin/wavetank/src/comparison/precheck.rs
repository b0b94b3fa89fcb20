//! [`check_comparable`]: whether a run that has not begun will be one to compare others with.

use wavetank_compare::check_same_kind;
use wavetank_plan::{Plan, UserError};

use super::LoadedRun;
use super::sides::{common_steps, rows};
use crate::cli::CompareSettings;

/// Whether a run of `plan` will be one to compare the runs `a` with, as far as can be known before it.
///
/// # Errors
/// Those of [`compare_sides`](super::compare_sides), as of a run in which what is in all of `a` happens again.
pub(crate) fn check_comparable(
    a: &[LoadedRun],
    plan: &Plan,
    wishes: &CompareSettings,
) -> Result<(), UserError> {
    let Some((first, others)) = a.split_first() else { return Ok(()) };
    let of_first = format!("run {}", first.record.id);
    for run in others {
        check_same_kind(&first.plan, &run.plan, [&of_first, &format!("run {}", run.record.id)])?;
    }
    check_same_kind(&first.plan, plan, [&of_first, "this one"])?;
    if wishes.metrics.is_empty() {
        return Ok(());
    }
    let plans: Vec<&Plan> = a.iter().map(|run| &run.plan).chain([plan]).collect();
    let (steps, _) = common_steps(&plans);
    // Of a step that they have in common there will be values, also where the runs there are have no other.
    let is_of_step = |metric: &String| steps.values().any(|name| metric.ends_with(&format!("({name})")));
    let others = wishes.metrics.iter().filter(|metric| !is_of_step(metric)).cloned().collect();
    rows([a, a], &CompareSettings { metrics: others, ..wishes.clone() }, steps).map(drop)
}
