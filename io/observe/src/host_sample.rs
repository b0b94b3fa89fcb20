//! [`host_sample`]: a sample of this host.

use wavetank_measure::HostSample;
use wavetank_units::Nanos;

use crate::net_files::NetFiles;
use crate::{parse, process_usage, read};

/// Reads a sample from a few small files of `/proc`. The cost does not depend on the number of
/// sockets. The sample's time is when the sockets were counted, according to `now`.
pub fn host_sample(now: impl Fn() -> Nanos) -> HostSample {
    let text = |path: &str| read::text(path).unwrap_or_default();
    let net = NetFiles::for_self().sample(&now);
    let net = net.unwrap_or_else(|| HostSample { at: now(), ..HostSample::default() });
    let memory = text("/proc/meminfo");
    let bytes = |name: &str| parse::memory_bytes(&memory, name).unwrap_or(0);
    let usage = process_usage();
    let nanos = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    HostSample {
        mem_free_bytes: bytes("MemFree:"),
        mem_available_bytes: bytes("MemAvailable:"),
        slab_bytes: bytes("Slab:"),
        mem_used_bytes: bytes("MemTotal:").saturating_sub(bytes("MemAvailable:")),
        mem_all_bytes: bytes("MemTotal:"),
        swap_bytes: bytes("SwapTotal:").saturating_sub(bytes("SwapFree:")),
        rss_bytes: parse::memory_bytes(&text("/proc/self/status"), "VmRSS:").unwrap_or(0),
        cpu_user_ns: nanos(usage.user),
        cpu_system_ns: nanos(usage.system),
        cpus_milli: 0,
        cores: parse::cores(&text("/proc/stat")),
        ..net
    }
}
