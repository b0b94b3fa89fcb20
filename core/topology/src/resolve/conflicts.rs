//! Finds conflicts: a name, port or address used by two parts of one host, and ambiguous names.

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_units::Code;

use super::draft::Draft;
use crate::{Host, Service, ServiceKind};

/// Port of the SSH server.
const SSH_PORT: u16 = 22;

/// Reports all conflicts.
pub(super) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for host in &draft.hosts {
        services(host, out);
        alias(draft, host, out);
        virtual_names(draft, host, out);
    }
}

fn services(host: &Host, out: &mut Diagnostics) {
    for (index, service) in host.services.iter().enumerate() {
        let earlier = &host.services[..index];
        if earlier.iter().any(|other| other.name == service.name) {
            let message = format!("two services of the host are called `{}`", service.name);
            let hint = format!("set name: {}-{} in one of them", service.name, index + 1);
            out.push(Diagnostic::error(Code::LabServiceTwice, service.place_of("name"), message, hint));
        }
        for port in &service.listen {
            if let Some(other) = earlier.iter().find(|other| claims(other, *port) && !apart(other, service)) {
                report_port(*port, &format!("service `{}`", other.name), service, "listen", out);
            } else if *port == SSH_PORT && host.sshd {
                report_port(*port, "the host's SSH server", service, "listen", out);
            }
        }
        if let ServiceKind::Haproxy(haproxy) = &service.kind
            && let Some(port) = haproxy.stats
        {
            if let Some(other) = earlier.iter().find(|other| claims(other, port)) {
                report_port(port, &format!("service `{}`", other.name), service, "stats", out);
            } else if service.listen.contains(&port) {
                report_port(port, "its own `listen`", service, "stats", out);
            }
        }
    }
}

/// Whether a service uses this port.
fn claims(service: &Service, port: u16) -> bool {
    let stats = match &service.kind {
        ServiceKind::Haproxy(haproxy) => haproxy.stats,
        _ => None,
    };
    service.listen.contains(&port) || stats == Some(port)
}

/// Whether both are in-kernel balancers with different addresses. Such balancers never see each
/// other's packets.
fn apart(one: &Service, other: &Service) -> bool {
    let address = |service: &Service| match &service.kind {
        ServiceKind::DirectRouting(direct) => Some(direct.address),
        ServiceKind::Nat(nat) => Some(nat.address),
        ServiceKind::Ipvs(ipvs) => Some(ipvs.address),
        _ => None,
    };
    address(one).zip(address(other)).is_some_and(|(one, other)| one != other)
}

fn report_port(port: u16, owner: &str, service: &Service, key: &str, out: &mut Diagnostics) {
    let message = format!("port {port} is already used by {owner}");
    let hint = "each port of a host belongs to one service; several processes of one share it: copies: 2";
    out.push(Diagnostic::error(Code::LabPortTwice, service.place_of(key), message, hint));
}

/// Reports a host with the name `HOST.NETWORK` that another one has on a network.
fn alias(draft: &Draft<'_>, host: &Host, out: &mut Diagnostics) {
    let Some((name, network)) = host.name.rsplit_once('.') else { return };
    let Some(other) = draft.hosts.iter().find(|other| other.name == name) else { return };
    if other.interfaces.iter().any(|one| draft.networks[one.network].name == network) {
        let message = format!("`{}` is the name of {name} on network {network}", host.name);
        out.push(Diagnostic::error(Code::LabNameTwice, host.place, message, "another name"));
    }
}

/// Reports names that resolve to more than one address.
fn virtual_names(draft: &Draft<'_>, host: &Host, out: &mut Diagnostics) {
    for one in &host.virtual_addresses {
        let Some(name) = &one.name else { continue };
        if draft.hosts.iter().any(|other| other.name == *name) {
            let message = format!("`{name}` is already a host's name");
            out.push(Diagnostic::error(Code::LabNameTwice, one.place, message, "use another name"));
        }
        let mut elsewhere = draft.hosts.iter().flat_map(|other| &other.virtual_addresses);
        if elsewhere.any(|other| other.name.as_ref() == Some(name) && other.address != one.address) {
            let message = format!("`{name}` is the name of two addresses");
            out.push(Diagnostic::error(Code::LabNameTwice, one.place, message, "give each its own name"));
        }
    }
}
