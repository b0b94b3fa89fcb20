//! [`host_sample`]: this host at one instant.

use wavetank_measure::HostSample;
use wavetank_plan::Nanos;

use crate::sockstat::sockstat;
use crate::{parse, process_usage, read};

/// Reads it: some small files of `/proc` whose cost does not depend on how many sockets there are. The instant is that
/// at which sockets were counted, by `now`.
pub fn host_sample(now: impl Fn() -> Nanos) -> HostSample {
    let text = |path: &str| read::text(path).unwrap_or_default();
    let (sockets, sockets6) = (text("/proc/net/sockstat"), text("/proc/net/sockstat6"));
    let at = now();
    let tcp = sockstat(&sockets, &sockets6);
    let memory = text("/proc/meminfo");
    let bytes = |name: &str| parse::memory_bytes(&memory, name).unwrap_or(0);
    let usage = process_usage();
    let nanos = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    HostSample {
        at,
        tcp_inuse: tcp.inuse + tcp.inuse6,
        tcp6_inuse: tcp.inuse6,
        tcp_orphan: tcp.orphan,
        tcp_tw: tcp.tw,
        tcp_alloc: tcp.alloc,
        tcp_mem_pages: tcp.mem_pages,
        mem_free_bytes: bytes("MemFree:"),
        mem_available_bytes: bytes("MemAvailable:"),
        slab_bytes: bytes("Slab:"),
        rss_bytes: parse::memory_bytes(&text("/proc/self/status"), "VmRSS:").unwrap_or(0),
        cpu_user_ns: nanos(usage.user),
        cpu_system_ns: nanos(usage.system),
        cores: parse::cores(&text("/proc/stat")),
    }
}
