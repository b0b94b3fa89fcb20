//! Routes: those of the file, and those by which responses return through a balancer.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wavetank_units::Code;

use wavetank_grammar::{Diagnostic, Diagnostics, Span};

use super::draft::Draft;
use crate::ast::FileRoute;
use crate::{IpvsForward, Route, ServiceKind, Subnet};

/// Adds routes to hosts.
pub(super) fn join(draft: &mut Draft<'_>, out: &mut Diagnostics) {
    for host in 0..draft.hosts.len() {
        let origin = draft.origins[host];
        for of_file in &origin.routes {
            let Some(via) = neighbour(draft, host, of_file, out) else { continue };
            let everything = match via {
                IpAddr::V4(_) => Subnet::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
                IpAddr::V6(_) => Subnet::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0),
            };
            let to = of_file.to.as_ref().map_or(everything, |to| to.value);
            if to.is_ipv4() != via.is_ipv4() {
                let message = format!("`{via}` cannot forward packets to {to}");
                out.push(Diagnostic::error(
                    Code::LabRoute,
                    of_file.via.place,
                    message,
                    "use IPv4 for both, or IPv6 for both",
                ));
                continue;
            }
            add(draft, host, Route { to, via, place: of_file.place }, out);
        }
    }
    for host in 0..draft.hosts.len() {
        for index in 0..draft.hosts[host].services.len() {
            back_through(draft, host, index, out);
        }
    }
}

/// Returns the address of a route's next hop, which is on a network of the host.
fn neighbour(draft: &Draft<'_>, host: usize, route: &FileRoute, out: &mut Diagnostics) -> Option<IpAddr> {
    let (word, place) = (route.via.value.as_str(), route.via.place);
    let via = if let Ok(address) = word.parse() {
        address
    } else {
        let other = draft.host_named(word, place, out)?;
        let Some((_, theirs)) = draft.shared(host, other) else {
            return strange(draft, host, word, place, out);
        };
        draft.hosts[other].interfaces[theirs].addresses.first()?.0
    };
    let near = |interface: &crate::Interface| draft.networks[interface.network].subnet.contains(via);
    let own = draft.hosts[host].interfaces.iter().flat_map(|one| &one.addresses).any(|(own, _)| *own == via);
    if own || !draft.hosts[host].interfaces.iter().any(near) {
        return strange(draft, host, word, place, out);
    }
    Some(via)
}

fn strange(draft: &Draft<'_>, host: usize, word: &str, place: Span, out: &mut Diagnostics) -> Option<IpAddr> {
    let message = format!("`{word}` is not a neighbour of `{}`", draft.hosts[host].name);
    let hint = "use another host on one of its networks, or the address of that host there";
    out.push(Diagnostic::error(Code::LabRoute, place, message, hint));
    None
}

/// Adds a route. A second route to the same network through another next hop is reported.
fn add(draft: &mut Draft<'_>, host: usize, new: Route, out: &mut Diagnostics) {
    let host = &mut draft.hosts[host];
    match host.routes.iter().find(|route| route.to == new.to) {
        Some(route) if route.via == new.via => {}
        Some(route) => {
            let message =
                format!("`{}` has two routes to {}: by {} and by {}", host.name, new.to, route.via, new.via);
            out.push(Diagnostic::error(Code::LabRoute, new.place, message, "keep one of the two"));
        }
        None => host.routes.push(new),
    }
}

/// Adds routes for servers behind a balancer that keeps client addresses. Servers send responses to
/// the client networks through the balancer.
fn back_through(draft: &mut Draft<'_>, host: usize, index: usize, out: &mut Diagnostics) {
    let service = &draft.hosts[host].services[index];
    let (returns, address) = match &service.kind {
        ServiceKind::Nat(nat) => (!nat.masquerade, nat.address),
        ServiceKind::Ipvs(ipvs) => (ipvs.forward == IpvsForward::Nat, ipvs.address),
        _ => return,
    };
    if !returns {
        return;
    }
    let place = service.place;
    let Some(front) = draft.networks.iter().position(|network| network.subnet.contains(address)) else {
        return;
    };
    let mut reported = None;
    for server in service.backends().to_vec() {
        let on_front = draft.hosts[server.host].interface_on(front).is_some();
        let balancer = draft.hosts[host].interfaces[server.interface].addresses.first().map(|(own, _)| *own);
        let Some(via) = balancer.filter(|_| !on_front) else {
            if reported.replace(server.place) == Some(server.place) {
                continue;
            }
            let network = &draft.networks[front].name;
            let message = format!(
                "`{}` is on the clients' network `{network}` and would bypass the balancer",
                server.name
            );
            let hint = "put the servers on their own network, or set masquerade: true";
            out.push(Diagnostic::error(Code::LabRoute, server.place, message, hint));
            continue;
        };
        add(draft, server.host, Route { to: draft.networks[front].subnet, via, place }, out);
    }
}
