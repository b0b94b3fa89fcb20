//! [`Guard`]: checks every socket address before it is used (`docs/measuring.md` §7).
//!
//! Loopback and private addresses are allowed by default. All other addresses must be allowed by
//! name or network. The two addresses at which clouds hand out credentials must be allowed one by
//! one. Targets, redirects, proxies and resources are all checked here and nowhere else.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use wavetank_units::{AllowTarget, Code, Network, UserError, phrase, sentence, split_zone, unix_path};

/// Addresses at which clouds serve instance credentials.
const METADATA: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254)),
];

/// Targets that are allowed in addition to loopback and private addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    allowed: Vec<AllowTarget>,
    /// Only those are allowed.
    closed: bool,
}

impl Guard {
    /// A guard that opens what `--allow-target` names, too.
    pub fn new(allowed: Vec<AllowTarget>) -> Self {
        Self { allowed, closed: false }
    }

    /// The guard of an agent: it opens nothing but `allowed`, unless that is empty.
    pub fn of_agent(allowed: Vec<AllowTarget>) -> Self {
        Self { closed: !allowed.is_empty(), allowed }
    }

    /// Refuses `address`, to which `host` (name or address as typed) resolved, unless it is
    /// allowed.
    ///
    /// `command` is the command as typed. The hint repeats it with the option that allows the
    /// target. The error has code `target_not_allowed` and exit 5. Nothing but a DNS query has been
    /// sent by then.
    pub fn check(&self, host: &str, address: SocketAddr, command: &str) -> Result<(), UserError> {
        if unix_path(address).is_some() {
            return Ok(());
        }
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
                Code::TargetNotAllowed,
                sentence!(
                    "{} hands out this machine's cloud credentials and must not be loaded",
                    named(host, ip)
                ),
                sentence!("if it is one: {command} --allow-target {ip}"),
            ));
        }
        if (open_by_default(ip) && !self.closed) || self.allows(host, ip) {
            return Ok(());
        }
        if self.closed {
            return Err(UserError::refused(
                Code::TargetNotAllowed,
                sentence!("{} is not on the list of targets of this agent", named(host, ip)),
                phrase!("add it to allow: in the fleet file, then wavetank fleet down and up"),
            ));
        }
        let allow = if is_name(host) { host.to_owned() } else { ip.to_string() };
        Err(UserError::refused(
            Code::TargetNotAllowed,
            sentence!(
                "{} is not a loopback or private address, and load must only go where it is welcome",
                named(host, ip)
            ),
            sentence!("if the target is yours: {command} --allow-target {allow}"),
        ))
    }

    /// Refuses a name that only a proxy can resolve, unless it is allowed by name.
    pub fn check_unresolved(&self, host: &str, command: &str) -> Result<(), UserError> {
        if self.allows_name(host) {
            return Ok(());
        }
        Err(UserError::refused(
            Code::TargetNotAllowed,
            sentence!("{host} does not resolve here, and load must only go where it is welcome"),
            sentence!("if the proxy knows the name and the target is yours: {command} --allow-target {host}"),
        ))
    }

    fn allows(&self, host: &str, ip: IpAddr) -> bool {
        let contains = |allowed: &AllowTarget| match allowed {
            AllowTarget::Network(network) => network.contains(ip),
            AllowTarget::Name(_) => false,
        };
        self.allows_name(host) || self.allowed.iter().any(contains)
    }

    fn allows_name(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        let is_named = |allowed: &AllowTarget| match allowed {
            AllowTarget::Network(_) => false,
            AllowTarget::Name(name) => name.eq_ignore_ascii_case(host),
        };
        self.allowed.iter().any(is_named)
    }
}

/// Returns the IPv4 address of an IPv4-mapped one (`::ffff:a.b.c.d`): the packet goes there.
fn canonical(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

/// Loopback, RFC 1918, RFC 4193, and the unspecified address, which means this host. Link-local
/// addresses are not included: they reach every device on the same link.
fn open_by_default(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_unspecified(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unspecified(),
    }
}

fn is_name(host: &str) -> bool {
    Network::parse(split_zone(host).0).is_none() && !host.is_empty()
}

fn named(host: &str, ip: IpAddr) -> String {
    if is_name(host) { format!("{host} ({ip})") } else { ip.to_string() }
}
