//! The forecast of thresholds and stop conditions.

use wavetank_plan::{Condition, Plan, Subject, THIS_HOST, matches_host};

use super::judged_window::JudgedWindow;
use super::outcome::ConditionForecast;
use super::{reach, samples};
use crate::forecast::Forecast;

impl ConditionForecast {
    /// Returns the forecast of a threshold of `plan`.
    pub fn for_threshold(condition: &Condition, plan: &Plan, forecast: &Forecast) -> Self {
        let found = unobserved(condition)
            .or_else(|| window_too_long(condition, plan, forecast))
            .or_else(|| reach::unreachable(condition, plan, forecast))
            .or_else(|| samples::too_few(condition, plan, forecast));
        found.unwrap_or(Self::Open)
    }

    /// Returns the forecast of a stop condition of `plan`. One that cannot fire does not stop the
    /// run.
    pub fn for_stop_condition(condition: &Condition, plan: &Plan, forecast: &Forecast) -> Self {
        let found = unobserved(condition).or_else(|| window_too_long(condition, plan, forecast));
        found.unwrap_or(Self::Open)
    }
}

/// Returns the forecast of a condition on a host other than the one that runs the command: without
/// a lab it is not sampled.
fn unobserved(condition: &Condition) -> Option<ConditionForecast> {
    let Subject::Host(_, host) = &condition.subject else { return None };
    if matches_host(host, THIS_HOST) {
        return None;
    }
    Some(ConditionForecast::Undecided(
        format!("{host} is not sampled"),
        "run refuses it, unless --scale or --speed make it a rehearsal".to_owned(),
    ))
}

/// A window longer than its stretch of time never fills.
fn window_too_long(condition: &Condition, plan: &Plan, forecast: &Forecast) -> Option<ConditionForecast> {
    let window = condition.window?;
    let span = JudgedWindow::of(condition, plan, forecast)?;
    let length = span.until - span.from;
    (window > length).then(|| {
        let why = format!("it lasts {length}, so a window of {window} never fills");
        ConditionForecast::Undecided(why, "a shorter window, or a longer phase".to_owned())
    })
}
