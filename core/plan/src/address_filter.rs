//! [`AddressFilter`]: which of a name's addresses connections use.

use std::net::SocketAddr;

use wavetank_units::{Code, UserError, sentence, unix_path};

use crate::{IpFamily, SettingNames, SourcesPlan, TargetUrl};

/// Settings that exclude addresses.
#[derive(Clone, Copy, Debug)]
pub struct AddressFilter<'a> {
    /// Only addresses of this family.
    pub ip: Option<IpFamily>,
    /// Source addresses, which reach only their family.
    pub sources: &'a SourcesPlan,
    /// Whether connections start with a header of the PROXY protocol.
    pub proxy_protocol: bool,
    /// How errors name these settings.
    pub names: SettingNames,
}

impl AddressFilter<'_> {
    /// Returns those of the addresses `found` for `connect_host` that connections to `host` use.
    /// Both names are the same unless connections are redirected.
    ///
    /// # Errors
    /// When none is left, or a source address reaches none of them.
    pub fn usable_addresses(
        &self,
        host: &str,
        connect_host: &str,
        found: &[SocketAddr],
    ) -> Result<Vec<SocketAddr>, UserError> {
        if found.iter().any(|address| unix_path(*address).is_some()) {
            return self.unix_only(found);
        }
        let family = |address: &&SocketAddr| self.ip.is_none_or(|family| family.contains(address.ip()));
        let mut left: Vec<SocketAddr> = found.iter().filter(family).copied().collect();
        self.one_of_localhost(connect_host, &mut left);
        if left.is_empty() {
            let name = host;
            let (other, problem) = match self.ip {
                Some(IpFamily::V4) => {
                    (self.names.family(IpFamily::V6), sentence!("`{name}` has no IPv4 address"))
                }
                Some(IpFamily::V6) => {
                    (self.names.family(IpFamily::V4), sentence!("`{name}` has no IPv6 address"))
                }
                None => ("another name", sentence!("`{name}` has no address")),
            };
            let hint = format!("{other}, or look with: getent ahosts {name}");
            return Err(UserError::usage(Code::NoAddress, problem, hint));
        }
        if self.sources.is_empty() {
            return Ok(left);
        }
        let reached: Vec<SocketAddr> = left.into_iter().filter(|to| self.is_reached(to)).collect();
        let idle = self
            .sources
            .ranges
            .iter()
            .find(|range| !reached.iter().any(|to| to.is_ipv4() == range.first.is_ipv4()));
        if let Some(range) = idle {
            let family = if range.first.is_ipv4() { "IPv4" } else { "IPv6" };
            let (v4, v6) = (self.names.family(IpFamily::V4), self.names.family(IpFamily::V6));
            let source = range.first;
            return Err(UserError::usage(
                Code::Conflict,
                match self.names {
                    SettingNames::Options => {
                        format!("--source {source} is {family}, and `{host}` has no such address")
                    }
                    SettingNames::Keys => {
                        format!("sources {source} is {family}, and `{host}` has no such address")
                    }
                },
                format!("source and target must be of one family; {v4} or {v6} chooses"),
            ));
        }
        Ok(reached)
    }

    /// Returns the addresses of Unix sockets, which have no family and no source address.
    fn unix_only(&self, addresses: &[SocketAddr]) -> Result<Vec<SocketAddr>, UserError> {
        let without_effect = match (self.ip, self.sources.is_empty(), self.proxy_protocol) {
            (Some(_), ..) => "--ip",
            (_, false, _) => self.names.sources(),
            (.., true) => "--proxy-protocol",
            _ => return Ok(addresses.to_vec()),
        };
        Err(UserError::usage(
            Code::Conflict,
            format!("{without_effect} has no effect on a Unix socket, which has no IP address"),
            format!("leave {without_effect} out, or use an address of TCP"),
        ))
    }

    /// `localhost` is one host with two addresses, and most servers listen on only one of them. If
    /// both were used in turn, half of all connections would be refused. The family of the first
    /// address is used unless family or sources say otherwise.
    fn one_of_localhost(&self, connect_host: &str, addresses: &mut Vec<SocketAddr>) {
        if !TargetUrl::is_localhost(connect_host) {
            return;
        }
        if let Some(first) = addresses.iter().find(|to| self.is_reached(to)).copied() {
            addresses.retain(|address| address.is_ipv4() == first.is_ipv4());
        }
    }

    fn is_reached(&self, to: &SocketAddr) -> bool {
        let ranges = &self.sources.ranges;
        ranges.is_empty() || ranges.iter().any(|range| range.first.is_ipv4() == to.is_ipv4())
    }
}
