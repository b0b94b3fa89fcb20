//! [`ConditionForecast`]: whether a condition can be met, as known before anything is sent.

mod reach;
mod samples;

use wavetank_plan::{Condition, Plan, Subject, THIS_HOST, matches_host};

use super::Forecast;

pub(super) use reach::sessions_for_requests;

/// The forecast of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionForecast {
    /// Nothing prevents it.
    Open,
    /// The plan never reaches the condition: the reason, and a hint.
    Unreachable(String, String),
    /// It will not be decided: the reason, and a hint.
    Undecided(String, String),
    /// It may stay undecided: why, and what to do.
    Doubtful(String, String),
}

impl ConditionForecast {
    /// Returns the forecast of a threshold of `plan`.
    pub fn for_threshold(condition: &Condition, plan: &Plan, forecast: &Forecast) -> Self {
        let told = unobserved(condition)
            .or_else(|| window_too_long(condition, plan, forecast))
            .or_else(|| reach::unreachable(condition, plan, forecast))
            .or_else(|| samples::too_few(condition, plan, forecast));
        told.unwrap_or(Self::Open)
    }

    /// Returns the forecast of a stop condition of `plan`. One that cannot fire does not stop the
    /// run.
    pub fn for_stop_condition(condition: &Condition, plan: &Plan, forecast: &Forecast) -> Self {
        let told = unobserved(condition).or_else(|| window_too_long(condition, plan, forecast));
        told.unwrap_or(Self::Open)
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

/// The stretch of time that a condition is judged on.
#[derive(Clone, Copy, Debug)]
struct JudgedWindow {
    from: wavetank_units::Nanos,
    until: wavetank_units::Nanos,
}

impl JudgedWindow {
    /// Returns the span of the condition's phase, or of all judged phases. `None` where the
    /// responses decide when it ends.
    fn of(condition: &Condition, plan: &Plan, forecast: &Forecast) -> Option<Self> {
        let own = |name: &str| condition.phase.as_deref().is_none_or(|phase| phase == name);
        let mut span: Option<Self> = None;
        for (phase, told) in forecast.judged(plan).filter(|(phase, _)| own(&phase.name)) {
            let until = told.ends?;
            let known = span.get_or_insert(Self { from: phase.start, until });
            *known = Self { from: known.from.min(phase.start), until: known.until.max(until) };
        }
        span.filter(|span| span.until > span.from)
    }
}
