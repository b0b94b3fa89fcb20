//! Percentiles that are based on too few samples.

use wavetank_units::quantity::format_grouped;

use super::outcome::ConditionForecast;
use crate::forecast::{BoundedEstimate, Forecast};
use wavetank_plan::constants::UNCERTAIN_BELOW;
use wavetank_plan::{Condition, LatencyPart, Plan, Subject};

/// A percentile needs ten samples above it.
pub(super) fn too_few(condition: &Condition, plan: &Plan, forecast: &Forecast) -> Option<ConditionForecast> {
    let Subject::Percentile(percentile, part, step) = &condition.subject else { return None };
    let needs = (UNCERTAIN_BELOW as f64 / (1.0 - percentile / 100.0)).round();
    let (sends, what) = match part {
        LatencyPart::Connect | LatencyPart::Tls | LatencyPart::Hello => {
            (opened(condition, plan, forecast), "opens")
        }
        _ => (requests(condition, step.as_deref(), plan, forecast), "sends"),
    };
    let likely = sends.mean.or(sends.most)?;
    if likely >= needs && sends.most.is_none_or(|most| most >= needs) {
        return None;
    }
    let percentile = format!("p{percentile}");
    let shown = format_grouped(likely.round() as u64);
    let who = match &condition.phase {
        Some(phase) => format!("phase {phase}"),
        None => "the plan".to_owned(),
    };
    let why =
        format!("{percentile} needs about {} samples; {who} {what} {shown}", format_grouped(needs as u64));
    let hint = match step {
        Some(_) => "a lower percentile, or a longer run".to_owned(),
        None => "a lower percentile, a longer phase, or leave `in PHASE` out".to_owned(),
    };
    Some(if sends.most.is_some_and(|most| most < needs) {
        ConditionForecast::Undecided(why, hint)
    } else {
        ConditionForecast::Doubtful(why, hint)
    })
}

/// Requests of a step or group, or of all, in the phases that the condition is about.
pub(super) fn requests(
    condition: &Condition,
    step: Option<&str>,
    plan: &Plan,
    forecast: &Forecast,
) -> BoundedEstimate {
    let own = |name: &str| condition.phase.as_deref().is_none_or(|phase| phase == name);
    let phases = forecast.judged(plan).filter(|(phase, _)| own(&phase.name));
    let Some(name) = step else {
        return phases.fold(BoundedEstimate::ZERO, |sum, (_, reported)| sum.plus(reported.requests));
    };
    let mut sum = BoundedEstimate::ZERO;
    for (phase, reported) in phases {
        for &(at, sessions) in &reported.shares {
            let at = usize::from(at);
            let (Some(scenario), Some(own)) = (plan.scenarios.get(at), forecast.scenarios.get(at)) else {
                continue;
            };
            let users = if phase.load.levels().is_some() {
                BoundedEstimate::exact(reported.starts as f64)
            } else {
                sessions
            };
            for (index, _) in scenario.steps.iter().enumerate().filter(|(_, step)| step.name == name) {
                sum = sum.plus(sessions.times(own.steps[index])).plus(users.times(own.steps_around[index]));
            }
            for (index, _) in scenario.groups.iter().enumerate().filter(|(_, group)| *group == name) {
                sum = sum.plus(sessions.times(own.groups[index]));
            }
        }
    }
    sum
}

/// Connections that the phases open which the condition is about.
fn opened(condition: &Condition, plan: &Plan, forecast: &Forecast) -> BoundedEstimate {
    let own = |name: &str| condition.phase.as_deref().is_none_or(|phase| phase == name);
    let phases = forecast.judged(plan).filter(|(phase, _)| own(&phase.name));
    phases.fold(BoundedEstimate::ZERO, |sum, (_, reported)| sum.plus(reported.opening.total))
}
