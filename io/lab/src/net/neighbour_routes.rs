//! Reduces the number of neighbours: a host with many source addresses is reached at its main one.
//!
//! A kernel has one neighbour table for all its namespaces, with room for 1,024 entries by default
//! (`gc_thresh3`). Three load hosts with a hundred addresses each fill it with four servers. After
//! that no host can find a neighbour.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wavetank_topology::{Host, Interface, Lab};

/// Maximum number of neighbours before a lab uses these routes: half of the default table. The rest
/// is for the machine.
const NEIGHBOURS_MAX: usize = 512;

/// Returns the routes `(to, via)` of `host` to the additional addresses of its neighbours. Empty if
/// the lab has few enough neighbours for the table.
pub(super) fn routes(lab: &Lab, host: &Host) -> Vec<(String, IpAddr)> {
    let hosts = lab.hosts.iter();
    if hosts.map(|host| others(lab, host).map(|one| one.addresses.len()).sum::<usize>()).sum::<usize>()
        <= NEIGHBOURS_MAX
    {
        return Vec::new();
    }
    let mut routes = Vec::new();
    for interface in others(lab, host) {
        let Some(((main, _), further)) = interface.addresses.split_first() else { continue };
        let alike = further.iter().map(|(address, _)| *address).filter(|one| one.is_ipv4() == main.is_ipv4());
        routes.extend(blocks(alike.collect()).into_iter().map(|block| (block, *main)));
    }
    routes
}

/// Returns the interfaces of other hosts on the networks of `host`.
fn others<'a>(lab: &'a Lab, host: &'a Host) -> impl Iterator<Item = &'a Interface> {
    let others = lab.hosts.iter().filter(|other| other.name != host.name);
    others.flat_map(|other| &other.interfaces).filter(|one| host.interface_on(one.network).is_some())
}

/// Returns the smallest set of prefixes that covers exactly `addresses`, all of one family.
fn blocks(addresses: Vec<IpAddr>) -> Vec<String> {
    let bits: u32 = if addresses.first().is_some_and(IpAddr::is_ipv4) { 32 } else { 128 };
    let mut numbers: Vec<u128> = addresses.into_iter().map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut blocks = Vec::new();
    let mut rest = numbers.as_slice();
    while let Some(first) = rest.first() {
        let run = rest.iter().zip(*first..).take_while(|(one, wanted)| *one == wanted).count();
        // The block is as large as its alignment and the run of addresses permit.
        let aligned = first.trailing_zeros().min(bits);
        let size = aligned.min(run.ilog2());
        blocks.push(format!("{}/{}", address(*first, bits), bits - size));
        rest = &rest[1 << size..];
    }
    blocks
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}

fn address(number: u128, bits: u32) -> IpAddr {
    match u32::try_from(number) {
        Ok(number) if bits == 32 => Ipv4Addr::from(number).into(),
        _ => Ipv6Addr::from(number).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(addresses: &[&str], expected: &[&str]) {
        let addresses = addresses.iter().map(|one| one.parse().expect("an address")).collect();
        assert_eq!(blocks(addresses), expected);
    }

    #[test]
    fn prefixes_hold_exactly_what_they_shall() {
        check(
            &["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"],
            &["10.0.0.2/31", "10.0.0.4/31", "10.0.0.6/32"],
        );
        check(&["10.0.0.9", "10.0.0.7", "10.0.0.8", "10.0.0.8"], &["10.0.0.7/32", "10.0.0.8/31"]);
        check(&["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3"], &["10.0.0.0/30"]);
        check(&["fd00::2", "fd00::3", "fd00::5"], &["fd00::2/127", "fd00::5/128"]);
        check(&["0.0.0.0", "0.0.0.1"], &["0.0.0.0/31"]);
        check(&[], &[]);
    }
}
