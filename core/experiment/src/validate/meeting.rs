//! Rendezvous with users that can never all be present.

use wavetank_grammar::{Diagnostic, Diagnostics, Span};
use wavetank_units::Code;
use wavetank_units::quantity::format_grouped;

use crate::model::{Experiment, Phase, PhaseLoad, Verb};

pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    for scenario in &experiment.scenarios {
        let own = !scenario.phases.is_empty();
        let phases = if own { &scenario.phases } else { &experiment.phases };
        for list in [&scenario.before, &scenario.steps, &scenario.after] {
            for step in experiment.flattened(list) {
                let Verb::Rendezvous { name, of, .. } = &step.verb else { continue };
                match of {
                    None => of_arrivals(name.value.as_str(), name.place, phases, out),
                    Some(of) => of_users(experiment, *of, name.place, phases, out),
                }
            }
        }
    }
}

/// Reports a rendezvous where sessions arrive: the number of all users is unknown.
fn of_arrivals(name: &str, place: Span, phases: &[Phase], out: &mut Diagnostics) {
    let arrive = |phase: &&Phase| matches!(phase.load.value, PhaseLoad::Rate { .. } | PhaseLoad::Trace(_));
    if phases.iter().any(|phase| arrive(&phase)) {
        let message =
            format!("the number of sessions that {name} waits for is not known: sessions arrive at a rate");
        let hint = "of: N (the number of users is known only in phases with users or hold)";
        out.push(Diagnostic::error(Code::RendezvousOf, place, message, hint));
    }
}

/// Reports a rendezvous for more users than there ever are.
fn of_users(experiment: &Experiment, of: u64, place: Span, phases: &[Phase], out: &mut Diagnostics) {
    // Several scenarios may share a rendezvous.
    if experiment.scenarios.len() > 1 {
        return;
    }
    let most = |phase: &Phase| match &phase.load.value {
        PhaseLoad::Users(span) | PhaseLoad::Hold(span) => Some(span.from.max(span.to)),
        PhaseLoad::Pause(_) => Some(0),
        PhaseLoad::Rate { .. } | PhaseLoad::Trace(_) => None,
    };
    let most = phases.iter().map(most).reduce(|one, other| Some(one?.max(other?))).flatten();
    if let Some(most) = most.filter(|&most| most > 0 && most < of) {
        let message = format!(
            "{} users are waited for, but there are never more than {}",
            format_grouped(of),
            format_grouped(most)
        );
        let hint =
            "those present continue when `wait` is over; leave `of` out to wait for all users of the phase";
        out.push(Diagnostic::warning(Code::RendezvousOfMany, place, message, hint));
    }
}
