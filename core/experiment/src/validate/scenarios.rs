//! Checks that every scenario has steps, and phases in which they run.

use std::collections::BTreeMap;
use wavetank_units::Code;

use wavetank_grammar::{Diagnostic, Diagnostics};

use crate::model::{Connection, Experiment, Phase, PhaseLoad, Scenario};

pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    shares(experiment, out);
    something_to_do(experiment, out);
    weights(experiment, out);
    connections(experiment, out);
    pool(experiment, out);
    paces(experiment, out);
    silent_sessions(experiment, out);
    for (at, scenario) in experiment.scenarios.iter().enumerate() {
        phase_names(&scenario.phases, out);
        let twice =
            experiment.scenarios[..at].iter().any(|other| other.display_name() == scenario.display_name());
        if twice {
            let message = format!("two scenarios are called `{}`", scenario.display_name());
            out.push(Diagnostic::error(
                Code::NameDuplicate,
                scenario.place,
                message,
                "every scenario has its own name",
            ));
        }
    }
    phase_names(&experiment.phases, out);
}

impl Scenario {
    pub(crate) fn display_name(&self) -> &str {
        self.name.as_ref().map_or("main", |name| name.value.as_str())
    }
}

/// Checks that a scenario has a weight in the top-level phases or its own phases. A single one
/// takes part in them anyway.
fn shares(experiment: &Experiment, out: &mut Diagnostics) {
    let top = !experiment.phases.is_empty();
    for scenario in &experiment.scenarios {
        let Some(name) = &scenario.name else { continue };
        let (weight, own) = (&scenario.weight, !scenario.phases.is_empty());
        if let Some(weight) = weight
            && !top
            && !own
        {
            let message =
                format!("{} has a weight, but there are no top-level phases to take part in", name.value);
            let hint = "add phases: at the top of the file, or replace the weight by its own phases";
            out.push(Diagnostic::error(Code::WeightAlone, weight.place, message, hint));
        } else if weight.is_none() && !own && experiment.scenarios.len() > 1 {
            let message = format!("{} needs a weight or its own phases", name.value);
            let hint = if top {
                "use weight: 1 to take part in the top-level phases"
            } else {
                "add its own phases:"
            };
            out.push(Diagnostic::error(Code::ScenarioIdle, name.place, message, hint));
        }
    }
    let takes_part = |scenario: &Scenario| scenario.name.is_none() || scenario.weight.is_some();
    if let Some(first) = experiment.phases.first()
        && !experiment.scenarios.is_empty()
        && !experiment.scenarios.iter().any(takes_part)
        && experiment.scenarios.iter().all(|scenario| !scenario.phases.is_empty())
    {
        let message = "no scenario takes part in the top-level phases";
        out.push(Diagnostic::error(
            Code::PhasesUnused,
            first.place,
            message,
            "set weight: 1 in a scenario without its own phases",
        ));
    }
}

/// Reports missing steps. Only held connections can be silent.
fn something_to_do(experiment: &Experiment, out: &mut Diagnostics) {
    let needs = |phase: &&Phase| !matches!(phase.load.value, PhaseLoad::Hold(_) | PhaseLoad::Pause(_));
    let hint = "- get: /path";
    for scenario in &experiment.scenarios {
        let phases = if scenario.phases.is_empty() { &experiment.phases } else { &scenario.phases };
        if scenario.steps.is_empty() && (phases.iter().any(|phase| needs(&phase)) || phases.is_empty()) {
            let message =
                format!("{} has no steps, but only held connections can be silent", scenario.display_name());
            out.push(Diagnostic::error(Code::StepsMissing, scenario.place, message, hint));
        }
    }
    if !experiment.scenarios.is_empty() {
        return;
    }
    match experiment.phases.iter().find(needs) {
        Some(phase) => {
            let message = "there are no steps, but only held connections can be silent";
            out.push(Diagnostic::error(Code::StepsMissing, phase.place, message, "steps: [{get: /}]"));
        }
        None if experiment.phases.is_empty() => {
            let message = "the file needs steps or scenarios";
            out.push(Diagnostic::without_span(Code::StepsMissing, message, "steps: [{get: /}]"));
        }
        None => {}
    }
}

/// Checks the owner of connections. Held connections stay open, and a pipeline needs a connection
/// that serves several requests.
fn connections(experiment: &Experiment, out: &mut Diagnostics) {
    // A WebSocket or an event stream has its stream for itself.
    let urls = experiment.targets.iter().flat_map(|target| &target.urls);
    let has_messages = urls.into_iter().any(|one| one.url.value.protocol.has_messages());
    let pipelined = experiment.http.requests_in_flight() > 1 && !has_messages;
    for scenario in &experiment.scenarios {
        let word = match scenario.connection {
            None | Some(Connection::User) => continue,
            Some(Connection::Session) => "session",
            Some(Connection::Request) => "request",
            Some(Connection::Shared) => "shared",
        };
        let name = scenario.display_name();
        let phases = if scenario.phases.is_empty() { &experiment.phases } else { &scenario.phases };
        if phases.iter().any(|phase| matches!(phase.load.value, PhaseLoad::Hold(_))) {
            let message =
                format!("{name} holds connections, which belong to users, but has connection: {word}");
            let hint = "use users: N instead of hold: N, or leave connection: out";
            out.push(Diagnostic::error(Code::OptionConflict, scenario.place, message, hint));
        }
        if pipelined && scenario.connection != Some(Connection::Shared) {
            let message = format!(
                "{name} has connection: {word}, but users in a pipeline or in streams share connections"
            );
            let hint = "leave http.pipeline and http.streams out, or connection: user";
            out.push(Diagnostic::error(Code::OptionConflict, scenario.place, message, hint));
        }
    }
}

/// The size of a pool needs scenarios that share it.
fn pool(experiment: &Experiment, out: &mut Diagnostics) {
    if let (Some(owner), true) = (&experiment.connection, experiment.scenarios.is_empty()) {
        let message = "`connection` applies to steps, and the file has none";
        let hint = "leave it out: each held connection has its own user";
        out.push(Diagnostic::error(Code::OptionConflict, owner.place, message, hint));
    }
    let Some(size) = &experiment.connections else { return };
    for scenario in &experiment.scenarios {
        let phases = if scenario.phases.is_empty() { &experiment.phases } else { &scenario.phases };
        let pause = |phase: &Phase| matches!(phase.load.value, PhaseLoad::Pause(_));
        let arrives = phases.iter().all(|phase| phase.is_open() || pause(phase));
        let (message, hint) = match scenario.connection {
            _ if !phases.is_empty() && !phases.iter().any(Phase::has_requests) => continue,
            Some(Connection::Shared) => continue,
            None if arrives => continue,
            None => (
                "`connections` is the size of a pool, and users have a connection each",
                "leave it out, or connection: shared",
            ),
            Some(_) => (
                "`connections` is the size of a pool, and the connections are not shared",
                "connection: shared, or leave connections out",
            ),
        };
        out.push(Diagnostic::error(Code::OptionConflict, size.place, message, hint));
        return;
    }
}

/// Reports a pace where each user has only one session.
fn paces(experiment: &Experiment, out: &mut Diagnostics) {
    for scenario in experiment.scenarios.iter().filter(|scenario| scenario.pace.is_some()) {
        let phases = if scenario.phases.is_empty() { &experiment.phases } else { &scenario.phases };
        let repeats = |phase: &Phase| matches!(phase.load.value, PhaseLoad::Users(_) | PhaseLoad::Hold(_));
        if !phases.is_empty() && !phases.iter().any(repeats) {
            let message = format!(
                "{} has a pace, but no phase in which a user has more than one session",
                scenario.display_name()
            );
            let hint =
                "use users: N in a phase, or leave pace: out; a rate determines how often sessions start";
            out.push(Diagnostic::error(Code::OptionConflict, scenario.place, message, hint));
        }
    }
}

/// Reports a number of sessions for silent connections, which have none.
fn silent_sessions(experiment: &Experiment, out: &mut Diagnostics) {
    let silent = |phase: &&Phase| matches!(phase.load.value, PhaseLoad::Hold(_)) && phase.sessions.is_some();
    let own = experiment.scenarios.iter().filter(|scenario| scenario.steps.is_empty());
    let own = own.flat_map(|scenario| &scenario.phases);
    let all_silent = experiment.scenarios.iter().all(|scenario| scenario.steps.is_empty());
    let top = experiment.phases.iter().filter(|_| all_silent);
    for phase in own.chain(top).filter(silent) {
        let message = "connections without steps are silent and have no sessions";
        out.push(Diagnostic::error(Code::OptionConflict, phase.place, message, "for: 10m, or steps"));
    }
}

/// Reports weights that look like percentages but are not.
fn weights(experiment: &Experiment, out: &mut Diagnostics) {
    let weights: Vec<u64> =
        experiment.scenarios.iter().filter_map(|one| Some(one.weight.as_ref()?.value)).collect();
    let sum: u64 = weights.iter().fold(0, |sum, weight| sum.saturating_add(*weight));
    let place = experiment.scenarios.iter().find_map(|one| Some(one.weight.as_ref()?.place));
    let Some(place) = place.filter(|_| weights.len() > 1 && (80..=120).contains(&sum) && sum != 100) else {
        return;
    };
    let list = |items: Vec<String>| items.join(", ");
    let given = list(weights.iter().map(u64::to_string).collect());
    let shares =
        list(weights.iter().map(|weight| format!("{:.0} %", *weight as f64 * 100.0 / sum as f64)).collect());
    let message = format!("weights are relative: {given} → {shares}");
    out.push(Diagnostic::note(Code::WeightsRelative, place, message, "they need not add up to 100"));
}

fn phase_names(phases: &[Phase], out: &mut Diagnostics) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for name in phases.iter().filter_map(|phase| phase.name.as_ref()) {
        if let Some(line) = seen.insert(&name.value, name.place.line) {
            let message = format!("two phases are called `{}`: line {line} has the other", name.value);
            out.push(Diagnostic::error(
                Code::NameDuplicate,
                name.place,
                message,
                "every phase has its own name",
            ));
        }
    }
}
