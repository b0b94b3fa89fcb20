//! Limits that a role or a load needs.

use wavetank_capacity::size::Tuning;
use wavetank_units::quantity::format_grouped;

use super::row::Fix;
use super::{HostState, Job, Row};
use crate::Severity;

const SIZE: &str = "wavetank size";
const PROFILE: &str = "docs/doctor.md";
/// Limits without which connections of the load fail.
const FATAL: [&str; 4] =
    ["fs.file-max", "fs.nr_open", "net.ipv4.ip_local_port_range", "net.netfilter.nf_conntrack_max"];
/// The widest range of ports that needs no privileges.
const PORTS: (u64, u64) = (1_024, 65_535);

/// Compares the host with what the job needs.
pub(super) fn rows(host: &HostState<'_>, job: &Job) -> Vec<Row> {
    let mut rows: Vec<Row> = job.tunings().filter_map(|tuning| sized(tuning, host)).collect();
    let mut add = |row: Option<Row>| {
        if let Some(row) = row.filter(|row| rows.iter().all(|own| own.what != row.what)) {
            rows.push(row);
        }
    };
    for row in profile(host, job) {
        add(Some(row));
    }
    if job.connects() {
        add(reserved(host));
    }
    for lack in job.sizing.iter().flat_map(|sizing| &sizing.lacking) {
        let now = "too few or too small";
        let row = Row::new(Severity::Error, lack.code.as_str().replace('_', " "), now, "", &lack.message)
            .from(SIZE);
        rows.push(row);
    }
    rows
}

/// One limit of the load.
fn sized(tuning: &Tuning, host: &HostState<'_>) -> Option<Row> {
    if tuning.name == "nofile" {
        return open_files(tuning, host);
    }
    let now = host.snapshot.setting(tuning.name)?;
    // Without a tracked connection no rule of the firewall tracks any.
    if tuning.name.ends_with("nf_conntrack_max") && host.tracked().is_none() {
        return None;
    }
    // With SYN cookies the kernel ignores it.
    let has_cookies = host.snapshot.setting("net.ipv4.tcp_syncookies").is_some_and(|value| value != "0");
    if tuning.name == "net.ipv4.tcp_max_syn_backlog" && has_cookies {
        return None;
    }
    let numbers = |text: &str| -> Vec<u64> { text.split(' ').filter_map(|word| word.parse().ok()).collect() };
    let (has, needs) = (numbers(&now), numbers(&tuning.value));
    let suffices = match tuning.name {
        "net.ipv4.ip_local_port_range" => {
            let width = |range: &[u64]| {
                range.last().zip(range.first()).map(|(last, first)| last.saturating_sub(*first))
            };
            width(&has) >= width(&needs)
        }
        _ if tuning.at_least => has.last() >= needs.last(),
        _ => has == needs,
    };
    if suffices {
        return None;
    }
    let severity = if FATAL.contains(&tuning.name) { Severity::Error } else { Severity::Warning };
    let why = format!("the load needs it: {}", tuning.formula);
    Some(Row::setting(severity, tuning.name, &now, &tuning.value, &why).from(SIZE))
}

/// Open files of this session and of servers.
fn open_files(tuning: &Tuning, host: &HostState<'_>) -> Option<Row> {
    let needed: u64 = tuning.value.parse().ok()?;
    let limits = host.file_limits();
    // A load raises its soft limit by itself; a server's soft limit is what it has.
    let has = |limit: &super::FileLimit| if limit.process.is_empty() { limit.hard } else { limit.soft };
    let servers: Vec<_> = limits.iter().filter(|limit| !limit.process.is_empty()).collect();
    let judged = if tuning.role == wavetank_capacity::size::Role::Load || servers.is_empty() {
        limits.iter().find(|limit| limit.process.is_empty())?
    } else {
        servers.into_iter().min_by_key(|limit| limit.soft)?
    };
    let now = has(judged);
    if now >= needed {
        return None;
    }
    let shown = match judged.process.as_str() {
        "" => format_grouped(now),
        process => format!("{} ({process})", format_grouped(now)),
    };
    let why = format!("the load needs it: {}", tuning.formula);
    let row = Row::new(Severity::Error, "open files (nofile)", shown, format_grouped(needed), why);
    Some(Row { fix: Some(Fix::OpenFiles(needed)), ..row }.from(SIZE))
}

/// One setting of the profile of a role.
struct Wish {
    key: &'static str,
    /// The value to write.
    value: &'static str,
    /// Whether the present numbers are good enough.
    is_met: fn(&[u64]) -> bool,
    why: &'static str,
}

const ANY_ROLE: [Wish; 4] = [
    Wish {
        key: "net.core.somaxconn",
        value: "4096",
        is_met: |now| now.first().is_some_and(|now| *now >= 4_096),
        why: "it caps the backlog of every listen(2)",
    },
    Wish {
        key: "net.ipv4.tcp_slow_start_after_idle",
        value: "0",
        is_met: |now| now == [0],
        why: "1 shrinks the congestion window of kept connections while they are idle",
    },
    Wish {
        key: "net.ipv4.tcp_rmem",
        value: "4096 131072 16777216",
        is_met: |now| {
            now.get(1).is_some_and(|first| *first >= 65_536)
                && now.get(2).is_some_and(|most| *most >= 4 << 20)
        },
        why: "the greatest receive buffer bounds the rate of a connection to buffer ÷ round-trip time",
    },
    Wish {
        key: "net.ipv4.tcp_wmem",
        value: "4096 16384 16777216",
        is_met: |now| now.get(2).is_some_and(|most| *most >= 4 << 20),
        why: "the greatest send buffer bounds the rate of a connection to buffer ÷ round-trip time",
    },
];
const CONNECTING: [Wish; 3] = [
    Wish {
        key: "net.ipv4.ip_local_port_range",
        value: "1024 65535",
        is_met: |now| now.len() == 2 && now[0] <= PORTS.0 + 1_024 && now[1] + 1_024 >= PORTS.1,
        why: "each port is a connection to one address and port; connect(2) is slow when half of them are taken",
    },
    Wish {
        key: "net.ipv4.tcp_tw_reuse",
        value: "1",
        is_met: |now| now == [1],
        why: "a port in TIME_WAIT is used again after 1 s instead of 60 s",
    },
    Wish {
        key: "net.ipv4.tcp_syn_retries",
        value: "3",
        is_met: |now| now.first().is_some_and(|now| *now <= 3),
        why: "a connection that no host accepts fails after seconds instead of two minutes",
    },
];
const SERVING: [Wish; 1] = [Wish {
    key: "net.ipv4.tcp_synack_retries",
    value: "3",
    is_met: |now| now.first().is_some_and(|now| *now <= 3),
    why: "half-open connections of lost clients end sooner",
}];

/// The settings of the role.
fn profile(host: &HostState<'_>, job: &Job) -> Vec<Row> {
    if job.role.is_none() {
        return Vec::new();
    }
    let connecting = CONNECTING.iter().filter(|_| job.connects());
    let serving = SERVING.iter().filter(|_| job.role == Some(wavetank_capacity::size::Role::Server));
    let row = |wish: &Wish| {
        let now = host.snapshot.setting(wish.key)?;
        let numbers: Vec<u64> = now.split(' ').filter_map(|word| word.parse().ok()).collect();
        let wanted = (!(wish.is_met)(&numbers)).then_some(wish.value)?;
        Some(Row::setting(job.severity(), wish.key, &now, wanted, wish.why).from(PROFILE))
    };
    ANY_ROLE.iter().chain(connecting).chain(serving).filter_map(row).collect()
}

/// Ports of listeners that outgoing connections may take.
fn reserved(host: &HostState<'_>) -> Option<Row> {
    let key = "net.ipv4.ip_local_reserved_ports";
    let now = host.snapshot.setting(key)?;
    // The range may be widened with the same change.
    let open: Vec<String> = host
        .listening_ports()
        .into_iter()
        .filter(|port| u64::from(*port) >= PORTS.0 && !crate::lint_files::is_reserved(&now, *port))
        .map(|port| port.to_string())
        .collect();
    if open.is_empty() {
        return None;
    }
    let wanted: Vec<&str> =
        now.split(',').filter(|part| !part.is_empty()).chain(open.iter().map(String::as_str)).collect();
    let why = "an outgoing connection may hold the port of a server that is started again";
    let shown = if now.is_empty() { "none" } else { &now };
    Some(Row::setting(Severity::Warning, key, shown, &wanted.join(","), why).from(PROFILE))
}
