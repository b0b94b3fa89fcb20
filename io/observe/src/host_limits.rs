//! [`host_limits`]: what the kernel allows this host and process in addition to files and ports.

use rustix::process::{Resource, getrlimit};
use wavetank_plan::HostLimits;

use crate::cgroup::MemoryLeft;
use crate::file_limit::is_exempt;
use crate::{cgroup, parse, read};

/// Reads the limits now. `memory` is the cgroup that bounds memory, if any.
pub(crate) fn host_limits(memory: Option<MemoryLeft>) -> HostLimits {
    let file_nr = read::text("/proc/sys/fs/file-nr").filter(|_| !is_exempt());
    let memory_limit_bytes = memory.as_ref().map(|left| left.limit);
    HostLimits {
        files_max: file_nr.and_then(|text| parse::files_max_of_host(&text)),
        lockable_bytes: lockable_bytes(),
        threads_left: threads_left(),
        tracked: tracked(),
        memory_limit_file: memory.map(|left| left.file.display().to_string()),
        memory_limit_bytes,
        tcp_pages: read::text("/proc/sys/net/ipv4/tcp_mem").and_then(|text| parse::three_numbers(&text)),
        backlog_max: read::number("/proc/sys/net/core/somaxconn"),
        time_wait_max: read::number("/proc/sys/net/ipv4/tcp_max_tw_buckets"),
        // The value is negative if a namespace shares its parent's table.
        hash_buckets: read::text("/proc/sys/net/ipv4/tcp_ehash_entries")
            .and_then(|text| text.trim().parse::<i64>().ok())
            .map(i64::unsigned_abs)
            .filter(|buckets| *buckets > 0),
    }
}

/// Returns what is left of the limit on locked memory; `None` if this process is exempt.
fn lockable_bytes() -> Option<u64> {
    let status = read::text("/proc/self/status")?;
    if parse::may_lock_memory(&status) {
        return None;
    }
    getrlimit(Resource::Memlock).current.map(|most| most.saturating_sub(parse::locked_bytes(&status)))
}

/// Returns how many more threads this host and this process's groups allow.
fn threads_left() -> Option<u64> {
    let now = read::text("/proc/loadavg").and_then(|text| parse::thread_count(&text)).unwrap_or(0);
    let of_host =
        ["/proc/sys/kernel/threads-max", "/proc/sys/kernel/pid_max"].into_iter().filter_map(read::number);
    let of_host = of_host.map(|most| most.saturating_sub(now)).min();
    of_host.into_iter().chain(cgroup::threads_left()).min()
}

/// Returns tracked connections and their limit in the firewall; `None` if it tracks none.
fn tracked() -> Option<(u64, u64)> {
    let number = |name: &str| read::number(format!("/proc/sys/net/netfilter/{name}"));
    let (now, most) = (number("nf_conntrack_count")?, number("nf_conntrack_max")?);
    (now > 0).then(|| (most.saturating_sub(now), most))
}
