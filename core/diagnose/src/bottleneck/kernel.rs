//! Causes that a counter of a host's kernel shows.

use wavetank_units::{Sentence, phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts, Place, Role, fill, ports_text, seconds};
use super::listeners::{QueueLimit, stuck_worker, waited};
use crate::{Blame, Finding, FindingCode, format};

/// Minimum `ListenOverflows` for a finding.
const OVERFLOWS_MIN: u64 = 10;
/// A quota is a limit if it stopped the host in this share of its periods.
const THROTTLED_SHARE_MIN: f64 = 0.25;
/// Handshakes limit the host if as many requests as this needed a full one.
const HANDSHAKE_SHARE_MIN: f64 = 0.5;
/// A link that was full in fewer samples than this is not the limit.
const FULL_SAMPLES_MIN: u64 = 2;
/// The share of sent segments that were sent again, and how many at least, for loss to be a cause.
const LOSS_SHARE_MIN: f64 = 0.01;
const LOSS_MIN: u64 = 20;
/// How often the kernel noticed loss at least. One notice covers all segments of a lost packet,
/// because the kernel cuts large packets as late as it can.
const LOSS_NOTICES_MIN: u64 = 10;
/// All files of a process are used from this share on.
const FILES_FULL: f64 = 0.95;
/// All ports to a destination are used from this share on.
const PORTS_FULL: f64 = 0.99;

/// Returns all such causes.
pub(super) fn causes(hosts: &Hosts<'_>) -> Vec<Cause> {
    let found = [ports(hosts), quota(hosts), stuck_worker(hosts), overflow(hosts), link(hosts), loss(hosts)];
    found.into_iter().flatten().collect()
}

/// All ports to one destination are in use.
fn ports(hosts: &Hosts<'_>) -> Option<Cause> {
    let fullest = hosts.under_test().filter_map(|host| Some((host, hosts.destination(&host, false)?)));
    let (host, most) = fullest.max_by(|(_, one), (_, other)| fill(&one.0).total_cmp(&fill(&other.0)))?;
    if fill(&most.0) < PORTS_FULL {
        return None;
    }
    Some(Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of(FindingCode::HostNoPorts, hosts, &host),
            code: FindingCode::HostNoPorts,
            blame: host.blame(),
            decisive: false,
            message: sentence!("{} uses all local ports to a server", host.name()),
            evidence: evidence([Some(ports_text(most)), hosts.clients(), host.unmoved()]),
            hint: phrase!(
                "more servers, source addresses or ports: net.ipv4.ip_local_port_range='1024 65535' (a file in \
                   /etc/sysctl.d keeps it after a reboot), or reuse connections to the servers"
            ),
        },
        covers: &[FindingCode::PortsHalfUsed, FindingCode::PacketLoss],
    })
}

/// A process of a host has as many open files as it may, and its log does not show it.
pub(super) fn files(hosts: &Hosts<'_>) -> Option<Cause> {
    let full = |host: &Host<'_>| {
        let (open, at) = host.activity().highest("process_files.open")?;
        let (limit, _) = host.activity().highest("process_files.limit")?;
        (open as f64 >= FILES_FULL * limit as f64).then_some((open, limit, at))
    };
    let (host, (open, limit, at)) = hosts.under_test().find_map(|host| Some((host, full(&host)?)))?;
    let at = at.as_secs_f64().round();
    let (open, limit) = (format::count(open), format::count(limit));
    Some(Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of(FindingCode::HostNoFiles, hosts, &host),
            code: FindingCode::HostNoFiles,
            blame: host.blame(),
            decisive: false,
            message: sentence!("{} has reached its limit of open files", host.name()),
            evidence: evidence([
                Some(sentence!("{open} of {limit} files of a process of {} open at {at} s", host.name())),
                hosts.clients(),
                host.unmoved(),
            ]),
            hint: phrase!(
                "raise LimitNOFILE= in the systemd unit (kept after a reboot) or worker_rlimit_nofile in nginx to at \
                   least twice the connections of a worker; a balancer needs two files for each request"
            ),
        },
        covers: &[
            FindingCode::AcceptQueueFull,
            FindingCode::AcceptQueueNear,
            FindingCode::PacketLoss,
            FindingCode::SlowServer,
            FindingCode::AbandonedRequests,
            FindingCode::BalancerTimeout,
        ],
    })
}

/// A control group stopped the host because its CPU quota was used up.
fn quota(hosts: &Hosts<'_>) -> Option<Cause> {
    let share = |host: &Host<'_>| {
        // The quota of the load's own process is no host's.
        if host.sends() {
            return 0;
        }
        if host.throttled_share() >= THROTTLED_SHARE_MIN { host.rise("cgroup.throttled_periods") } else { 0 }
    };
    let (host, stopped) = hosts.highest(share)?;
    let movement = host.activity().counter("cgroup.throttled_periods");
    let ((from, to), periods) = (seconds(&movement), format::count(host.rise("cgroup.periods")));
    let stops =
        sentence!("stopped in {} of {periods} periods, from {from} s to {to} s", format::count(stopped));
    let cpu =
        host.stats.peaks().cpu.map(|share| sentence!("up to {} of its CPU quota", format::percent(share)));
    let handshakes = handshakes(hosts);
    let covers = &[
        FindingCode::AcceptQueueFull,
        FindingCode::SlowServer,
        FindingCode::BalancerQueue,
        FindingCode::BalancerTimeout,
        FindingCode::AbandonedRequests,
        FindingCode::PacketLoss,
    ];
    let is_tls = handshakes.is_some();
    let (rank, blame, decisive) = (Rank::Counter, host.blame(), false);
    let evidence = evidence([handshakes, Some(stops), cpu, hosts.clients(), host.unmoved()]);
    let finding = if is_tls {
        Finding {
            fix: fixes::of(FindingCode::TlsHandshakes, hosts, &host),
            code: FindingCode::TlsHandshakes,
            blame,
            decisive,
            message: sentence!("{} spends its CPU on full TLS handshakes", host.name()),
            evidence,
            hint: phrase!(
                "keep connections (keep-alive), let clients resume sessions (ssl_session_cache, session tickets), use \
                   an ECDSA certificate, or give it more CPU"
            ),
        }
    } else {
        Finding {
            fix: fixes::of(FindingCode::CpuQuota, hosts, &host),
            code: FindingCode::CpuQuota,
            blame,
            decisive,
            message: sentence!("the CPU quota of {} was used up", host.name()),
            evidence,
            hint: phrase!(
                "raise the quota (systemd: CPUQuota=; Kubernetes: resources.limits.cpu; Docker: --cpus), or run fewer \
                   worker threads than it has CPUs"
            ),
        }
    };
    Some(Cause { rank, finding, covers })
}

/// Full handshakes, if most requests needed one.
fn handshakes(hosts: &Hosts<'_>) -> Option<Sentence> {
    let all = &hosts.case.facts.totals.handshakes().complete;
    let count =
        |resumed: bool| all.iter().filter(|(how, _)| how.resumed == resumed).map(|(_, n)| n).sum::<u64>();
    let (full, sent) = (count(false), hosts.case.judged.counters.sent);
    (full > 0 && full as f64 >= HANDSHAKE_SHARE_MIN * sent as f64).then(|| {
        sentence!(
            "{} full handshakes and {} resumed ones for {} requests",
            format::count(full),
            format::count(count(true)),
            format::count(sent)
        )
    })
}

/// An accept queue was full.
fn overflow(hosts: &Hosts<'_>) -> Option<Cause> {
    let counter = "TcpExt.ListenOverflows";
    // On the host that sends the load, other programs have listeners, too.
    let turned_away = |host: &Host<'_>| {
        let all = host.risen(|sample| sample.listen_overflows);
        let drops = || hosts.listeners(host).iter().map(|one| one.drops).sum();
        if host.sends() && host.activity().listeners().next().is_some() { all.min(drops()) } else { all }
    };
    let (host, dropped) = hosts.highest(turned_away)?;
    let listeners = hosts.listeners(&host);
    let fullest = listeners.iter().max_by_key(|one| (one.drops, one.fullest.queue));
    let fullest = fullest.copied().filter(|one| one.fullest.queue > 0);
    let (queue, limit) = (fullest.map(waited), QueueLimit::of(&host, fullest));
    let turned_away = sentence!("{} turned away (ListenOverflows)", format::count(dropped));
    // The kernel completed these connections by cookies, and dropped them when the queue was full:
    // clients wait on them for responses, and the server does not know them.
    let unknown = host.moved("TcpExt.SyncookiesSent");
    let repeated = hosts.with_role(Role::Load).find_map(|load| load.moved("TcpExt.TCPSynRetrans"));
    (dropped >= OVERFLOWS_MIN).then(|| Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::queue(hosts, &host, limit),
            code: FindingCode::AcceptQueueFull,
            blame: host.blame(),
            decisive: false,
            message: sentence!("the accept queue of {} was full: the server accepts too slowly", host.name()),
            evidence: evidence([
                Some(turned_away),
                host.moved(counter),
                queue,
                limit.evidence(),
                unknown,
                repeated,
                hosts.clients(),
            ]),
            hint: limit.hint(),
        },
        covers: &[
            FindingCode::PacketLoss,
            FindingCode::SlowServer,
            FindingCode::BalancerTimeout,
            FindingCode::AbandonedRequests,
            FindingCode::AcceptQueueNear,
            FindingCode::SynQueueFull,
        ],
    })
}

/// A link carried what it can.
fn link(hosts: &Hosts<'_>) -> Option<Cause> {
    let links = hosts.all.iter().flat_map(|host| host.activity().links().map(move |link| (host, link)));
    let full = links.filter(|(_, link)| link.full.samples >= FULL_SAMPLES_MIN);
    let (host, link) = full.max_by_key(|(_, link)| link.full.samples)?;
    let ((from, to), most) = (seconds(&link.full), mbit(link.most_bits_per_s));
    let (interface, name) = (&link.last.interface, host.name());
    let carried = if link.most_is_out {
        sentence!("up to {most} out of {interface} of {name}, from {from} s to {to} s")
    } else {
        sentence!("up to {most} into {interface} of {name}, from {from} s to {to} s")
    };
    let again = hosts.all.iter().max_by_key(|one| one.rise("Tcp.RetransSegs"));
    let again = again.and_then(|one| one.moved("Tcp.RetransSegs"));
    Some(Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::link(name, interface, link.last.bits_per_s),
            code: FindingCode::LinkFull,
            blame: Blame::Network,
            decisive: false,
            message: sentence!("the link of {} was full: {}", host.name(), mbit(link.last.bits_per_s)),
            evidence: evidence([Some(carried), host.round_trips(), again, hosts.clients()]),
            hint: phrase!(
                "smaller or compressed responses, a faster link, more balancers, or responses that bypass the balancer \
                   (direct routing)"
            ),
        },
        covers: &[
            FindingCode::PacketLoss,
            FindingCode::SlowServer,
            FindingCode::BalancerTimeout,
            FindingCode::AbandonedRequests,
            FindingCode::CpuQuota,
        ],
    })
}

fn mbit(bits_per_s: u64) -> String {
    format!("{:.1} Mbit/s", bits_per_s as f64 / 1e6)
}

/// Packets were lost on the way.
fn loss(hosts: &Hosts<'_>) -> Option<Cause> {
    // A host that does not accept drops the first packet of connections itself.
    if hosts.all.iter().any(|host| host.rise("TcpExt.ListenDrops") > 0) {
        return None;
    }
    let lossy = |host: &&Host<'_>| {
        // Outside of a lab the other end may be such a host.
        let opening = if host.sends() { host.rise("TcpExt.TCPSynRetrans") } else { 0 };
        let again = host.rise("Tcp.RetransSegs").saturating_sub(opening);
        let sent = host.rise("Tcp.OutSegs");
        // A path with smaller packets is learned by sending again, without any of these.
        let notices =
            ["TcpExt.TCPTimeouts", "TcpExt.TCPLossProbes", "TcpExt.TCPSackRecovery", "TcpExt.TCPSynRetrans"];
        let notices: u64 = notices.iter().map(|name| host.rise(name)).sum();
        let share = again as f64 / sent.max(1) as f64;
        again >= LOSS_MIN && notices >= LOSS_NOTICES_MIN && share >= LOSS_SHARE_MIN
    };
    let remote = hosts.all.iter().filter(|host| host.place != Place::WithTarget);
    let host = remote.filter(lossy).max_by_key(|host| host.rise("Tcp.RetransSegs"))?;
    let (from, to) = seconds(&host.activity().counter("Tcp.RetransSegs"));
    let again = sentence!(
        "{} of {} segments retransmitted by {}, from {from} s to {to} s",
        format::count(host.rise("Tcp.RetransSegs")),
        format::count(host.rise("Tcp.OutSegs")),
        host.name()
    );
    Some(Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of(FindingCode::PacketLoss, hosts, host),
            code: FindingCode::PacketLoss,
            blame: Blame::Network,
            decisive: false,
            message: sentence!("packets from or to {} were lost in the network", host.name()),
            evidence: evidence([
                Some(again),
                host.moved("TcpExt.TCPTimeouts"),
                host.moved("TcpExt.TCPSynRetrans"),
                host.round_trips(),
                Some(phrase!("unchanged on all hosts: TcpExt.ListenDrops")),
            ]),
            hint: phrase!(
                "find where: drops of interfaces and rings (ip -s link, ethtool -S), queues (tc -s qdisc) and switch \
                   ports between this host and its peers"
            ),
        },
        covers: &[FindingCode::SlowServer, FindingCode::AbandonedRequests, FindingCode::BalancerTimeout],
    })
}
