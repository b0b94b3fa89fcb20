//! Causes that a single counter shows, where nothing more specific was found.

use wavetank_units::{Sentence, phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts, Role};
use crate::{Blame, Finding, FindingCode};

/// A rule about counters of one host.
struct Rule {
    code: FindingCode,
    /// The first counter is the evidence; the others are alternatives.
    counters: &'static [&'static str],
    /// Fewer are no cause.
    min: u64,
    /// The side; `None`: that of the host.
    blame: Option<Blame>,
    message: fn(&str) -> Sentence,
    hint: Sentence,
}

/// Fewer pages are moved to swap by any host with little to do.
const SWAPPED_PAGES_MIN: u64 = 1_000;

/// Rules about programs that accept connections, which say nothing of a host that sends the load.
const OF_SERVERS: [FindingCode; 2] = [FindingCode::SynQueueFull, FindingCode::DelayedAcks];
/// One delayed acknowledgement in this many responses is a pattern.
const DELAYED_ACKS_EACH: u64 = 4;
/// Most delayed acknowledgements of one response: those of its writes at both ends.
const DELAYED_ACKS_MAX: u64 = 4;

static RULES: [Rule; 15] = [
    Rule {
        code: FindingCode::ConntrackFull,
        counters: &["conntrack.drop", "conntrack.early_drop"],
        min: 1,
        blame: None,
        message: |host| sentence!("the connection tracking table of {host} was full: it dropped packets"),
        hint: phrase!(
            "do not track the service port (nft: `notrack`), or raise net.netfilter.nf_conntrack_max and \
               nf_conntrack_buckets on the machine (a file in /etc/sysctl.d keeps them after a reboot)"
        ),
    },
    Rule {
        code: FindingCode::SynQueueFull,
        counters: &["TcpExt.TCPReqQFullDrop", "TcpExt.TCPReqQFullDoCookies"],
        min: 10,
        blame: None,
        message: |host| {
            sentence!("connections to {host} were not completed: its queue of half-open connections was full")
        },
        hint: phrase!(
            "find why clients' acknowledgements do not arrive (return path, direct routing, loss, a flood of SYNs), keep \
               net.ipv4.tcp_syncookies=1, and raise `backlog` of listen"
        ),
    },
    Rule {
        code: FindingCode::ReversePathFilter,
        counters: &["TcpExt.IPReversePathFilter"],
        min: 1,
        blame: Some(Blame::Network),
        message: |host| {
            sentence!("{host} dropped packets from sources without a route back on that interface")
        },
        hint: phrase!("add the return route, or set net.ipv4.conf.all.rp_filter=2 and that of the interface"),
    },
    Rule {
        code: FindingCode::BadChecksums,
        counters: &["Tcp.InCsumErrors"],
        min: 1,
        blame: Some(Blame::Network),
        message: |host| sentence!("{host} received TCP segments with a wrong checksum"),
        hint: phrase!(
            "turn off transmit offload where packets are forwarded by XDP (ethtool -K IFACE tx off)"
        ),
    },
    Rule {
        code: FindingCode::TcpMemory,
        counters: &["TcpExt.TCPMemoryPressures", "TcpExt.PruneCalled", "TcpExt.TCPAbortOnMemory"],
        min: 1,
        blame: None,
        message: |host| sentence!("TCP on {host} ran short of memory"),
        hint: phrase!("find the sockets that are not read; raise net.ipv4.tcp_mem (in pages) and tcp_rmem"),
    },
    Rule {
        code: FindingCode::OutOfMemory,
        counters: &["cgroup.oom_kill", "vm.oom_kill"],
        min: 1,
        blame: None,
        message: |host| sentence!("the kernel of {host} ended a process because memory ran out"),
        hint: phrase!(
            "look for `Out of memory` in `dmesg` to see which process it was; give the host more memory, or limit \
               connections and buffers of the server"
        ),
    },
    Rule {
        code: FindingCode::Swapping,
        counters: &["vm.pswpin", "vm.pswpout"],
        min: SWAPPED_PAGES_MIN,
        blame: None,
        message: |host| sentence!("{host} moved memory to swap and back: processes waited for it"),
        hint: phrase!(
            "less memory for each connection (buffers), more memory, or vm.swappiness=1 (a file in /etc/sysctl.d \
               keeps it after a reboot)"
        ),
    },
    Rule {
        code: FindingCode::PacketsDropped,
        counters: &["softnet.dropped"],
        min: 10,
        blame: None,
        message: |host| sentence!("the kernel of {host} dropped packets that its CPUs did not take in time"),
        hint: phrase!(
            "spread packets over more CPUs (ethtool -L, RPS), use fewer firewall rules, then raise \
               net.core.netdev_max_backlog (a file in /etc/sysctl.d keeps it after a reboot)"
        ),
    },
    Rule {
        code: FindingCode::SoftirqOneCpu,
        counters: &["softirq.cpu_full"],
        min: 3,
        blame: None,
        message: |host| sentence!("one CPU of {host} did nothing but network work of the kernel"),
        hint: phrase!(
            "spread packets over more CPUs: more queues (ethtool -L), IRQ affinity or irqbalance, or RPS \
               (/sys/class/net/IFACE/queues/rx-0/rps_cpus)"
        ),
    },
    Rule {
        code: FindingCode::SmtSiblings,
        counters: &["smt.siblings_full"],
        min: 3,
        blame: None,
        message: |host| {
            sentence!("both hardware threads of a core of {host} were busy while another core was idle")
        },
        hint: phrase!(
            "one worker for each core, on the first hardware thread of each (nginx: worker_cpu_affinity; HAProxy: \
               cpu-map; systemd: CPUAffinity=), and interrupts on the others; /sys/devices/system/cpu/cpu*/topology/thread_siblings_list \
               lists them"
        ),
    },
    Rule {
        code: FindingCode::NeighboursFull,
        counters: &["neighbours.table_full"],
        min: 1,
        blame: None,
        message: |host| {
            sentence!("the table of neighbours of {host} was full: it could not address new hosts")
        },
        hint: phrase!(
            "route the source addresses through one gateway (ip route add NETWORK via ADDRESS), or raise \
               net.ipv4.neigh.default.gc_thresh3 to four times the number of neighbours"
        ),
    },
    Rule {
        code: FindingCode::UdpBufferFull,
        counters: &["Udp.RcvbufErrors", "Udp6.RcvbufErrors"],
        min: 10,
        blame: None,
        message: |host| sentence!("{host} dropped datagrams: the receive buffer of a socket was full"),
        hint: phrase!(
            "read faster: more sockets on the port (SO_REUSEPORT), more threads, or several datagrams in one call \
               (recvmmsg); for bursts a larger buffer (SO_RCVBUF, net.core.rmem_max and rmem_default)"
        ),
    },
    Rule {
        code: FindingCode::SocketBacklog,
        counters: &["TcpExt.TCPBacklogDrop", "TcpExt.TCPRcvQDrop", "TcpExt.TCPOFODrop"],
        min: 10,
        blame: None,
        message: |host| sentence!("sockets of {host} dropped packets because their program was slow to read"),
        hint: phrase!("less work for each read, more connections, or a larger net.ipv4.tcp_rmem"),
    },
    Rule {
        code: FindingCode::SlowReader,
        counters: &["TcpExt.TCPToZeroWindowAdv", "TcpExt.TCPWantZeroWindowAdv"],
        min: 10,
        blame: None,
        message: |host| sentence!("programs on {host} read more slowly than data arrives"),
        hint: phrase!("give the reader more CPU, or a larger net.ipv4.tcp_rmem"),
    },
    Rule {
        code: FindingCode::DelayedAcks,
        counters: &["TcpExt.DelayedACKs"],
        min: 100,
        blame: None,
        message: |host| {
            sentence!("{host} sends in several small writes, and its peer waits 40 ms to acknowledge each")
        },
        hint: phrase!(
            "set TCP_NODELAY on its connections (nginx: `tcp_nodelay on`; HAProxy: `option http-no-delay`), or write \
               each response in one call"
        ),
    },
];

/// Returns the first of the rules that a host under test matches, or the host that sends the load.
pub(super) fn causes(hosts: &Hosts<'_>) -> Vec<Cause> {
    RULES.iter().find_map(|rule| cause(hosts, rule)).into_iter().collect()
}

fn cause(hosts: &Hosts<'_>, rule: &Rule) -> Option<Cause> {
    let sum = |host: &Host<'_>| -> u64 { rule.counters.iter().map(|name| host.rise(name)).sum() };
    let senders = hosts.senders().filter(|_| !OF_SERVERS.contains(&rule.code));
    let own = senders.map(|host| (host, sum(&host))).filter(|(_, most)| *most >= rule.min);
    let own = own.max_by_key(|(_, most)| *most);
    let is_of_pair = rule.code == FindingCode::DelayedAcks;
    // The load's hosts in a lab wait for the data of others.
    let loads = hosts.with_role(Role::Load).filter(|host| is_of_pair && !host.sends());
    let waiting = loads.map(|host| (host, sum(&host))).filter(|(_, most)| *most >= rule.min);
    let waiting = waiting.max_by_key(|(_, most)| *most);
    let (host, most) = waiting.or(hosts.highest(sum).filter(|(_, most)| *most >= rule.min)).or(own)?;
    // Acknowledgements are delayed in any idle connection, and far more are those of other
    // programs.
    let done = hosts.case.judged.counters.done;
    let each_request = !is_of_pair || (done / DELAYED_ACKS_EACH..=done * DELAYED_ACKS_MAX).contains(&most);
    // Where no request was sent, programs of others are the slow ones.
    let has_sent = rule.code != FindingCode::SlowReader || hosts.case.judged.counters.sent > 0;
    let waiting = if rule.code == FindingCode::SlowReader { hosts.waiting_for_receivers() } else { None };
    let named = if is_of_pair { hosts.writer_to(&host)? } else { host };
    (most >= rule.min && each_request && has_sent).then(|| Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of(rule.code, hosts, &named),
            code: rule.code,
            blame: rule.blame.unwrap_or_else(|| named.blame()),
            decisive: false,
            message: (rule.message)(named.name()),
            evidence: evidence(rule.counters.iter().map(|name| host.moved(name)).chain([
                waiting,
                hosts.clients(),
                host.unmoved(),
            ])),
            hint: rule.hint.clone(),
        },
        covers: &[],
    })
}
