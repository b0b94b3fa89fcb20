//! Virtual addresses: those of the file and those of in-kernel balancers.

use std::net::IpAddr;
use wavetank_units::Code;

use wavetank_grammar::{Diagnostic, Diagnostics, Span};

use super::balancers::put;
use super::draft::{Draft, unknown};
use crate::{IpvsForward, ServiceKind, VirtualAddress, VirtualPlace};

/// The forwarding of an in-kernel balancer, which determines what its address requires.
enum Want {
    /// Frames are forwarded. The servers must be on the network of the address and have it
    /// silently.
    Direct,
    /// Addresses are rewritten. Responses return to the balancer.
    Translated,
}

/// Adds virtual addresses to hosts.
pub(super) fn join(draft: &mut Draft<'_>, out: &mut Diagnostics) {
    for host in 0..draft.hosts.len() {
        let origin = draft.origins[host];
        for one in &origin.virtuals {
            let Some(at) = place_of(draft, host, &one.on.value, one.on.place, out) else { continue };
            let address = one.address.value;
            if let VirtualPlace::Answering(interface) = at {
                report_elsewhere(draft, host, interface, address, one.address.place, out);
            }
            let new = VirtualAddress { address, at, name: one.name.clone(), place: one.address.place };
            add(draft, host, new, out);
        }
    }
    for host in 0..draft.hosts.len() {
        for index in 0..draft.hosts[host].services.len() {
            of_service(draft, host, index, out);
        }
    }
    report_answering_twice(draft, out);
}

/// Returns the place of an address: `lo`, or an interface on a network of the host.
fn place_of(
    draft: &Draft<'_>,
    host: usize,
    on: &str,
    place: Span,
    out: &mut Diagnostics,
) -> Option<VirtualPlace> {
    if on == "lo" {
        return Some(VirtualPlace::Silent);
    }
    let name_of = |network: usize| draft.networks[network].name.as_str();
    let interfaces = &draft.hosts[host].interfaces;
    let found = interfaces.iter().position(|interface| name_of(interface.network) == on);
    if found.is_none() {
        let known = interfaces.iter().map(|interface| name_of(interface.network)).chain(["lo"]);
        out.push(unknown(Code::LabNetworkUnknown, "the host is on no network", on, place, known));
    }
    found.map(VirtualPlace::Answering)
}

/// Reports an answering address outside of the subnet of its network, because no host would send
/// ARP requests for it there.
fn report_elsewhere(
    draft: &Draft<'_>,
    host: usize,
    interface: usize,
    address: IpAddr,
    place: Span,
    out: &mut Diagnostics,
) {
    let network = &draft.networks[draft.hosts[host].interfaces[interface].network];
    if !network.subnet.contains(address) {
        let message = format!("`{address}` is not in network `{}`, {}", network.name, network.subnet);
        let hint = "use an address of that network; silent addresses are on lo";
        out.push(Diagnostic::error(Code::LabAddress, place, message, hint));
    }
}

/// Adds a virtual address. The same address in the same place is stored once, and a missing name is
/// filled in.
fn add(draft: &mut Draft<'_>, host: usize, new: VirtualAddress, out: &mut Diagnostics) {
    let all = &mut draft.hosts[host].virtual_addresses;
    match all.iter_mut().find(|one| one.address == new.address) {
        Some(one) if one.at == new.at => one.name = one.name.take().or(new.name),
        Some(_) => {
            let message = format!("the host has `{}` in two places", new.address);
            let hint = "either it answers for the address, or it takes it silently";
            out.push(Diagnostic::error(Code::LabAddressTwice, new.place, message, hint));
        }
        None => all.push(new),
    }
}

fn of_service(draft: &mut Draft<'_>, host: usize, index: usize, out: &mut Diagnostics) {
    let given = draft.origins[host].services[index].address.as_ref().map(|at| (at.value, at.place));
    let service = &draft.hosts[host].services[index];
    let want = match &service.kind {
        ServiceKind::DirectRouting(_) => Want::Direct,
        ServiceKind::Ipvs(ipvs) if ipvs.forward == IpvsForward::DirectRouting => Want::Direct,
        ServiceKind::Ipvs(_) | ServiceKind::Nat(_) => Want::Translated,
        _ => return,
    };
    let own = draft.hosts[host].interfaces.first().and_then(|first| first.addresses.first());
    let Some((address, place)) = given.or_else(|| own.map(|(own, _)| (*own, service.place))) else { return };
    let on_interface = |subject: &crate::Interface| draft.networks[subject.network].subnet.contains(address);
    let Some(interface) = draft.hosts[host].interfaces.iter().position(on_interface) else {
        let message = format!("`{address}` is not on a network of the balancer");
        out.push(Diagnostic::error(
            Code::LabAddress,
            place,
            message,
            "use a free address of one of its networks",
        ));
        return;
    };
    let is_own = draft.hosts[host].interfaces[interface].addresses.iter().any(|(own, _)| *own == address);
    if !is_own {
        let at = VirtualPlace::Answering(interface);
        add(draft, host, VirtualAddress { address, at, name: None, place }, out);
    }
    match want {
        Want::Direct => silent_behind(draft, (host, index, interface), (address, place), out),
        Want::Translated => alike_behind(draft, (host, index), address, out),
    }
    match &mut draft.hosts[host].services[index].kind {
        ServiceKind::DirectRouting(direct) => (direct.address, direct.interface) = (address, interface),
        ServiceKind::Ipvs(ipvs) => (ipvs.address, ipvs.interface) = (address, interface),
        ServiceKind::Nat(nat) => nat.address = address,
        _ => {}
    }
}

/// Gives the virtual address silently to the servers of direct routing. They must be on the network
/// of the address.
fn silent_behind(
    draft: &mut Draft<'_>,
    (host, index, interface): (usize, usize, usize),
    (address, place): (IpAddr, Span),
    out: &mut Diagnostics,
) {
    let network = draft.hosts[host].interfaces[interface].network;
    let mut servers = draft.hosts[host].services[index].backends().to_vec();
    let mut reported = None;
    for server in &mut servers {
        let there = draft.hosts[server.host].interface_on(network);
        let Some((there, first)) = there.and_then(|there| Some((there, there.addresses.first()?.0))) else {
            // All hosts of one pattern have the same mistake, so it is reported once.
            if reported.replace(server.place) == Some(server.place) {
                continue;
            }
            let message = format!(
                "`{}` is not on network `{}`, which frames cannot leave",
                server.name, draft.networks[network].name
            );
            let hint = "put servers of direct routing on the network of the virtual address";
            out.push(Diagnostic::error(Code::LabNoSharedNetwork, server.place, message, hint));
            continue;
        };
        // If several networks are shared, this one is used.
        (server.address, server.mac, server.interface) = (first, there.mac, interface);
        let silent = VirtualAddress { address, at: VirtualPlace::Silent, name: None, place };
        add(draft, server.host, silent, out);
    }
    put(&mut draft.hosts[host].services[index], servers);
}

/// Selects addresses of the balancer's family for the servers of NAT. NAT does not translate
/// between IPv6 and IPv4.
fn alike_behind(
    draft: &mut Draft<'_>,
    (host, index): (usize, usize),
    address: IpAddr,
    out: &mut Diagnostics,
) {
    let six = address.is_ipv6();
    let mut servers = draft.hosts[host].services[index].backends().to_vec();
    let mut reported = None;
    for server in servers.iter_mut().filter(|server| server.address.is_ipv6() != six) {
        let mut own = draft.hosts[host].interfaces.iter().enumerate();
        let found = own.find_map(|(own, interface)| {
            let there = draft.hosts[server.host].interface_on(interface.network)?;
            let (first, _) = there.addresses.first().filter(|(first, _)| first.is_ipv6() == six)?;
            Some((own, *first, there.mac))
        });
        if let Some(found) = found {
            (server.interface, server.address, server.mac) = found;
        } else if reported.replace(server.place) != Some(server.place) {
            let family = if six { "IPv6" } else { "IPv4" };
            let message =
                format!("`{}` has no address of {family} on a network of the balancer", server.name);
            let hint =
                format!("NAT keeps the family: use a network of {family} for both, or another `address`");
            out.push(Diagnostic::error(Code::LabNoSharedNetwork, server.place, message, hint));
        }
    }
    put(&mut draft.hosts[host].services[index], servers);
}

/// Reports two hosts that answer for one address. Direct routing exists to avoid that.
fn report_answering_twice(draft: &Draft<'_>, out: &mut Diagnostics) {
    let mut seen: Vec<(IpAddr, &str)> = Vec::new();
    for host in &draft.hosts {
        let answering = |one: &&VirtualAddress| matches!(one.at, VirtualPlace::Answering(_));
        for one in host.virtual_addresses.iter().filter(answering) {
            if let Some((_, other)) = seen.iter().find(|(address, _)| *address == one.address) {
                let message = format!("`{other}` and `{}` both answer for `{}`", host.name, one.address);
                let hint = "let one host answer; the others have it on lo";
                out.push(Diagnostic::error(Code::LabAddressTwice, one.place, message, hint));
            }
            seen.push((one.address, &host.name));
        }
    }
}
