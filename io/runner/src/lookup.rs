//! [`lookup`]: from a name to addresses that may be used.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, ToSocketAddrs};

use wavetank_experiment::UrlPlan;
use wavetank_plan::{RunOptions, TargetUrl};
use wavetank_units::{Code, UserError, split_zone, unix_address};

use super::target_addresses::check_unresolved;

/// Resolves the point to connect to. Returns addresses in the resolver's order, each once. A run
/// makes no other query for that name, and this one precedes the first packet to the target.
pub fn lookup((host, port): (&str, u16)) -> Result<Vec<SocketAddr>, UserError> {
    if let Some(address) = unix_address(host) {
        return Ok(vec![address]);
    }
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    if let (address, Some(zone)) = split_zone(literal) {
        return in_zone(address, zone, port).map(|found| vec![found]);
    }
    let found = (literal, port).to_socket_addrs().map(Vec::from_iter);
    if TargetUrl::is_localhost(literal) {
        return Ok(loopback(found.unwrap_or_default(), port));
    }
    let found = found.map_err(|error| {
        let said = error.to_string();
        let said = said.rsplit(": ").next().unwrap_or(&said).to_owned();
        UserError::usage(
            Code::UnknownHost,
            format!("`{host}` does not resolve to an address: {said}"),
            format!(
                "check the spelling, or look with `getent ahosts {host}`; to go elsewhere: --connect-to ADDRESS:{port}"
            ),
        )
    })?;
    Ok(each_once(found))
}

/// Resolves the point to connect to in a run of `url`, and the name of its proxy. A name that only
/// the proxy can resolve has no address.
pub fn lookup_url(options: &mut RunOptions, url: &TargetUrl) -> Result<Vec<SocketAddr>, UserError> {
    let (name, port) = options.connect_point(url)?;
    let found = lookup((&name, port));
    let Some(proxy) = &mut options.proxy else { return found };
    proxy.addresses = lookup((&proxy.url.at.host, proxy.url.at.port))?;
    found.or_else(|error| if error.code == Code::UnknownHost { Ok(Vec::new()) } else { Err(error) })
}

/// Returns an IPv6 address in a zone, which is an interface or its number (RFC 4007 §11).
fn in_zone(address: &str, zone: &str, port: u16) -> Result<SocketAddr, UserError> {
    let ip: Ipv6Addr = address.parse().expect("checked when the zone was split off");
    let number = |zone: &str| zone.parse().ok().or_else(|| wavetank_observe::interface_index(zone));
    // A URL has `%25` in place of `%`.
    let index = number(zone).or_else(|| number(zone.strip_prefix("25")?));
    let index = index.ok_or_else(|| {
        UserError::usage(
            Code::UnknownHost,
            format!("`{address}%{zone}` has a zone that is no interface with IPv6: `{zone}`"),
            "look with `ip -6 -br address`, and name one of its interfaces",
        )
    })?;
    Ok(SocketAddrV6::new(ip, port, 0, index).into())
}

fn each_once(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    addresses
}

/// Returns the addresses of `localhost`, first those of the family in which a server listens, IPv4
/// before IPv6.
///
/// The name has both addresses even if no file lists them: an image may be without /etc/hosts
/// (RFC 6761 §6.3).
fn loopback(mut found: Vec<SocketAddr>, port: u16) -> Vec<SocketAddr> {
    let own: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    for ip in own {
        if found.iter().all(|known| known.is_ipv4() != ip.is_ipv4()) {
            found.push(SocketAddr::new(ip, port));
        }
    }
    let (v4, v6) = wavetank_observe::loopback_families(port);
    let v6_first = v6 && !v4;
    found.sort_by_key(|address| address.is_ipv4() == v6_first);
    each_once(found)
}

/// Every address passes the guard, or nothing is sent. `command` is what was typed, for the hint.
pub fn check_allowed(
    UrlPlan { plan, guard, .. }: &UrlPlan,
    options: &RunOptions,
    url: &TargetUrl,
    command: &str,
) -> Result<(), UserError> {
    let check = |host: &str, addresses: &[SocketAddr]| {
        addresses.iter().try_for_each(|&address| guard.check(host, address, command))
    };
    if let Some((proxy, plan)) = options.proxy.as_ref().zip(plan.http.proxy.as_ref()) {
        check(&proxy.url.at.host, &plan.addresses)?;
    }
    check_unresolved(guard, plan, command)?;
    let (host, _) = options.connect_point(url)?;
    check(&host, &plan.targets[0].addresses)
}
