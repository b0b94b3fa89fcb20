//! Causes that a single counter shows, where nothing more specific was found.

use super::cause::{Cause, Rank, evidence};
use super::host::Hosts;
use crate::{Blame, Finding};

/// A rule about counters of one host.
struct Rule {
    code: &'static str,
    /// The first counter is the evidence; the others are alternatives.
    counters: &'static [&'static str],
    /// Fewer are no cause.
    min: u64,
    /// The side; `None`: that of the host.
    blame: Option<Blame>,
    message: fn(&str) -> String,
    hint: &'static str,
}

const RULES: [Rule; 8] = [
    Rule {
        code: "conntrack_full",
        counters: &["conntrack.drop", "conntrack.early_drop"],
        min: 1,
        blame: None,
        message: |host| format!("the connection tracking table of {host} was full: it dropped packets"),
        hint: "do not track the service port (nft: `notrack`), or raise net.netfilter.nf_conntrack_max and \
               nf_conntrack_buckets on the machine (a file in /etc/sysctl.d keeps them after a reboot)",
    },
    Rule {
        code: "syn_queue_full",
        counters: &["TcpExt.TCPReqQFullDrop", "TcpExt.TCPReqQFullDoCookies"],
        min: 10,
        blame: None,
        message: |host| {
            format!("connections to {host} were not completed: its queue of half-open connections was full")
        },
        hint: "find why clients' acknowledgements do not arrive (return path, direct routing, loss), then raise `backlog` \
               of listen",
    },
    Rule {
        code: "reverse_path_filter",
        counters: &["TcpExt.IPReversePathFilter"],
        min: 1,
        blame: Some(Blame::Network),
        message: |host| format!("{host} dropped packets from sources without a route back on that interface"),
        hint: "add the return route, or set net.ipv4.conf.all.rp_filter=2 and that of the interface",
    },
    Rule {
        code: "bad_checksums",
        counters: &["Tcp.InCsumErrors"],
        min: 1,
        blame: Some(Blame::Network),
        message: |host| format!("{host} received TCP segments with a wrong checksum"),
        hint: "turn off transmit offload where packets are forwarded by XDP (ethtool -K IFACE tx off)",
    },
    Rule {
        code: "tcp_memory",
        counters: &["TcpExt.TCPMemoryPressures", "TcpExt.PruneCalled", "TcpExt.TCPAbortOnMemory"],
        min: 1,
        blame: None,
        message: |host| format!("TCP on {host} ran short of memory"),
        hint: "find the sockets that are not read; raise net.ipv4.tcp_mem (in pages) and tcp_rmem",
    },
    Rule {
        code: "socket_backlog",
        counters: &["TcpExt.TCPBacklogDrop", "TcpExt.TCPRcvQDrop", "TcpExt.TCPOFODrop"],
        min: 10,
        blame: None,
        message: |host| format!("sockets of {host} dropped packets because their program was slow to read"),
        hint: "less work for each read, more connections, or a larger net.ipv4.tcp_rmem",
    },
    Rule {
        code: "slow_reader",
        counters: &["TcpExt.TCPToZeroWindowAdv", "TcpExt.TCPWantZeroWindowAdv"],
        min: 10,
        blame: None,
        message: |host| format!("programs on {host} read more slowly than data arrives"),
        hint: "give the reader more CPU, or a larger net.ipv4.tcp_rmem",
    },
    Rule {
        code: "delayed_acks",
        counters: &["TcpExt.DelayedACKs"],
        min: 100,
        blame: None,
        message: |host| {
            format!("{host} waited 40 ms to acknowledge: its peer sends responses in several small writes")
        },
        hint: "set TCP_NODELAY on the server (nginx: `tcp_nodelay on`), or write each response in one call",
    },
];

/// Returns the first of the rules that a host under test matches.
pub(super) fn causes(hosts: &Hosts<'_>) -> Vec<Cause> {
    RULES.iter().find_map(|rule| cause(hosts, rule)).into_iter().collect()
}

fn cause(hosts: &Hosts<'_>, rule: &Rule) -> Option<Cause> {
    let sum = |host: &super::host::Host<'_>| rule.counters.iter().map(|name| host.rise(name)).sum();
    let (host, most) = hosts.highest(sum)?;
    // Acknowledgements are delayed in any idle connection; one for each request is a pattern.
    let each_request = rule.code != "delayed_acks" || most >= hosts.case.judged.counters.done / 2;
    (most >= rule.min && each_request).then(|| Cause {
        rank: Rank::Counter,
        finding: Finding {
            code: rule.code,
            blame: rule.blame.unwrap_or_else(|| host.blame()),
            decisive: false,
            message: (rule.message)(host.name()),
            evidence: evidence(
                rule.counters.iter().map(|name| host.moved(name)).chain([hosts.clients(), host.unmoved()]),
            ),
            hint: rule.hint.to_owned(),
        },
        covers: &[],
    })
}
