//! The bottleneck of a run: which of the sampled hosts set the limit, by what moved on it during
//! the load.
//!
//! Each rule reads counters of hosts, logs of services and what clients saw, and returns a cause
//! with its evidence. The causes are ranked by how directly the evidence shows them. A cause that
//! follows from a stronger one is left out, so that one cause is not reported as several.

mod balance;
mod balancer_counts;
mod cause;
mod changes;
mod clients;
mod counter_rules;
mod firewall;
mod fixes;
mod host;
mod kernel;
mod listeners;
mod log_rules;
mod logs;
mod machine;
mod own_host;
mod server_side;

use crate::facts::RuleInput;
use crate::{Blame, Finding, FindingCode, Status, Verdict};
use cause::Cause;
use host::Hosts;

/// Most causes that are reported.
const CAUSES_MAX: usize = 3;

/// What the rules found.
pub(crate) struct Bottlenecks {
    /// The first is the bottleneck.
    findings: Vec<Finding>,
    /// The side that set the limit, if the cause of a failed run was found.
    pub(crate) blame: Option<Blame>,
}

/// Adds what was found to the other findings. The cause of a failure comes first; otherwise it
/// follows what decides the verdict. Findings about the generator get the evidence of its host.
pub(crate) fn add(
    case: &RuleInput<'_>,
    found: Option<Bottlenecks>,
    findings: &mut Vec<Finding>,
    verdict: &Verdict,
) {
    own_host::add_own_host(case, findings);
    let Some(found) = found else { return };
    if let Some(blame) = found.blame {
        // How every request failed follows from the cause.
        for finding in findings.iter_mut().filter(|finding| matches!(finding.code, FindingCode::Class(_))) {
            finding.blame = blame;
        }
    }
    let place = match verdict.status {
        Status::Fail => 0,
        _ => findings.iter().take_while(|finding| finding.decisive).count(),
    };
    findings.splice(place..place, found.findings);
}

/// Returns the causes of a run that did not pass, or of one that passed the limits that it met.
pub(crate) fn bottlenecks(case: &RuleInput<'_>, status: Status) -> Bottlenecks {
    let hosts = Hosts::new(case);
    let failed = status != Status::Pass;
    let mut causes = Vec::new();
    if failed {
        // The states of servers say more than lines about each request.
        causes.extend(balancer_counts::no_servers(&hosts));
        causes.extend(logs::causes(&hosts));
        firewall::add_drops(&hosts, &mut causes);
        // A program that may not accept fills its queue.
        causes.extend(balancer_counts::maxconn(&hosts));
        causes.extend(kernel::files(&hosts));
        causes.extend(kernel::causes(&hosts));
        causes.extend(changes::causes(&hosts));
        causes.extend(balancer_counts::causes(&hosts));
        causes.extend(clients::causes(&hosts));
        // What many things can move is evidence only where nothing else is found.
        if causes.is_empty() {
            causes.extend(clients::closed(&hosts));
        }
        if causes.is_empty() {
            causes.extend(listeners::slow_accept(&hosts));
        }
        if causes.is_empty() {
            causes.extend(counter_rules::causes(&hosts));
            causes.extend(machine::causes(&hosts));
        }
        if causes.is_empty() {
            causes.extend(server_side::causes(&hosts));
        }
    } else if case.facts.plan.events.is_empty() {
        causes.extend(kernel::causes(&hosts));
    } else {
        // Faults and changes of the plan are meant to move counters, and a reload is not meant to
        // end requests.
        causes.extend(changes::reload(&hosts));
    }
    let explained = !causes.is_empty() && status == Status::Fail;
    causes.extend(balance::causes(&hosts, failed));
    causes.sort_by_key(|cause| cause.rank);
    let mut kept: Vec<Cause> = Vec::new();
    for cause in causes {
        let code = cause.finding.code;
        let covered = kept.iter().any(|known| known.finding.code == code || known.covers.contains(&code));
        if !covered && kept.len() < CAUSES_MAX {
            kept.push(cause);
        }
    }
    let blame = kept.first().filter(|_| explained).map(|first| first.finding.blame);
    Bottlenecks { findings: kept.into_iter().map(|cause| cause.finding).collect(), blame }
}
