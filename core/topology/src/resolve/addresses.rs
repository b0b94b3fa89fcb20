//! Assigns addresses: first those given in the file, then virtual ones, then the rest from the
//! front of each network.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use wavetank_units::Code;

use wavetank_grammar::{Diagnostic, Diagnostics, Span};

use super::draft::Draft;
use super::hosts::UnassignedInterface;
use crate::parse::ADDRESSES_MAX;
use crate::{ServiceKind, Subnet};

/// The owner of each address.
type Taken = BTreeMap<IpAddr, String>;

/// Gives each interface its addresses.
pub(super) fn assign(draft: &mut Draft<'_>, plugs: &[UnassignedInterface], out: &mut Diagnostics) {
    report_crowded(draft, plugs, out);
    if out.has_errors() {
        return;
    }
    let mut taken = Taken::new();
    for plug in plugs {
        for address in &plug.given {
            give(draft, plug, *address, &mut taken, out);
        }
    }
    reserve_virtual(draft, &mut taken, out);
    if out.has_errors() {
        return;
    }
    let mut next: Vec<Option<IpAddr>> =
        draft.networks.iter().map(|network| Some(*range_of(network.subnet).start())).collect();
    for plug in plugs {
        let network = draft.hosts[plug.host].interfaces[plug.interface].network;
        let last = *range_of(draft.networks[network].subnet).end();
        for _ in plug.given.len()..plug.wanted {
            while next[network].is_some_and(|address| taken.contains_key(&address)) {
                next[network] = next[network].and_then(|address| after(address, last));
            }
            let Some(address) = next[network] else {
                let subnet = draft.networks[network].subnet;
                let message =
                    format!("network `{}` ({subnet}) has no address left", draft.networks[network].name);
                let hint = "use a wider network, or fewer sources";
                out.push(Diagnostic::error(Code::LabAddressesShort, plug.place, message, hint));
                return;
            };
            next[network] = after(address, last);
            give(draft, plug, address, &mut taken, out);
        }
    }
}

/// Returns the addresses that hosts of a network can have. The first IPv6 address of a subnet
/// addresses all of its routers (RFC 4291, 2.6.1), so it is excluded.
fn range_of(subnet: Subnet) -> RangeInclusive<IpAddr> {
    let range = subnet.bindable();
    let first = match range.first {
        IpAddr::V6(_) if subnet.prefix() < 127 => after(range.first, range.last).unwrap_or(range.first),
        first => first,
    };
    first..=range.last
}

/// Returns the next address up to `last`.
fn after(address: IpAddr, last: IpAddr) -> Option<IpAddr> {
    let next = match address {
        IpAddr::V4(v4) => IpAddr::V4(u32::from(v4).checked_add(1)?.into()),
        IpAddr::V6(v6) => IpAddr::V6(u128::from(v6).checked_add(1)?.into()),
    };
    (next <= last).then_some(next)
}

/// Adds an address to an interface if the interface can have it.
fn give(
    draft: &mut Draft<'_>,
    plug: &UnassignedInterface,
    address: IpAddr,
    taken: &mut Taken,
    out: &mut Diagnostics,
) {
    let host = &mut draft.hosts[plug.host];
    let interface = &mut host.interfaces[plug.interface];
    let network = &draft.networks[interface.network];
    if let Some(why) = unfit(network.subnet, address) {
        let message = format!("`{address}` {why} `{}`, {}", network.name, network.subnet);
        let range = range_of(network.subnet);
        let hint = format!("from {} to {}", range.start(), range.end());
        out.push(Diagnostic::error(Code::LabAddress, plug.place, message, hint));
    } else if let Some(who) = taken.insert(address, host.name.clone()) {
        let message = format!("`{address}` belongs to {who} already");
        out.push(Diagnostic::error(Code::LabAddressTwice, plug.place, message, "use each address once"));
    } else {
        interface.addresses.push((address, network.subnet.prefix()));
    }
}

/// Returns the reason why a host cannot have `address` in `subnet`.
fn unfit(subnet: Subnet, address: IpAddr) -> Option<&'static str> {
    if !subnet.contains(address) {
        Some("is not in network")
    } else if range_of(subnet).contains(&address) {
        None
    } else if address.is_ipv4() {
        Some("means all of network")
    } else {
        Some("means all routers of network")
    }
}

/// Reserves virtual addresses. They belong to no single host, and several hosts may have the same
/// one.
fn reserve_virtual(draft: &Draft<'_>, taken: &mut Taken, out: &mut Diagnostics) {
    let mut wanted: Vec<(IpAddr, Span)> = Vec::new();
    for (host, origin) in draft.hosts.iter().zip(&draft.origins) {
        wanted.extend(origin.virtuals.iter().map(|one| (one.address.value, one.address.place)));
        for service in &origin.services {
            let Some(address) = &service.address else { continue };
            let mut own = host.interfaces.iter().flat_map(|interface| &interface.addresses);
            // NAT also works for an address that the balancer already has.
            let own = own.any(|(own, _)| *own == address.value);
            if !(own && matches!(service.service.kind, ServiceKind::Nat(_))) {
                wanted.push((address.value, address.place));
            }
        }
    }
    for (address, place) in &wanted {
        let network = draft.networks.iter().find(|network| network.subnet.contains(*address));
        if let Some(who) = taken.get(address) {
            let message = format!("`{address}` belongs to {who} already");
            out.push(Diagnostic::error(
                Code::LabAddressTwice,
                *place,
                message,
                "a virtual address cannot be a host's own address",
            ));
        } else if let Some((network, why)) = network.and_then(|one| Some((one, unfit(one.subnet, *address)?)))
        {
            let message = format!("`{address}` {why} `{}`", network.name);
            let range = range_of(network.subnet);
            let hint = format!("from {} to {}", range.start(), range.end());
            out.push(Diagnostic::error(Code::LabAddress, *place, message, hint));
        }
    }
    for (address, _) in wanted {
        taken.entry(address).or_insert_with(|| "a virtual address".to_owned());
    }
}

/// Reports too many addresses. The kernel's table of neighbours has 1,024 entries for all
/// namespaces together.
fn report_crowded(draft: &Draft<'_>, plugs: &[UnassignedInterface], out: &mut Diagnostics) {
    for (index, network) in draft.networks.iter().enumerate() {
        let here =
            |plug: &&UnassignedInterface| draft.hosts[plug.host].interfaces[plug.interface].network == index;
        let addresses: usize = plugs.iter().filter(here).map(|plug| plug.wanted).sum();
        if addresses > ADDRESSES_MAX as usize {
            let message = format!("network `{}` has {addresses} addresses", network.name);
            let hint =
                format!("at most {ADDRESSES_MAX}: beyond them the kernel's table of neighbours is full");
            out.push(Diagnostic::error(Code::LabTooMany, network.place, message, hint));
        }
    }
}
