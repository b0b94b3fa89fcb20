//! [`check_comparable`]: whether a run that has not begun will be one to compare others with.

use wavetank_compare::check_same_kind;
use wavetank_plan::Plan;
use wavetank_units::UserError;

use super::LoadedRun;
use super::sides::{common_steps, rows};
use crate::cli::CompareSettings;

/// Checks whether a run of `plan` can be compared with the runs `a`, as far as that is known before
/// it.
///
/// # Errors
/// Those of [`compare_sides`](super::compare_sides), for a run in which everything common to `a`
/// happens again.
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
    // A common step will have values, even if the existing runs have no other.
    let is_of_step = |metric: &String| steps.values().any(|name| metric.ends_with(&format!("({name})")));
    let others = wishes.metrics.iter().filter(|metric| !is_of_step(metric)).cloned().collect();
    rows([a, a], &CompareSettings { metrics: others, ..wishes.clone() }, steps).map(drop)
}
