//! [`Guard`]: decides over every socket address before it is used (contract §7).
//!
//! Loopback and private addresses are open, everything else needs to be allowed by name or network, and the
//! two addresses at which clouds give out credentials need to be allowed one by one. Targets, redirects,
//! proxies and resources all pass here; nobody else may decide.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::network::Network;
use crate::{AllowTarget, UserError};

/// Where the clouds keep instance credentials.
const METADATA: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254)),
];

/// What may be reached beside loopback and private addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    allowed: Vec<AllowTarget>,
}

impl Guard {
    /// A guard that opens what `--allow-target` names, too.
    pub fn new(allowed: Vec<AllowTarget>) -> Self {
        Self { allowed }
    }

    /// Refuses `address`, which `host` (name or address as typed) resolved to, unless it is open.
    ///
    /// `command` is the command as typed, for the hint: the exact command that would be let through. The
    /// error has code `target_not_allowed` and exit 5; nothing has been sent by then but a name query.
    pub fn check(&self, host: &str, address: SocketAddr, command: &str) -> Result<(), UserError> {
        let ip = canonical(address.ip());
        if METADATA.contains(&ip) {
            let exact = |allowed: &AllowTarget| match allowed {
                AllowTarget::Network(network) => network.is_single() && network.contains(ip),
                AllowTarget::Name(_) => false,
            };
            if self.allowed.iter().any(exact) {
                return Ok(());
            }
            return Err(UserError::refused(
                "target_not_allowed",
                format!("{} gives out this machine's cloud credentials and is no target", named(host, ip)),
                format!("if it is one: {command} --allow-target {ip}"),
            ));
        }
        if open_by_default(ip) || self.allows(host, ip) {
            return Ok(());
        }
        let allow = if is_name(host) { host.to_owned() } else { ip.to_string() };
        Err(UserError::refused(
            "target_not_allowed",
            format!(
                "{} is neither loopback nor private, and load must only go where it is welcome",
                named(host, ip)
            ),
            format!("if the target is yours: {command} --allow-target {allow}"),
        ))
    }

    fn allows(&self, host: &str, ip: IpAddr) -> bool {
        let host = host.trim_end_matches('.');
        self.allowed.iter().any(|allowed| match allowed {
            AllowTarget::Network(network) => network.contains(ip),
            AllowTarget::Name(name) => name.eq_ignore_ascii_case(host),
        })
    }
}

/// IPv4 in IPv6 clothes (`::ffff:a.b.c.d`) is IPv4: the packet goes there.
fn canonical(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

/// Loopback, RFC 1918, RFC 4193, and the unspecified address, which is this host. Link-local addresses are
/// not among them: they reach whatever shares the wire.
fn open_by_default(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_unspecified(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unspecified(),
    }
}

fn is_name(host: &str) -> bool {
    Network::parse(host).is_none() && !host.is_empty()
}

fn named(host: &str, ip: IpAddr) -> String {
    if is_name(host) { format!("{host} ({ip})") } else { ip.to_string() }
}
