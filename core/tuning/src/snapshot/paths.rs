//! The files that judging a host needs.

use crate::catalogue::settings;

/// Files other than kernel settings. Each pattern is in a directory of the kernel or of the
/// machine's configuration.
const PATHS: [&str; 36] = [
    "/proc/sys/kernel/osrelease",
    "/proc/sys/fs/file-nr",
    "/proc/sys/net/netfilter/nf_conntrack_count",
    "/proc/meminfo",
    "/proc/swaps",
    "/proc/self/limits",
    "/proc/self/status",
    "/proc/self/cgroup",
    "/proc/self/mountinfo",
    "/proc/net/tcp",
    "/proc/net/tcp6",
    "/proc/net/netstat",
    "/proc/net/softnet_stat",
    "/proc/net/ip_tables_names",
    "/proc/net/ip6_tables_names",
    "/proc/interrupts",
    "/proc/1/cgroup",
    "/run/systemd/container",
    "/.dockerenv",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    "/sys/class/net/*/speed",
    "/sys/class/net/*/operstate",
    "/sys/class/net/*/statistics/rx_missed_errors",
    "/sys/class/net/*/statistics/rx_fifo_errors",
    "/sys/class/net/*/queues/rx-*/rps_cpus",
    "/sys/fs/cgroup/cpu.max",
    "/sys/fs/cgroup/pids.max",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
    "/sys/fs/cgroup/pids/pids.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/proc/sys/net/ipv4/tcp_available_congestion_control",
];

/// Names of server processes with limits of their own.
pub const SNAPSHOT_SERVERS: [&str; 5] = ["nginx", "haproxy", "keepalived", "envoy", "httpd"];

/// The command that lists listeners with the limits of their queues. Its output is in a snapshot
/// like a file.
pub const SNAPSHOT_LISTENERS: &str = "ss -H -ltnp";

/// Returns the files to read, of which some may not exist.
pub fn snapshot_paths() -> Vec<String> {
    let settings = settings().map(|setting| sysctl_path(setting.key));
    PATHS.into_iter().map(str::to_owned).chain(settings).collect()
}

/// Returns the file of a kernel setting. A slash in a key is a dot in the name of an interface.
pub fn sysctl_path(key: &str) -> String {
    let swapped = key.chars().map(|letter| match letter {
        '.' => '/',
        '/' => '.',
        letter => letter,
    });
    format!("/proc/sys/{}", swapped.collect::<String>())
}
