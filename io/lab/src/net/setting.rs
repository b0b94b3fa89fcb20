//! [`Setting`]: a kernel setting of a network namespace, written and read back.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use wavetank_grammar::Span;
use wavetank_topology::{Host, Sysctl};
use wavetank_units::{Code, UserError, sanitize};

use crate::file_error;

/// Initial settings of every host. A new namespace inherits these from the machine, but a lab must
/// be the same on a router, behind Docker and on a plain machine. They are written to `all`,
/// `default` and every interface.
const CONF: [(&str, &str); 6] = [
    // First, because writing it resets the others. A router sets `ip_forward` itself.
    ("forwarding", "0"),
    ("rp_filter", "0"), // With direct routing, responses and requests take different paths.
    ("accept_redirects", "0"), // Hosts must not learn a shorter path that bypasses the balancer.
    // A balancer with one interface would otherwise send a redirect for every packet.
    ("send_redirects", "0"),
    // The kernel's default. A host with a silent address overrides it in its settings.
    ("arp_ignore", "0"),
    // ARP requests use the main address, so that neighbours store one entry per host.
    ("arp_announce", "2"),
];

/// The same for IPv6, for hosts with an IPv6 address.
const CONF6: [(&str, &str); 5] = [
    ("disable_ipv6", "0"), // The machine may disable it on new interfaces.
    ("forwarding", "0"),
    ("accept_ra", "0"), // Addresses and routes are those of the lab's file.
    ("accept_redirects", "0"),
    ("router_solicitations", "0"), // No router solicitations, as there is no router.
];

/// A dotted key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    key: String,
    value: String,
    /// The place in the file that sets it, if any.
    place: Option<Span>,
}

/// Why the kernel does not have the requested setting.
#[derive(Debug)]
enum Trouble {
    /// The setting does not belong to a network namespace.
    OfMachine,
    Absent,
    ReadOnly,
    /// All of `/proc/sys` is read-only, as in containers.
    Sealed,
    Rejected(std::io::Error),
    /// The kernel accepted it but stored another value.
    Other(String),
}

impl Setting {
    /// Returns all settings of `host` in the order of writing: the lab's base, then the host's own.
    pub(crate) fn for_host(host: &Host) -> Vec<Self> {
        let own = host.interfaces.iter().map(|interface| interface.name.as_str());
        let places: Vec<&str> = ["all", "default", "lo"].into_iter().chain(own).collect();
        let six: &[(&str, &str)] = if speaks_ipv6(host) { &CONF6 } else { &[] };
        let mut all = Vec::new();
        for (protocol, conf) in [("ipv4", &CONF[..]), ("ipv6", six)] {
            for place in &places {
                all.extend(conf.iter().map(|one| Self::base(protocol, place, *one)));
            }
        }
        all.extend(host.sysctls.iter().map(Self::from));
        all
    }

    /// Writes the setting into the network namespace of the calling thread and reads it back.
    /// `file` is the topology file, for messages.
    pub(crate) fn apply(&self, file: &str) -> Result<(), UserError> {
        self.try_apply().map_err(|trouble| {
            file_error::with_place(file, self.place.unwrap_or_default(), self.error(trouble))
        })
    }

    /// Returns the setting as on a command line.
    pub(crate) fn command_line(&self) -> String {
        format!("{}={}", self.key, self.value)
    }

    fn base(protocol: &str, place: &str, (name, value): (&str, &str)) -> Self {
        Self { key: format!("net.{protocol}.conf.{place}.{name}"), value: value.to_owned(), place: None }
    }

    fn try_apply(&self) -> Result<(), Trouble> {
        let path = self.path()?;
        let opened = OpenOptions::new().write(true).open(&path);
        let mut file = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Trouble::Absent,
            ErrorKind::PermissionDenied => Trouble::ReadOnly,
            ErrorKind::ReadOnlyFilesystem => Trouble::Sealed,
            _ => Trouble::Rejected(error),
        })?;
        // Some settings take each write for a whole value. A text this short is written in one
        // call.
        file.write_all(format!("{}\n", self.value).as_bytes()).map_err(Trouble::Rejected)?;
        let found = std::fs::read_to_string(&path).map_err(Trouble::Rejected)?;
        if same(&self.key, &self.value, &found) { Ok(()) } else { Err(Trouble::Other(found)) }
    }

    /// Returns the setting's file. Outside `net.`, settings belong to the machine, in any
    /// namespace.
    fn path(&self) -> Result<PathBuf, Trouble> {
        let parts: Vec<&str> = self.key.split('.').collect();
        let plain = |part: &&str| !part.is_empty() && !part.contains('/');
        if parts.first() != Some(&"net") || !parts.iter().all(plain) {
            return Err(Trouble::OfMachine);
        }
        Ok(std::iter::once("/proc/sys").chain(parts).collect())
    }

    fn error(&self, trouble: Trouble) -> UserError {
        let (key, value) = (sanitize(&self.key), sanitize(&self.value));
        let (message, hint) = match trouble {
            Trouble::OfMachine => (
                format!("`{key}` is not a setting of a host: it would change this machine"),
                "use settings below `net.`; all others are refused",
            ),
            Trouble::Absent => (
                format!("a host has no setting `{key}`"),
                "check the spelling; some settings exist once for the whole machine (tcp_mem, netdev_max_backlog …)",
            ),
            Trouble::ReadOnly => (
                format!("a host may not change `{key}`"),
                "it applies to the whole machine; set it there if necessary",
            ),
            Trouble::Sealed => (
                format!("`{key}` cannot be set: /proc/sys is read-only here"),
                "this is the default in containers; use a privileged one, or mount /proc/sys writable",
            ),
            Trouble::Rejected(error) => (
                format!("the kernel rejects `{key} = {value}`: {error}"),
                "run `sysctl KEY` to see the format of a value",
            ),
            Trouble::Other(found) => (
                format!(
                    "`{key}` was set to `{value}`, but the kernel changed it to `{}`",
                    sanitize(found.trim())
                ),
                "use the value that the kernel keeps",
            ),
        };
        UserError::refused(Code::LabSetting, message, hint)
    }
}

impl From<&Sysctl> for Setting {
    fn from(sysctl: &Sysctl) -> Self {
        Self { key: sysctl.key.clone(), value: sysctl.value.clone(), place: Some(sysctl.place) }
    }
}

/// Whether the host has an IPv6 address.
pub(crate) fn speaks_ipv6(host: &Host) -> bool {
    let own = host.interfaces.iter().flat_map(|interface| &interface.addresses).map(|(address, _)| *address);
    own.chain(host.virtual_addresses.iter().map(|one| one.address)).any(|address| address.is_ipv6())
}

/// Whether the kernel has the requested value, except for blanks and the notation of ports.
fn same(key: &str, wanted: &str, found: &str) -> bool {
    if key.ends_with("_ports") {
        return ports(wanted) == ports(found);
    }
    wanted.split_whitespace().eq(found.split_whitespace())
}

/// Parses port ranges and joins adjacent ones, since the kernel writes `80,81` as `80-81`. Invalid
/// parts are left out, so that the result differs from the expected ports.
fn ports(text: &str) -> Vec<(u32, u32)> {
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        Some((first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?))
    };
    let mut ranges: Vec<(u32, u32)> = text.split(',').filter_map(range).collect();
    ranges.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            _ => joined.push((first, last)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: &str, wanted: &str, found: &str, equal: bool) {
        assert_eq!(same(key, wanted, found), equal, "{key}: {wanted} and {found}");
    }

    #[test]
    fn what_was_read_back_is_compared_by_what_it_means() {
        check("net.ipv4.ip_local_port_range", "1024 65535", "1024\t65535\n", true);
        check("net.ipv4.ip_local_port_range", "1024 65535", "1025\t65535\n", false);
        check("net.ipv4.tcp_congestion_control", "bbr", "cubic\n", false);
        check("net.ipv4.ip_local_reserved_ports", "8081,80,8080", "80,8080-8081\n", true);
        check("net.ipv4.ip_local_reserved_ports", "", "\n", true);
        check("net.ipv4.ip_local_reserved_ports", "8080", "\n", false);
    }

    #[test]
    fn a_container_is_not_taken_for_a_setting_of_the_machine() {
        let setting = Setting { key: "net.ipv4.ip_forward".to_owned(), value: "1".to_owned(), place: None };
        let (sealed, once) = (setting.error(Trouble::Sealed), setting.error(Trouble::ReadOnly));
        assert!(sealed.message.contains("read-only here") && sealed.hint.contains("container"), "{sealed}");
        assert!(once.hint.contains("whole machine"), "{once}");
    }

    #[test]
    fn what_is_the_machines_is_left_alone() {
        let place = Span { line: 7, column: 3, ..Span::default() };
        for key in ["kernel.shmmax", "vm.swappiness", "net/../vm.swappiness", "net..x", "", "fs.file-max"] {
            let setting = Setting { key: key.to_owned(), value: "1".to_owned(), place: Some(place) };
            let error = setting.apply("lab.yaml").expect_err(key);
            assert!(
                error.message.starts_with("lab.yaml:7:3: ") && error.message.contains("this machine"),
                "{error}"
            );
        }
    }
}
