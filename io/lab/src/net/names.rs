//! Name resolution inside a host: the text of its `/etc/hosts` and `/etc/resolv.conf`.

use std::collections::BTreeSet;
use std::net::IpAddr;

use wavetank_topology::Lab;

/// There is no name server. Names outside the lab do not resolve, and no query leaves the lab.
pub(crate) const RESOLV_CONF: &str = "# A lab's host asks no name server: it knows the lab's names (/etc/hosts) and no others.\noptions timeout:1 attempts:1\n";

/// Returns the names as `lab.hosts[from]` sees them. Every host has its name at its nearest
/// address, and `NAME.NETWORK` at its address in that network. Virtual addresses with a name are
/// included.
pub(crate) fn hosts_file(lab: &Lab, from: usize) -> String {
    let mut lines = vec![
        "# The hosts of this lab, as seen from here. Nothing else has a name.".to_owned(),
        "127.0.0.1 localhost".to_owned(),
        "::1 localhost ip6-localhost ip6-loopback".to_owned(),
    ];
    let mut reported = BTreeSet::new();
    let mut report = |address: IpAddr, name: String| {
        let line = format!("{address} {name}");
        if reported.insert((address, name)) {
            lines.push(line);
        }
    };
    for (to, host) in lab.hosts.iter().enumerate() {
        if let Some(address) = lab.source_address(from, to) {
            report(address, host.name.clone());
        }
        for interface in &host.interfaces {
            let network = lab.networks.get(interface.network);
            if let Some(((address, _), network)) = interface.addresses.first().zip(network) {
                report(*address, format!("{}.{}", host.name, network.name));
            }
        }
    }
    // With direct routing several hosts have the same address; it is written once.
    for virtual_address in lab.hosts.iter().flat_map(|host| &host.virtual_addresses) {
        if let Some(name) = &virtual_address.name {
            report(virtual_address.address, name.clone());
        }
    }
    lines.join("\n") + "\n"
}
