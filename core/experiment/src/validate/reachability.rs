//! Conditions that the load cannot reach or decide, and rates that a session multiplies.

use wavetank_grammar::{Diagnostic, Diagnostics, Spanned};
use wavetank_plan::constants::TIMEOUT;
use wavetank_plan::{Condition, Op, RequestCounter, Subject, Value};
use wavetank_units::Code;
use wavetank_units::quantity::{format_grouped, show_rate, show_request_rate};

use super::messages::digits;
use super::{delay_paths, totals};
use crate::Scenario;
use crate::model::{Experiment, Phase, PhaseLoad};

/// A session with more requests is a loop, not a journey.
const JOURNEY_REQUESTS_MAX: f64 = 1_000.0;
/// Number of samples above a percentile that are needed to decide it.
const SAMPLES_ABOVE_MIN: f64 = 10.0;

pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    for condition in &experiment.thresholds {
        reachable(experiment, condition, out);
        decidable(experiment, condition, out);
    }
    for scenario in &experiment.scenarios {
        journeys(experiment, scenario, out);
    }
}

/// Reports conditions such as `held >= 1M` if the plan holds 500k, or `in_flight >= 990k` at 500/s.
fn reachable(experiment: &Experiment, condition: &Spanned<Condition>, out: &mut Diagnostics) {
    let wanted = match condition.value.value {
        Value::Count(count) => count,
        Value::PerSecond(rate) => rate,
        _ => return,
    };
    if !matches!(condition.value.op, Op::Greater | Op::GreaterEqual) {
        return;
    }
    let most = match condition.value.subject {
        Subject::Held => closed(experiment, |load| match load {
            PhaseLoad::Hold(span) => Some(span.from.max(span.to)),
            _ => None,
        }),
        Subject::Users => closed(experiment, |load| match load {
            PhaseLoad::Users(span) => Some(span.from.max(span.to)),
            _ => None,
        }),
        Subject::InFlight => in_flight(experiment),
        Subject::Requests(RequestCounter::Done, None)
            if matches!(condition.value.value, Value::PerSecond(_)) =>
        {
            done_rate(experiment)
        }
        _ => None,
    };
    if let Some((most, why)) = most.filter(|(most, _)| *most < wanted) {
        let message = format!("`{}` cannot be reached: {why}", condition.value.text);
        let factor = wanted / most.max(1e-9);
        let hint = match condition.value.subject {
            Subject::InFlight | Subject::Requests(..) => {
                let hosts = factor.ceil();
                format!("rates are for the whole run, not per host: {hosts} times as much is needed")
            }
            _ => "numbers are totals of the whole run".to_owned(),
        };
        out.push(Diagnostic::warning(Code::ThresholdUnreachable, condition.place, message, hint));
    }
}

fn all_phases(experiment: &Experiment) -> impl Iterator<Item = &Phase> {
    experiment.phases.iter().chain(experiment.scenarios.iter().flat_map(|scenario| &scenario.phases))
}

/// Returns the maximum number of users or connections of phases of one kind, if there are no
/// others.
fn closed(experiment: &Experiment, of: impl Fn(&PhaseLoad) -> Option<u64>) -> Option<(f64, String)> {
    let mut lists: Vec<&[Phase]> =
        experiment.scenarios.iter().map(|scenario| scenario.phases.as_slice()).collect();
    lists.push(&experiment.phases);
    let mut sum = 0;
    for phases in lists.into_iter().filter(|phases| !phases.is_empty()) {
        let most = phases.iter().filter_map(|phase| of(&phase.load.value)).max()?;
        sum += most;
    }
    (sum > 0).then(|| (sum as f64, format!("the phases add up to {}", format_grouped(sum))))
}

/// Returns the highest rate of requests if all load is open and every session has a known number of
/// requests.
fn highest_rate(experiment: &Experiment) -> Option<f64> {
    let open = all_phases(experiment)
        .all(|phase| matches!(phase.load.value, PhaseLoad::Rate { .. } | PhaseLoad::Pause(_)));
    let [only] = experiment.scenarios.as_slice() else { return None };
    let requests = totals::requests(experiment, &only.steps, None)?;
    let rates = all_phases(experiment).filter_map(|phase| match &phase.load.value {
        PhaseLoad::Rate { rate, of_requests } => {
            let highest = rate.from.as_per_second().max(rate.to.as_per_second());
            let spike = phase.spike.map_or(0.0, |spike| spike.rate.as_per_second());
            Some(highest.max(spike) * if *of_requests { 1.0 } else { requests })
        }
        _ => None,
    });
    rates.fold(None, |most: Option<f64>, rate| Some(most.unwrap_or(0.0).max(rate))).filter(|_| open)
}

fn in_flight(experiment: &Experiment) -> Option<(f64, String)> {
    let rate = highest_rate(experiment)?;
    let timeout = experiment.http.timeout.as_ref().map_or(TIMEOUT, |timeout| timeout.value);
    let said = delay_paths::longest_answer(experiment).filter(|answer| *answer < timeout);
    let (length, what) = said.map_or((timeout, "s until timeout"), |answer| (answer, "s answers"));
    let most = rate * length.as_secs_f64();
    let why =
        format!("{} × {} {what} = {}", show_rate(rate), length.as_secs_f64(), format_grouped(most as u64));
    Some((most, why))
}

fn done_rate(experiment: &Experiment) -> Option<(f64, String)> {
    let rate = highest_rate(experiment)?;
    Some((rate, format!("the phases send at most {}", show_request_rate(rate))))
}

/// Reports a percentile with too few samples above it.
fn decidable(experiment: &Experiment, condition: &Spanned<Condition>, out: &mut Diagnostics) {
    let Subject::Percentile(percentile, _, step) = &condition.value.subject else { return };
    let mut sends = 0.0;
    for scenario in &experiment.scenarios {
        let (sessions, requests) = (
            totals::sessions(experiment, scenario, condition.value.phase.as_deref()),
            totals::requests(experiment, &scenario.steps, step.as_deref()),
        );
        match (sessions, requests) {
            (_, Some(none)) if none <= 0.0 => {}
            (Some(sessions), Some(requests)) => sends += sessions * requests,
            _ => return,
        }
    }
    let needs = (SAMPLES_ABOVE_MIN / (1.0 - percentile / 100.0)).round();
    if sends > 0.0 && sends < needs {
        let who = match &condition.value.phase {
            Some(phase) => format!("phase {phase}"),
            None => "the plan".to_owned(),
        };
        let message = format!(
            "p{percentile} needs about {} samples; {who} sends {}: it may stay undecided",
            digits(needs),
            digits(sends)
        );
        out.push(Diagnostic::warning(
            Code::PercentileUndecided,
            condition.place,
            message,
            "use a lower percentile or a longer phase",
        ));
    }
}

/// Reports that a session of several requests multiplies the arrival rate.
fn journeys(experiment: &Experiment, scenario: &Scenario, out: &mut Diagnostics) {
    let Some(requests) = totals::requests(experiment, &scenario.steps, None) else { return };
    if !(2.0..=JOURNEY_REQUESTS_MAX).contains(&requests) {
        return;
    }
    let phases = if scenario.phases.is_empty() { &experiment.phases } else { &scenario.phases };
    let first = phases.iter().find_map(|phase| match &phase.load.value {
        PhaseLoad::Rate { rate, of_requests: false } => {
            Some((phase, rate.from.as_per_second().max(rate.to.as_per_second())))
        }
        _ => None,
    });
    let Some((phase, rate)) = first.filter(|_| scenario.weight.is_none()) else { return };
    let asked = experiment.thresholds.iter().any(|threshold| {
        let of_done = matches!(threshold.value.subject, Subject::Requests(RequestCounter::Done, None));
        of_done
            && matches!(threshold.value.value, Value::PerSecond(asked) if asked <= rate && asked * 2.0 > rate)
    });
    let message = format!("a session sends {requests} requests: {}", show_request_rate(rate * requests));
    let hint = if asked { "use `500 requests/s` instead of `500/s` to count requests" } else { "" };
    out.push(Diagnostic::note(Code::SessionRequests, phase.load.place, message, hint));
}
