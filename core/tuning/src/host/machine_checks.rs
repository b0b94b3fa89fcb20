//! CPUs, clock, memory, control groups and containers.

use wavetank_units::quantity::{format_grouped, show_size};

use super::row::Fix;
use super::{HostState, Job, Row};
use crate::{Severity, Snapshot};

/// Clock sources that are read without a system call.
const FAST_CLOCKS: [&str; 6] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod"];
/// The capability `CAP_SYS_RESOURCE`, as a bit.
const SYS_RESOURCE: u64 = 1 << 24;
/// The capability `CAP_NET_ADMIN`, as a bit.
const NET_ADMIN: u64 = 1 << 12;

/// Checks the machine.
pub(super) fn rows(host: &HostState<'_>, job: &Job) -> Vec<Row> {
    let snapshot = host.snapshot;
    let mut rows = Vec::new();
    rows.extend(clock(snapshot));
    rows.extend(governor(snapshot, job));
    rows.extend(quota(snapshot));
    rows.extend(group_limits(snapshot));
    rows.extend(swap(snapshot, job));
    rows.extend(container(host));
    rows.extend(capabilities(snapshot));
    rows
}

fn clock(snapshot: &Snapshot) -> Option<Row> {
    let folder = "/sys/devices/system/clocksource/clocksource0/";
    let now = snapshot.get(&format!("{folder}current_clocksource"))?;
    if FAST_CLOCKS.contains(&now) {
        return None;
    }
    let available = snapshot.get(&format!("{folder}available_clocksource")).unwrap_or_default();
    let wanted = available.split_whitespace().find(|own| FAST_CLOCKS.contains(own)).unwrap_or_default();
    let why = "each reading of the time is a slow call into the kernel or the hypervisor";
    Some(Row::new(Severity::Warning, "clock source", now, wanted, why))
}

fn governor(snapshot: &Snapshot, job: &Job) -> Option<Row> {
    let governors = snapshot.between("/sys/devices/system/cpu/", "/cpufreq/scaling_governor");
    let slow: Vec<&str> = governors.map(|(_, text)| text).filter(|text| *text != "performance").collect();
    let first = *slow.first()?;
    let now = format!("{first} on {} CPUs", slow.len());
    let why = "CPUs that change their frequency make short tests slower and unequal";
    let row = Row::new(job.severity(), "CPU governor", now, "performance", why);
    Some(
        Row { fix: Some(Fix::Governor("performance".to_owned())), ..row }
            .from("Linux: admin-guide/pm/cpufreq.rst"),
    )
}

/// The quota of CPU time of the group of this host's processes.
fn quota(snapshot: &Snapshot) -> Option<Row> {
    let second = snapshot.get("/sys/fs/cgroup/cpu.max").map(str::to_owned);
    let first = || {
        let quota = snapshot.get("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")?;
        Some(format!("{quota} {}", snapshot.get("/sys/fs/cgroup/cpu/cpu.cfs_period_us")?))
    };
    let text = second.or_else(first)?;
    let (quota, period) = text.split_once(' ')?;
    let (quota, period) = (quota.parse::<u64>().ok()?, period.trim().parse::<u64>().ok()?);
    let cpus = quota as f64 / period.max(1) as f64;
    let why = "the kernel stops all processes of the control group for the rest of each period";
    Some(Row::new(Severity::Warning, "CPU quota (cgroup)", format!("{cpus:.1} CPUs"), "none", why))
}

fn group_limits(snapshot: &Snapshot) -> Vec<Row> {
    let mut rows = Vec::new();
    let least = |paths: [&str; 2]| paths.into_iter().filter_map(|path| snapshot.number(path)).min();
    if let Some(tasks) = least(["/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"])
        && tasks < 4_096
    {
        let why = "threads and processes of the control group cannot be more";
        rows.push(Row::new(Severity::Warning, "tasks (cgroup)", format_grouped(tasks), "max", why));
    }
    let memory = least(["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]);
    // Version 1 has a number near the greatest one for no limit.
    if let Some(bytes) = memory.filter(|bytes| *bytes < 1 << 60) {
        let why = "above it the kernel ends processes of the control group, sockets included";
        rows.push(Row::new(Severity::Note, "memory (cgroup)", show_size(bytes), "", why));
    }
    rows
}

fn swap(snapshot: &Snapshot, job: &Job) -> Option<Row> {
    let spaces = snapshot.get("/proc/swaps")?.lines().skip(1).count();
    let now: u64 = snapshot.setting("vm.swappiness")?.parse().ok()?;
    if spaces == 0 || now <= 10 || !job.is_known() {
        return None;
    }
    let why = "memory of an idle connection that was swapped out delays its next request by milliseconds";
    Some(Row::setting(Severity::Warning, "vm.swappiness", &now.to_string(), "10", why).from("docs/doctor.md"))
}

fn container(host: &HostState<'_>) -> Vec<Row> {
    let snapshot = host.snapshot;
    let mut rows = Vec::new();
    let of_systemd = snapshot.get("/run/systemd/container").map(str::to_owned);
    let by_file = || snapshot.get("/.dockerenv").map(|_| "docker".to_owned());
    let by_group = || {
        let groups = snapshot.get("/proc/1/cgroup")?;
        ["docker", "kubepods", "lxc", "libpod"]
            .into_iter()
            .find(|name| groups.contains(name))
            .map(str::to_owned)
    };
    if let Some(kind) = of_systemd.or_else(by_file).or_else(by_group) {
        let why = "a network of its own starts with the kernel's defaults, however the host was tuned";
        rows.push(Row::new(Severity::Note, "container", kind, "", why));
    }
    if host.is_read_only() {
        let why =
            "settings can only be changed from outside: docker run --sysctl, or securityContext.sysctls";
        rows.push(Row::new(Severity::Warning, "/proc/sys", "read-only", "writable", why));
    }
    rows
}

fn capabilities(snapshot: &Snapshot) -> Vec<Row> {
    let status = snapshot.get("/proc/self/status").unwrap_or_default();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let Some(own) = field("CapEff:").and_then(|text| u64::from_str_radix(text, 16).ok()) else {
        return Vec::new();
    };
    let is_root = field("Uid:").and_then(|text| text.split_whitespace().next()) == Some("0");
    let mut rows = Vec::new();
    if is_root && own & SYS_RESOURCE == 0 {
        let why = "this root cannot raise a hard limit such as nofile";
        rows.push(Row::new(Severity::Note, "CAP_SYS_RESOURCE", "missing", "", why));
    }
    if is_root && own & NET_ADMIN == 0 {
        let why = "this root cannot change settings of its network";
        rows.push(Row::new(Severity::Note, "CAP_NET_ADMIN", "missing", "", why));
    }
    rows
}
