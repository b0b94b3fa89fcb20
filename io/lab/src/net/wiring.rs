//! What `ip` is told: bridges and cables in the switch, addresses and routes in a host. Texts only.

use std::fmt::Write;
use std::net::{IpAddr, Ipv6Addr};

use wavetank_topology::{Host, Interface, Lab, VirtualPlace};

use super::neighbour_routes;

/// The switch's end of a cable. An interface's name has 15 letters at most, so places stand in it and names in its alias.
pub(crate) fn port(host: usize, interface: usize) -> String {
    format!("h{host}i{interface}")
}

/// In the switch: a bridge for each network and, for each host, cables whose other ends appear under their final names
/// in the namespaces of the processes `pids`, in the order of the lab's hosts.
pub(crate) fn switch_batch(lab: &Lab, mark: &str, pids: &[u32]) -> String {
    let mut batch = String::new();
    for (place, network) in lab.networks.iter().enumerate() {
        // Nothing forms a loop here, and a port that is listening first would lose the first seconds. Snooping would
        // need somebody to ask who listens to a group, and IPv6 finds its neighbours by groups.
        line(
            &mut batch,
            format_args!("link add n{place} type bridge stp_state 0 forward_delay 0 mcast_snooping 0"),
        );
        // A bridge without an address of its own takes its ports' lowest and changes it as they come and go.
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

/// In a host that is alone: its ends of cables, up, and other ends that lead nowhere.
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

/// In the host, before anything else: its ends of the cables are up. Without an address that an interface makes for
/// itself, nothing asks for routers or tells of groups: its counters count what the lab's programs send.
pub(crate) fn far_ends_batch(host: &Host) -> String {
    let mut batch = String::new();
    for interface in &host.interfaces {
        line(&mut batch, format_args!("link set {} addrgenmode none", interface.name));
        line(&mut batch, format_args!("link set {} up", interface.name));
    }
    batch
}

/// In the host, whose interfaces are up: loopback, then interface by interface what it is called and what it has; then
/// virtual addresses and routes.
pub(crate) fn host_batch(lab: &Lab, host: &Host, mark: &str) -> String {
    let mut batch = String::from("link set lo up\n");
    for interface in &host.interfaces {
        let name = &interface.name;
        line(&mut batch, format_args!("link set {name} alias {mark}/{}/{name}", host.name));
        if loses(lab, interface.network) {
            // Else the kernel hands on up to 64 kB as one packet, and one loss would be that of forty.
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
        // Of addresses of IPv6 the one that is most like the neighbour's would be the source of what the host itself
        // begins, and the whole of this one counts; only who binds it sends from one that is not preferred.
        let (prefix, rest) = if address.is_ipv4() { (32, "") } else { (128, " preferred_lft 0") };
        line(&mut batch, format_args!("addr add {address}/{prefix} dev {device}{}{rest}", at_once(address)));
    }
    for (to, via) in neighbour_routes::routes(lab, host) {
        line(&mut batch, format_args!("route add {to} via {via}"));
    }
    for route in &host.routes {
        line(&mut batch, format_args!("route add {} via {}", route.to, route.via));
    }
    batch
}

/// What an interface has, the main address first in what the kernel makes of it.
fn addresses(batch: &mut String, interface: &Interface) {
    let name = &interface.name;
    let six = interface.addresses.iter().any(|(address, _)| address.is_ipv6());
    if six {
        // In the name of this one the host asks for a neighbour where the packet is not from the interface's own: one
        // that is passed on, or from an address on lo.
        line(batch, format_args!("addr add {}/64 dev {name} nodad", link_local(interface.mac)));
    }
    let mut all: Vec<&(IpAddr, u8)> = interface.addresses.iter().collect();
    if six {
        // Of several that are alike the kernel takes the last.
        all.reverse();
    }
    for (address, prefix) in all {
        line(batch, format_args!("addr add {address}/{prefix} dev {name}{}", at_once(*address)));
    }
}

/// The address that IPv6 makes of a hardware address (RFC 4291, appendix A).
fn link_local(mac: [u8; 6]) -> Ipv6Addr {
    let pair = |high: u8, low: u8| u16::from_be_bytes([high, low]);
    let [maker @ .., one, two, three] = mac;
    let [first, second, third] = maker;
    let (upper, lower) = (pair(first ^ 2, second), pair(third, 0xff));
    Ipv6Addr::new(0xfe80, 0, 0, 0, upper, lower, pair(0xfe, one), pair(two, three))
}

/// Whether packets get lost on a cable of that network.
pub(crate) fn loses(lab: &Lab, network: usize) -> bool {
    let mut cables = lab.hosts.iter().flat_map(|host| &host.interfaces);
    cables.any(|cable| cable.network == network && cable.link.loss_ppm > 0)
}

/// A path and no bare number: `ip` would take that for the name of a namespace first.
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

/// An address of IPv6 is not used for the second in which the kernel asks whether somebody else has it: nobody has.
const fn at_once(address: IpAddr) -> &'static str {
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
