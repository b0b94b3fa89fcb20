//! [`live_doc`]: the state of a running run at a seal, and [`live_line`]: it in one line.
//! [`live_search`] is the same of a search.

use wavetank_measure::{Histogram, Interval, RequestCounters};
use wavetank_plan::{Load, Plan};
use wavetank_record::{
    EventLine, LIVE_SCHEMA, LiveDoc, LiveEvent, LiveInterval, LivePhase, LiveSearch, LiveState, LiveStep,
    Number, RunRecord,
};
use wavetank_units::quantity::{format_grouped, show_request_rate};
use wavetank_units::{Nanos, sanitize};

use crate::compose::times;
use crate::search_report::level_text;

/// The latest events that a state has.
const EVENTS_MAX: usize = 20;

/// What a state of a run consists of.
#[derive(Clone, Copy, Debug)]
pub struct LiveSource<'a> {
    /// The result so far, as `wavetank report` shows it for a running run.
    pub record: &'a RunRecord,
    /// The plan with the changes so far.
    pub plan: &'a Plan,
    /// The latest sealed interval; `None` before the first.
    pub latest: Option<&'a Interval>,
    /// Connections lost so far.
    pub connections_lost: u64,
    /// What the run does.
    pub state: LiveState,
}

/// The state of a run. The caller adds `pid`, `archive` and `agents`.
pub fn live_doc(source: &LiveSource<'_>) -> LiveDoc {
    let LiveSource { record, plan, latest, state, .. } = *source;
    let at = latest.map_or(Nanos::ZERO, Interval::end);
    let over = state == LiveState::Over;
    LiveDoc {
        schema: LIVE_SCHEMA.to_owned(),
        id: record.id.clone(),
        name: record.name.clone(),
        target: record.target.clone(),
        load: record.load.text.to_string(),
        state,
        at_s: Number(at.as_secs_f64()),
        ends_at_s: plan_end(plan).map(|end| Number(end.as_secs_f64())),
        phases: if over { Vec::new() } else { phases(plan, at) },
        requests: record.requests,
        errors: record.errors.clone(),
        status: record.status.clone(),
        response_us: record.response_us.clone(),
        latest: latest.map_or_else(LiveInterval::default, |interval| interval_doc(source, interval)),
        steps: steps(record, plan, latest),
        thresholds: record.thresholds.clone(),
        findings: record.findings.clone(),
        modified: record.modified,
        changes: record.changes.clone(),
        events: events(&record.events),
        verdict: over.then(|| record.verdict.clone()),
        ..LiveDoc::default()
    }
}

/// Planned end of the last phase; `None` if only a count ends one.
fn plan_end(plan: &Plan) -> Option<Nanos> {
    let ends: Option<Vec<Nanos>> = plan.phases.iter().map(wavetank_plan::Phase::end).collect();
    ends.and_then(|ends| ends.into_iter().max())
}

/// Returns the phases that are active at the seal `at`, at which the next phase has begun.
fn phases(plan: &Plan, at: Nanos) -> Vec<LivePhase> {
    let active = plan.phases.iter().filter(|phase| phase.is_active_at(at));
    active
        .map(|phase| {
            let users = phase.users_at(at);
            let holds = matches!(phase.load, Load::Hold { .. });
            let rate = match &phase.load {
                Load::Open { rate, .. } => Some(Number(rate.per_second_at(at - phase.start))),
                _ => None,
            };
            LivePhase {
                name: phase.name.clone(),
                warmup: phase.warmup,
                ends_at_s: phase.end().map(|end| Number(end.as_secs_f64())),
                rate_per_s: rate,
                users: users.filter(|_| !holds),
                connections: users.filter(|_| holds),
            }
        })
        .collect()
}

fn interval_doc(source: &LiveSource<'_>, interval: &Interval) -> LiveInterval {
    let (mut counters, mut open) = (RequestCounters::default(), 0);
    let (mut response, mut lag) = (Histogram::default(), Histogram::default());
    for step in &interval.steps {
        counters.merge(&step.counters);
        response.merge(&step.response);
        open += step.open;
    }
    interval.phases.iter().for_each(|phase| lag.merge(&phase.lag));
    let busiest = interval.threads.iter().map(|thread| thread.busy_share(interval.len));
    LiveInterval {
        length_s: Number(interval.len.as_secs_f64()),
        offered_per_s: per_second(counters.offered, interval),
        done_per_s: per_second(counters.done, interval),
        failed: counters.failed(),
        late: counters.late,
        dropped: counters.dropped(),
        open,
        response_us: times(&response, 0, None),
        lag_us: times(&lag, 0, None),
        users: interval.users,
        connections: interval.conns.open,
        connections_lost: source.connections_lost,
        sent_bytes_per_s: per_second(interval.bytes.sent, interval),
        received_bytes_per_s: per_second(interval.bytes.received, interval),
        busiest_thread: Number((busiest.fold(0.0, f64::max).min(1.0) * 1e4).round() / 1e4),
    }
}

fn per_second(count: u64, interval: &Interval) -> Number {
    let length = interval.len.as_secs_f64();
    // Tenths are enough for a screen.
    Number(if length > 0.0 { (count as f64 / length * 10.0).round() / 10.0 } else { 0.0 })
}

/// Returns the steps that occurred, in the order of the plan.
fn steps(record: &RunRecord, plan: &Plan, latest: Option<&Interval>) -> Vec<LiveStep> {
    let keys = (0_u16..)
        .zip(&plan.scenarios)
        .flat_map(|(scenario, it)| (0..it.steps.len() as u16).map(move |step| (scenario, step)));
    let rows = keys.zip(&record.steps).filter(|(_, step)| step.requests.offered > 0);
    rows.map(|((scenario, step), doc)| {
        let own = latest.iter().flat_map(|interval| &interval.steps);
        let own = own.filter(|series| (series.key.scenario, series.key.step) == (scenario, step));
        let done = own.map(|series| series.counters.done).sum();
        LiveStep {
            scenario: doc.scenario.clone(),
            name: doc.name.clone(),
            requests: doc.requests,
            response_us: doc.response_us.clone(),
            done_per_s: latest.map_or(Number(0.0), |interval| per_second(done, interval)),
        }
    })
    .collect()
}

/// Returns the latest events.
fn events(all: &[EventLine]) -> Vec<LiveEvent> {
    let skip = all.len().saturating_sub(EVENTS_MAX);
    let latest = all.iter().skip(skip);
    latest
        .map(|event| LiveEvent {
            at_s: Number(Nanos(event.at_ns).as_secs_f64()),
            text: event.text.to_string(),
        })
        .collect()
}

/// Formats a state as one line without a newline: time, phase, rates, the response time of the
/// latest interval, and what went wrong so far.
pub fn live_line(state: &LiveDoc) -> String {
    let latest = &state.latest;
    let of = state.ends_at_s.map_or_else(String::new, |end| format!(" of {}", time(end.0)));
    let mut parts = vec![format!("{}{of}", time(state.at_s.0))];
    parts.extend((state.state != LiveState::Running).then(|| state.state.name().to_owned()));
    parts.extend(state.search.as_ref().map(live_search));
    parts.extend(state.phases.iter().map(|phase| sanitize(&phase.name).to_string()));
    let held = state.phases.iter().filter_map(|phase| phase.connections).sum::<u64>();
    if held > 0 {
        let (open, lost) = (format_grouped(latest.connections), format_grouped(latest.connections_lost));
        parts.push(format!("held {open} of {}  lost {lost}", format_grouped(held)));
    }
    if state.requests.offered > 0 {
        parts.push(format!("offered {}", show_request_rate(latest.offered_per_s.0)));
        parts.push(format!("done {}", show_request_rate(latest.done_per_s.0)));
        if let Some(spread) = &latest.response_us.spread {
            parts.push(format!("p50 {}  p99 {}", micros(spread.p50), micros(spread.p99)));
        }
    }
    let requests = &state.requests;
    let troubles = [
        ("failed", requests.failed),
        ("late", requests.late),
        ("dropped", requests.dropped),
        ("open", latest.open),
    ];
    parts.extend(
        troubles.iter().filter(|(_, n)| *n > 0).map(|&(name, n)| format!("{name} {}", format_grouped(n))),
    );
    parts.extend(state.modified.then(|| "load modified".to_owned()));
    parts.join("  ")
}

/// Formats what a search does and has found, e.g. `search: run 4 at 400/s (climb); 2 pass, 1 fail;
/// between 200/s and 800/s`.
pub fn live_search(search: &LiveSearch) -> String {
    let level = |level: Number| level_text(&sanitize(&search.of), level);
    let now = match search.level {
        Some(at) => {
            let (number, stage) = (search.runs.len() + 1, sanitize(&search.stage));
            format!("search: run {number} at {} ({stage})", level(at))
        }
        None => "search: between two runs".to_owned(),
    };
    let count = |result: &str| search.runs.iter().filter(|run| run.result == result).count();
    let results = ["pass", "fail", "undecided", "generator"].map(|result| (count(result), result));
    let results: Vec<String> = results
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, result)| format!("{count} {result}"))
        .collect();
    let range = match (search.low, search.high) {
        (Some(low), Some(high)) => format!("between {} and {}", level(low), level(high)),
        (Some(low), None) => format!("at least {}", level(low)),
        (None, Some(high)) => format!("at most {}", level(high)),
        (None, None) => String::new(),
    };
    let parts = [now, results.join(", "), range];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

fn time(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { Nanos((seconds * 1e9) as i64).to_string() }
}

fn micros(value: Number) -> String {
    Nanos(value.as_nanos() as i64).to_string()
}

#[cfg(test)]
mod tests {
    use wavetank_record::LiveLevel;

    use super::*;

    fn check(level: Option<f64>, results: &[&str], range: (Option<f64>, Option<f64>), expected: &str) {
        let run = |result: &&str| LiveLevel { level: Number(50.0), result: (*result).to_owned() };
        let search = LiveSearch {
            of: "rate".to_owned(),
            level: level.map(Number),
            stage: "climb".to_owned(),
            runs: results.iter().map(run).collect(),
            low: range.0.map(Number),
            high: range.1.map(Number),
        };
        assert_eq!(live_search(&search), expected);
    }

    #[test]
    fn a_search_shows_its_level_and_what_it_found() {
        check(Some(100.0), &[], (None, None), "search: run 1 at 100/s (climb)");
        check(
            Some(200.0),
            &["pass"],
            (Some(100.0), None),
            "search: run 2 at 200/s (climb); 1 pass; at least 100/s",
        );
        let results = ["pass", "fail", "pass", "generator"];
        let range = (Some(1_000.0), Some(2_000.0));
        check(
            None,
            &results,
            range,
            "search: between two runs; 2 pass, 1 fail, 1 generator; between 1,000/s and 2,000/s",
        );
        check(None, &["fail"], (None, Some(100.0)), "search: between two runs; 1 fail; at most 100/s");
    }
}
