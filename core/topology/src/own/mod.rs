//! Reads what a user's own configuration names: logs, included files, sockets, limits.
//!
//! The configuration itself is used unchanged and judged by its program. These functions only find
//! what the lab has to provide for it, such as a place for its logs. What they do not understand,
//! they skip.

mod haproxy;
mod nginx;

pub use haproxy::{HaproxyConfig, HaproxyFrontend, read_haproxy};
pub use nginx::{NginxConfig, StatusPage, read_nginx};

use std::net::IpAddr;

/// A user and a group that a program becomes, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The user.
    pub user: Option<String>,
    /// The group.
    pub group: Option<String>,
}

/// The port of syslog over UDP.
pub const SYSLOG_PORT: u16 = 514;

/// Where a configuration sends its log by the syslog protocol.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SyslogTarget {
    /// A UNIX socket, by its path.
    Socket(String),
    /// A UDP port of the host itself.
    Local(u16),
}

impl SyslogTarget {
    /// Reads `/dev/log`, `unix:/dev/log`, `unix@/dev/log`, `127.0.0.1`, `localhost:5140`,
    /// `udp@[::1]:514`. `None` for another host, a file descriptor, or anything unknown.
    fn read(text: &str) -> Option<Self> {
        let path = ["unix@", "unix:"].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
        if path.starts_with('/') {
            return Some(Self::Socket(path.to_owned()));
        }
        let prefixes = ["udp@", "udp4@", "udp6@", "ipv4@", "ipv6@"];
        let address = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
        let (host, port) = split_port(address);
        let local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        local.then_some(Self::Local(port.unwrap_or(SYSLOG_PORT)))
    }
}

/// Splits `HOST:PORT`, `[V6]:PORT`, or a host without a port.
fn split_port(address: &str) -> (&str, Option<u16>) {
    if let Some(rest) = address.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').unwrap_or((rest, ""));
        return (host, rest.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match address.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => (host, port.parse().ok()),
        _ => (address, None),
    }
}

#[cfg(test)]
mod tests {
    use super::SyslogTarget::{self, Local, Socket};

    #[test]
    fn syslog_is_found_on_this_host_only() {
        let check = |text: &str, expected: Option<SyslogTarget>| {
            assert_eq!(SyslogTarget::read(text), expected, "{text}");
        };
        check("/dev/log", Some(Socket("/dev/log".to_owned())));
        check("unix:/run/log.sock", Some(Socket("/run/log.sock".to_owned())));
        check("127.0.0.1", Some(Local(514)));
        check("localhost:5140", Some(Local(5140)));
        check("udp@[::1]:515", Some(Local(515)));
        check("::1", Some(Local(514)));
        for elsewhere in ["10.0.0.7:514", "fd@3", "stdout", "ring@mine", "loghost"] {
            check(elsewhere, None);
        }
    }
}
