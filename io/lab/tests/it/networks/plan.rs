//! Labs defined by hand.

use wavetank_grammar::Span;
use wavetank_topology::{
    Host, Interface, Lab, Limits, Link, Network, Role, Subnet, Sysctl, VirtualAddress, VirtualPlace,
};

/// The name of the topology file in messages.
pub(crate) const FILE: &str = "lab.yaml";

/// A lab of those networks, `10.9.0.0/24` and so on, and hosts.
pub(crate) fn lab(networks: &[(&str, &str)], hosts: Vec<Host>) -> Lab {
    let networks = networks.iter().map(|(name, subnet)| Network {
        name: (*name).to_owned(),
        subnet: Subnet::parse(subnet).expect("a network"),
        place: Span::default(),
    });
    Lab { name: "paper".to_owned(), networks: networks.collect(), hosts, faults: Vec::new() }
}

/// Returns a host with an interface for each `(network, addresses)`, with prefixes of 24 bits, or
/// 64 for IPv6. The last bits of its hardware addresses are those of its addresses.
pub(crate) fn host(name: &str, interfaces: &[(usize, &[&str])]) -> Host {
    let interfaces = interfaces.iter().enumerate().map(|(at, (network, addresses))| {
        let addresses = addresses.iter().map(|address| {
            let address: std::net::IpAddr = address.parse().expect("an address");
            (address, if address.is_ipv4() { 24 } else { 64 })
        });
        let addresses: Vec<_> = addresses.collect();
        let last = match addresses[0].0 {
            std::net::IpAddr::V4(address) => address.octets()[3],
            std::net::IpAddr::V6(address) => address.octets()[15],
        };
        let network_byte = u8::try_from(*network).expect("few networks");
        Interface {
            name: format!("eth{at}"),
            network: *network,
            addresses,
            mac: [0x02, 0xaa, 0, 0, network_byte, last],
            link: Link::default(),
            place: Span { line: 7, column: 5, ..Span::default() },
        }
    });
    Host {
        name: name.to_owned(),
        role: Role::Other,
        interfaces: interfaces.collect(),
        virtual_addresses: Vec::new(),
        routes: Vec::new(),
        sysctls: Vec::new(),
        files: Vec::new(),
        limits: Limits::default(),
        sshd: false,
        services: Vec::new(),
        place: Span::default(),
    }
}

/// Returns the host with an additional setting, from line 12.
pub(crate) fn with(mut host: Host, key: &str, value: &str) -> Host {
    let place = Span { line: 12, column: 9, ..Span::default() };
    host.sysctls.push(Sysctl {
        key: key.to_owned(),
        value: value.to_owned(),
        why: "a test".to_owned(),
        place,
    });
    host
}

/// Returns the host with an additional, named address.
pub(crate) fn virtual_at(mut host: Host, address: &str, at: VirtualPlace, name: &str) -> Host {
    let address = address.parse().expect("an address");
    let place = Span::default();
    host.virtual_addresses.push(VirtualAddress { address, at, name: Some(name.to_owned()), place });
    host
}

/// Returns the host with `link` on all of its interfaces.
pub(crate) fn linked(mut host: Host, link: Link) -> Host {
    for interface in &mut host.interfaces {
        interface.link = link;
    }
    host
}
