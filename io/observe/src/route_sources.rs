//! [`route_sources`]: the addresses selected by `--source auto`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use nix::ifaddrs::getifaddrs;
use wavetank_units::SourceRange;

use crate::{parse, read};

/// Additional loopback addresses for when the ports of 127.0.0.1 run out: 65,534 addresses that
/// need no set-up.
const LOOPBACK_MORE: (Ipv4Addr, Ipv4Addr) = (Ipv4Addr::new(127, 1, 0, 1), Ipv4Addr::new(127, 1, 255, 254));

/// Returns all addresses of the interface through which this host reaches `targets`, the kernel's
/// own choice first. On loopback these are 127.0.0.1 and then 127.1.0.0/16.
///
/// # Errors
/// If this host has no route to one of the targets.
pub fn route_sources(targets: &[SocketAddr]) -> io::Result<Vec<SourceRange>> {
    let mut ranges: Vec<SourceRange> = Vec::new();
    for &target in targets {
        for range in sources_to(target)? {
            if !ranges.contains(&range) {
                ranges.push(range);
            }
        }
    }
    Ok(ranges)
}

fn sources_to(target: SocketAddr) -> io::Result<Vec<SourceRange>> {
    let single = |address: IpAddr| SourceRange { first: address, last: address };
    match target.ip() {
        IpAddr::V4(ip) if ip.is_loopback() => {
            let (first, last) = LOOPBACK_MORE;
            let more = SourceRange { first: first.into(), last: last.into() };
            Ok(vec![single(Ipv4Addr::LOCALHOST.into()), more])
        }
        IpAddr::V6(ip) if ip.is_loopback() => Ok(vec![single(ip.into())]),
        _ => {
            let chosen = kernels_choice(target)?;
            let others = alongside(chosen).into_iter().filter(|address| *address != chosen);
            Ok([chosen].into_iter().chain(others).map(single).collect())
        }
    }
}

/// Returns the address the kernel would connect from. Connecting a datagram socket looks up the
/// route without sending.
fn kernels_choice(target: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr =
        if target.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(target)?;
    Ok(socket.local_addr()?.ip())
}

/// Returns all addresses of `address`'s interface and family that new connections may use.
fn alongside(address: IpAddr) -> Vec<IpAddr> {
    let unfit = read::text("/proc/thread-self/net/if_inet6")
        .map(|text| parse::unusable_ipv6(&text))
        .unwrap_or_default();
    let Ok(list) = getifaddrs() else { return Vec::new() };
    let all: Vec<(String, IpAddr)> = list
        .filter_map(|entry| {
            let found = entry.address?;
            let v4 = found.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
            let ip = v4.or_else(|| found.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))?;
            Some((entry.interface_name, ip))
        })
        .collect();
    let Some((interface, _)) = all.iter().find(|(_, ip)| *ip == address) else { return Vec::new() };
    let fit = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => !ip.is_link_local(),
        IpAddr::V6(ip) => !ip.is_unicast_link_local() && !unfit.contains(&ip),
    };
    all.iter()
        .filter(|(name, ip)| name == interface && ip.is_ipv4() == address.is_ipv4() && fit(*ip))
        .map(|&(_, ip)| ip)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_plenty() {
        let of = |target: &str| route_sources(&[target.parse().expect("an address")]).expect("a route");
        let ranges = of("127.0.0.1:80");
        assert_eq!(ranges[0].first, IpAddr::V4(Ipv4Addr::LOCALHOST));
        assert_eq!(ranges.iter().map(SourceRange::len).sum::<u128>(), 1 + 65_534);
        assert_eq!(of("[::1]:80").len(), 1);
        let both = ["127.0.0.1:80", "127.0.0.2:81"].map(|text| text.parse().expect("an address"));
        assert_eq!(route_sources(&both).expect("a route"), ranges, "each once");
    }

    #[test]
    fn an_own_address_is_reached_from_its_interface() {
        let facts = crate::host_facts();
        let outward = facts.addresses.iter().filter(|ip| ip.is_ipv4() && !ip.is_loopback());
        for &ip in outward {
            let ranges = route_sources(&[SocketAddr::new(ip, 80)]).expect("a route to ourselves");
            assert!(ranges.iter().any(|range| range.contains(ip)), "{ip}: {ranges:?}");
            assert!(ranges.iter().all(|range| facts.addresses.contains(&range.first)), "{ranges:?}");
        }
    }
}
