//! Resolves servers behind balancers to hosts with addresses.

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_units::Code;

use super::draft::Draft;
use crate::ast::{FileServer, FileService};
use crate::{Backend, IpvsForward, NginxWork, Service, ServiceKind};

/// Maximum number of servers behind one service.
const BACKENDS_MAX: usize = 256;

/// Fills the servers of all balancers.
pub(super) fn join(draft: &mut Draft<'_>, out: &mut Diagnostics) {
    for host in 0..draft.hosts.len() {
        let origin = draft.origins[host];
        for (index, of_file) in origin.services.iter().enumerate() {
            let servers = behind(draft, host, of_file, out);
            put(&mut draft.hosts[host].services[index], servers);
        }
    }
}

/// Sets the servers behind `service`.
pub(super) fn put(service: &mut Service, servers: Vec<Backend>) {
    match &mut service.kind {
        ServiceKind::Nginx(nginx) => {
            if let NginxWork::Proxy { servers: own, .. } = &mut nginx.work {
                *own = servers;
            }
        }
        ServiceKind::Haproxy(haproxy) => haproxy.servers = servers,
        ServiceKind::DirectRouting(direct) => direct.servers = servers,
        ServiceKind::Nat(nat) => nat.servers = servers,
        ServiceKind::Ipvs(ipvs) => ipvs.servers = servers,
        ServiceKind::Serve(_) | ServiceKind::Command(_) => {}
    }
}

/// Whether packets keep their port on the way to the server.
fn keeps_ports(service: &Service) -> bool {
    match &service.kind {
        ServiceKind::DirectRouting(_) => true,
        ServiceKind::Ipvs(ipvs) => ipvs.forward == IpvsForward::DirectRouting,
        _ => false,
    }
}

fn behind(draft: &Draft<'_>, balancer: usize, of_file: &FileService, out: &mut Diagnostics) -> Vec<Backend> {
    let service = &of_file.service;
    let mut all: Vec<Backend> = Vec::new();
    for server in &of_file.servers {
        let Some(port) = port_of(service, server, out) else { continue };
        for name in &server.names {
            let Some(host) = draft.host_named(name, server.place, out) else { continue };
            let Some(backend) = backend(draft, (balancer, host), (server, port), service, out) else {
                continue;
            };
            if all.iter().any(|other| other.host == host && other.port == port) {
                let message = format!("`{name}:{port}` is listed twice");
                let hint = "list it once, with a weight: {server: \"app1:8080\", weight: 2}";
                out.push(Diagnostic::error(Code::LabServer, server.place, message, hint));
            }
            if all.len() == BACKENDS_MAX {
                let message = format!("more than {BACKENDS_MAX} servers behind one service");
                out.push(Diagnostic::error(
                    Code::LabTooMany,
                    server.place,
                    message,
                    "split them among several services",
                ));
                return all;
            }
            all.push(backend);
        }
    }
    all
}

/// Returns the port of a server. Direct routing cannot change the port.
fn port_of(service: &Service, server: &FileServer, out: &mut Diagnostics) -> Option<u16> {
    let first = service.listen.first().copied()?;
    let port = server.port.unwrap_or(first);
    if keeps_ports(service) && server.port.is_some_and(|port| service.listen != [port]) {
        let message = format!("frames reach the servers unchanged, and so on port {first}, not {port}");
        let hint = "leave the port out: the servers listen on the balancer's";
        out.push(Diagnostic::error(Code::LabServer, server.place, message, hint));
        return None;
    }
    if service.listen.len() > 1 && server.port.is_none() && !keeps_ports(service) {
        let message = format!("it listens on {} ports, so each server needs a port", service.listen.len());
        out.push(Diagnostic::error(
            Code::LabServer,
            server.place,
            message,
            format!("\"{}:{first}\"?", server.names[0]),
        ));
        return None;
    }
    Some(port)
}

fn backend(
    draft: &Draft<'_>,
    (balancer, host): (usize, usize),
    (server, port): (&FileServer, u16),
    service: &Service,
    out: &mut Diagnostics,
) -> Option<Backend> {
    let name = &draft.hosts[host].name;
    if host == balancer && in_kernel(service) {
        let message = format!("`{name}` is its own server");
        out.push(Diagnostic::error(Code::LabServer, server.place, message, "use other hosts as servers"));
        return None;
    }
    let Some((own, theirs)) = draft.shared(balancer, host) else {
        let message = format!("`{name}` is not on a network of `{}`", draft.hosts[balancer].name);
        let hint = "put the balancer and its servers on one network";
        out.push(Diagnostic::error(Code::LabNoSharedNetwork, server.place, message, hint));
        return None;
    };
    let interface = &draft.hosts[host].interfaces[theirs];
    heard(draft, host, (server, port), service, out)?;
    Some(Backend {
        host,
        name: name.clone(),
        address: interface.addresses.first()?.0,
        port,
        mac: interface.mac,
        interface: own,
        weight: server.weight,
        place: server.place,
    })
}

fn in_kernel(service: &Service) -> bool {
    matches!(service.kind, ServiceKind::DirectRouting(_) | ServiceKind::Nat(_) | ServiceKind::Ipvs(_))
}

/// Reports a server on which no service listens at the port.
fn heard(
    draft: &Draft<'_>,
    host: usize,
    (server, port): (&FileServer, u16),
    service: &Service,
    out: &mut Diagnostics,
) -> Option<()> {
    let services = &draft.hosts[host].services;
    let ports: &[u16] = if keeps_ports(service) { &service.listen } else { &[port] };
    for port in ports {
        let unsure =
            |other: &Service| matches!(other.kind, ServiceKind::Command(_)) && other.listen.is_empty();
        if services.iter().any(|other| other.listen.contains(port) || unsure(other)) {
            continue;
        }
        let name = &draft.hosts[host].name;
        let ports: Vec<String> =
            services.iter().flat_map(|other| &other.listen).take(8).map(ToString::to_string).collect();
        let message = format!("nothing on `{name}` listens on port {port}");
        let hint = match ports.as_slice() {
            [] => format!("services of `{name}`: - serve: {{listen: {port}}}"),
            some => format!("there it is {}", some.join(", ")),
        };
        out.push(Diagnostic::error(Code::LabServerDeaf, server.place, message, hint));
        return None;
    }
    Some(())
}
