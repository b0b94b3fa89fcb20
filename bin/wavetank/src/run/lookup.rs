//! [`lookup`]: from a name to addresses that may be used.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};

use wavetank_plan::{Resolved, RunOptions, TargetUrl, UserError};

/// Resolves the point to connect to. Returns addresses in the resolver's order, each once. A run
/// makes no other query for that name, and this one precedes the first packet to the target.
pub(crate) fn lookup((host, port): (&str, u16)) -> Result<Vec<SocketAddr>, UserError> {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    let found = (literal, port).to_socket_addrs().or_else(|error| {
        // An image without any file, not even /etc/hosts, still has this name (RFC 6761, 6.3).
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if literal.eq_ignore_ascii_case("localhost") { Ok(vec![loopback].into_iter()) } else { Err(error) }
    });
    let found = found.map_err(|error| {
        let said = error.to_string();
        let said = said.rsplit(": ").next().unwrap_or(&said).to_owned();
        UserError::usage(
            "unknown_host",
            format!("`{host}` does not resolve to an address: {said}"),
            format!(
                "check the spelling, or look with `getent ahosts {host}`; to go elsewhere: --connect-to ADDRESS:{port}"
            ),
        )
    })?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(addresses)
}

/// Every address passes the guard, or nothing is sent. `command` is what was typed, for the hint.
pub(crate) fn check_allowed(
    Resolved { plan, guard, .. }: &Resolved,
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
    let (host, _) = options.connect_point(url)?;
    check(&host, &plan.targets[0].addresses)
}
