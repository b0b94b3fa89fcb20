//! Causes that began with a change that the plan made on a balancer: a reload, or a server that was
//! taken out of its pool.

use wavetank_measure::ErrorClass;
use wavetank_plan::PlannedEvent;
use wavetank_units::{phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts, Role};
use crate::{Finding, FindingCode, format};

/// Fewer lost connections or requests are no cause.
const LOST_MIN: u64 = 5;
/// Parts of commands that load a balancer's configuration again.
const RELOADS: [&str; 5] = ["HUP", "USR2", "reload", "restart", "WINCH"];
/// A pool change explains lost connections if servers reset this share of them.
const RESETS_SHARE_MIN: f64 = 0.3;

/// Returns the cause that began with a change, if there is one.
pub(super) fn causes(hosts: &Hosts<'_>) -> Vec<Cause> {
    reload(hosts).into_iter().chain(pool(hosts)).collect()
}

/// The changes of balancers that `is_wanted` accepts, with their hosts.
fn changes<'a>(
    hosts: &Hosts<'a>,
    is_wanted: impl Fn(&PlannedEvent) -> bool,
) -> Vec<(&'a PlannedEvent, Host<'a>)> {
    let balancer = |event: &'a PlannedEvent| {
        let host = hosts.with_role(Role::Balancer).find(|host| host.name() == event.host)?;
        is_wanted(event).then_some((event, host))
    };
    hosts.case.facts.plan.events.iter().filter_map(balancer).collect()
}

/// Connections ended under requests, around a reload. Requests that may be repeated were sent
/// again, so that the run may have passed.
pub(super) fn reload(hosts: &Hosts<'_>) -> Option<Cause> {
    let failed = hosts.failed(ErrorClass::ClosedEarly) + hosts.failed(ErrorClass::Reset);
    // An answered challenge repeats a request, too, and loses no connection.
    let repeated = hosts.case.judged.wire.retried.min(hosts.case.facts.totals.conns.lost);
    let cut = failed + repeated;
    let reloads = changes(hosts, |event| RELOADS.iter().any(|part| event.run.contains(part)));
    let (event, host) = *reloads.first()?;
    let others = hosts.case.judged.counters.failed() - failed;
    (cut >= LOST_MIN && cut >= others).then(|| Cause {
        rank: Rank::Change,
        finding: Finding {
            fix: fixes::of(FindingCode::CutByReload, hosts, &host),
            code: FindingCode::CutByReload,
            blame: host.blame(),
            decisive: false,
            message: sentence!(
                "the reload of {} ended unanswered requests: {}",
                host.name(),
                format::count(cut)
            ),
            evidence: evidence([
                Some(sentence!("{} reloads, the first at {}", format::count(reloads.len() as u64), event.when)),
                (repeated > 0).then(|| sentence!("{} of them were sent again and answered", format::count(repeated))),
                host.moved("Tcp.OutRsts"),
                hosts.clients(),
                host.unmoved(),
            ]),
            hint: phrase!("let old processes finish: nginx `worker_shutdown_timeout` above the longest response, HAProxy \
                   `hard-stop-after` and `timeout http-keep-alive`; clients must repeat a request on a connection that \
                   was closed"),
        },
        covers: &[FindingCode::UpstreamClosed],
    })
}

/// A balancer forgot which server a connection belongs to, and its pool changed.
fn pool(hosts: &Hosts<'_>) -> Option<Cause> {
    let lost = hosts.case.facts.totals.conns.lost;
    let resets: u64 = hosts.with_role(Role::Server).map(|host| host.rise("Tcp.OutRsts")).sum();
    let changed = changes(hosts, |event| event.run.split(' ').next() == Some("pool"));
    let (event, host) = *changed.first()?;
    let many = lost >= LOST_MIN && resets as f64 >= RESETS_SHARE_MIN * lost as f64;
    let worst = hosts.with_role(Role::Server).max_by_key(|host| host.rise("Tcp.OutRsts"))?;
    many.then(|| Cause {
        rank: Rank::Change,
        finding: Finding {
            fix: Vec::new(),
            code: FindingCode::FlowsForgotten,
            blame: host.blame(),
            decisive: false,
            message: sentence!("{} sent packets of open connections to other servers after its pool changed", host.name()),
            evidence: evidence([
                Some(sentence!("{} connections lost, {} reset by servers", format::count(lost), format::count(resets))),
                Some(sentence!("`{}` at {}", event.run, event.when)),
                worst.moved("Tcp.OutRsts"),
            ]),
            hint: phrase!("remember connections longer than clients are silent (`sticky` of direct_routing; IPVS: ipvsadm --set, \
                   persistence), and use a consistent hash"),
        },
        covers: &[FindingCode::UpstreamClosed, FindingCode::PacketLoss],
    })
}
