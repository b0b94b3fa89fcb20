//! Causes that the accept queues of a host show without any counter of the kernel.

use std::net::SocketAddr;

use wavetank_measure::{ListenerActivity, Movement, UNEVEN_QUEUE};
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts, seconds};
use crate::{Finding, FindingCode, format};

/// A process that does not accept for a shorter time is no cause.
const UNEVEN_SAMPLES_MIN: u64 = 3;
/// Under many new connections, queues differ for a moment now and then. Those of a process that
/// does not accept differ in at least this share of the seconds.
const UNEVEN_SHARE_MIN: f64 = 0.25;
/// A queue is nearly full from this share of its limit on, if it has this many connections.
const NEARLY_FULL: f64 = 0.75;
const NEARLY_FULL_MIN: u64 = 8;
/// Fewer connections wait for a moment in any queue, and so do those of a shorter time.
const SLOW_MIN: u64 = 16;
const SLOW_SECONDS_MIN: f64 = 0.5;

/// Several processes listen on one address, and one of them does not accept. The kernel still gives
/// it its share of the connections.
pub(super) fn stuck_worker(hosts: &Hosts<'_>) -> Option<Cause> {
    let all = hosts.under_test().filter_map(|host| {
        let longest = uneven_queues(hosts, &host).max_by_key(|(_, movement)| movement.samples)?;
        is_lasting(&longest.1).then_some((host, longest))
    });
    let (host, (address, movement)) = all.max_by_key(|(_, (_, movement))| movement.samples)?;
    let ((from, to), samples) = (seconds(&movement), format::count(movement.samples));
    let uneven = sentence!("uneven queues at {address} in {samples} samples, from {from} s to {to} s");
    let listeners = hosts.listeners(&host);
    let fullest = listeners.iter().find(|one| one.fullest.address == address);
    let queue = fullest.map(|one| waited(one));
    Some(Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of(FindingCode::StuckWorker, hosts, &host),
            code: FindingCode::StuckWorker,
            blame: host.blame(),
            decisive: false,
            message: sentence!("a process of {} does not accept its share of the connections", host.name()),
            evidence: evidence([Some(uneven), queue, hosts.clients(), host.unmoved()]),
            hint: phrase!(
                "restart the process that does not accept, and look for what blocks it; without `reuseport`, the other \
                   processes would accept its connections"
            ),
        },
        covers: &[
            FindingCode::AcceptQueueFull,
            FindingCode::PacketLoss,
            FindingCode::AbandonedRequests,
            FindingCode::BalancerTimeout,
            FindingCode::SlowServer,
        ],
    })
}

/// Whether queues differed often enough from the first time to the last.
fn is_lasting(movement: &Movement) -> bool {
    let span = (movement.last.0 - movement.first.0) as f64 / Nanos::SECOND.0 as f64;
    movement.samples >= UNEVEN_SAMPLES_MIN && movement.samples as f64 >= UNEVEN_SHARE_MIN * span
}

/// The addresses of `host` with uneven queues. On a host that sends the load, other programs have
/// listeners, too.
fn uneven_queues<'h>(
    hosts: &'h Hosts<'_>,
    host: &'h Host<'_>,
) -> impl Iterator<Item = (SocketAddr, Movement)> {
    let named = host.activity().counters().filter_map(|(name, movement)| {
        let address = name.strip_prefix(UNEVEN_QUEUE)?.parse::<SocketAddr>().ok()?;
        Some((address, *movement))
    });
    named.filter(|(address, _)| hosts.serves(host, address.port()))
}

/// An accept queue was nearly full, and turned no connection away yet.
pub(super) fn nearly_full(hosts: &Hosts<'_>) -> Option<Cause> {
    let share = |one: &ListenerActivity| one.fullest.queue as f64 / one.fullest.limit.max(1) as f64;
    let is_near = |one: &&ListenerActivity| {
        one.drops == 0 && one.fullest.queue >= NEARLY_FULL_MIN && share(one) >= NEARLY_FULL
    };
    let (host, one) = hosts.under_test().find_map(|host| {
        let near = hosts.listeners(&host).into_iter().filter(is_near);
        Some((host, near.max_by(|one, other| share(one).total_cmp(&share(other)))?))
    })?;
    let limit = QueueLimit::of(&host, Some(one));
    Some(Cause {
        rank: Rank::Hint,
        finding: Finding {
            fix: fixes::queue(hosts, &host, limit),
            code: FindingCode::AcceptQueueNear,
            blame: host.blame(),
            decisive: false,
            message: sentence!("an accept queue of {} was nearly full", host.name()),
            evidence: evidence([Some(waited(one)), limit.evidence(), host.unmoved()]),
            hint: limit.hint(),
        },
        covers: &[],
    })
}

/// Connections wait for a program that accepts more slowly than they come. Its queue turns none
/// away, so that no counter moves.
pub(super) fn slow_accept<'a>(hosts: &Hosts<'a>) -> Option<Cause> {
    let longest = |host: &Host<'a>| {
        let all = hosts.listeners(host).into_iter().filter(|one| one.drops == 0);
        all.max_by_key(|one| one.fullest.queue)
    };
    let all = hosts.under_test().filter_map(|host| Some((host, longest(&host)?)));
    let (host, one) = all.max_by_key(|(_, one)| one.fullest.queue)?;
    let (queue, limit) = (format::count(one.fullest.queue), format::count(one.fullest.limit));
    let (address, at) = (one.fullest.address, one.at.as_secs_f64().round());
    let waited = sentence!("{queue} of {limit} waited at {address} at {at} s");
    let cpu = host
        .stats
        .peaks()
        .cpu
        .map(|share| sentence!("up to {} of the CPU time of {}", format::percent(share), host.name()));
    let judged = &hosts.case.judged;
    let per_s = judged.counters.offered as f64 / judged.duration.as_secs_f64().max(1.0);
    let least = SLOW_SECONDS_MIN * per_s;
    (one.fullest.queue >= SLOW_MIN && one.fullest.queue as f64 >= least).then(|| Cause {
        rank: Rank::Pattern,
        finding: Finding {
            fix: Vec::new(),
            code: FindingCode::SlowAccept,
            blame: host.blame(),
            decisive: false,
            message: sentence!("{} accepts connections more slowly than they come: they wait in its queue", host.name()),
            evidence: evidence([Some(waited), cpu, hosts.clients(), host.unmoved()]),
            hint: phrase!("more workers or threads, or less work before the next accept; a longer queue only makes clients wait \
                   longer"),
        },
        covers: &[FindingCode::AcceptQueueNear],
    })
}

/// What limits the length of an accept queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueLimit {
    /// The kernel cuts the program's `backlog` to this `net.core.somaxconn`, or both are equal.
    Kernel(u64),
    /// The program asked for less than this `net.core.somaxconn`.
    Program(u64),
    Unknown,
}

impl QueueLimit {
    /// What limits the queue of `one` on `host`.
    pub(super) fn of(host: &Host<'_>, one: Option<&ListenerActivity>) -> Self {
        let somaxconn = host.activity().highest("somaxconn").map(|(most, _)| most);
        match (somaxconn, one) {
            (Some(most), Some(one)) if one.fullest.limit >= most => Self::Kernel(most),
            (Some(most), Some(one)) if one.fullest.limit > 0 => Self::Program(most),
            _ => Self::Unknown,
        }
    }

    pub(super) fn evidence(self) -> Option<Sentence> {
        match self {
            Self::Kernel(most) => Some(sentence!(
                "net.core.somaxconn is {}: the kernel cuts a larger backlog to it",
                format::count(most)
            )),
            Self::Program(most) => Some(sentence!(
                "the program asked for this limit: net.core.somaxconn is {}",
                format::count(most)
            )),
            Self::Unknown => None,
        }
    }

    /// How the queue becomes longer.
    pub(super) const fn hint(self) -> Sentence {
        match self {
            Self::Kernel(_) => {
                phrase!(
                    "more workers or a faster accept loop; then a longer queue: sysctl -w net.core.somaxconn=65535 (a file \
                 in /etc/sysctl.d keeps it after a reboot; in the network namespace of a container: Kubernetes \
                 `securityContext.sysctls`), then restart the server"
                )
            }
            Self::Program(_) => {
                phrase!(
                    "more workers or a faster accept loop; then a longer queue: `backlog` of listen (nginx: `listen … \
                 backlog=65535` instead of 511; HAProxy: `backlog`) up to net.core.somaxconn, then restart the server"
                )
            }
            Self::Unknown => {
                phrase!(
                    "more workers or a faster accept loop; then a longer queue: `backlog` of listen and net.core.somaxconn \
                 (sysctl -w; a file in /etc/sysctl.d keeps it after a reboot), and restart the server"
                )
            }
        }
    }
}

/// `9 of 8 waited at 10.40.1.3:8080`.
pub(super) fn waited(one: &ListenerActivity) -> Sentence {
    let (queue, limit) = (format::count(one.fullest.queue), format::count(one.fullest.limit));
    sentence!("{queue} of {limit} waited at {}", one.fullest.address)
}
