//! Loads that take an unintended amount of time.

use wavetank_grammar::{Diagnostic, Diagnostics, Span};
use wavetank_plan::constants::OPEN_RATE_PER_S;
use wavetank_units::quantity::format_grouped;
use wavetank_units::{Code, Nanos, Rate};

use crate::Scenario;
use crate::model::{Experiment, FromTo, Phase, PhaseLoad, Verb};

/// Default rate at which connections are opened before a phase.
const OPEN_RATE: Rate = Rate::per_second(OPEN_RATE_PER_S);
/// Fewer held connections than this are opened almost immediately.
const HELD_MIN: u64 = 1_000;
/// More repetitions than this are meant to be endless.
const ENDLESS_MIN: u64 = 1_000;

pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    unmeasured(experiment, out);
    jumps(experiment, &experiment.phases, out);
    for scenario in &experiment.scenarios {
        jumps(experiment, &scenario.phases, out);
        thinking(experiment, scenario, out);
    }
}

/// Reports that all phases are warm-up, so the run measures nothing.
fn unmeasured(experiment: &Experiment, out: &mut Diagnostics) {
    let own = experiment.scenarios.iter().flat_map(|scenario| &scenario.phases);
    let sending = |phase: &&Phase| !matches!(phase.load.value, PhaseLoad::Pause(_));
    let mut phases = experiment.phases.iter().chain(own).filter(sending).peekable();
    let Some(first) = phases.peek().map(|phase| phase.load.place) else { return };
    if phases.all(|phase| phase.warmup) {
        let message = "all load is warm-up, so nothing is measured or judged";
        let hint = "add a phase without `warmup: true`, or leave that out";
        out.push(Diagnostic::warning(Code::WarmupOnly, first, message, hint));
    }
}

/// Reports held connections and users that all start simultaneously.
fn jumps(experiment: &Experiment, phases: &[Phase], out: &mut Diagnostics) {
    let (mut held, mut users) = (0, 0);
    for phase in phases {
        match &phase.load.value {
            PhaseLoad::Hold(span) => {
                held_jump(span, held, phase.load.place, out);
                (held, users) = (span.to, 0);
            }
            PhaseLoad::Users(span) => {
                users_jump(experiment, span, users, phase, out);
                (held, users) = (0, span.to);
            }
            PhaseLoad::Rate { .. } | PhaseLoad::Trace(_) => (held, users) = (0, 0),
            PhaseLoad::Pause(_) => {}
        }
    }
}

fn held_jump(span: &FromTo<u64>, before: u64, place: Span, out: &mut Diagnostics) {
    let jump = span.from.saturating_sub(before);
    if jump < HELD_MIN {
        return;
    }
    let message = format!("opening {} connections takes time", format_grouped(jump));
    let speed = if jump >= 100_000 { "10k/s" } else { "1k/s" };
    let hint = format!("put - {{hold: {} to {}, at: {speed}}} before it", short(before), short(span.from));
    out.push(Diagnostic::error(Code::HoldCold, place, message, hint));
}

fn users_jump(
    experiment: &Experiment,
    span: &FromTo<u64>,
    before: u64,
    phase: &Phase,
    out: &mut Diagnostics,
) {
    let jump = span.from.saturating_sub(before);
    if jump < HELD_MIN {
        return;
    }
    let rate = experiment.open_rate.unwrap_or(OPEN_RATE);
    let seconds = (jump as f64 / rate.as_per_second()).ceil();
    let ahead =
        format!("{} connections are opened in the {seconds} s before the phase", format_grouped(jump));
    let hint = format!("users: 0 to {}, at: 1k/s starts them one after the other", short(span.from));
    out.push(Diagnostic::note(Code::UsersAtOnce, phase.load.place, ahead, hint));
}

/// Formats a count in short form: `1M`, `3480k`.
pub(super) fn short(count: u64) -> String {
    match count {
        0 => "0".to_owned(),
        _ if count.is_multiple_of(1_000_000) => format!("{}M", count / 1_000_000),
        _ if count.is_multiple_of(1_000) => format!("{}k", count / 1_000),
        _ => count.to_string(),
    }
}

/// Reports a journey without think time, which is a closed loop, and waits longer than the timeout.
fn thinking(experiment: &Experiment, scenario: &Scenario, out: &mut Diagnostics) {
    let steps = experiment.flattened(&scenario.steps);
    let pauses = |verb: &Verb| matches!(verb, Verb::Think(_) | Verb::Rendezvous { .. });
    let pausing =
        scenario.think.is_some() || scenario.pace.is_some() || steps.iter().any(|step| pauses(&step.verb));
    for step in &steps {
        match &step.verb {
            Verb::Repeat(times, _) if times.value >= ENDLESS_MIN && !pausing => {
                let message = format!(
                    "a session is {} rounds without think time: this is a closed loop",
                    format_grouped(times.value)
                );
                let hint = "add - think: 1s between them, or use users: N in a phase for a closed loop";
                out.push(Diagnostic::note(Code::NoThink, times.place, message, hint));
            }
            Verb::Rendezvous { name, wait, .. } => {
                let wait_ns = wait.as_ref().map_or(Nanos::from_secs(60), |wait| wait.value);
                let timeout =
                    experiment.http.timeout.as_ref().map_or(Nanos::from_secs(60), |timeout| timeout.value);
                if wait_ns > timeout {
                    let place = wait.as_ref().map_or(name.place, |wait| wait.place);
                    let message = format!(
                        "users wait up to {wait_ns} at {}, longer than timeout {timeout}",
                        name.value
                    );
                    let hint = "nothing times out here, but a server may close connections that are silent for this long";
                    out.push(Diagnostic::note(Code::RendezvousWait, place, message, hint));
                }
            }
            _ => {}
        }
    }
}
