//! Kernel settings. A new network namespace has the kernel's defaults. Each host then gets the
//! settings of its role, of its services and of the file, in this order.

use std::net::IpAddr;
use wavetank_units::Code;

use wavetank_grammar::{Diagnostic, Diagnostics, Span};

use super::draft::Draft;
use crate::{Host, IpvsForward, Role, ServiceKind, Sysctl, VirtualAddress, VirtualPlace};

const OF_EVERYBODY: [(&str, &str, &str); 4] = [
    (
        "net.core.somaxconn",
        "65535",
        "caps every listener's backlog; a new namespace has 4096, which a burst of connections fills",
    ),
    (
        "net.ipv4.tcp_slow_start_after_idle",
        "0",
        "connections kept alive between requests keep the speed that they had reached",
    ),
    (
        "net.ipv4.tcp_rmem",
        "4096 131072 16777216",
        "room for a fast link's responses; the default size stays the kernel's",
    ),
    ("net.ipv4.tcp_wmem", "4096 16384 16777216", "as tcp_rmem, for what is sent"),
];

/// Settings of hosts that open many connections.
const OF_CONNECTING: [(&str, &str, &str); 3] = [
    (
        "net.ipv4.ip_local_port_range",
        "1024 65535",
        "64,512 ports for each pair of addresses; a new namespace has 28,232, and above half of them connecting slows down",
    ),
    (
        "net.ipv4.tcp_tw_reuse",
        "1",
        "a port in TIME-WAIT is used again after a second; the default does so on loopback only",
    ),
    ("net.ipv4.tcp_syn_retries", "3", "a host that is gone is noticed in seconds and not in two minutes"),
];

const OF_SERVERS: [(&str, &str, &str); 1] = [(
    "net.ipv4.tcp_synack_retries",
    "3",
    "half-open connections of clients that are gone leave within seconds",
)];

/// Settings of hosts with a silent address (the kernel's ip-sysctl.rst).
const OF_SILENCE: [(&str, &str, &str); 2] = [
    (
        "net.ipv4.conf.all.arp_ignore",
        "1",
        "answers ARP for the interface's own addresses only, not for those on lo",
    ),
    ("net.ipv4.conf.all.arp_announce", "2", "sends ARP requests with the interface's own address only"),
];

/// Sets the kernel settings of all hosts.
pub(super) fn apply(draft: &mut Draft<'_>, out: &mut Diagnostics) {
    for host in 0..draft.hosts.len() {
        let mut wanted = of_services(&draft.hosts[host]);
        wanted.extend(of_role(&draft.hosts[host]));
        let place = draft.hosts[host].place;
        let mut all: Vec<Sysctl> = Vec::new();
        for (key, value, why) in wanted {
            if all.iter().all(|one| one.key != key) {
                all.push(Sysctl { key, value, why, place });
            }
        }
        let origin = draft.origins[host];
        for (key, value) in &origin.sysctls {
            report_undone(&draft.hosts[host], &all, (&key.value, value, key.place), out);
            let why = "set in the file".to_owned();
            let own = Sysctl { key: key.value.clone(), value: value.clone(), why, place: key.place };
            match all.iter_mut().find(|one| one.key == own.key) {
                Some(one) => *one = own,
                None => all.push(own),
            }
        }
        // Writing ip_forward resets the settings below conf to the defaults of a router or a host.
        all.sort_by_key(|one| !FORWARD.contains(&one.key.as_str()));
        draft.hosts[host].sysctls = all;
    }
}

/// Settings that enable packet forwarding for IPv4 and IPv6.
const FORWARD: [&str; 2] = ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"];

/// Returns the forwarding setting for the family of `address`.
const fn forward(address: IpAddr) -> &'static str {
    if address.is_ipv4() { FORWARD[0] } else { FORWARD[1] }
}

type Wanted = Vec<(String, String, String)>;

fn owned(table: &[(&str, &str, &str)]) -> Wanted {
    table
        .iter()
        .map(|(key, value, why)| ((*key).to_owned(), (*value).to_owned(), (*why).to_owned()))
        .collect()
}

fn of_role(host: &Host) -> Wanted {
    let mut all = owned(&OF_EVERYBODY);
    if matches!(host.role, Role::Load | Role::Balancer) {
        all.extend(owned(&OF_CONNECTING));
        all.extend(reserved_ports(host));
    }
    if matches!(host.role, Role::Server | Role::Balancer) {
        all.extend(owned(&OF_SERVERS));
    }
    all
}

/// Returns the setting that reserves the ports of services. An outgoing connection on such a port
/// would keep the service from starting.
fn reserved_ports(host: &Host) -> Option<(String, String, String)> {
    let mut ports: Vec<u16> =
        host.services.iter().flat_map(|service| service.listen.iter().copied()).collect();
    ports.extend(host.services.iter().filter_map(|service| match &service.kind {
        ServiceKind::Haproxy(haproxy) => haproxy.stats,
        _ => None,
    }));
    ports.retain(|port| *port >= 1024);
    ports.sort_unstable();
    ports.dedup();
    // Settings are read back after writing, and the kernel shows adjacent ports as a range.
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for port in ports {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(port) => *last = port,
            _ => ranges.push((port, port)),
        }
    }
    let shown = |(first, last): &(u16, u16)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let value = ranges.iter().map(shown).collect::<Vec<_>>().join(",");
    let why = "ports of the host's own services are not given to outgoing connections";
    (!value.is_empty()).then(|| ("net.ipv4.ip_local_reserved_ports".to_owned(), value, why.to_owned()))
}

fn of_services(host: &Host) -> Wanted {
    let mut all = Wanted::new();
    let mut want =
        |key: &str, value: &str, why: &str| all.push((key.to_owned(), value.to_owned(), why.to_owned()));
    for service in &host.services {
        match &service.kind {
            ServiceKind::Nat(nat) => {
                want(forward(nat.address), "1", "NAT forwards packets from one network to another");
            }
            ServiceKind::Ipvs(ipvs) if ipvs.forward == IpvsForward::Nat => {
                want(forward(ipvs.address), "1", "IPVS forwards packets from one network to another");
            }
            _ => {}
        }
    }
    for service in &host.services {
        if let ServiceKind::DirectRouting(direct) = &service.kind {
            let why = "frames are forwarded before routing; other packets are dropped";
            want(forward(direct.address), "0", why);
        }
    }
    // IPv6 needs no setting: a host never answers for an IPv6 address on an interface that does not
    // have it.
    let silent = |one: &VirtualAddress| one.at == VirtualPlace::Silent && one.address.is_ipv4();
    if host.virtual_addresses.iter().any(silent) {
        all.extend(owned(&OF_SILENCE));
    }
    all
}

/// Warns about a setting in the file that breaks the purpose of the host.
fn report_undone(
    host: &Host,
    all: &[Sysctl],
    (key, value, place): (&str, &str, Span),
    out: &mut Diagnostics,
) {
    let silence = ["net.ipv4.conf.all.arp_ignore", "net.ipv4.conf.all.arp_announce"];
    let needed = FORWARD.contains(&key) || silence.contains(&key);
    let own = all.iter().find(|one| needed && one.key == key && one.value != value);
    if let Some(own) = own {
        let message =
            format!("`{key}` is {value} here, and `{}` needs {}: {}", host.name, own.value, own.why);
        out.push(Diagnostic::warning(Code::LabSysctlValue, place, message, "leave it out"));
    }
}
