//! Settings that only files are judged for: those of former kernels, names, and orders of numbers.

use crate::finding::found;
use crate::{Judgement, Verdict};

/// Settings without any effect: the key, why, and what to write.
const WITHOUT_EFFECT: [(&str, &str); 8] = [
    ("net.ipv4.tcp_low_latency", "the kernel ignores it since Linux 4.14"),
    ("net.ipv4.tcp_fack", "the kernel ignores it since Linux 4.15, which uses RACK"),
    ("net.ipv4.route.max_size", "the kernel has no cache of IPv4 routes since Linux 3.6"),
    ("net.ipv4.route.gc_timeout", "the kernel has no cache of IPv4 routes since Linux 3.6"),
    ("net.ipv4.route.gc_interval", "the kernel has no cache of IPv4 routes since Linux 3.6"),
    ("net.ipv4.tcp_dma_copybreak", "the kernel has no offload engine for copies since Linux 3.13"),
    ("net.ipv4.tcp_max_ssthresh", "the kernel has no such limit since Linux 4.0"),
    ("net.ipv4.tcp_frto_response", "the kernel has no such choice since Linux 3.10"),
];

/// Settings that kernels no longer have: the key, since when, and what to write.
const REMOVED: [(&str, &str, &str); 7] = [
    ("net.ipv4.ip_conntrack_max", "2.6.22", "write net.netfilter.nf_conntrack_max"),
    (
        "net.ipv4.netfilter.ip_conntrack_tcp_timeout_established",
        "2.6.22",
        "write net.netfilter.nf_conntrack_tcp_timeout_established",
    ),
    ("kernel.sched_min_granularity_ns", "5.13", "remove the line: /sys/kernel/debug/sched has its successor"),
    (
        "kernel.sched_wakeup_granularity_ns",
        "5.13",
        "remove the line: /sys/kernel/debug/sched has its successor",
    ),
    ("kernel.sched_latency_ns", "5.13", "remove the line: /sys/kernel/debug/sched has its successor"),
    ("vm.nr_pdflush_threads", "4.0", "remove the line"),
    ("net.ipv4.inet_peer_gc_mintime", "3.2", "remove the line"),
];

const CONGESTION: [&str; 18] = [
    "bbr",
    "bbr2",
    "bbr3",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
];
const QUEUES: [&str; 17] = [
    "bfifo",
    "cake",
    "codel",
    "drr",
    "fq",
    "fq_codel",
    "fq_pie",
    "hhf",
    "mq",
    "mqprio",
    "noqueue",
    "pfifo",
    "pfifo_fast",
    "pie",
    "prio",
    "red",
    "sfq",
];

/// Judges a line; `None` if no rule is about it.
pub(super) fn judge(key: &str, value: &str) -> Option<Judgement> {
    if let Some((_, why)) = WITHOUT_EFFECT.into_iter().find(|(known, _)| *known == key) {
        return found(Verdict::NoEffect, why, "remove the line");
    }
    if let Some((_, version, hint)) = REMOVED.into_iter().find(|(known, ..)| *known == key) {
        return found(
            Verdict::Obsolete,
            format!("Linux {version} removed it, so sysctl cannot find it"),
            hint,
        );
    }
    let numbers: Vec<u64> = value.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let first = numbers.first().copied();
    match key {
        "net.ipv4.ip_local_port_range" => reversed(&numbers),
        "net.ipv4.tcp_mem" | "net.ipv4.tcp_rmem" | "net.ipv4.tcp_wmem" => unordered(key, &numbers),
        "net.ipv4.tcp_congestion_control" => unknown(value, "congestion control", &CONGESTION),
        "net.core.default_qdisc" => unknown(value, "queue", &QUEUES),
        "net.ipv4.tcp_sack" if first == Some(0) => found(
            Verdict::Harmful,
            "without selective acknowledgements, one lost packet costs a round trip each",
            "write 1",
        ),
        "net.ipv4.tcp_abort_on_overflow" if first == Some(1) => found(
            Verdict::Harmful,
            "a burst that fills an accept queue resets connections, which could have waited",
            "write 0, and raise the backlog",
        ),
        "net.ipv4.tcp_retries2" if first.is_some_and(|count| count < 8) => found(
            Verdict::Harmful,
            "connections end after a short outage: RFC 1122 asks for at least 100 s, which are 8 retries",
            "write 8 or more; 15 is the default",
        ),
        "net.ipv4.tcp_keepalive_intvl" if first.is_some_and(|seconds| seconds < 5) => found(
            Verdict::Lowers,
            "probes of idle connections follow so fast that a short pause ends them",
            "write 15 to 75",
        ),
        "net.netfilter.nf_conntrack_tcp_timeout_established"
            if first.is_some_and(|seconds| seconds < 120) =>
        {
            found(
                Verdict::Harmful,
                "a firewall forgets connections after that silence, and drops their next packet",
                "write more than the longest silence of a connection; 432000 is the default",
            )
        }
        "vm.overcommit_memory" if first == Some(2) => found(
            Verdict::Conflict,
            "fork and large allocations fail although memory is free",
            "write 0, unless swap is sized for it",
        ),
        "kernel.pid_max" | "kernel.threads-max" if first.is_some_and(|most| most < 32_768) => found(
            Verdict::Lowers,
            "the whole host may have fewer processes and threads than by default",
            "remove the line",
        ),
        _ => None,
    }
}

fn reversed(numbers: &[u64]) -> Option<Judgement> {
    let [first, last] = numbers else { return None };
    (first > last).then(|| {
        let sentence = format!("the kernel rejects a range from {first} down to {last}");
        Judgement::new(Verdict::Rejected, sentence, "write 1024 65535")
    })
}

/// Least, default and greatest value.
fn unordered(key: &str, numbers: &[u64]) -> Option<Judgement> {
    let [least, middle, most] = numbers else { return None };
    (least > middle || middle > most).then(|| {
        let (sentence, hint) = if key == "net.ipv4.tcp_mem" {
            (
                "the three numbers are low, pressure and high, which must rise",
                "write 20 %, 30 % and 40 % of memory in pages",
            )
        } else {
            (
                "the three numbers are least, first and greatest buffer, which must rise",
                "write 4096 131072 16777216",
            )
        };
        Judgement::new(Verdict::Harmful, sentence, hint)
    })
}

/// A name that is near a known one. Modules may have any other.
fn unknown(value: &str, kind: &str, known: &[&str]) -> Option<Judgement> {
    if known.contains(&value) || value.len() < 3 {
        return None;
    }
    let near = known.iter().find(|known| strsim::damerau_levenshtein(value, known) == 1)?;
    let sentence = format!("no {kind} is called `{value}`, so the kernel rejects it");
    found(Verdict::Rejected, sentence, format!("did you mean {near}?"))
}
