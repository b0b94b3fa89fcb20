//! [`check_series`]: checks that a plan has no more time series than can be stored.

use wavetank_units::UserError;
use wavetank_units::quantity::format_grouped;

use crate::constants::SERIES_MAX;
use crate::{Load, Plan};

/// Checks the number of time series. Every step is counted and timed separately in every phase with
/// sessions that may reach it. Every load thread keeps all series and writes them each second.
///
/// # Errors
/// A usage error if there are more than [`SERIES_MAX`] series.
pub fn check_series(plan: &Plan) -> Result<(), UserError> {
    let steps = |scenario: u16| plan.scenarios.get(usize::from(scenario)).map_or(0, |it| it.steps.len());
    let loaded = || plan.phases.iter().filter(|phase| phase.load != Load::Pause);
    let series: usize =
        loaded().flat_map(|phase| phase.mix.parts()).map(|&(scenario, _)| steps(scenario)).sum();
    if series <= SERIES_MAX {
        return Ok(());
    }
    let all: usize = plan.scenarios.iter().map(|scenario| scenario.steps.len()).sum();
    let message = format!(
        "{} series, one for each step in each phase, are more than {}: {} phases, {} steps",
        format_grouped(series as u64),
        format_grouped(SERIES_MAX as u64),
        format_grouped(loaded().count() as u64),
        format_grouped(all as u64)
    );
    let hint = "fewer phases: a ramp or a stair is one ({rate: 100/s to 1k/s, step: 100/s, every: 10s}), and phases of a scenario's \
                own count its steps alone; or fewer steps";
    Err(UserError::usage("too_many_series", message, hint))
}
