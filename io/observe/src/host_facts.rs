//! [`host_facts`]: what resolving a plan must know about this host.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use nix::ifaddrs::getifaddrs;
use rustix::system::{sysinfo, uname};
use rustix::thread::{CpuSet, sched_getaffinity};
use wavetank_plan::{HostFacts, SocketFacts};

use crate::file_limit::{files_left, files_max, nr_open};
use crate::source_ports::{port_range, source_ports};
use crate::{parse, read};

/// Reads the facts now. What can only be tried, not read ([`SocketFacts::uring`], [`SocketFacts::own_files`]), is left
/// to whoever can try it. Never fails: what cannot be read is what a kernel does by default.
pub fn host_facts() -> HostFacts {
    let names = uname();
    let port_range = port_range();
    HostFacts {
        cpus: cpus(),
        memory_available_bytes: memory_available_bytes(),
        files_max: files_max(),
        sockets: SocketFacts { files_left: files_left(), nr_open: nr_open(), ..SocketFacts::plain() },
        port_range,
        ports: source_ports(port_range),
        addresses: addresses(),
        local_networks: local_networks(),
        kernel: names.release().to_string_lossy().into_owned(),
        hostname: names.nodename().to_string_lossy().into_owned(),
        cpu_model: read::text("/proc/cpuinfo")
            .and_then(|text| parse::cpu_model(&text))
            .unwrap_or_else(|| names.machine().to_string_lossy().into_owned()),
    }
}

/// CPUs this process may run on: the affinity mask, which a container's cpuset narrows too.
fn cpus() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect()
}

/// What can be had without swapping: the least of the host's `MemAvailable` and of what each memory cgroup above
/// this process has left.
fn memory_available_bytes() -> u64 {
    let host = read::text("/proc/meminfo").and_then(|text| parse::memory_available_bytes(&text));
    let host = host.unwrap_or_else(|| {
        let info = sysinfo();
        u64::from(info.mem_unit).saturating_mul(info.freeram)
    });
    let Some(cgroups) = read::text("/proc/self/cgroup") else { return host };
    let Some(mounts) = read::text("/proc/self/mountinfo") else { return host };
    let places = parse::memory_cgroups(&cgroups, &mounts);
    places.iter().filter_map(cgroup_left_bytes).fold(host, u64::min)
}

/// The least that is left under `place` and its parents, up to the mount point. Inside a container the path of
/// the group may not exist below the mount; then its parents do.
fn cgroup_left_bytes(place: &parse::MemoryCgroup) -> Option<u64> {
    let top = PathBuf::from(&place.mount);
    let start = top.join(place.path.trim_start_matches('/'));
    let (limit, used) = place.files();
    let reclaimable = |folder: &Path| {
        read::text(folder.join("memory.stat")).and_then(|text| parse::inactive_file_bytes(&text)).unwrap_or(0)
    };
    start
        .ancestors()
        .take_while(|folder| folder.starts_with(&top))
        .filter_map(|folder| {
            let limit = parse::cgroup_bytes(&read::text(folder.join(limit))?)?;
            let used = parse::cgroup_bytes(&read::text(folder.join(used))?)?;
            Some(limit.saturating_sub(used.saturating_sub(reclaimable(folder))))
        })
        .min()
}

/// Addresses of all interfaces, each once.
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
        read::text("/proc/net/fib_trie").map(|text| parse::local_ipv4(&text)).unwrap_or_default();
    if networks.is_empty() {
        networks.push((IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8));
    }
    networks
        .extend(read::text("/proc/net/ipv6_route").map(|text| parse::local_ipv6(&text)).unwrap_or_default());
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
