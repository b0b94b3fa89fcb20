//! Parsers of kernel texts with counters: the text in, counters by name out. Names go before
//! columns, because kernels add columns.

use std::collections::BTreeMap;

/// Values by name: `TcpExt.ListenOverflows`.
pub type Counters = BTreeMap<String, u64>;

/// Values of `snmp` and `netstat` that are no counters.
const NO_COUNTERS: [&str; 7] = [
    "Tcp.RtoAlgorithm",
    "Tcp.RtoMin",
    "Tcp.RtoMax",
    "Tcp.MaxConn",
    "Tcp.CurrEstab",
    "Ip.Forwarding",
    "Ip.DefaultTTL",
];
/// Counters that rise with any traffic and prove nothing. They would make up most of a sample.
const OF_ANY_TRAFFIC: [&str; 20] = [
    "TcpExt.TCPHPHits",
    "TcpExt.TCPHPAcks",
    "TcpExt.TCPPureAcks",
    "TcpExt.TCPAutoCorking",
    "TcpExt.TCPOrigDataSent",
    "TcpExt.TCPDelivered",
    "TcpExt.TCPRcvCoalesce",
    "TcpExt.TCPKeepAlive",
    "TcpExt.TCPAckCompressed",
    "TcpExt.DelayedACKLocked",
    "TcpExt.TW",
    "TcpExt.TCPHystartTrainDetect",
    "TcpExt.TCPHystartTrainCwnd",
    "TcpExt.TCPHystartDelayDetect",
    "TcpExt.TCPHystartDelayCwnd",
    "Ip.OutRequests",
    "Ip.OutTransmits",
    "Icmp.InMsgs",
    "Icmp.OutMsgs",
    "Tcp.InSegs",
];
/// Groups of counters that are read. `IpExt` repeats bytes and packets of the interfaces.
const GROUPS: [&str; 6] = ["Tcp", "TcpExt", "Ip", "Icmp", "Udp", "UdpLite"];

/// Adds the counters of `/proc/net/snmp` or `/proc/net/netstat`: pairs of lines, names and then
/// values in the same order (`proc_net(5)`). A line without its partner is left out.
pub fn add_protocols(text: &str, to: &mut Counters) {
    let mut lines = text.lines();
    while let Some(names) = lines.next() {
        let Some((group, names)) = names.split_once(':') else { continue };
        let Some(values) = lines.clone().next().and_then(|line| line.strip_prefix(group)) else { continue };
        let Some(values) = values.strip_prefix(':') else { continue };
        lines.next();
        if !GROUPS.contains(&group) {
            continue;
        }
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            let Ok(value) = value.parse() else { continue };
            let name = format!("{group}.{name}");
            if !NO_COUNTERS.contains(&name.as_str()) && !OF_ANY_TRAFFIC.contains(&name.as_str()) {
                to.insert(name, value);
            }
        }
    }
}

/// Columns of `/proc/net/dev` after the interface, in the order of the kernel since 2.2.
const DEV_COLUMNS: [&str; 16] = [
    "rx_bytes",
    "rx_packets",
    "rx_errors",
    "rx_drops",
    "rx_fifo",
    "rx_frame",
    "rx_compressed",
    "rx_multicast",
    "tx_bytes",
    "tx_packets",
    "tx_errors",
    "tx_drops",
    "tx_fifo",
    "tx_collisions",
    "tx_carrier",
    "tx_compressed",
];

/// Adds the counters of all interfaces but `lo` of `/proc/net/dev`, as `dev.eth0.rx_drops`.
pub fn add_interfaces(text: &str, to: &mut Counters) {
    for line in text.lines() {
        let Some((name, values)) = line.split_once(':') else { continue };
        let name = name.trim();
        if name == "lo" || name.contains('|') {
            continue;
        }
        for (column, value) in DEV_COLUMNS.iter().zip(values.split_whitespace()) {
            // Compressed and multicast packets say nothing about a limit.
            if let Ok(value) = value.parse()
                && !column.ends_with("compressed")
                && !column.ends_with("multicast")
            {
                to.insert(format!("dev.{name}.{column}"), value);
            }
        }
    }
}

/// Removes bytes and packets of interfaces: they rise with any traffic, and a sample has their sum.
pub fn remove_traffic(from: &mut Counters) {
    from.retain(|name, _| !name.ends_with("_bytes") && !name.ends_with("_packets"));
}

/// Adds what `/proc/net/softnet_stat` counts, of all CPUs and of each: `softnet.dropped`,
/// `softnet.squeezed`. Its columns are hexadecimal: processed, dropped, time squeeze, …
pub fn add_softnet(text: &str, to: &mut Counters) {
    for (row, line) in text.lines().enumerate() {
        let columns: Vec<_> =
            line.split_whitespace().map_while(|word| u64::from_str_radix(word, 16).ok()).collect();
        let &[_, dropped, squeezed, ..] = columns.as_slice() else { continue };
        // Since 5.10 the 13th column is the CPU; before, the row is.
        let cpu = columns.get(12).copied().unwrap_or(row as u64);
        for (name, value) in [("dropped", dropped), ("squeezed", squeezed)] {
            *to.entry(format!("softnet.{name}")).or_default() += value;
            to.insert(format!("softnet.cpu{cpu}.{name}"), value);
        }
    }
}

/// Adds `some` and `full` of a pressure file (PSI), in microseconds: `psi.cpu.some_us`.
pub fn add_pressure(resource: &str, text: &str, to: &mut Counters) {
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(kind @ ("some" | "full")), Some(total)) =
            (words.next(), words.find_map(|word| word.strip_prefix("total=")))
        else {
            continue;
        };
        if let Ok(total) = total.parse() {
            to.insert(format!("psi.{resource}.{kind}_us"), total);
        }
    }
}

/// Adds what `cpu.stat` of a control group of either version counts of its quota:
/// `cgroup.periods`, `cgroup.throttled_periods`, `cgroup.throttled_us`.
pub fn add_quota(text: &str, to: &mut Counters) {
    for line in text.lines() {
        let Some((name, value)) = line.split_once(' ') else { continue };
        let Ok(value) = value.trim().parse::<u64>() else { continue };
        let (name, value) = match name {
            "nr_periods" => ("periods", value),
            "nr_throttled" => ("throttled_periods", value),
            "throttled_usec" => ("throttled_us", value),
            "throttled_time" => ("throttled_us", value / 1_000),
            "oom_kill" => ("oom_kill", value),
            _ => continue,
        };
        to.insert(format!("cgroup.{name}"), value);
    }
}

/// Adds what `/proc/vmstat` counts of memory shortage: `vm.pswpin`, `vm.pswpout`, `vm.oom_kill`,
/// `vm.pgmajfault`.
pub fn add_memory_events(text: &str, to: &mut Counters) {
    for line in text.lines() {
        if let Some((name @ ("pswpin" | "pswpout" | "oom_kill" | "pgmajfault"), value)) = line.split_once(' ')
            && let Ok(value) = value.trim().parse()
        {
            to.insert(format!("vm.{name}"), value);
        }
    }
}

/// Adds the ticks of all CPUs by kind from `/proc/stat`: `cpu.user`, `cpu.system`, `cpu.softirq`,
/// `cpu.steal`, `cpu.iowait`, `cpu.idle`. Old kernels have fewer columns.
pub fn add_cpu(text: &str, to: &mut Counters) {
    let Some(line) = text.lines().find_map(|line| line.strip_prefix("cpu ")) else { return };
    let columns = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
    for (name, value) in columns.iter().zip(line.split_whitespace()) {
        if let Ok(value) = value.parse() {
            to.insert(format!("cpu.{name}"), value);
        }
    }
}

/// Returns the softirq ticks of each CPU in `/proc/stat`: the kernel's network work, by CPU number.
pub fn softirq_ticks(text: &str) -> BTreeMap<u32, u64> {
    let cpu = |line: &str| {
        let (name, values) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((name.parse().ok()?, values.split_whitespace().nth(6)?.parse().ok()?))
    };
    text.lines().filter_map(cpu).collect()
}

/// Adds how often the table of neighbours of `/proc/net/stat/arp_cache` was full:
/// `neighbours.table_full`. The file has a title line, then one line per CPU, in hexadecimal.
pub fn add_neighbours(text: &str, to: &mut Counters) {
    let mut lines = text.lines();
    let Some(title) = lines.next() else { return };
    let Some(column) = title.split_whitespace().position(|name| name == "table_fulls") else { return };
    let value = |line: &str| u64::from_str_radix(line.split_whitespace().nth(column)?, 16).ok();
    to.insert("neighbours.table_full".to_owned(), lines.filter_map(value).sum());
}

/// Adds what `/proc/net/stat/nf_conntrack` counts over all CPUs: `conntrack.drop`,
/// `conntrack.early_drop`, `conntrack.insert_failed`. A title line, then one line per CPU, in
/// hexadecimal.
pub fn add_conntrack(text: &str, to: &mut Counters) {
    let mut lines = text.lines();
    let Some(title) = lines.next() else { return };
    let names: Vec<_> = title.split_whitespace().collect();
    for line in lines {
        for (name, value) in names.iter().zip(line.split_whitespace()) {
            if let ("drop" | "early_drop" | "insert_failed", Ok(value)) =
                (*name, u64::from_str_radix(value, 16))
            {
                *to.entry(format!("conntrack.{name}")).or_default() += value;
            }
        }
    }
}

/// Returns the number of tracked connections of the network namespace, which each line of
/// `/proc/net/stat/nf_conntrack` begins with, in hexadecimal.
pub fn tracked_connections(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    let is_first = lines.next()?.split_whitespace().next() == Some("entries");
    u64::from_str_radix(lines.next()?.split_whitespace().next()?, 16).ok().filter(|_| is_first)
}

/// By how much each counter rose from `before` to `now`, without those that did not. A counter that
/// went back was reset, and counts from zero; one that was not there before has no rise.
pub fn rises(now: &Counters, before: &Counters) -> Vec<(String, u64)> {
    let rise = |(name, value): (&String, &u64)| {
        let then = *before.get(name)?;
        let by = if *value >= then { value - then } else { *value };
        (by > 0).then(|| (name.clone(), by))
    };
    now.iter().filter_map(rise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(add: impl Fn(&str, &mut Counters), text: &str, expected: &[(&str, u64)]) {
        let mut all = Counters::new();
        add(text, &mut all);
        let all: Vec<_> = all.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn protocols_go_by_name_and_without_values_that_are_no_counters() {
        let snmp = "Ip: Forwarding OutRequests OutNoRoutes\nIp: 1 5 7\n\
                    Tcp: RtoAlgorithm ActiveOpens CurrEstab\nTcp: 1 22 3\nTcp: torn\nUdp: NoPorts\nUdp: x\n";
        check(add_protocols, snmp, &[("Ip.OutNoRoutes", 7), ("Tcp.ActiveOpens", 22)]);
        let later = "TcpExt: New ListenOverflows ListenDrops\nTcpExt: 9 129 130\nMPTcpExt: A\nMPTcpExt: 1\n";
        check(
            add_protocols,
            later,
            &[("TcpExt.ListenDrops", 130), ("TcpExt.ListenOverflows", 129), ("TcpExt.New", 9)],
        );
        check(add_protocols, "", &[]);
    }

    #[test]
    fn interfaces_and_softnet() {
        let dev = "Inter-|   Receive\n face |bytes packets\n    lo: 5 1\n  eth0: 100 2 0 4\n";
        check(
            add_interfaces,
            dev,
            &[
                ("dev.eth0.rx_bytes", 100),
                ("dev.eth0.rx_drops", 4),
                ("dev.eth0.rx_errors", 0),
                ("dev.eth0.rx_packets", 2),
            ],
        );
        let old = "0000000a 00000001 00000002\n0000000b 0000000f 00000000\nbad\n";
        check(
            add_softnet,
            old,
            &[
                ("softnet.cpu0.dropped", 1),
                ("softnet.cpu0.squeezed", 2),
                ("softnet.cpu1.dropped", 15),
                ("softnet.cpu1.squeezed", 0),
                ("softnet.dropped", 16),
                ("softnet.squeezed", 2),
            ],
        );
    }

    #[test]
    fn quotas_pressure_memory_and_cpus() {
        let first = "nr_periods 41\nnr_throttled 40\nthrottled_time 3200000000\n";
        let quota =
            [("cgroup.periods", 41), ("cgroup.throttled_periods", 40), ("cgroup.throttled_us", 3_200_000)];
        check(add_quota, first, &quota);
        check(add_quota, "usage_usec 5\nnr_periods 41\nnr_throttled 40\nthrottled_usec 3200000\n", &quota);
        let psi = "some avg10=0.00 avg60=0.00 avg300=0.00 total=167\nfull avg10=0.00 total=x\n";
        check(|text, to| add_pressure("io", text, to), psi, &[("psi.io.some_us", 167)]);
        check(
            add_memory_events,
            "nr_free 5\noom_kill 1\npswpin 2\n",
            &[("vm.oom_kill", 1), ("vm.pswpin", 2)],
        );
        check(
            add_cpu,
            "cpu  1 2 3 4\ncpu0 1 2 3 4\n",
            &[("cpu.idle", 4), ("cpu.nice", 2), ("cpu.system", 3), ("cpu.user", 1)],
        );
        let conntrack = "entries drop early_drop\n000000c8 00000009 00000000\n000000c8 00000001 0000000a\n";
        check(add_conntrack, conntrack, &[("conntrack.drop", 10), ("conntrack.early_drop", 10)]);
    }

    #[test]
    fn softirq_and_neighbours() {
        let stat = "cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 70 8\ncpu12 1 2 3 4 5 6 7\ncpu3 1 2\nintr 5\n";
        assert_eq!(softirq_ticks(stat), BTreeMap::from([(0, 70), (12, 7)]));
        let neighbours =
            "entries  allocs unresolved_discards table_fulls\n00000005 1 2 0000000a\n00000005 1 2 00000001\n";
        check(add_neighbours, neighbours, &[("neighbours.table_full", 11)]);
        check(add_neighbours, "entries allocs\n5 1\n", &[]);
    }

    #[test]
    fn counters_that_wrap_or_appear_do_not_jump() {
        let of = |all: &[(&str, u64)]| all.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        let before: Counters = of(&[("a", 5), ("b", 7), ("c", 1)]);
        let now: Counters = of(&[("a", 9), ("b", 2), ("c", 1), ("new", 1_000)]);
        assert_eq!(rises(&now, &before), [("a".to_owned(), 4), ("b".to_owned(), 2)]);
    }
}
