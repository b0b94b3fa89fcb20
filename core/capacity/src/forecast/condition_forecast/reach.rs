//! Gauges, counts and rates that the plan never reaches.

use wavetank_units::Nanos;
use wavetank_units::quantity::{format_compact, format_grouped, show_rate, show_request_rate};

use super::judged_window::JudgedWindow;
use super::outcome::ConditionForecast;
use super::samples::requests;
use crate::forecast::Forecast;
use wavetank_plan::delay_in_path;
use wavetank_plan::{Condition, Load, MaxOpenLimit, Op, Phase, Plan, RequestCounter, Subject, Value};

/// Seconds that are looked at one by one; of longer spans as many, spread evenly.
const SEALS_MAX: i64 = 2_000;
/// Ratios of a required rate to the session rate at which the two count as the same.
const ALIKE: std::ops::RangeInclusive<f64> = 0.8..=1.25;

/// Returns why the plan cannot reach a condition with a lower bound.
pub(super) fn unreachable(
    condition: &Condition,
    plan: &Plan,
    forecast: &Forecast,
) -> Option<ConditionForecast> {
    if !matches!(condition.op, Op::Greater | Op::GreaterEqual | Op::Equal) {
        return None;
    }
    match (&condition.subject, condition.value) {
        (Subject::InFlight, Value::Count(wanted)) => in_flight(condition, wanted, plan, forecast),
        (Subject::Held, Value::Count(wanted)) => level(condition, wanted, plan, forecast, "connections"),
        (Subject::Users, Value::Count(wanted)) => level(condition, wanted, plan, forecast, "users"),
        (
            Subject::Requests(RequestCounter::Offered | RequestCounter::Sent | RequestCounter::Done, step),
            Value::PerSecond(wanted),
        ) => rate(condition, wanted, step.as_deref(), plan, forecast),
        (
            Subject::Requests(RequestCounter::Offered | RequestCounter::Sent | RequestCounter::Done, step),
            Value::Count(wanted),
        ) => {
            let most = requests(condition, step.as_deref(), plan, forecast).most?;
            falls_short(condition, most, wanted).then(|| {
                let why = format!("the plan sends at most {} requests", format_grouped(most as u64));
                ConditionForecast::Unreachable(why, "a longer phase, or a higher rate".to_owned())
            })
        }
        _ => None,
    }
}

/// Returns whether `most` is too low for a condition with a lower bound.
fn falls_short(condition: &Condition, most: f64, wanted: f64) -> bool {
    if condition.op == Op::Greater { most <= wanted } else { most < wanted }
}

/// Instants at which a gauge is read: a second after another, none before the first is over.
fn seals(span: JudgedWindow) -> impl Iterator<Item = Nanos> {
    let length = span.until - span.from;
    let step = (length.0 / SEALS_MAX).max(Nanos::SECOND.0);
    let count = (length.0 / step).max(1);
    (1..=count).map(move |seal| Nanos((span.from.0 + seal * step).min(span.until.0)))
}

/// Returns the lowest value of a gauge and its time: the worst second for a lower bound.
fn lowest(span: JudgedWindow, at: impl Fn(Nanos) -> u64) -> Option<(Nanos, u64)> {
    seals(span).map(|seal| (seal, at(seal))).min_by_key(|(_, value)| *value)
}

/// Checks `held` and `users` against the levels of the plan.
fn level(
    condition: &Condition,
    wanted: f64,
    plan: &Plan,
    forecast: &Forecast,
    what: &str,
) -> Option<ConditionForecast> {
    let span = JudgedWindow::of(condition, plan, forecast)?;
    let held = what == "connections";
    let counts = |phase: &&Phase| match phase.load {
        Load::Closed { .. } => true,
        Load::Hold { .. } => held,
        _ => false,
    };
    if held && plan.phases.iter().any(|phase| phase.load.is_open()) {
        return None;
    }
    let most = |at: Nanos| {
        let levels = plan.phases.iter().filter(counts).filter_map(|phase| phase.users_at(at - Nanos(1)));
        levels.fold(0, u64::saturating_add)
    };
    let (at, least) = lowest(span, most)?;
    if !falls_short(condition, least as f64, wanted) {
        return None;
    }
    let second = show_at(at, span);
    let why = format!("{second} the plan has {} {what}", format_grouped(least));
    let peak = plan.phases.iter().filter(counts).filter(|phase| {
        phase
            .load
            .levels()
            .and_then(wavetank_plan::PopulationCurve::as_constant)
            .is_some_and(|level| level as f64 >= wanted)
    });
    let hint = match peak.map(|phase| &phase.name).next() {
        Some(name) if condition.phase.as_ref() != Some(name) => format!("in {name}"),
        _ => format!("a phase that keeps {}", format_compact(wanted.ceil() as u64)),
    };
    Some(ConditionForecast::Unreachable(why, hint))
}

fn show_at(at: Nanos, span: JudgedWindow) -> String {
    if at - span.from <= Nanos::SECOND {
        "in the first second".to_owned()
    } else {
        format!("at {}", wavetank_units::quantity::show_clock(at))
    }
}

/// `in_flight`: no more than came in the time that an answer takes, or may take.
fn in_flight(
    condition: &Condition,
    wanted: f64,
    plan: &Plan,
    forecast: &Forecast,
) -> Option<ConditionForecast> {
    let span = JudgedWindow::of(condition, plan, forecast)?;
    let stays = |phase: &Phase| -> Stay { Stay::of(phase, plan, forecast) };
    let stay: Vec<Stay> = plan.phases.iter().map(stays).collect();
    let users = u64::from(plan.http.pipeline).max(1);
    let most = |at: Nanos| {
        plan.phases.iter().zip(&stay).fold(0_u64, |sum, (phase, stay)| {
            let own = match phase.sessions_between(at - stay.length.min(at - phase.start), at) {
                Some(came) => came.min(phase.max_open),
                None => phase.users_at(at - Nanos(1)).unwrap_or(0).saturating_mul(users),
            };
            sum.saturating_add(own)
        })
    };
    let (at, least) = lowest(span, most)?;
    if !falls_short(condition, least as f64, wanted) {
        return None;
    }
    let own = |phase: &&Phase| condition.phase.as_ref().is_none_or(|name| *name == phase.name);
    let open =
        plan.phases.iter().zip(&stay).find(|(phase, _)| own(phase) && phase.load.is_open() && !phase.warmup);
    let Some((phase, stay)) = open else {
        let why = format!("{} there are at most {} users", show_at(at, span), format_grouped(least));
        return Some(ConditionForecast::Unreachable(why, "more users".to_owned()));
    };
    let Load::Open { rate, .. } = &phase.load else { return None };
    let rate = rate.max().as_per_second();
    let steady = rate * stay.length.as_secs_f64();
    let kind = if stay.named { "answers" } else { "at most until the timeout" };
    if !falls_short(condition, steady.min(phase.max_open as f64), wanted) {
        let why = format!(
            "{} there are {}: {} × {} {kind} takes its time to fill",
            show_at(at, span),
            format_grouped(least),
            show_rate(rate),
            length(stay.length)
        );
        let hint =
            format!("a phase of {} before it, and the condition `in` the one behind", length(stay.length));
        return Some(ConditionForecast::Unreachable(why, hint));
    }
    if !falls_short(condition, steady, wanted) {
        let (by, hint) = match phase.max_open_by {
            MaxOpenLimit::Plan => ("", "max_open: more of them"),
            MaxOpenLimit::Files => {
                (", because this host has no more files", "raise the limit of open files (ulimit -n)")
            }
            MaxOpenLimit::Memory => (", because this host has no more memory", "a host with more memory"),
            MaxOpenLimit::Sources => (
                ", because this host has no more source ports",
                "sources: auto, or name some: sources: [CIDR]",
            ),
        };
        return Some(ConditionForecast::Unreachable(
            format!("max_open is {}{by}", format_grouped(phase.max_open)),
            hint.to_owned(),
        ));
    }
    let why =
        format!("{} × {} {kind} = {}", show_rate(rate), length(stay.length), format_grouped(steady as u64));
    let factor = (wanted / steady.max(1.0)).ceil().max(2.0);
    let hint =
        format!("rates are for the whole run: {factor} × {} = {}", show_rate(rate), show_rate(rate * factor));
    Some(ConditionForecast::Unreachable(why, hint))
}

fn length(length: Nanos) -> String {
    if length.0 % Nanos::SECOND.0 == 0 {
        format!("{} s", length.0 / Nanos::SECOND.0)
    } else {
        length.to_string()
    }
}

/// The longest time for which a session of a phase has open requests.
struct Stay {
    length: Nanos,
    /// The paths say so.
    named: bool,
}

impl Stay {
    fn of(phase: &Phase, plan: &Plan, forecast: &Forecast) -> Self {
        let scenarios = || phase.mix.parts().iter().map(|part| usize::from(part.0));
        let steps =
            || scenarios().filter_map(|at| plan.scenarios.get(at)).flat_map(|scenario| &scenario.steps);
        let named =
            steps().count() > 0 && steps().all(|step| delay_in_path(&step.request.path.shown()).is_some());
        let by = |at: usize| -> Option<Nanos> {
            let own = forecast.scenarios.get(at)?;
            let delays = own.whole().delay_ns.most.filter(|_| named).map(|ns| Nanos(ns as i64));
            Some(delays.unwrap_or(own.longest))
        };
        Self { length: scenarios().filter_map(by).max().unwrap_or(Nanos::ZERO), named }
    }
}

/// Checks `done_rate` and similar against the arrivals, or against the rate that the pauses allow.
fn rate(
    condition: &Condition,
    wanted: f64,
    step: Option<&str>,
    plan: &Plan,
    forecast: &Forecast,
) -> Option<ConditionForecast> {
    let span = JudgedWindow::of(condition, plan, forecast)?;
    let most = requests(condition, step, plan, forecast).most?;
    let seconds = (span.until - span.from).as_secs_f64();
    let own = |name: &str| condition.phase.as_deref().is_none_or(|phase| phase == name);
    let phases = || forecast.judged(plan).filter(|(phase, _)| own(&phase.name));
    let closed = phases().any(|(phase, _)| phase.load.levels().is_some());
    let rate = most / seconds;
    if !falls_short(condition, rate, wanted) {
        return None;
    }
    let bound = if closed { "even if responses took no time, " } else { "" };
    let why = format!("{bound}the plan sends at most {}", show_request_rate(rate));
    let hint = if closed { "more users, or shorter pauses" } else { "a higher rate" };
    Some(ConditionForecast::Unreachable(why, hint.to_owned()))
}

/// Detects a session rate that was intended as a request rate, e.g. `rate: 1k/s` with five requests
/// a session and a threshold at 1k/s.
pub(in crate::forecast) fn sessions_for_requests(plan: &Plan, forecast: &Forecast) -> Option<String> {
    let wanted = plan.thresholds.iter().find_map(|one| match (&one.subject, one.value, one.op) {
        (Subject::Requests(_, None), Value::PerSecond(wanted), Op::Greater | Op::GreaterEqual) => {
            Some(wanted)
        }
        _ => None,
    })?;
    forecast.judged(plan).find_map(|(phase, reported)| {
        let Load::Open { requests_each: None, rate, .. } = &phase.load else { return None };
        let sessions = rate.max().as_per_second();
        let requests = reported.requests_per_s_max?;
        (ALIKE.contains(&(wanted / sessions)) && requests > 1.5 * sessions).then(|| {
            format!(
                "{}: {} are sessions, and {}; rate: {} requests/s?",
                phase.name,
                show_rate(sessions),
                show_request_rate(requests),
                format_compact(sessions.round() as u64)
            )
        })
    })
}
