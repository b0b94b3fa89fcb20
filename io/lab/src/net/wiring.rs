//! The input of `ip`: bridges and cables in the switch, addresses and routes in a host. Texts only.

use std::fmt::Write;
use std::net::{IpAddr, Ipv6Addr};

use wavetank_topology::{Host, Interface, Lab, VirtualPlace};

use super::neighbour_routes;

/// Returns the name of a cable's end in the switch. An interface name has at most 15 characters, so
/// it consists of index numbers; the alias contains the names.
pub(crate) fn port(host: usize, interface: usize) -> String {
    format!("h{host}i{interface}")
}

/// Returns the commands for the switch: a bridge for each network and, for each host, cables. Their
/// other ends appear with their final names in the namespaces of the processes `pids`, in the order
/// of the lab's hosts.
pub(crate) fn switch_batch(lab: &Lab, mark: &str, pids: &[u32]) -> String {
    let mut batch = String::new();
    for (place, network) in lab.networks.iter().enumerate() {
        // There are no loops here, and a port in the listening state would lose the first seconds.
        // Snooping would need a querier for group members, and IPv6 finds its neighbours by groups.
        line(
            &mut batch,
            format_args!("link add n{place} type bridge stp_state 0 forward_delay 0 mcast_snooping 0"),
        );
        // A bridge without an explicit address takes the lowest of its ports and changes it as
        // ports come and go.
        let [high, low] = u16::try_from(place).unwrap_or(u16::MAX).to_be_bytes();
        line(&mut batch, format_args!("link set n{place} address 06:77:74:00:{high:02x}:{low:02x}"));
        line(&mut batch, format_args!("link set n{place} alias {mark}/{} up", network.name));
    }
    for (at, (host, pid)) in lab.hosts.iter().zip(pids).enumerate() {
        for (place, interface) in host.interfaces.iter().enumerate() {
            cable(&mut batch, &port(at, place), interface, *pid);
            let owner = format!("{mark}/{}/{}", host.name, interface.name);
            line(&mut batch, format_args!("link set {} alias {owner}", port(at, place)));
            line(&mut batch, format_args!("link set {} master n{} up", port(at, place), interface.network));
        }
    }
    batch
}

/// Returns the commands for a host that is alone: its ends of cables, up, with other ends that lead
/// nowhere.
pub(crate) fn unconnected_batch(host: &Host) -> String {
    let mut batch = String::new();
    for (place, interface) in host.interfaces.iter().enumerate() {
        let mac = hardware_address(interface);
        let name = &interface.name;
        line(&mut batch, format_args!("link add loose{place} type veth peer name {name} address {mac}"));
        line(&mut batch, format_args!("link set loose{place} up"));
    }
    batch + &far_ends_batch(host)
}

/// Returns the first commands in the host, which bring its ends of the cables up. Without automatic
/// addresses an interface sends no router solicitations and group reports, so its counters contain
/// only traffic of the lab's programs.
pub(crate) fn far_ends_batch(host: &Host) -> String {
    let mut batch = String::new();
    for interface in &host.interfaces {
        line(&mut batch, format_args!("link set {} addrgenmode none", interface.name));
        line(&mut batch, format_args!("link set {} up", interface.name));
    }
    batch
}

/// Returns the commands in the host after its interfaces are up: loopback, then name and addresses
/// of each interface, then virtual addresses and routes.
pub(crate) fn host_batch(lab: &Lab, host: &Host, mark: &str) -> String {
    let mut batch = String::from("link set lo up\n");
    for interface in &host.interfaces {
        let name = &interface.name;
        line(&mut batch, format_args!("link set {name} alias {mark}/{}/{name}", host.name));
        if loses(lab, interface.network) {
            // Otherwise the kernel passes on up to 64 kB as one packet, and one loss would be the
            // loss of forty.
            line(&mut batch, format_args!("link set {name} gso_max_segs 1"));
        }
        addresses(&mut batch, interface);
    }
    for address in &host.virtual_addresses {
        let device = match address.at {
            VirtualPlace::Answering(place) => {
                host.interfaces.get(place).map_or("lo", |one| one.name.as_str())
            }
            VirtualPlace::Silent => "lo",
        };
        let address = address.address;
        // For connections of the host itself, IPv6 would select the source address most similar to
        // the neighbour's, comparing all bits of this one. An address that is not preferred is only
        // used if a program binds it.
        let (prefix, rest) = if address.is_ipv4() { (32, "") } else { (128, " preferred_lft 0") };
        line(
            &mut batch,
            format_args!("addr add {address}/{prefix} dev {device}{}{rest}", no_dad_option(address)),
        );
    }
    for (to, via) in neighbour_routes::routes(lab, host) {
        line(&mut batch, format_args!("route add {to} via {via}"));
    }
    for route in &host.routes {
        line(&mut batch, format_args!("route add {} via {}", route.to, route.via));
    }
    batch
}

/// Adds an interface's addresses, in an order that makes the first one the main address.
fn addresses(batch: &mut String, interface: &Interface) {
    let name = &interface.name;
    let six = interface.addresses.iter().any(|(address, _)| address.is_ipv6());
    if six {
        // The host uses this address in neighbour requests if the packet's source is not on the
        // interface: a forwarded packet, or one from an address on lo.
        line(batch, format_args!("addr add {}/64 dev {name} nodad", link_local(interface.mac)));
    }
    let mut all: Vec<&(IpAddr, u8)> = interface.addresses.iter().collect();
    if six {
        // Of several equal candidates the kernel takes the last.
        all.reverse();
    }
    for (address, prefix) in all {
        line(batch, format_args!("addr add {address}/{prefix} dev {name}{}", no_dad_option(*address)));
    }
}

/// Returns the link-local address of a hardware address (RFC 4291, appendix A).
fn link_local(mac: [u8; 6]) -> Ipv6Addr {
    let pair = |high: u8, low: u8| u16::from_be_bytes([high, low]);
    let [maker @ .., one, two, three] = mac;
    let [first, second, third] = maker;
    let (upper, lower) = (pair(first ^ 2, second), pair(third, 0xff));
    Ipv6Addr::new(0xfe80, 0, 0, 0, upper, lower, pair(0xfe, one), pair(two, three))
}

/// Whether cables of that network lose packets.
pub(crate) fn loses(lab: &Lab, network: usize) -> bool {
    let mut cables = lab.hosts.iter().flat_map(|host| &host.interfaces);
    cables.any(|cable| cable.network == network && cable.link.loss_ppm > 0)
}

/// Adds a cable. The namespace is a path, because `ip` would take a number for a namespace's name
/// first.
fn cable(batch: &mut String, port: &str, interface: &Interface, pid: u32) {
    let mac = hardware_address(interface);
    let name = &interface.name;
    line(
        batch,
        format_args!("link add {port} type veth peer name {name} address {mac} netns /proc/{pid}/ns/net"),
    );
}

fn hardware_address(interface: &Interface) -> String {
    interface.mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// Skips duplicate address detection, during which an IPv6 address is unusable for a second. There
/// are no duplicates.
const fn no_dad_option(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "" } else { " nodad" }
}

fn line(batch: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(batch, "{words}").expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_link_is_made_of_its_hardware() {
        let made = link_local([0x02, b'W', b'T', 1, 0, 5]);
        assert_eq!(made.to_string(), "fe80::57:54ff:fe01:5");
    }
}
