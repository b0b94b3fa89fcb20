//! [`hosts_file`]: how names of hosts become addresses inside a lab.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::Lab;

/// The text of `/etc/hosts` in host number `of`: its own name, every other host by an address that it reaches, and
/// virtual addresses by their names. Hosts without an address have no line.
pub fn hosts_file(lab: &Lab, of: usize) -> String {
    let mut text = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    let mut line = |address: std::net::IpAddr, name: &str| {
        writeln!(text, "{address} {name}").expect("text takes everything");
    };
    for (index, host) in lab.hosts.iter().enumerate() {
        if let Some(address) = lab.address_seen(of, index) {
            line(address, &host.name);
        }
    }
    // A name has one address, however many hosts have it: that was checked.
    let mut told = BTreeSet::new();
    for one in lab.hosts.iter().flat_map(|host| &host.virtual_addresses) {
        if let Some(name) = one.name.as_deref().filter(|name| told.insert(*name)) {
            line(one.address, name);
        }
    }
    text
}
