//! Conditions against a plan: what they name must exist, and what is added unasked
//! (`docs/measuring.md` §5).

use wavetank_units::{Code, UserError, did_you_mean};

use crate::constants::IMPLICIT_FAILED_SHARE;
use crate::{Condition, HostFacts, Op, Plan, RequestCounter, Subject, Value};

/// Returns the thresholds that a plan has by default. Each one is independent: `done > 0` unless a
/// threshold is about done; `failed < 1%` unless one is about failed, errors or status. A plan
/// without requests gets thresholds on connections instead.
pub fn implicit_thresholds(plan: &Plan) -> Vec<Condition> {
    let speaks = |about: fn(&Subject) -> bool| plan.thresholds.iter().any(|own| about(&own.subject));
    if plan.scenarios.iter().all(|scenario| scenario.steps.is_empty()) {
        return vec![
            above_none("opened > 0", Subject::Opened),
            below_one_percent("connections failed < 1%", Subject::ConnectionsFailed),
        ];
    }
    let mut implicit = Vec::new();
    if !speaks(|subject| matches!(subject, Subject::Requests(RequestCounter::Done, _))) {
        implicit.push(above_none("done > 0", Subject::Requests(RequestCounter::Done, None)));
    }
    let failing = |subject: &Subject| {
        matches!(
            subject,
            Subject::Requests(RequestCounter::Failed, _) | Subject::Errors(_) | Subject::Status(_)
        )
    };
    if !speaks(failing) {
        implicit.push(below_one_percent("failed < 1%", Subject::Requests(RequestCounter::Failed, None)));
    }
    implicit
}

fn above_none(text: &str, subject: Subject) -> Condition {
    implicit(text, subject, Op::Greater, Value::Count(0.0))
}

fn below_one_percent(text: &str, subject: Subject) -> Condition {
    implicit(text, subject, Op::Less, Value::Share(IMPLICIT_FAILED_SHARE))
}

fn implicit(text: &str, subject: Subject, op: Op, value: Value) -> Condition {
    Condition { text: text.to_owned(), subject, op, value, phase: None, window: None }
}

/// Checks that the step, phase, check, count, rendezvous or host of every condition exists in the
/// plan. Fails (exit 2) on the first one that does not, and on conditions on a warm-up, which is
/// never judged.
///
/// `host` knows which hosts are sampled.
pub fn check_conditions(plan: &Plan, host: &HostFacts) -> Result<(), UserError> {
    for condition in plan.thresholds.iter().chain(&plan.stop) {
        check_known(plan, condition, host)?;
        check_step(plan, condition)?;
        check_phase(plan, condition)?;
    }
    Ok(())
}

/// Checks the name of a check, count or rendezvous, of which a plan of one request has none.
/// Refuses hosts that are not sampled.
fn check_known(plan: &Plan, condition: &Condition, host: &HostFacts) -> Result<(), UserError> {
    let text = &condition.text;
    let steps = || plan.scenarios.iter().flat_map(|scenario| &scenario.steps);
    let known = |what: &'static str, name: &str, names: Vec<&str>| {
        if names.contains(&name) {
            return Ok(());
        }
        if !names.is_empty() {
            return Err(unknown(what, name, &names, condition));
        }
        let hint = "checks, counts and rendezvous are defined in the steps of an experiment file";
        Err(UserError::usage(Code::NameUnknown, format!("`{text}`: no {what} \"{name}\""), hint))
    };
    match &condition.subject {
        Subject::Check(name) => {
            let checks = steps().flat_map(|step| &step.checks);
            known("check", name, checks.map(|check| check.text.as_str()).collect())
        }
        Subject::Count(name) => known("count", name, plan.shared.counts.iter().map(String::as_str).collect()),
        Subject::Skew(name) => {
            known("rendezvous", name, plan.shared.rendezvous.iter().map(String::as_str).collect())
        }
        Subject::Host(_, pattern) if host.samples_host(pattern) => Ok(()),
        Subject::Host(gauge, host) => Err(UserError::usage(
            Code::HostUnobserved,
            format!("`{text}`: `{}` is about a host, and {host} is not sampled", gauge.name()),
            "`local` is this host: cpu(local) < 90%; --observe HOST samples another; or a condition on requests: p99 < 250ms",
        )),
        _ => Ok(()),
    }
}

fn check_step(plan: &Plan, condition: &Condition) -> Result<(), UserError> {
    let Some(step) = condition.subject.step() else { return Ok(()) };
    let steps = plan.scenarios.iter().flat_map(|scenario| &scenario.steps).map(|step| &step.name);
    // A group is timed like a step.
    let groups = plan.scenarios.iter().flat_map(|scenario| &scenario.groups);
    let names: Vec<&str> = steps.chain(groups).map(String::as_str).collect();
    if names.contains(&step) {
        return Ok(());
    }
    Err(unknown("step", step, &names, condition))
}

fn check_phase(plan: &Plan, condition: &Condition) -> Result<(), UserError> {
    let Some(name) = &condition.phase else { return Ok(()) };
    let judged: Vec<&str> =
        plan.phases.iter().filter(|phase| !phase.warmup).map(|phase| phase.name.as_str()).collect();
    if judged.contains(&name.as_str()) {
        return Ok(());
    }
    if plan.phases.iter().any(|phase| phase.name == *name) {
        let message = format!("`{}`: the warm-up is not judged", condition.text);
        let hint = format!("in {}", judged.join(", in "));
        return Err(UserError::usage(Code::PhaseUnjudged, message, hint));
    }
    Err(unknown("phase", name, &judged, condition))
}

fn unknown(what: &'static str, name: &str, known: &[&str], condition: &Condition) -> UserError {
    let mut there: Vec<&str> = Vec::new();
    for name in known {
        if !there.contains(name) {
            there.push(name);
        }
    }
    let near = did_you_mean(name, known.iter().copied());
    let hint = near
        .map_or_else(|| format!("there is: {}", there.join(", ")), |near| format!("did you mean {near}?"));
    let code = match what {
        "step" => Code::StepUnknown,
        "phase" => Code::PhaseUnknown,
        "check" => Code::CheckUnknown,
        "count" => Code::CountUnknown,
        _ => Code::RendezvousUnknown,
    };
    UserError::usage(code, format!("`{}`: no {what} \"{name}\"", condition.text), hint)
}
