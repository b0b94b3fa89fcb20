//! What this host can do: files, source tuples and memory, against what a plan would need.

use std::net::SocketAddr;

use crate::quantity::{show_count, show_size};
use crate::{FileBudget, HostFacts, MaxOpenBy, SourceRange, UserError};

/// Memory of one open request with its connection: both ends' kernel structures when the target is on this
/// host (8 to 10 kB measured), the exchange, and room for an answer in flight.
const BYTES_PER_OPEN: u64 = 16 * 1024;
/// What TLS adds to that: keys, the peer's certificates and the session, at both ends when the target is on this
/// host (5 kB on our side measured, with a chain of one).
const BYTES_PER_TLS: u64 = 16 * 1024;
/// Part of the available memory the load may plan with; the rest is the target's, the archive's, the page cache's.
const MEMORY_PART: u64 = 2;

/// How many connections and open requests this host can have at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capacity {
    pub(super) files: FileBudget,
    /// Without starting threads for the sake of their files.
    pub(super) by_files: u64,
    pub(super) by_sources: u64,
    pub(super) by_memory: u64,
    /// Memory of one open request with its connection.
    pub(super) bytes_per_open: u64,
}

impl Capacity {
    pub(super) fn of(
        host: &HostFacts,
        sources: &[SourceRange],
        targets: &[SocketAddr],
        files: FileBudget,
        tls: bool,
    ) -> Self {
        let bytes_per_open = BYTES_PER_OPEN + if tls { BYTES_PER_TLS } else { 0 };
        Self {
            files,
            by_files: files.easily(),
            by_sources: tuples(host, sources, targets),
            by_memory: host.memory_available_bytes / MEMORY_PART / bytes_per_open,
            bytes_per_open,
        }
    }

    /// `wanted`, or less if this host cannot, with what lowered it.
    pub(super) fn lower(self, wanted: u64) -> (u64, MaxOpenBy) {
        [
            (self.by_files, MaxOpenBy::Files),
            (self.by_sources, MaxOpenBy::Sources),
            (self.by_memory, MaxOpenBy::Memory),
        ]
        .into_iter()
        .fold((wanted, MaxOpenBy::Plan), |least, next| if next.0 < least.0 { next } else { least })
    }
}

/// Addresses, ports and memory for `connections` at once, or a refusal (exit 5) that says what is missing; `fewer` is the
/// option that asks for less.
pub(super) fn check(
    connections: u64,
    capacity: Capacity,
    host: &HostFacts,
    sources: &[SourceRange],
    targets: &[SocketAddr],
    fewer: &str,
) -> Result<(), UserError> {
    let count = show_count(connections);
    if connections > capacity.files.at_most() {
        return Err(capacity.files.refusal(connections, connections, (fewer, capacity.files.at_most())));
    }
    if connections > capacity.by_sources {
        return Err(no_tuples(connections, capacity.by_sources, host, sources, targets));
    }
    if connections > capacity.by_memory {
        let needed =
            show_size(connections.saturating_mul(capacity.bytes_per_open).saturating_mul(MEMORY_PART));
        let have = show_size(host.memory_available_bytes);
        return Err(UserError::refused(
            "no_memory",
            format!("{count} connections need {needed} of free memory, and this host has {have}"),
            format!("at most {} fit: {fewer} {}", show_count(capacity.by_memory), capacity.by_memory),
        ));
    }
    Ok(())
}

fn no_tuples(
    connections: u64,
    available: u64,
    host: &HostFacts,
    sources: &[SourceRange],
    targets: &[SocketAddr],
) -> UserError {
    // What --source would have is what the hint speaks of, even where the kernel chooses.
    let ports = host.tuple_ports().count();
    let per_source = ports.saturating_mul(targets.len() as u64).max(1);
    let needed = connections.div_ceil(per_source);
    let loopback = targets.iter().all(|target| target.ip().is_loopback() && target.is_ipv4());
    let hint = match (loopback, sources.is_empty()) {
        (true, true) => "loopback has plenty of addresses: --source auto".to_owned(),
        (true, false) => "loopback has plenty of addresses: --source auto, or 127.0.0.0/8".to_owned(),
        (false, true) => format!(
            "--source auto uses all addresses of this host's interface, --source CIDR those you name; it takes \
             {needed} (each has {ports} ports)"
        ),
        (false, false) => format!("it takes {needed} source addresses (each has {ports} ports)"),
    };
    let have = if sources.is_empty() { "one source address".to_owned() } else { "--source".to_owned() };
    UserError::refused(
        "no_source_address",
        format!(
            "{} connections need more than the {} pairs of address and port that {have} has",
            show_count(connections),
            show_count(available)
        ),
        hint,
    )
}

/// Source addresses × ports × target addresses; without `--source` the kernel has one address per target, and all
/// ports.
fn tuples(host: &HostFacts, sources: &[SourceRange], targets: &[SocketAddr]) -> u64 {
    let per_target = |target: &SocketAddr| {
        let family = |range: &&SourceRange| range.first.is_ipv4() == target.is_ipv4();
        if sources.is_empty() { 1 } else { sources.iter().filter(family).map(SourceRange::len).sum::<u128>() }
    };
    let pairs: u128 = targets.iter().map(per_target).sum();
    let ports = if sources.is_empty() { host.ports.count() } else { host.tuple_ports().count() };
    u64::try_from(pairs.saturating_mul(u128::from(ports))).unwrap_or(u64::MAX)
}
