//! [`ThisHostSampler`]: samples this host, its kernel's counters and the limits of this process.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::process::{Resource, getrlimit};
use wavetank_measure::HostSample;
use wavetank_units::Nanos;

use crate::accept_queues::AcceptQueues;
use crate::connection_schedule::ConnectionSchedule;
use crate::counter_files::CounterFiles;
use crate::group_counts::CgroupStats;
use crate::link_speeds::link_speeds;
use crate::sending_threads::LoadThreadUsage;
use crate::{host_sample, parse, read};

/// Listing all connections takes at most one part of time in this many.
const CONNECTIONS_REST: u64 = 400;
/// Nanoseconds per microsecond.
const NS_PER_US: u64 = 1_000;

/// The sampler of this host. Its cost does not depend on the number of sockets, except for the list
/// of connections, which is made the less often the longer it takes.
#[derive(Clone, Debug)]
pub struct ThisHostSampler {
    queues: AcceptQueues,
    counters: CounterFiles,
    group: CgroupStats,
    connections: ConnectionSchedule,
    link_rates: Vec<(String, u64)>,
    /// Load threads of this process. `None` until the first sample looks them up.
    load_threads: Option<LoadThreadUsage>,
    /// How long they had waited for a CPU at the last sample.
    waited_ns: Option<u64>,
    /// The most of each resource, which does not change during a run.
    limits: Vec<(&'static str, u64)>,
}

impl Default for ThisHostSampler {
    fn default() -> Self {
        Self::new()
    }
}

impl ThisHostSampler {
    /// Reads what does not change.
    pub fn new() -> Self {
        let pid = std::process::id();
        Self {
            queues: AcceptQueues::for_pid(pid),
            counters: CounterFiles::for_pid(pid).with_machine(),
            group: CgroupStats::for_pid(pid),
            connections: ConnectionSchedule::one_part_in(CONNECTIONS_REST),
            link_rates: link_speeds(),
            load_threads: None,
            waited_ns: None,
            limits: limits(),
        }
    }

    /// Returns a sample. Its time is when the sockets were counted, according to `now`. The first
    /// one looks up the load threads, so they must exist by then.
    pub fn sample(&mut self, now: impl Fn() -> Nanos) -> HostSample {
        let net = host_sample(&now);
        let found = self.queues.sample();
        let mut counters = self.counters.sample(self.group.quota().as_deref(), &self.link_rates);
        let ports = self.counters.local_ports();
        self.connections.add(&mut counters, (&net, ports), (&mut self.queues, &found.samples), &now);
        found.add_uneven(&mut counters);
        counters.listeners = found.samples;
        let threads =
            self.load_threads.get_or_insert_with(|| LoadThreadUsage::other_threads_of(std::process::id()));
        threads.sample();
        let used = threads.used();
        let before = self.waited_ns.replace(used.waited_ns);
        let waited = before.map_or(0, |before| used.waited_ns.saturating_sub(before));
        if waited >= NS_PER_US {
            counters.rises.push(("load_threads.waited_us".to_owned(), waited / NS_PER_US));
            counters.rises.sort();
        }
        counters.levels.extend(self.levels(&net));
        counters.levels.sort();
        HostSample { accept_queue: found.longest_queue, cpu_load_ns: used.all_ns(), counters, ..net }
    }

    /// Returns what is used of each limited resource, as `files.used` and `files.max`.
    fn levels(&self, net: &HostSample) -> Vec<(String, u64)> {
        let used = |resource: &str| match resource {
            "files" => open_files(net.tcp_inuse),
            "conntrack" => read::number("/proc/sys/net/netfilter/nf_conntrack_count"),
            "tcp_memory" => Some(net.tcp_mem_pages),
            "time_wait" => Some(net.tcp_tw),
            "orphans" => Some(net.tcp_orphan),
            _ => None,
        };
        let level = |(resource, most): &(&'static str, u64)| {
            let used = used(resource)?;
            Some([(format!("{resource}.used"), used), (format!("{resource}.max"), *most)])
        };
        self.limits.iter().filter_map(level).flatten().collect()
    }
}

/// Returns what limits this process and its host.
fn limits() -> Vec<(&'static str, u64)> {
    let text = |name: &str| read::text(format!("/proc/sys/net/{name}"));
    let tcp_pages = text("ipv4/tcp_mem").and_then(|text| parse::three_numbers(&text)).map(|all| all[2]);
    let number = |name: &str| text(name).and_then(|text| parse::number(&text));
    let all = [
        ("files", getrlimit(Resource::Nofile).current),
        ("conntrack", number("netfilter/nf_conntrack_max")),
        ("tcp_memory", tcp_pages),
        ("time_wait", number("ipv4/tcp_max_tw_buckets")),
        ("orphans", number("ipv4/tcp_max_orphans")),
    ];
    all.into_iter().filter_map(|(name, most)| Some((name, most.filter(|most| *most > 0)?))).collect()
}

/// With more sockets than this, an older kernel's list of open files is not read.
const LISTED_FILES_MAX: u64 = 10_000;
/// Tables of files that are looked at: load threads may have one each.
const TABLES_MAX: usize = 256;

/// Returns the number of open files in this process's fullest table. Since Linux 6.2 the size of
/// the folder is their number (`proc_pid_fd(5)`); before, the folder is listed. `sockets` is the
/// number of sockets on this host.
fn open_files(sockets: u64) -> Option<u64> {
    let tasks = fs::read_dir("/proc/self/task").ok()?.take(TABLES_MAX);
    let tables: Vec<_> = tasks.filter_map(|task| Some(task.ok()?.path().join("fd"))).collect();
    let sizes = tables.iter().filter_map(|table| fs::metadata(table).ok()).map(|table| table.size());
    if let Some(most) = sizes.max().filter(|most| *most > 0) {
        return Some(most);
    }
    if sockets > LISTED_FILES_MAX {
        return None;
    }
    tables.iter().filter_map(|table| fs::read_dir(table).ok()).map(|all| all.count() as u64).max()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn this_host_is_sampled_with_its_limits_and_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let at = listener.local_addr().expect("it is bound");
        let mut sampler = ThisHostSampler::new();
        let first = sampler.sample(|| Nanos::ZERO);
        // Queues and threads of other tests are counted in each sample.
        let risen = first.counters.rises.iter().find(|(name, _)| name.starts_with("Tcp"));
        assert!(risen.is_none(), "{first:?}");
        let files = first.counters.level("files.used");
        let peers: Vec<_> = (0..64).map(|_| TcpStream::connect(at).expect("it listens")).collect();
        let second = sampler.sample(|| Nanos::SECOND);
        // Other tests open and close files meanwhile.
        assert!(second.counters.level("files.used") >= files.max(64), "{second:?}");
        assert!(second.counters.level("files.max") >= second.counters.level("files.used"), "{second:?}");
        assert!(second.counters.rise("Tcp.ActiveOpens") >= 64, "{second:?}");
        assert!(second.counters.level("state.established") >= 128, "{second:?}");
        let listed = second.counters.listeners.iter().find(|one| one.address == at);
        assert_eq!(listed.map(|one| one.queue), Some(64), "{second:?}");
        assert_eq!(peers.len(), 64);
        assert!(second.mem_all_bytes > second.mem_used_bytes && !second.cores.is_empty(), "{second:?}");
    }
}
