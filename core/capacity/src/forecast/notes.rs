//! Notes for the reader of a plan, in addition to its numbers.

use wavetank_units::quantity::{format_grouped, show_clock};

use super::{Forecast, condition_forecast};
use wavetank_plan::delay_in_path;
use wavetank_plan::feasibility::port_search_note;
use wavetank_plan::{HostFacts, MaxOpenLimit, Plan};

/// One line each.
pub fn notes(plan: &Plan, forecast: &Forecast, host: &HostFacts) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(condition_forecast::sessions_for_requests(plan, forecast));
    slower_than_timeout(plan, &mut notes);
    lowered(plan, &mut notes);
    for (phase, reported) in plan.phases.iter().zip(&forecast.phases) {
        if let Some((count, takes)) = reported.opening.ahead.filter(|(count, _)| *count > 0) {
            notes.push(format!(
                "{}: {} connections are opened in the {} before {} (open_rate)",
                phase.name,
                format_grouped(count),
                show_clock(takes),
                if phase.start == wavetank_units::Nanos::ZERO {
                    "t0".to_owned()
                } else {
                    show_clock(phase.start)
                }
            ));
        }
    }
    let around = [(&plan.around.before, "before"), (&plan.around.after, "after")];
    for (scenario, what) in around {
        if let Some(scenario) = scenario {
            let requests = match scenario.steps.len() {
                1 => "1 request".to_owned(),
                many => format!("{} requests", format_grouped(many as u64)),
            };
            notes.push(format!("{what} the load: {requests}, once, counted apart (setup)"));
        }
    }
    if !plan.events.is_empty() {
        notes.push("events need a lab (wavetank lab run): run refuses them on one host".to_owned());
    }
    if forecast.scenarios.iter().any(|scenario| scenario.ends_run) {
        notes.push("a session may end the run early (end: run)".to_owned());
    }
    notes.extend(port_search_note(plan, host));
    notes
}

/// Adds notes about phases with a limit of open requests that this host lowered. Identical notes
/// share one line.
fn lowered(plan: &Plan, notes: &mut Vec<String>) {
    let mut reported: Vec<(MaxOpenLimit, u64, Vec<&str>)> = Vec::new();
    for phase in plan.phases.iter().filter(|phase| phase.max_open_by != MaxOpenLimit::Plan) {
        match reported.iter_mut().find(|(by, most, _)| (*by, *most) == (phase.max_open_by, phase.max_open)) {
            Some((_, _, names)) => names.push(&phase.name),
            None => reported.push((phase.max_open_by, phase.max_open, vec![&phase.name])),
        }
    }
    for (by, most, names) in reported {
        let what = match by {
            MaxOpenLimit::Files => "files",
            MaxOpenLimit::Memory => "memory",
            MaxOpenLimit::Plan | MaxOpenLimit::Sources => "source ports",
        };
        let requests = if most == 1 {
            "1 open request".to_owned()
        } else {
            format!("{} open requests", format_grouped(most))
        };
        notes.push(format!(
            "{}: this host has {what} for {requests} only; requests above that are dropped",
            names.join(", ")
        ));
    }
}

/// Paths that name their own delay, longer than the request's timeout.
fn slower_than_timeout(plan: &Plan, notes: &mut Vec<String>) {
    for scenario in &plan.scenarios {
        for step in &scenario.steps {
            let timeout = step.timeout.unwrap_or(plan.http.timeout);
            let path = step.request.path.shown();
            let Some(delay) = delay_in_path(&path).filter(|delay| *delay >= timeout) else { continue };
            let key = if step.timeout.is_some() { "its timeout" } else { "http.timeout" };
            notes.push(format!(
                "{path} answers after {} and the timeout is {}: every request will fail; raise {key}",
                show_clock(delay),
                show_clock(timeout)
            ));
        }
    }
}
