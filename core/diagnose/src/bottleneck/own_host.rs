//! What the hosts that send the load show of the generator's own limits: their CPUs, files and
//! ports.

use wavetank_measure::{ErrorClass, LimitUse};
use wavetank_units::{Sentence, phrase, sentence};

use super::cause::evidence;
use super::fixes;
use super::host::{Host, Hosts, Role, THIS, ports_text, seconds};
use crate::facts::RuleInput;
use crate::{Blame, Finding, FindingCode, format};

/// CPUs are used up if their mean over three seconds reached this share.
const CPU_FULL: f64 = 0.95;
/// Load threads lack a CPU if they waited for one for this share of the time.
const WAITED_SHARE_MIN: f64 = 0.1;
/// Other processes use much if it is this share of the used CPU time.
const OTHERS_SHARE_MIN: f64 = 0.25;
/// Most hosts with evidence in one finding.
const HOSTS_MAX: usize = 4;
/// Findings that a lack of CPU time explains.
const OF_CPU: [FindingCode; 7] = [
    FindingCode::Late,
    FindingCode::Lag,
    FindingCode::Stalled,
    FindingCode::Starved,
    FindingCode::Full,
    FindingCode::GeneratorLag,
    FindingCode::GeneratorFull,
];
/// A resource is used up from this share of its limit on.
const USED_UP: f64 = 0.95;

/// Adds what these hosts show: a finding if a lack of CPU time explains others, and evidence to
/// those about files and ports.
pub(super) fn add_own_host(case: &RuleInput<'_>, findings: &mut Vec<Finding>) {
    let hosts = Hosts::new(case);
    let senders: Vec<Host<'_>> = hosts.senders().collect();
    for finding in findings.iter_mut().filter(|finding| finding.blame == Blame::Generator) {
        let is_about = |class: ErrorClass| {
            finding.code == FindingCode::Class(class) || finding.evidence.contains(class.name())
        };
        let of_host = |host: &Host<'_>| {
            let name = (host.name() != THIS).then(|| host.name());
            let ports =
                |one| name.map_or_else(|| ports_text(one), |name| sentence!("{name}: {}", ports_text(one)));
            [
                is_about(ErrorClass::NoSourceAddress)
                    .then(|| hosts.destination(host, true).map(ports))
                    .flatten(),
                is_about(ErrorClass::NoFiles).then(|| used_up(host, "files")).flatten(),
            ]
        };
        if is_about(ErrorClass::NoSourceAddress) {
            let load = hosts.with_role(Role::Load).take(HOSTS_MAX);
            finding.fix = load.map(|host| fixes::port_range(host.name())).collect();
        }
        let more = evidence(senders.iter().take(HOSTS_MAX).flat_map(of_host));
        if !more.is_empty() {
            let known = std::mem::take(&mut finding.evidence);
            finding.evidence = evidence([Some(known).filter(|text| !text.is_empty()), Some(more)]);
        }
    }
    if let Some(place) = findings.iter().position(|finding| OF_CPU.contains(&finding.code))
        && let Some(cpu) = senders.iter().find_map(|host| cpu(&hosts, host, findings[place].decisive))
    {
        findings.insert(place, cpu);
    }
}

/// `19,990 of 20,000 open files of wavetank in use at 5 s on this host`.
fn used_up(host: &Host<'_>, resource: &str) -> Option<Sentence> {
    let limit: LimitUse = host.activity().limit(resource)?;
    let at = limit.at.as_secs_f64().round();
    let (used, max) = (format::count(limit.used as u64), format::count(limit.max as u64));
    (limit.share() >= USED_UP)
        .then(|| sentence!("{used} of {max} open files of wavetank in use at {at} s on {}", host.name()))
}

/// The CPUs of this host were used up, or its load threads waited for one.
fn cpu(hosts: &Hosts<'_>, host: &Host<'_>, decisive: bool) -> Option<Finding> {
    let (before, last) = (host.stats.before()?, host.stats.last()?);
    let elapsed_ns = last.at.since(before.at) as f64;
    let cpus = host.stats.cpus();
    let sustained = host.stats.limits().into_iter().find(|limit| limit.resource == "cpu")?;
    let waited_ns = host.rise("load_threads.waited_us") as f64 * 1e3;
    let threads = f64::from(hosts.case.facts.plan.threads.max(1));
    let is_full = sustained.share() >= CPU_FULL;
    if elapsed_ns <= 0.0 || cpus <= 0.0 || !(is_full || waited_ns >= WAITED_SHARE_MIN * elapsed_ns * threads)
    {
        return None;
    }
    let used = |sample: &wavetank_measure::HostSample| sample.cpu_user_ns + sample.cpu_system_ns;
    let own = used(last).saturating_sub(used(before)) as f64 / (elapsed_ns * cpus);
    let busy = last.cpu_since(before)?;
    let others = (busy - own).max(0.0);
    let at = sustained.at.as_secs_f64().round();
    let share = format::percent(sustained.share().min(1.0));
    let peak = sentence!("{share} of {cpus} CPUs used in the 3 s up to {at} s");
    let parts = sentence!(
        "over the run {} by wavetank, {} by other processes",
        format::percent(own.min(1.0)),
        format::percent(others.min(1.0))
    );
    let waited = (waited_ns > 0.0).then(|| {
        let movement = host.activity().counter("load_threads.waited_us");
        let (from, to) = seconds(&movement);
        sentence!("load threads waited {:.1} s for a CPU, from {from} s to {to} s", waited_ns / 1e9)
    });
    let name = host.name();
    let message = if is_full {
        sentence!("the CPUs of {name} were used up: wavetank could not start or read everything in time")
    } else {
        sentence!(
            "load threads waited for a CPU of {name}: wavetank could not start or read everything in time"
        )
    };
    let hint = if others >= OTHERS_SHARE_MIN * busy {
        phrase!("run wavetank on a host without other work: other processes used much of the CPU time")
    } else {
        phrase!("more or faster CPUs, more load hosts (--fleet), or less load")
    };
    Some(Finding {
        fix: Vec::new(),
        code: FindingCode::GeneratorCpu,
        blame: Blame::Generator,
        decisive,
        message,
        evidence: evidence([Some(peak), Some(parts), waited]),
        hint,
    })
}
