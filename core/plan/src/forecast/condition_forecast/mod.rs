//! [`ConditionForecast`]: what already speaks against a condition, before anything is sent.

mod reach;
mod samples;

use crate::{Condition, Plan, Subject};

use super::Forecast;

pub(super) use reach::sessions_for_requests;

/// What is known of a condition beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionForecast {
    /// Nothing speaks against it.
    Open,
    /// The plan never comes to it: why, and what to do.
    Unreachable(String, String),
    /// Nothing will decide it: why, and what to do.
    Undecided(String, String),
    /// It may stay undecided: why, and what to do.
    Doubtful(String, String),
}

impl ConditionForecast {
    /// Of a threshold of `plan`.
    pub fn for_threshold(condition: &Condition, plan: &Plan, forecast: &Forecast) -> Self {
        let told = unobserved(condition)
            .or_else(|| window_too_long(condition, plan, forecast))
            .or_else(|| reach::unreachable(condition, plan, forecast))
            .or_else(|| samples::too_few(condition, plan, forecast));
        told.unwrap_or(Self::Open)
    }

    /// Of a stop condition of `plan`: what cannot fire stops nothing.
    pub fn for_stop_condition(condition: &Condition, plan: &Plan, forecast: &Forecast) -> Self {
        let told = unobserved(condition).or_else(|| window_too_long(condition, plan, forecast));
        told.unwrap_or(Self::Open)
    }
}

/// Without a fleet file there is nobody to look at a host.
fn unobserved(condition: &Condition) -> Option<ConditionForecast> {
    let Subject::Host(_, host) = &condition.subject else { return None };
    Some(ConditionForecast::Undecided(
        format!("nobody observes {host}"),
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
    from: crate::Nanos,
    until: crate::Nanos,
}

impl JudgedWindow {
    /// That of the condition's phase, or of all that are judged; `None` where answers decide when it ends.
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
