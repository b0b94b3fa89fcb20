//! The capacity of this host: files, source tuples and memory, compared with the needs of a plan.

use std::net::SocketAddr;

use wavetank_units::quantity::{format_grouped, format_sizes_distinct};
use wavetank_units::{Code, SourceRange, UserError, unix_path};

use super::FileBudget;
use super::footprint::{ConnectionEnd, MemoryModel, Transport, USER_BYTES, available_for, plannable_bytes};
use super::shortfall::Shortfall;
use crate::{EngineChoice, HostFacts, MaxOpenLimit, SettingNames};

/// Lowest port that unprivileged processes may bind.
const PORT_MIN: u16 = 1_024;

/// How many simultaneous connections and open requests this host can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capacity {
    pub(super) files: FileBudget,
    /// Without starting threads for the sake of their files.
    pub(super) by_files: u64,
    pub(super) by_sources: u64,
    /// Connections that fit in memory, all of them with an open request.
    pub(super) by_memory: u64,
    /// Memory that may be planned with.
    pub(super) memory_bytes: u64,
    /// Memory of one connection, at both ends where the target is on this host.
    pub(super) each: MemoryModel,
}

/// Number of simultaneous connections, and how many of them have an open request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionDemand {
    /// Connections.
    pub connections: u64,
    /// Open requests on them.
    pub under_way: u64,
}

impl ConnectionDemand {
    /// Returns the demand of connections that all have an open request.
    pub const fn busy(connections: u64) -> Self {
        Self { connections, under_way: connections }
    }

    /// This share of the connections has one, 0 to 1.
    pub fn shared(connections: u64, share: f64) -> Self {
        Self { connections, under_way: ((connections as f64 * share).ceil() as u64).min(connections) }
    }

    /// Returns the sum of both demands.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            connections: self.connections.saturating_add(other.connections),
            under_way: self.under_way.saturating_add(other.under_way),
        }
    }

    /// The more of each.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            connections: self.connections.max(other.connections),
            under_way: self.under_way.max(other.under_way),
        }
    }

    /// Returns the memory of this demand in bytes. Each connection takes `each`, and `users` is the
    /// number of users without a connection.
    pub const fn bytes(self, each: MemoryModel, users: u64) -> u64 {
        let idle = self.connections.saturating_mul(each.idle());
        let busy = self.under_way.saturating_mul(each.under_way);
        idle.saturating_add(busy).saturating_add(users.saturating_mul(USER_BYTES))
    }

    /// Connections that `bytes` are enough for, where `needed` would be for all.
    fn fitting(self, bytes: u64, needed: u64) -> u64 {
        let fitting = u128::from(bytes) * u128::from(self.connections) / u128::from(needed.max(1));
        u64::try_from(fitting).unwrap_or(u64::MAX)
    }
}

impl Capacity {
    pub(super) fn for_host(
        host: &HostFacts,
        sources: &[SourceRange],
        targets: &[SocketAddr],
        files: FileBudget,
        (engine, transport): (EngineChoice, Transport),
    ) -> Self {
        let client = MemoryModel::for_end(ConnectionEnd::Client, engine, transport);
        // The server on this host is unknown, so its memory is estimated as that of wavetank's own
        // server on the same engine.
        let both_ends = host.is_target(targets);
        let each = if both_ends {
            client.plus(MemoryModel::for_end(ConnectionEnd::Target, engine, transport))
        } else {
            client
        };
        let memory_bytes = plannable_bytes(host.memory_available_bytes);
        Self {
            files,
            by_files: files.without_extra_threads(),
            by_sources: tuples(host, sources, targets),
            by_memory: memory_bytes / each.with_request_in_flight(),
            memory_bytes,
            each,
        }
    }

    /// Returns `wanted`, or less if this host cannot hold it, and what lowered the number.
    pub(super) fn clamp_to_host(self, wanted: u64) -> (u64, MaxOpenLimit) {
        [
            (self.by_files, MaxOpenLimit::Files),
            (self.by_sources, MaxOpenLimit::Sources),
            (self.by_memory, MaxOpenLimit::Memory),
        ]
        .into_iter()
        .fold((wanted, MaxOpenLimit::Plan), |least, next| if next.0 < least.0 { next } else { least })
    }
}

/// Returns the files, pairs of address and port, and memory that this host lacks (exit 5) for
/// `demand` and for `users` without a connection.
pub(super) fn shortfalls(
    (demand, users): (ConnectionDemand, u64),
    capacity: Capacity,
    host: &HostFacts,
    sources: &[SourceRange],
    targets: &[SocketAddr],
    names: SettingNames,
) -> Vec<Shortfall> {
    let mut lacks = Vec::new();
    let connections = demand.connections;
    let files = capacity.files.max_sockets();
    if connections > files {
        let error = capacity.files.refusal(connections, connections);
        lacks.push(Shortfall::exceeding(files, error));
    }
    if connections > capacity.by_sources {
        lacks.push(no_tuples(connections, capacity.by_sources, host, (sources, targets), names).into());
    }
    let bytes = demand.bytes(capacity.each, users);
    if bytes > capacity.memory_bytes {
        let fitting = demand.fitting(capacity.memory_bytes, bytes);
        let needed = available_for(bytes);
        lacks.push(Shortfall::exceeding(fitting, no_memory(connections, needed, fitting, host)));
    }
    lacks
}

/// Returns the shortfall for `connections` that need more memory than this host has. The memory is
/// enough for `fitting`.
pub(super) fn no_memory(connections: u64, needed: u64, fitting: u64, host: &HostFacts) -> UserError {
    let (need, has) = format_sizes_distinct(needed, host.memory_available_bytes);
    UserError::refused(
        Code::NoMemory,
        format!(
            "{} connections need {need} of free memory, and this host has {has}",
            format_grouped(connections)
        ),
        format!("at most {} fit{}", format_grouped(fitting), raise_memory(needed, host)),
    )
}

/// How a cgroup's limit is raised, where that is what bounds memory.
fn raise_memory(needed: u64, host: &HostFacts) -> String {
    let (file, now) = (&host.limits.memory_limit_file, host.limits.memory_limit_bytes);
    let raised = now.map(|now| now.saturating_add(needed.saturating_sub(host.memory_available_bytes)));
    let cure =
        file.as_ref().zip(raised).map(|(file, raised)| format!("; or as root: echo {raised} > {file}"));
    cure.unwrap_or_default()
}

fn no_tuples(
    connections: u64,
    available: u64,
    host: &HostFacts,
    (sources, targets): (&[SourceRange], &[SocketAddr]),
    names: SettingNames,
) -> UserError {
    let auto = names.source_auto();
    // The hint is about the ports that --source would have, even if the kernel chooses them now.
    let ports = host.tuple_ports().count();
    let per_source = ports.saturating_mul(targets.len() as u64).max(1);
    let needed = connections.div_ceil(per_source);
    let loopback = targets.iter().all(|target| target.ip().is_loopback() && target.is_ipv4());
    let hint = match (loopback, sources.is_empty()) {
        (true, true) => {
            format!("loopback has plenty of addresses: {auto}; it takes {needed} (each has {ports} ports)")
        }
        (true, false) => format!(
            "loopback has plenty of addresses: {auto}, or {}; it takes {needed} (each has {ports} ports)",
            match names {
                SettingNames::Options => "127.0.0.0/8".to_owned(),
                SettingNames::Keys => names.source_network("127.0.0.0/8"),
            }
        ),
        (false, true) => format!(
            "{auto} uses all addresses of this host's interface, {} those you name; it takes {needed} (each has \
             {ports} ports)",
            names.source_network("CIDR")
        ),
        (false, false) => format!("it takes {needed} source addresses (each has {ports} ports)"),
    };
    // Where the load has few ports, the kernel's port range may be widened.
    let (low, high) = host.port_range;
    let all = u64::from(u16::MAX - PORT_MIN);
    let more = (!loopback && u64::from(high - low) < all / 2).then(|| {
        format!("; or more ports: sysctl -w net.ipv4.ip_local_port_range='{PORT_MIN} {}'", u16::MAX)
    });
    let hint = hint + &more.unwrap_or_default();
    let have = match (sources.is_empty(), host.load_host_count()) {
        (false, _) => names.sources().to_owned(),
        (true, 1) => "one source address".to_owned(),
        (true, hosts) => format!("one source address of each of {hosts} load hosts"),
    };
    UserError::refused(
        Code::NoSourceAddress,
        format!(
            "{} connections need more than the {} pairs of address and port that {have} has",
            format_grouped(connections),
            format_grouped(available)
        ),
        hint,
    )
}

/// Returns source addresses × ports × target addresses. Without `--source` the kernel uses one
/// address per target, with all ports, on each host that sends.
fn tuples(host: &HostFacts, sources: &[SourceRange], targets: &[SocketAddr]) -> u64 {
    // A Unix socket needs no port.
    if targets.iter().any(|target| unix_path(*target).is_some()) {
        return u64::MAX;
    }
    let per_target = |target: &SocketAddr| {
        let family = |range: &&SourceRange| range.first.is_ipv4() == target.is_ipv4();
        if sources.is_empty() {
            u128::from(host.load_host_count())
        } else {
            sources.iter().filter(family).map(SourceRange::len).sum::<u128>()
        }
    };
    let pairs: u128 = targets.iter().map(per_target).sum();
    let ports = if sources.is_empty() { host.ports.count() } else { host.tuple_ports().count() };
    u64::try_from(pairs.saturating_mul(u128::from(ports))).unwrap_or(u64::MAX)
}
