//! Counters of a network namespace: `snmp`, `netstat`, `dev`, `tcp` and `sockstat` of
//! `/proc/PID/net`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use wavetank_measure::HostSample;
use wavetank_units::Nanos;

use crate::sockstat::sockstat;
use crate::{parse, read};

/// Lines of `/proc/net/tcp` to read. Listeners come first, and no host has more of them than this.
const LISTENERS_MAX: usize = 4_096;

/// The files of one namespace.
#[derive(Clone, Debug)]
pub(crate) struct NetFiles {
    folder: PathBuf,
}

impl NetFiles {
    /// Returns the files of this process's namespace.
    pub(crate) fn for_self() -> Self {
        Self { folder: PathBuf::from("/proc/net") }
    }

    /// Returns the files of the namespace of process `pid`.
    pub(crate) fn for_pid(pid: u32) -> Self {
        Self { folder: Path::new("/proc").join(pid.to_string()).join("net") }
    }

    /// Samples only sockets and interfaces, at the time given by `now`. The cost does not depend on
    /// their number. Returns `None` if there is no such process.
    pub(crate) fn sample(&self, now: impl Fn() -> Nanos) -> Option<HostSample> {
        let text = |name: &str| read::text(self.folder.join(name)).unwrap_or_default();
        let sockets = read::text(self.folder.join("sockstat"))?;
        let at = now();
        Some(sample(|name| if name == "sockstat" { sockets.clone() } else { text(name) }, at))
    }

    /// Returns the number of connections in the longest accept queue, for kernels that cannot be
    /// queried for it. Here the kernel walks over the sockets of all namespaces to find it.
    pub(crate) fn longest_accept_queue(&self) -> u64 {
        let longest = |name: &str| {
            let file = File::open(self.folder.join(name)).ok()?;
            let lines = BufReader::new(file).lines().map_while(Result::ok).skip(1).take(LISTENERS_MAX);
            lines.map_while(|line| accept_queue(&line)).max()
        };
        ["tcp", "tcp6"].into_iter().filter_map(longest).max().unwrap_or(0)
    }
}

/// Returns the sockets and interfaces of a namespace with the files that `text` returns.
pub(crate) fn sample(text: impl Fn(&str) -> String, at: Nanos) -> HostSample {
    let tcp = sockstat(&text("sockstat"), &text("sockstat6"));
    let (snmp, netstat) = (text("snmp"), text("netstat"));
    let (net_in_bytes, net_out_bytes) = interface_bytes(&text("dev"));
    HostSample {
        at,
        tcp_inuse: tcp.inuse + tcp.inuse6,
        tcp6_inuse: tcp.inuse6,
        tcp_orphan: tcp.orphan,
        tcp_tw: tcp.tw,
        tcp_alloc: tcp.alloc,
        tcp_mem_pages: tcp.mem_pages,
        tcp_established: counter(&snmp, "Tcp:", "CurrEstab").unwrap_or(0),
        listen_overflows: counter(&netstat, "TcpExt:", "ListenOverflows").unwrap_or(0),
        net_in_bytes,
        net_out_bytes,
        ..HostSample::default()
    }
}

/// Returns the counter `name` of the group `title`. The text consists of pairs of lines: names,
/// then numbers in the same order (`proc_net(5)`, snmp and netstat).
fn counter(text: &str, title: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(title));
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let mut pairs = names.split_whitespace().zip(values.split_whitespace());
        if let Some((_, value)) = pairs.find(|(known, _)| *known == name) {
            return value.parse().ok();
        }
    }
    None
}

/// Returns bytes received and sent by all interfaces except `lo`, from `/proc/net/dev`. The file
/// has two title lines, then one line per interface: its name with a colon, eight numbers for
/// receiving (bytes first) and eight for sending.
fn interface_bytes(text: &str) -> (u64, u64) {
    let interface = |line: &str| {
        let (name, numbers) = line.split_once(':')?;
        let mut numbers = numbers.split_whitespace().map(str::parse::<u64>);
        let received = numbers.next()?.ok()?;
        let sent = numbers.nth(7)?.ok()?;
        (name.trim() != "lo").then_some((received, sent))
    };
    let all = text.lines().skip(2).filter_map(interface);
    all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Returns the connections that wait to be accepted, from a listener's line of `/proc/net/tcp` or
/// `tcp6`. It is the receive queue, in hexadecimal (`proc_net_tcp`: `sl local_address rem_address
/// st tx_queue:rx_queue …`). Returns `None` for other sockets.
fn accept_queue(line: &str) -> Option<u64> {
    parse::listened_port(line)?;
    let queues = line.split_whitespace().nth(4)?;
    u64::from_str_radix(queues.split_once(':')?.1, 16).ok()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn counters_are_found_by_name() {
        let text =
            "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 22 3\nIpExt: InOctets\nIpExt: 9\n";
        assert_eq!(counter(text, "TcpExt:", "ListenOverflows"), Some(22));
        assert_eq!(counter(text, "IpExt:", "InOctets"), Some(9));
        assert_eq!(counter(text, "TcpExt:", "Unknown"), None);
        assert_eq!(counter("TcpExt: a\n", "TcpExt:", "a"), None);
    }

    #[test]
    fn interfaces_are_added_up_without_loopback() {
        let text = "Inter-|   Receive   |  Transmit\n face |bytes packets|bytes packets\n\
                    \x20   lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n  eth0: 100 2 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n\
                    eth1:1 2 0 0 0 0 0 0 70 1 0 0 0 0 0 0\n";
        assert_eq!(interface_bytes(text), (101, 77));
        assert_eq!(interface_bytes(""), (0, 0));
    }

    #[test]
    fn a_listener_s_queue_is_read() {
        let line = |state: &str| {
            format!("   0: 0100007F:1F90 00000000:0000 {state} 00000000:0000001A 00:00000000 00000000 0 0 1")
        };
        assert_eq!(accept_queue(&line("0A")), Some(26));
        assert_eq!(accept_queue(&line("01")), None);
    }

    #[test]
    fn this_namespace_counts_what_is_connected() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let before = NetFiles::for_self().sample(|| Nanos::ZERO).expect("/proc is mounted");
        let at = listener.local_addr().expect("it is bound");
        let peers: Vec<_> = (0..20).map(|_| TcpStream::connect(at).expect("it listens")).collect();
        let own = NetFiles::for_pid(std::process::id());
        let after = own.sample(|| Nanos(5)).expect("that is us");
        assert_eq!(after.at, Nanos(5));
        // Other tests connect and disconnect meanwhile; the connections that wait for us are not
        // accepted.
        assert!(own.longest_accept_queue() >= 20, "{after:?}");
        assert!(after.tcp_established >= 40, "{before:?} {after:?}");
        assert_eq!(peers.len(), 20);
        assert!(NetFiles::for_pid(u32::MAX).sample(|| Nanos::ZERO).is_none());
    }
}
