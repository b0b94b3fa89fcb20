//! Limits of the kernel's tables that make connections slower without making them fail.

use wavetank_units::quantity::format_grouped;

use crate::HostFacts;

/// Sockets in one chain of the kernel's table from which on it is felt.
const CHAIN_MAX: u64 = 4;

/// Warns about open requests that need more memory than TCP may take. Unread bytes take at least a
/// page per socket.
pub fn receive_memory_risk(under_way: u64, host: &HostFacts) -> Option<String> {
    let most = host.limits.tcp_pages?[2];
    let pages = under_way.saturating_add(under_way / 5);
    (pages > most).then(|| {
        format!(
            "up to {} open requests may take {} pages of TCP's memory, which has {}: above it windows shrink and \
             answers slow down; as root: sysctl -w net.ipv4.tcp_mem='{} {pages} {pages}'",
            format_grouped(under_way),
            format_grouped(pages),
            format_grouped(most),
            pages / 4 * 3
        )
    })
}

/// Warns about long chains in the connection table, which all sockets of a network namespace share.
pub fn connection_table_risk(sockets: u64, host: &HostFacts) -> Option<String> {
    let buckets = host.limits.hash_buckets?;
    (sockets > buckets.saturating_mul(CHAIN_MAX)).then(|| {
        format!(
            "{} sockets share {} lists of the kernel's, which looks through one for each packet: requests get slower, none \
             fails; a network namespace may have more lists (docs/million.md)",
            format_grouped(sockets),
            format_grouped(buckets)
        )
    })
}
