//! Checks whether two runs can be compared, and lists their other differences.

use wavetank_plan::{Load, Plan};
use wavetank_units::{Code, Sentence, UserError, phrase, sentence};

/// The properties of machine and program that influence the numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Model of its CPU; empty if it is not known, as is the rest.
    pub cpu: String,
    /// CPUs that could be used; 0 if it is not known.
    pub cpus: usize,
    /// Its kernel.
    pub kernel: String,
    /// Version of wavetank.
    pub version: String,
    /// Driver in use.
    pub engine: String,
}

/// Lists how the plans differ, one sentence each; `names` are the names of the runs. The target of
/// the load is what is compared, so it is not listed. Names, labels and thresholds are not listed
/// either.
///
/// # Errors
/// A usage error if the loads are of different kinds, because their numbers mean different things.
pub fn differences(a: &Plan, b: &Plan, names: [&str; 2]) -> Result<Vec<Sentence>, UserError> {
    let [of_a, of_b] = names;
    let runs = names.map(as_run);
    check_same_kind(a, b, runs.each_ref().map(String::as_str))?;
    let mut reported = Vec::new();
    let mut differ = |what: Sentence, differ: bool| {
        if differ {
            reported
                .push(sentence!("{what} of runs {of_a} and {of_b} differ: a difference may come from that"));
        }
    };
    let load = |plan: &Plan| -> Vec<_> {
        let of = |phase: &wavetank_plan::Phase| {
            (
                phase.warmup,
                phase.start,
                phase.length,
                phase.load.clone(),
                phase.requests_max,
                phase.sessions_max,
            )
        };
        plan.phases.iter().map(of).collect()
    };
    differ(phrase!("the loads"), load(a) != load(b));
    let steps = |plan: &Plan| -> Vec<Vec<String>> {
        let of = |scenario: &wavetank_plan::Scenario| {
            scenario.steps.iter().map(|step| step.name.clone()).collect()
        };
        plan.scenarios.iter().map(of).collect()
    };
    differ(phrase!("the steps"), steps(a) != steps(b));
    let connections = |plan: &Plan| -> Vec<_> {
        plan.phases.iter().map(|phase| (phase.connections, phase.max_open, phase.open_before)).collect()
    };
    differ(phrase!("the numbers of connections"), load(a) == load(b) && connections(a) != connections(b));
    let http = |plan: &Plan| {
        let http = &plan.http;
        (http.version, http.timeout, http.keepalive, http.requests_per_connection, http.pipeline, http.close)
    };
    differ(phrase!("the HTTP settings"), http(a) != http(b));
    differ(phrase!("the TLS settings"), a.tls.is_some() != b.tls.is_some());
    differ(phrase!("the proxy settings"), a.http.proxy.is_some() != b.http.proxy.is_some());
    differ(phrase!("the numbers of load threads"), a.threads != b.threads);
    Ok(reported)
}

/// Returns how an error names the run `name`.
fn as_run(name: &str) -> String {
    format!("run {name}")
}

/// Whether the loads of `of_a` and `of_b`, as they are called, are of one kind.
///
/// # Errors
/// A usage error where they are not.
pub fn check_same_kind(a: &Plan, b: &Plan, [of_a, of_b]: [&str; 2]) -> Result<(), UserError> {
    let (kind_a, kind_b) = (kind(a), kind(b));
    if kind_a == kind_b {
        return Ok(());
    }
    Err(UserError::usage(
        Code::DifferentKinds,
        format!("{of_a} is {kind_a}, {of_b} is {kind_b}: their numbers mean different things"),
        "compare runs of the same load; the target may differ",
    ))
}

/// Returns the kind of the load, by its judged phases.
fn kind(plan: &Plan) -> &'static str {
    let mut judged = plan.phases.iter().filter(|phase| !phase.warmup).map(|phase| &phase.load);
    if judged.clone().any(|load| matches!(load, Load::Hold { .. })) {
        "one that holds connections"
    } else if judged.any(Load::is_open) {
        "an open loop"
    } else {
        "a closed loop"
    }
}

/// Lists how the machines and programs differ, one sentence each. A value unknown for one of them
/// is not listed.
pub fn machines(a: &Machine, b: &Machine, names: [&str; 2]) -> Vec<Sentence> {
    let [of_a, of_b] = names;
    let known = |n: usize| if n > 0 { n.to_string() } else { String::new() };
    let cpus = [a, b].map(|machine| known(machine.cpus));
    let [cpus_a, cpus_b] = &cpus;
    let parts = [
        (&a.cpu, &b.cpu, sentence!("CPU: {} for run {of_a}, {} for run {of_b}", a.cpu, b.cpu)),
        (cpus_a, cpus_b, sentence!("CPUs: {cpus_a} for run {of_a}, {cpus_b} for run {of_b}")),
        (&a.kernel, &b.kernel, sentence!("kernel: {} for run {of_a}, {} for run {of_b}", a.kernel, b.kernel)),
        (
            &a.version,
            &b.version,
            sentence!("version of wavetank: {} for run {of_a}, {} for run {of_b}", a.version, b.version),
        ),
        (&a.engine, &b.engine, sentence!("engine: {} for run {of_a}, {} for run {of_b}", a.engine, b.engine)),
    ];
    let different = parts.into_iter().filter(|(a, b, _)| a != b && !a.is_empty() && !b.is_empty());
    different.map(|(.., text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(b: &Machine, expected: &[&str]) {
        let a = Machine { cpu: "X".to_owned(), cpus: 4, kernel: "6.1".to_owned(), ..Machine::default() };
        assert_eq!(machines(&a, b, ["a", "b"]), expected);
    }

    #[test]
    fn what_is_not_known_of_a_machine_is_no_difference() {
        check(
            &Machine { cpu: "X".to_owned(), cpus: 2, kernel: "6.2".to_owned(), ..Machine::default() },
            &["CPUs: 4 for run a, 2 for run b", "kernel: 6.1 for run a, 6.2 for run b"],
        );
        check(&Machine::default(), &[]);
        check(&Machine { cpus: 2, ..Machine::default() }, &["CPUs: 4 for run a, 2 for run b"]);
    }
}
