//! [`RemoteSampler`]: what a POSIX shell on another host prints of its kernel's files, as samples.

use std::collections::BTreeMap;
use std::net::{Ipv6Addr, SocketAddr};

use wavetank_measure::{HostCounters, HostSample, ListenerSample};
use wavetank_units::Nanos;

use crate::counter_text::{self, Counters};
use crate::machine_counters::MachineCounters;
use crate::{SAMPLE_END, net_files, parse};

/// The mark before each file.
const FILE: &str = "wavetank-file ";
/// The listening sockets, as `ss` prints them.
const LISTENERS: &str = "ss";
/// Most listening addresses of a sample, those with the longest queues.
const LISTENERS_MAX: usize = 64;
/// Most bytes of a sample that are kept: a host of 1,000 CPUs has less.
const SAMPLE_MAX: usize = 4 << 20;
/// The files of a sample; those that a kernel does not have are left out.
const FILES: &str = "/proc/stat /proc/meminfo /proc/vmstat /proc/net/snmp /proc/net/netstat /proc/net/dev \
                     /proc/net/sockstat /proc/net/sockstat6 /proc/net/softnet_stat \
                     /proc/net/stat/nf_conntrack /proc/net/stat/arp_cache /proc/pressure/cpu \
                     /proc/pressure/io /proc/pressure/memory /proc/sys/net/ipv4/tcp_mem \
                     /proc/sys/net/netfilter/nf_conntrack_count /proc/sys/net/netfilter/nf_conntrack_max \
                     /proc/sys/net/core/somaxconn";

/// Files that are read once, before the first sample.
const CONSTANT_FILES: &str = "/sys/devices/system/cpu/cpu*/topology/thread_siblings_list";

/// Returns commands for a POSIX shell that print a sample each `interval` until they are ended. The
/// host needs no program of ours; without `ss`, listeners are missing.
pub fn remote_sampler(interval: Nanos) -> String {
    let seconds = interval.as_secs_f64();
    format!(
        "for f in {CONSTANT_FILES}; do [ -r $f ] && {{ echo \"{FILE}$f\"; cat $f; }}; done 2>/dev/null; \
         while :; do for f in {FILES}; do [ -r $f ] && {{ echo \"{FILE}$f\"; cat $f; }}; done 2>/dev/null; \
         echo \"{FILE}{LISTENERS}\"; ss -Hltn 2>/dev/null; echo {SAMPLE_END}; sleep {seconds}; done"
    )
}

/// Reads the lines of [`remote_sampler`].
#[derive(Clone, Debug, Default)]
pub struct RemoteSampler {
    /// Files of the sample that is not complete.
    files: BTreeMap<String, String>,
    current: String,
    bytes: usize,
    before: Option<Counters>,
    machine: MachineCounters,
}

impl RemoteSampler {
    /// Adds a line. Returns the sample that it completes, with the time `at`; `None` also if the
    /// sample lacks the host's CPUs.
    pub fn add(&mut self, line: &str, at: Nanos) -> Option<HostSample> {
        if line == SAMPLE_END {
            let files = std::mem::take(&mut self.files);
            self.bytes = 0;
            return self.sample(&files, at);
        }
        if let Some(file) = line.strip_prefix(FILE) {
            file.clone_into(&mut self.current);
        } else if self.bytes + line.len() < SAMPLE_MAX {
            self.bytes += line.len() + 1;
            let text = self.files.entry(self.current.clone()).or_default();
            text.push_str(line);
            text.push('\n');
        }
        None
    }

    fn sample(&mut self, files: &BTreeMap<String, String>, at: Nanos) -> Option<HostSample> {
        let text = |name: &str| files.get(name).map_or("", String::as_str);
        let cores = parse::cores(text("/proc/stat"));
        if cores.is_empty() {
            return None;
        }
        let net = net_files::sample(|name| text(&format!("/proc/net/{name}")).to_owned(), at);
        let mut now = Counters::new();
        for file in ["snmp", "netstat"] {
            counter_text::add_protocols(text(&format!("/proc/net/{file}")), &mut now);
        }
        counter_text::add_interfaces(text("/proc/net/dev"), &mut now);
        counter_text::add_conntrack(text("/proc/net/stat/nf_conntrack"), &mut now);
        self.machine.add(|name| text(name).to_owned(), &mut now);
        counter_text::remove_traffic(&mut now);
        let rises = self.before.as_ref().map(|before| counter_text::rises(&now, before)).unwrap_or_default();
        self.before = Some(now);
        let listeners = listeners(text(LISTENERS));
        let memory = |name: &str| parse::memory_bytes(text("/proc/meminfo"), name).unwrap_or(0);
        let mut levels = Vec::new();
        let mut level = |resource: &str, used: Option<u64>, max: Option<u64>| {
            if let (Some(used), Some(max)) = (used, max) {
                levels.extend([(format!("{resource}.max"), max), (format!("{resource}.used"), used)]);
            }
        };
        let number = |name: &str| parse::number(text(&format!("/proc/sys/net/netfilter/{name}")));
        level("conntrack", number("nf_conntrack_count"), number("nf_conntrack_max"));
        let pages = parse::three_numbers(text("/proc/sys/net/ipv4/tcp_mem")).map(|all| all[2]);
        level("tcp_memory", Some(net.tcp_mem_pages), pages);
        let somaxconn = parse::number(text("/proc/sys/net/core/somaxconn"));
        levels.extend(somaxconn.map(|most| ("somaxconn".to_owned(), most)));
        levels.sort();
        let counters = HostCounters { rises, levels, listeners, ..HostCounters::default() };
        Some(HostSample {
            accept_queue: counters.listeners.first().map_or(0, |listener| listener.queue),
            mem_free_bytes: memory("MemFree:"),
            mem_available_bytes: memory("MemAvailable:"),
            slab_bytes: memory("Slab:"),
            mem_used_bytes: memory("MemTotal:").saturating_sub(memory("MemAvailable:")),
            mem_all_bytes: memory("MemTotal:"),
            swap_bytes: memory("SwapTotal:").saturating_sub(memory("SwapFree:")),
            cores,
            counters,
            ..net
        })
    }
}

/// Reads the lines of `ss -Hltn`: state, receive queue, send queue, local address. Of sockets with
/// one address, the longest queue counts.
fn listeners(text: &str) -> Vec<ListenerSample> {
    let mut all: Vec<ListenerSample> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["LISTEN", queue, limit, local, ..] = words.as_slice() else { continue };
        let (Ok(queue), Ok(limit), Some(address)) = (queue.parse(), limit.parse(), address(local)) else {
            continue;
        };
        match all.iter_mut().find(|known| known.address == address) {
            Some(known) if known.queue >= queue => {}
            Some(known) => (known.queue, known.limit) = (queue, limit),
            None => all.push(ListenerSample { address, queue, limit, drops: 0 }),
        }
    }
    all.sort_by_key(|listener| (std::cmp::Reverse(listener.queue), listener.address));
    all.truncate(LISTENERS_MAX);
    all
}

/// Reads `0.0.0.0:80`, `127.0.0.1%lo:53`, `[::]:80` or `*:80`, which is any address of both
/// families.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.rsplit_once(':')?;
    let port = port.parse().ok()?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = host.split_once('%').map_or(host, |(host, _)| host);
    let ip = if host == "*" { Ipv6Addr::UNSPECIFIED.into() } else { host.parse().ok()? };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recorded sample of a host, with counters raised by `more`.
    fn lines(more: u64) -> String {
        format!(
            "{FILE}/proc/stat\ncpu  {0} 0 0 {0}\ncpu0 {0} 0 0 100 0 0 0 0\n\
             {FILE}/sys/devices/system/cpu/cpu0/topology/thread_siblings_list\n0-1\n\
             {FILE}/proc/meminfo\nMemTotal: 4000 kB\nMemAvailable: 3000 kB\n\
             {FILE}/proc/net/netstat\nTcpExt: ListenOverflows ListenDrops\nTcpExt: {0} {0}\n\
             {FILE}/proc/net/snmp\nTcp: ActiveOpens CurrEstab\nTcp: {0} 7\n\
             {FILE}/proc/net/sockstat\nTCP: inuse 5 orphan 0 tw 3 alloc 9 mem 12\n\
             {FILE}/proc/net/dev\nInter-|\n face |\n eth0: 100 1 0 {0} 0 0 0 0 50 1 0 0 0 0 0 0\n\
             {FILE}/proc/sys/net/ipv4/tcp_mem\n100\t200\t300\n\
             {FILE}/proc/sys/net/netfilter/nf_conntrack_count\n11\n\
             {FILE}/proc/sys/net/netfilter/nf_conntrack_max\n1000\n\
             {FILE}/proc/sys/net/core/somaxconn\n4096\n\
             {FILE}ss\nLISTEN 9 8 0.0.0.0:8080 0.0.0.0:*\nLISTEN 0 128 [::1]:22 [::]:*\nLISTEN 1 5 *:80 *:*\n{SAMPLE_END}\n",
            100 + more
        )
    }

    #[test]
    fn recorded_lines_are_samples() {
        let mut sampler = RemoteSampler::default();
        let mut read = |more, at| {
            let text = lines(more);
            let all: Vec<_> = text.lines().filter_map(|line| sampler.add(line, at)).collect();
            all.into_iter().next().expect("a sample")
        };
        let first = read(0, Nanos::ZERO);
        assert!(first.counters.rises.is_empty(), "{first:?}");
        let second = read(30, Nanos::SECOND);
        assert_eq!(second.counters.rise("TcpExt.ListenOverflows"), 30, "{second:?}");
        assert_eq!(second.counters.rise("dev.eth0.rx_drops"), 30, "{second:?}");
        assert_eq!((second.tcp_established, second.tcp_tw, second.listen_overflows), (7, 3, 130));
        assert_eq!((second.mem_used_bytes, second.mem_all_bytes), (1_024_000, 4_096_000));
        assert_eq!(second.counters.level("conntrack.used"), 11);
        assert_eq!(second.counters.level("tcp_memory.max"), 300);
        assert_eq!(second.counters.level("somaxconn"), 4_096);
        assert_eq!((second.net_in_bytes, second.net_out_bytes, second.accept_queue), (100, 50, 9));
        let full =
            second.counters.listeners.first().map(|one| (one.address.to_string(), one.queue, one.limit));
        assert_eq!(full, Some(("0.0.0.0:8080".to_owned(), 9, 8)));
        assert_eq!(second.counters.listeners.len(), 3, "{second:?}");
        assert_eq!(second.cpu_since(&first), Some(1.0));
    }

    #[test]
    fn foreign_text_is_no_sample() {
        let mut sampler = RemoteSampler::default();
        for line in ["bash: while: command not found", SAMPLE_END, "x", SAMPLE_END] {
            assert_eq!(sampler.add(line, Nanos::ZERO), None);
        }
        assert_eq!(address("nonsense"), None);
        assert_eq!(address("127.0.0.1%lo:53"), Some(SocketAddr::from(([127, 0, 0, 1], 53))));
    }

    #[test]
    fn a_shell_of_this_host_prints_a_sample() {
        // One round of the loop.
        let script = remote_sampler(Nanos::SECOND).replace("; sleep 1; done", "; break; done");
        let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
        let text = String::from_utf8_lossy(&output.stdout);
        let mut sampler = RemoteSampler::default();
        let sample = text.lines().find_map(|line| sampler.add(line, Nanos(5))).expect("a sample");
        assert!(sample.at == Nanos(5) && !sample.cores.is_empty() && sample.mem_all_bytes > 0, "{sample:?}");
    }
}
