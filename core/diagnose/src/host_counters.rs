//! What the counters of a lab's hosts say about the side that set the limit.

use wavetank_measure::{HostSample, HostStats};

use crate::facts::RuleInput;
use crate::{Blame, Finding, format};

/// Fewer connections that an accept queue turned away are no limit.
const OVERFLOWS_MIN: u64 = 10;
/// A host closed the lost connections if its sockets in TIME-WAIT rose by this share of them.
const CLOSED_SHARE_MIN: f64 = 0.5;

/// A host of the lab, and how much one of its counters rose.
#[derive(Clone, Copy)]
struct Rise<'a> {
    host: &'a str,
    blame: Blame,
    by: u64,
}

/// Returns a finding for each limit that a counter proves.
pub(crate) fn findings(case: &RuleInput<'_>) -> Vec<Finding> {
    overflow(case)
        .map(overflow_finding)
        .into_iter()
        .chain(closer(case).map(|rise| closed(case, &rise)))
        .collect()
}

/// Returns the side that a counter of a host proves to be the limit. With `lost`, it is the side
/// that closed lost connections.
pub(crate) fn blame(case: &RuleInput<'_>, lost: bool) -> Option<Blame> {
    let closer = || closer(case).filter(|_| lost);
    overflow(case).or_else(closer).map(|rise| rise.blame)
}

/// The host with an accept queue that turned away most connections.
fn overflow<'a>(case: &RuleInput<'a>) -> Option<Rise<'a>> {
    highest(case, |host| rise(host, |sample| sample.listen_overflows)).filter(|rise| rise.by >= OVERFLOWS_MIN)
}

/// The host that closed most of the lost connections. The side that closes first keeps a socket in
/// TIME-WAIT.
fn closer<'a>(case: &RuleInput<'a>) -> Option<Rise<'a>> {
    let lost = case.facts.totals.conns.lost;
    let most = highest(case, |host| rise(host, |sample| sample.tcp_tw))?;
    (lost > 0 && most.by as f64 >= lost as f64 * CLOSED_SHARE_MIN).then_some(most)
}

/// The host under test where `count` is highest. The load's own hosts are not under test.
fn highest<'a>(case: &RuleInput<'a>, count: impl Fn(&HostStats) -> u64) -> Option<Rise<'a>> {
    let under_test = |host: &'a HostStats| {
        let role = case.facts.circumstances.roles.iter().find(|(name, _)| name == host.name());
        let blame = match role.map(|(_, role)| role.as_str()) {
            Some("balancer") => Blame::Balancer,
            Some("server") => Blame::Target,
            _ => return None,
        };
        Some(Rise { host: host.name(), blame, by: count(host) })
    };
    let hosts = case.facts.observed.other_hosts().iter().filter_map(under_test);
    hosts.filter(|rise| rise.by > 0).max_by_key(|rise| rise.by)
}

/// By how much `value` rose at most since the first sample, which is from before the load.
fn rise(host: &HostStats, value: fn(&HostSample) -> u64) -> u64 {
    let before = host.before().map_or(0, value);
    let most = host.samples().iter().chain(host.last()).map(value).max().unwrap_or(0);
    most.saturating_sub(before)
}

fn overflow_finding(rise: Rise<'_>) -> Finding {
    Finding {
        code: "accept_queue_full",
        blame: rise.blame,
        decisive: false,
        message: format!("the accept queue of {} was full: the server accepts too slowly", rise.host),
        evidence: format!("{} turned away (ListenOverflows)", format::count(rise.by)),
        hint: "more workers, a faster accept loop, or a longer queue: `backlog` of listen and net.core.somaxconn"
            .to_owned(),
    }
}

fn closed(case: &RuleInput<'_>, rise: &Rise<'_>) -> Finding {
    Finding {
        code: "closed_by_host",
        blame: rise.blame,
        decisive: false,
        message: format!("{} closed connections that the plan still needed", rise.host),
        evidence: format!(
            "{} lost · sockets in TIME-WAIT on {} rose by {}: the side that closes first keeps them",
            format::count(case.facts.totals.conns.lost),
            rise.host,
            format::count(rise.by)
        ),
        hint: "compare its idle timeout with the time that clients are silent, and read its log".to_owned(),
    }
}
