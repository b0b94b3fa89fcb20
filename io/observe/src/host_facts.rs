//! [`host_facts`]: the facts about this host that plan resolution needs.

use std::net::{IpAddr, Ipv4Addr};

use nix::ifaddrs::getifaddrs;
use rustix::system::{sysinfo, uname};
use rustix::thread::{CpuSet, sched_getaffinity};
use wavetank_plan::{HostFacts, LoadOrigin, SocketSupport};

use crate::file_limit::{files_left, files_max, nr_open};
use crate::host_limits::host_limits;
use crate::source_ports::{port_range, source_ports};
use crate::{cgroup, parse, read};

/// Reads the facts now. Features that can only be tried, not read ([`SocketSupport::uring`],
/// [`SocketSupport::own_files`]), are left to a caller that can try them. Never fails: facts that
/// cannot be read get the kernel's defaults.
pub fn host_facts() -> HostFacts {
    let names = uname();
    let port_range = port_range();
    let of_host = memory_available_bytes();
    let of_group = cgroup::memory_left().filter(|left| left.bytes < of_host);
    HostFacts {
        cpus: cpus(),
        memory_available_bytes: of_group.as_ref().map_or(of_host, |left| left.bytes),
        files_max: files_max(),
        sockets: SocketSupport { files_left: files_left(), nr_open: nr_open(), ..SocketSupport::plain() },
        limits: host_limits(of_group),
        port_range,
        ports: source_ports(port_range),
        addresses: addresses(),
        local_networks: local_networks(),
        kernel: names.release().to_string_lossy().into_owned(),
        hostname: names.nodename().to_string_lossy().into_owned(),
        cpu_model: read::text("/proc/cpuinfo")
            .and_then(|text| parse::cpu_model(&text))
            .unwrap_or_else(|| names.machine().to_string_lossy().into_owned()),
        origin: LoadOrigin::ThisHost,
        observed_hosts: Vec::new(),
        agent_hosts: Vec::new(),
    }
}

/// Returns the CPUs this process may run on: the affinity mask, which a container's cpuset also
/// narrows.
fn cpus() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect()
}

/// Returns the memory available without swapping: the host's `MemAvailable`.
fn memory_available_bytes() -> u64 {
    let host = read::text("/proc/meminfo").and_then(|text| parse::memory_available_bytes(&text));
    host.unwrap_or_else(|| {
        let info = sysinfo();
        u64::from(info.mem_unit).saturating_mul(info.freeram)
    })
}

/// Returns the addresses of all interfaces, without duplicates.
fn addresses() -> Vec<IpAddr> {
    let Ok(list) = getifaddrs() else { return vec![IpAddr::V4(Ipv4Addr::LOCALHOST)] };
    let mut addresses: Vec<IpAddr> = list
        .filter_map(|interface| {
            let address = interface.address?;
            let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
            v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
        })
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

fn local_networks() -> Vec<(IpAddr, u8)> {
    let mut networks =
        read::text("/proc/thread-self/net/fib_trie").map(|text| parse::local_ipv4(&text)).unwrap_or_default();
    if networks.is_empty() {
        networks.push((IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8));
    }
    networks.extend(
        read::text("/proc/thread-self/net/ipv6_route")
            .map(|text| parse::local_ipv6(&text))
            .unwrap_or_default(),
    );
    networks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_what_every_host_has() {
        let facts = host_facts();
        assert!(!facts.cpus.is_empty());
        assert!(facts.memory_available_bytes > 1 << 20, "{facts:?}");
        assert!(facts.files_max >= 64, "{facts:?}");
        assert!(facts.port_range.0 < facts.port_range.1, "{facts:?}");
        assert!(facts.addresses.contains(&IpAddr::V4(Ipv4Addr::LOCALHOST)), "{facts:?}");
        assert!(facts.local_networks.contains(&(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8)), "{facts:?}");
        for text in [&facts.kernel, &facts.hostname, &facts.cpu_model] {
            assert!(!text.is_empty() && text.trim() == text, "{facts:?}");
        }
    }

    #[test]
    fn every_address_of_an_interface_is_routed_as_local() {
        let facts = host_facts();
        let covered = |address: &IpAddr| {
            facts.local_networks.iter().any(|(network, bits)| match (address, network) {
                (IpAddr::V4(a), IpAddr::V4(n)) => {
                    (a.to_bits() ^ n.to_bits()).leading_zeros() >= u32::from(*bits)
                }
                (IpAddr::V6(a), IpAddr::V6(n)) => {
                    (a.to_bits() ^ n.to_bits()).leading_zeros() >= u32::from(*bits)
                }
                _ => false,
            })
        };
        let v4 = facts.addresses.iter().filter(|address| address.is_ipv4());
        let uncovered: Vec<_> = v4.filter(|address| !covered(address)).collect();
        assert!(uncovered.is_empty(), "{uncovered:?} in {facts:?}");
    }
}
