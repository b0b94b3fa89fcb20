//! Packets, queues, interrupts, connection tracking and firewalls.

use std::collections::BTreeMap;

use wavetank_units::quantity::format_grouped;

use super::{HostState, Job, Row};
use crate::{SNAPSHOT_LISTENERS, SNAPSHOT_SERVERS, Severity, Snapshot};

/// The backlog that servers under load should have, if the kernel allows it.
const BACKLOG: u64 = 4_096;
/// Ports of servers under test.
const SERVICE_PORTS: [u16; 4] = [80, 443, 8080, 8443];

/// Checks the network.
pub(super) fn rows(host: &HostState<'_>, job: &Job) -> Vec<Row> {
    let mut rows = Vec::new();
    rows.extend(tracking(host, job));
    rows.extend(firewall(host.snapshot));
    rows.extend(softnet(host.snapshot));
    rows.extend(listen_drops(host));
    rows.extend(short_queues(host, job));
    rows.extend(card_drops(host.snapshot));
    rows.extend(queues(host, job));
    rows.extend(interrupts(host.snapshot, job));
    rows
}

fn tracking(host: &HostState<'_>, job: &Job) -> Option<Row> {
    let (count, most) = host.tracked()?;
    let now = format!("{} of {}", format_grouped(count), format_grouped(most));
    if count.saturating_mul(5) > most.saturating_mul(4) {
        let why = "new connections are dropped when the table is full";
        return Some(Row::new(Severity::Error, "connection tracking", now, "notrack", why));
    }
    let why = "every packet passes it, and each connection takes 320 B; the ports under test need none";
    Some(Row::new(job.severity(), "connection tracking", now, "notrack", why))
}

fn firewall(snapshot: &Snapshot) -> Option<Row> {
    let tables: Vec<&str> = ["/proc/net/ip_tables_names", "/proc/net/ip6_tables_names"]
        .into_iter()
        .filter_map(|path| snapshot.get(path))
        .flat_map(str::lines)
        .collect();
    if tables.is_empty() {
        return None;
    }
    let why = "each packet passes the rules of these tables";
    Some(Row::new(Severity::Note, "firewall (iptables)", tables.join(" "), "", why))
}

/// Packets that a CPU dropped because its queue was full (second column, hexadecimal).
fn softnet(snapshot: &Snapshot) -> Option<Row> {
    let column = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    let dropped: u64 = snapshot.get("/proc/net/softnet_stat")?.lines().filter_map(column).sum();
    let now: u64 = snapshot.setting("net.core.netdev_max_backlog")?.parse().ok()?;
    if dropped == 0 || now >= 16_384 {
        return None;
    }
    let why =
        format!("CPUs dropped {} packets since boot because this queue was full", format_grouped(dropped));
    let wanted = (now.saturating_mul(4)).clamp(4_096, 16_384).to_string();
    let row = Row::setting(Severity::Warning, "net.core.netdev_max_backlog", &now.to_string(), &wanted, &why);
    Some(row.from("/proc/net/softnet_stat"))
}

fn listen_drops(host: &HostState<'_>) -> Option<Row> {
    let overflows = host.counter("TcpExt:", "ListenOverflows").filter(|count| *count > 0)?;
    let why = "a server's accept queue was full: raise its backlog and net.core.somaxconn, or accept faster";
    let now = format!("{} since boot", format_grouped(overflows));
    Some(Row::new(Severity::Note, "ListenOverflows", now, "0", why))
}

/// Accept queues of servers that are shorter than the kernel allows.
fn short_queues(host: &HostState<'_>, job: &Job) -> Vec<Row> {
    let most = host.snapshot.setting("net.core.somaxconn").and_then(|most| most.parse().ok());
    let Some(text) = host.snapshot.get(SNAPSHOT_LISTENERS) else { return Vec::new() };
    let wanted = most.unwrap_or(BACKLOG).min(BACKLOG);
    let mut queues: BTreeMap<&str, u64> = BTreeMap::new();
    for (address, limit) in text.lines().filter_map(server_queue) {
        let shortest = queues.entry(address).or_insert(limit);
        *shortest = limit.min(*shortest);
    }
    let row = |(address, limit): (&str, u64)| {
        let why = format!(
            "the program asked for this backlog, and the kernel allows {}: nginx `listen … backlog={wanted}`, HAProxy \
             `backlog {wanted}`; then restart it",
            format_grouped(most.unwrap_or(wanted))
        );
        let what = format!("accept queue of {address}");
        Row::new(job.severity(), what, format_grouped(limit), format_grouped(wanted), why).from("ss -ltn")
    };
    queues.into_iter().filter(|(_, limit)| *limit < wanted).map(row).collect()
}

/// Returns address and limit of a line about a server: `LISTEN 0 511 0.0.0.0:80 0.0.0.0:*`, then
/// `users:(("nginx",…))`. Without the right to see processes, the port decides.
fn server_queue(line: &str) -> Option<(&str, u64)> {
    let mut words = line.split_whitespace().skip_while(|word| word.parse::<u64>().is_err());
    let (limit, address) = (words.nth(1)?.parse().ok()?, words.next()?);
    let is_server = if let Some((_, users)) = line.split_once("users:") {
        SNAPSHOT_SERVERS.iter().any(|name| users.contains(&format!("\"{name}\"")))
    } else {
        let port: u16 = address.rsplit_once(':')?.1.parse().ok()?;
        SERVICE_PORTS.contains(&port)
    };
    is_server.then_some((address, limit))
}

/// Packets that a card dropped because its ring was full.
fn card_drops(snapshot: &Snapshot) -> Vec<Row> {
    let names = ["rx_missed_errors", "rx_fifo_errors"];
    let mut dropped: BTreeMap<&str, u64> = BTreeMap::new();
    let ends = names.map(|name| format!("/statistics/{name}"));
    for end in &ends {
        for (card, text) in snapshot.between("/sys/class/net/", end) {
            *dropped.entry(card).or_default() += text.parse::<u64>().unwrap_or(0);
        }
    }
    let row = |(card, count): (&str, u64)| {
        let why = "its ring was full: ethtool -g shows the greatest size, ethtool -G sets it";
        let now = format!("{} packets since boot", format_grouped(count));
        Row::new(Severity::Warning, format!("{card} dropped"), now, "0", why)
    };
    dropped.into_iter().filter(|(_, count)| *count > 0).map(row).collect()
}

/// Cards with a single queue on a host with several CPUs.
fn queues(host: &HostState<'_>, job: &Job) -> Vec<Row> {
    let Some(cpus) = host.cpus().filter(|cpus| *cpus > 2) else { return Vec::new() };
    let snapshot = host.snapshot;
    let mut queues: BTreeMap<&str, (u64, bool)> = BTreeMap::new();
    for (path, steered) in snapshot.between("/sys/class/net/", "/rps_cpus") {
        let card = path.split('/').next().unwrap_or(path);
        let own = queues.entry(card).or_default();
        own.0 += 1;
        own.1 |= steered.chars().any(|letter| !matches!(letter, '0' | ','));
    }
    let is_real = |card: &str| {
        let speed = snapshot.get(&format!("/sys/class/net/{card}/speed"));
        card != "lo" && speed.and_then(|speed| speed.parse::<i64>().ok()).is_some_and(|speed| speed > 0)
    };
    let row = |(card, (count, _)): (&str, (u64, bool))| {
        let why = "one CPU handles all its packets; one queue for each physical core is best, else RPS";
        let wanted = format!("{cpus} queues, or RPS");
        Row::new(job.severity(), format!("{card} queues"), count.to_string(), wanted, why)
            .from("Linux: networking/scaling.rst")
    };
    let narrow = |(card, (count, steers)): &(&str, (u64, bool))| {
        *count < cpus && *count < 2 && !steers && is_real(card)
    };
    queues.into_iter().filter(narrow).map(row).collect()
}

/// Interrupts of network cards that one CPU handles alone.
fn interrupts(snapshot: &Snapshot, job: &Job) -> Option<Row> {
    let text = snapshot.get("/proc/interrupts")?;
    let cpus = text.lines().next()?.split_whitespace().count();
    let mut by_cpu = vec![0_u64; cpus];
    let mut lines = 0;
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words.last().copied().unwrap_or_default();
        let is_network =
            ["eth", "ens", "enp", "eno", "mlx", "TxRx", "rx-", "tx-"].iter().any(|part| name.contains(part))
                || ((name.contains("-input.") || name.contains("-output.")) && name.starts_with("virtio"));
        if !is_network || words.len() <= cpus {
            continue;
        }
        lines += 1;
        for (sum, word) in by_cpu.iter_mut().zip(&words[1..=cpus]) {
            *sum += word.parse::<u64>().unwrap_or(0);
        }
    }
    let total: u64 = by_cpu.iter().sum();
    let (cpu, most) = by_cpu.iter().enumerate().max_by_key(|(_, count)| **count)?;
    let is_alone =
        cpus > 1 && lines > 1 && total > 10_000 && most.saturating_mul(20) > total.saturating_mul(19);
    is_alone.then(|| {
        let why = "the other CPUs cannot help with packets; irqbalance or smp_affinity spreads them";
        let now = format!("CPU {cpu} has {} %", most.saturating_mul(100) / total.max(1));
        Row::new(job.severity(), "interrupts of network cards", now, "spread", why)
    })
}
