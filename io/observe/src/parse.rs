//! Parsers of the kernel's texts. Unknown lines are ignored, because kernels add lines.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::CpuTimes;

/// Parses a single number.
pub fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// `ip_local_port_range`: first and last port.
pub fn port_range(text: &str) -> Option<(u16, u16)> {
    let mut ports = text.split_whitespace().map(str::parse);
    match (ports.next(), ports.next()) {
        (Some(Ok(first)), Some(Ok(last))) if first <= last => Some((first, last)),
        _ => None,
    }
}

/// Numbers and ranges of them, joined by commas, as in `ip_local_reserved_ports` and lists of CPUs;
/// empty for none.
pub fn number_ranges(text: &str) -> Vec<(u16, u16)> {
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let range = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (range.0 <= range.1).then_some(range)
    };
    text.trim().split(',').filter_map(range).collect()
}

/// Returns the port that a line of `/proc/net/tcp` or `tcp6` listens on (`proc_net_tcp`: `sl
/// local_address rem_address st …`, ports in hexadecimal, state 0A is LISTEN). Returns `None` for
/// sockets in other states and for the title.
pub fn listened_port(line: &str) -> Option<u16> {
    let mut fields = line.split_whitespace().skip(1);
    let (local, _, state) = (fields.next()?, fields.next()?, fields.next()?);
    (state == "0A").then(|| u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()).flatten()
}

/// Returns the number of the interface `name` from `/proc/net/if_inet6`, if it has an IPv6 address.
pub fn interface_index(text: &str, name: &str) -> Option<u32> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.find(|fields| fields.get(5) == Some(&name))?;
    u32::from_str_radix(line[1], 16).ok()
}

/// Returns the addresses in `/proc/net/if_inet6` that should not be used for new connections:
/// deprecated (0x20), tentative (0x40) or duplicate (0x08). A line has address, index, prefix
/// length, scope, flags and name; numbers are in hexadecimal.
pub fn unusable_ipv6(text: &str) -> Vec<Ipv6Addr> {
    const UNFIT: u32 = 0x20 | 0x40 | 0x08;
    let unfit = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [address, _, _, _, flags, _] = fields.as_slice() else { return None };
        let flags = u32::from_str_radix(flags, 16).ok()?;
        let address = Ipv6Addr::from_bits(u128::from_str_radix(address, 16).ok()?);
        (flags & UNFIT != 0).then_some(address)
    };
    text.lines().filter_map(unfit).collect()
}

/// Returns how many more files the host can open, from `fs.file-nr`. Its fields are allocated, free
/// (always 0) and the maximum.
pub fn files_left(text: &str) -> Option<u64> {
    let mut fields = text.split_whitespace().map(str::parse::<u64>);
    let (allocated, _, most) = (fields.next()?.ok()?, fields.next()?.ok()?, fields.next()?.ok()?);
    Some(most.saturating_sub(allocated))
}

/// Whether `CAP_SYS_ADMIN` (capabilities(7): number 21) is in effect according to
/// `/proc/self/status`.
pub fn has_admin_rights(text: &str) -> bool {
    has_capability(text, 21)
}

fn has_capability(text: &str, number: u32) -> bool {
    let value = text.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = value.and_then(|value| u64::from_str_radix(value.trim(), 16).ok());
    set.is_some_and(|set| set >> number & 1 == 1)
}

/// Whether `/proc/self/uid_map` is the identity map of the host itself (user\_namespaces(7)).
pub fn is_whole_id_map(text: &str) -> bool {
    text.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Returns the maximum number of files on the host, from `fs.file-nr`.
pub fn files_max_of_host(text: &str) -> Option<u64> {
    text.split_whitespace().nth(2)?.parse().ok()
}

/// Whether `CAP_IPC_LOCK` (number 14) is in effect according to `/proc/self/status`.
pub fn may_lock_memory(text: &str) -> bool {
    has_capability(text, 14)
}

/// Memory that a process has locked, from `/proc/PID/status` (`VmLck:  0 kB`).
pub fn locked_bytes(text: &str) -> u64 {
    status_bytes(text, "VmLck:").unwrap_or(0)
}

/// Returns the number of threads and processes of the host, from `/proc/loadavg` (`0.01 0.02 0.00
/// 1/234 5678`).
pub fn thread_count(text: &str) -> Option<u64> {
    text.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// Parses three numbers separated by blanks (`net.ipv4.tcp_mem`).
pub fn three_numbers(text: &str) -> Option<[u64; 3]> {
    let mut numbers = text.split_whitespace().map(str::parse);
    let three = [numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?];
    numbers.next().is_none().then_some(three)
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
pub fn memory_available_bytes(text: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    number(value.trim().trim_end_matches("kB")).map(|kib| kib * 1024)
}

/// Returns the value of a line such as `Slab:  1234 kB` of `/proc/meminfo`, in bytes. `name`
/// includes the colon.
pub fn memory_bytes(text: &str, name: &str) -> Option<u64> {
    status_bytes(text, name)
}

/// Returns busy ticks and all ticks since boot for each CPU in `/proc/stat` (`proc_stat(5)`). Guest
/// time is part of user time and not added again. Stolen time does not count as busy.
pub fn cores(text: &str) -> Vec<(u64, u64)> {
    numbered_cores(text).map(|(_, ticks)| ticks).collect()
}

/// The same for CPU number `cpu`; `None` if it is missing or offline.
pub fn core(text: &str, cpu: u32) -> Option<(u64, u64)> {
    numbered_cores(text).find(|(number, _)| *number == cpu).map(|(_, ticks)| ticks)
}

/// Returns the number of each CPU with its busy and total ticks.
pub(crate) fn numbered_cores(text: &str) -> impl Iterator<Item = (u32, (u64, u64))> {
    text.lines().filter_map(|line| {
        let (name, fields) = line.strip_prefix("cpu")?.split_once(' ')?;
        let number = name.parse::<u32>().ok()?;
        let ticks: Vec<u64> =
            fields.split_whitespace().map_while(|field| field.parse().ok()).take(8).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal] = *ticks.as_slice() else { return None };
        let busy = user + nice + system + irq + softirq;
        Some((number, (busy, busy + idle + iowait + steal)))
    })
}

/// Returns user and kernel ticks of a process or thread from its `stat`: fields 14 and 15 of
/// proc\_pid\_stat(5). Fields are counted after the name, because the name may contain anything.
pub fn process_ticks(stat: &str) -> Option<[u64; 2]> {
    let behind = stat.rsplit_once(')')?.1;
    let mut fields = behind.split_whitespace().skip(11).map(str::parse::<u64>);
    let mut next = || fields.next()?.ok();
    Some([next()?, next()?])
}

/// Parses a limit or usage of a memory cgroup in bytes; `None` for `max`.
pub fn cgroup_bytes(text: &str) -> Option<u64> {
    number(text)
}

/// Returns the file cache that the kernel reclaims first, from a cgroup's `memory.stat`, in bytes.
/// Version 1 reports the value for the whole tree in `total_inactive_file`.
pub fn inactive_file_bytes(text: &str) -> Option<u64> {
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.split_once(' ').filter(|(key, _)| *key == name))
            .map(|(_, value)| value)
    };
    number(value("total_inactive_file").or_else(|| value("inactive_file"))?)
}

/// A cgroup this process is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    /// The mount point of its hierarchy.
    pub mount: String,
    /// The group's path below the mount.
    pub path: String,
    /// Whether it is in the unified hierarchy (cgroup v2) or in an older one with its own
    /// controller.
    pub unified: bool,
}

impl Cgroup {
    /// Returns the names of the files with its memory limit and its usage.
    pub fn memory_files(&self) -> (&'static str, &'static str) {
        if self.unified {
            ("memory.max", "memory.current")
        } else {
            ("memory.limit_in_bytes", "memory.usage_in_bytes")
        }
    }
}

/// Returns the cgroups of this process that have `controller` (`memory`, `pids`), from
/// `/proc/self/cgroup` and `/proc/self/mountinfo` (cgroups(7)).
pub fn cgroups_of(controller: &str, cgroups: &str, mountinfo: &str) -> Vec<Cgroup> {
    let mut found = Vec::new();
    for line in cgroups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(id), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let unified = id == "0" && controllers.is_empty();
        if !unified && !controllers.split(',').any(|name| name == controller) {
            continue;
        }
        if let Some((root, mount)) = cgroup_mount(mountinfo, (!unified).then_some(controller)) {
            // A container sees its own part of the hierarchy. Its path starts with the root of that
            // part.
            let path = path.strip_prefix(root.trim_end_matches('/')).unwrap_or(path).to_owned();
            found.push(Cgroup { mount, path, unified });
        }
    }
    found
}

/// Returns root and mount point of the unified hierarchy, or of a controller's own.
fn cgroup_mount(mountinfo: &str, controller: Option<&str>) -> Option<(String, String)> {
    mountinfo.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let (kind, options) = (right.next()?, right.nth(1)?);
        let fits = match controller {
            None => kind == "cgroup2",
            Some(controller) => kind == "cgroup" && options.split(',').any(|option| option == controller),
        };
        let mut left = left.split(' ').skip(3);
        fits.then_some((left.next()?.to_owned(), left.next()?.to_owned()))
    })
}

/// Returns the CPU's model from `/proc/cpuinfo`; `None` on architectures that do not name it.
pub fn cpu_model(text: &str) -> Option<String> {
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name))
            .map(|(_, v)| v.trim())
    };
    value("model name").or_else(|| value("Model")).filter(|model| !model.is_empty()).map(str::to_owned)
}

/// Reads the line of all CPUs in `/proc/stat` (`proc_stat(5)`). Guest time is part of user time and
/// not added again.
pub fn cpu_times(text: &str) -> Option<CpuTimes> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|field| field.parse().ok()).take(8).collect();
    // user nice system idle iowait irq softirq steal
    let [_, _, _, idle, iowait, _, _, steal] = *ticks.as_slice() else { return None };
    Some(CpuTimes { total: ticks.iter().sum(), idle: idle + iowait, steal })
}

/// Returns the IPv4 networks routed as local, from `/proc/net/fib_trie`. A leaf is `|-- ADDRESS`,
/// followed by a line `/BITS SCOPE LOCAL` for each of its prefixes. The result is sorted, without
/// duplicates and without networks inside a wider one.
pub fn local_ipv4(text: &str) -> Vec<(IpAddr, u8)> {
    let mut leaf: Option<Ipv4Addr> = None;
    let mut networks: Vec<(Ipv4Addr, u8)> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse().ok();
        } else if let (Some(address), Some(prefix)) = (leaf, line.strip_prefix('/'))
            && let [bits, _, "LOCAL"] = prefix.split_whitespace().collect::<Vec<_>>().as_slice()
            && let Ok(bits) = bits.parse::<u8>()
            && bits <= 32
        {
            networks.push((address, bits));
        }
    }
    widest(networks.into_iter().map(|(address, bits)| (IpAddr::V4(address), bits)).collect())
}

/// Returns the IPv6 networks routed as local, from `/proc/net/ipv6_route`. Destination and prefix
/// length come first, in hexadecimal. The flags are second to last; `0x8000_0000` (`RTF_LOCAL`)
/// marks local routes.
pub fn local_ipv6(text: &str) -> Vec<(IpAddr, u8)> {
    const RTF_LOCAL: u32 = 0x8000_0000;
    let network = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [destination, bits, _, _, _, _, _, _, flags, _] = fields.as_slice() else { return None };
        let local = u32::from_str_radix(flags, 16).ok()? & RTF_LOCAL != 0;
        let address = Ipv6Addr::from_bits(u128::from_str_radix(destination, 16).ok()?);
        let bits = u8::from_str_radix(bits, 16).ok().filter(|bits| *bits <= 128)?;
        local.then_some((IpAddr::V6(address), bits))
    };
    widest(text.lines().filter_map(network).collect())
}

/// Returns the memory that a process has written, from `/proc/PID/status` (a line `RssAnon:  1234
/// kB`). Pages of its program file that it has touched are not included.
pub fn written_bytes(text: &str) -> Option<u64> {
    status_bytes(text, "RssAnon:")
}

/// Returns the peak resident memory of a process since it started its program, from
/// `/proc/PID/status` (`VmHWM:  1234 kB`).
pub fn peak_resident_bytes(text: &str) -> Option<u64> {
    status_bytes(text, "VmHWM:")
}

/// Returns the lowest CPU of a list such as `0,64` or `2-3` (`thread_siblings_list` of sysfs).
pub fn first_cpu(text: &str) -> Option<u32> {
    text.trim().split([',', '-']).next()?.parse().ok()
}

fn status_bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1_024)
}

/// Sorts by address and removes networks inside another one of the list.
fn widest(mut networks: Vec<(IpAddr, u8)>) -> Vec<(IpAddr, u8)> {
    networks.sort_by_key(|&(address, bits)| (bits, address));
    let mut kept: Vec<(IpAddr, u8)> = Vec::new();
    for (address, bits) in networks {
        if !kept.iter().any(|&(network, width)| inside(address, network, width)) {
            kept.push((address, bits));
        }
    }
    kept.sort_unstable();
    kept
}

fn inside(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(n)) => (a.to_bits() ^ n.to_bits()).leading_zeros() >= u32::from(bits),
        (IpAddr::V6(a), IpAddr::V6(n)) => (a.to_bits() ^ n.to_bits()).leading_zeros() >= u32::from(bits),
        _ => false,
    }
}
