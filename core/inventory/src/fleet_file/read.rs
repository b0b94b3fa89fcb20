//! Reads the tree of a fleet file. All mistakes are reported, not only the first.

use wavetank_grammar::{
    Diagnostic, Diagnostics, FormatSignature, Grammar as _, MapReader, Node, TreeReader, detect_format,
    parse_yaml, text_of,
};
use wavetank_units::{AllowTarget, Code};

use super::grammar::MapName;
use super::{FleetFile, FleetLink, ParsedFleetFile, SshSettings};
use crate::host_range::expand_hosts;
use crate::{Host, HostRole, Inventory};

/// Keys by which other files are recognised.
const FOREIGN: [FormatSignature; 2] = [
    (&["wavetank"], "an experiment", "run it on a fleet: wavetank run EXPERIMENT.yaml --fleet FLEET.yaml"),
    (&["wavetank_lab"], "a lab", "a fleet file begins with wavetank_fleet: 1"),
];

/// Reads a fleet file completely. `name` is the name of the file without its suffix, for a fleet
/// without a name.
pub fn read_fleet_file(name: &str, bytes: &[u8]) -> ParsedFleetFile {
    let mut out = Diagnostics::default();
    let text = match text_of(bytes, &MapName::ADVICE) {
        Ok(text) => text,
        Err(diagnostic) => {
            out.push(diagnostic);
            return ParsedFleetFile { fleet: None, diagnostics: out, text: String::new() };
        }
    };
    let (root, found) = parse_yaml(text, &MapName::ADVICE);
    for diagnostic in found {
        out.push(diagnostic);
    }
    let mut reader = Reader { out };
    let fleet = root.and_then(|root| reader.fleet(name, &root));
    let fleet = fleet.filter(|_| !reader.out.has_errors());
    ParsedFleetFile { fleet, diagnostics: reader.out, text: text.to_owned() }
}

type Keys<'n> = MapReader<'n, MapName>;

struct Reader {
    out: Diagnostics,
}

impl TreeReader for Reader {
    fn out(&mut self) -> &mut Diagnostics {
        &mut self.out
    }
}

/// What `ssh:` says about every host.
#[derive(Default)]
struct SshKeys {
    settings: SshSettings,
    host: Host,
}

impl Reader {
    fn fleet(&mut self, file_name: &str, root: &Node) -> Option<FleetFile> {
        if root.get("wavetank_fleet").is_none()
            && let Some(other) = detect_format(root, &FOREIGN, &MapName::ADVICE)
        {
            self.out.push(other);
            return None;
        }
        let mut keys = Keys::open(self, root, MapName::Fleet)?;
        keys.version(self, "wavetank_fleet");
        let name = keys.take("name").and_then(|node| self.text(node, "a name")).map(|name| name.value);
        keys.take("about");
        let ssh = keys.take("ssh").and_then(|node| self.ssh(node)).unwrap_or_default();
        let link = keys.take("link").and_then(|node| self.link(node)).unwrap_or_default();
        let allow = keys.take("allow").map(|node| self.allow(node)).unwrap_or_default();
        let mut inventory = Inventory::default();
        for (key, role) in [("load", HostRole::Load), ("observe", HostRole::Observe)] {
            let node = if role == HostRole::Load { keys.require(self, key) } else { keys.take(key) };
            let hosts =
                node.map(|node| self.hosts(node, role, &ssh.host, &mut inventory)).unwrap_or_default();
            inventory.groups.push((key.to_owned(), hosts));
        }
        keys.finish();
        Some(FleetFile {
            name: name.unwrap_or_else(|| file_name.to_owned()),
            inventory,
            ssh: ssh.settings,
            link,
            allow,
        })
    }

    fn ssh(&mut self, node: &Node) -> Option<SshKeys> {
        let mut keys = Keys::open(self, node, MapName::Ssh)?;
        let mut text = |reader: &mut Self, key: &'static str| {
            keys.take(key).and_then(|node| reader.text(node, "a text")).map(|text| text.value)
        };
        let (user, identity, jump) = (text(self, "user"), text(self, "identity"), text(self, "jump"));
        let port = keys.take("port").and_then(|node| self.port(node));
        let sudo = keys.take("sudo").and_then(|node| self.bool(node)).unwrap_or_default();
        let fan_out = keys.take("at_once").and_then(|node| self.count_positive(node));
        keys.finish();
        let fan_out = fan_out.map(|count| u32::try_from(count.value).unwrap_or(u32::MAX));
        Some(SshKeys {
            settings: SshSettings { sudo, fan_out },
            host: Host { user, port, identity, jump, ..Host::default() },
        })
    }

    fn port(&mut self, node: &Node) -> Option<u16> {
        let count = self.count_positive(node)?;
        let port = u16::try_from(count.value).ok();
        if port.is_none() {
            let message = format!("{} is not a port", count.value);
            return self.fail(Code::BadFleetFile, count.place, message, "ports are 1 to 65535");
        }
        port
    }

    fn link(&mut self, node: &Node) -> Option<FleetLink> {
        let text = self.text(node, "a link")?;
        match text.value.as_str() {
            "ssh" => Some(FleetLink::Ssh),
            "nats" => Some(FleetLink::NatsTunnel),
            url if url.starts_with("nats://") || url.starts_with("tls://") => {
                Some(FleetLink::Nats(url.to_owned()))
            }
            other => {
                let message = format!("`{other}` is not a link");
                self.fail(
                    Code::BadFleetFile,
                    text.place,
                    message,
                    "link: ssh, link: nats, or link: nats://HOST:4222",
                )
            }
        }
    }

    fn allow(&mut self, node: &Node) -> Vec<AllowTarget> {
        let texts = self.texts(node, "a target");
        let mut allowed = Vec::new();
        for text in texts {
            match AllowTarget::parse(&text.value) {
                Ok(target) => allowed.push(target),
                Err(error) => self.out.push(Diagnostic::from_error(error, text.place)),
            }
        }
        allowed
    }

    /// Adds the hosts of a role to the inventory and returns their names.
    fn hosts(&mut self, node: &Node, role: HostRole, ssh: &Host, inventory: &mut Inventory) -> Vec<String> {
        let mut all = Vec::new();
        for entry in self.entries(node, "hosts") {
            let names = match expand_hosts(&entry.key) {
                Ok(names) => names,
                Err(error) => {
                    self.out.push(Diagnostic::from_error(error, entry.place));
                    continue;
                }
            };
            let Some(known) = self.host(&entry.value, role) else { continue };
            if known.address.is_some() && names.len() > 1 {
                let message = format!("`{}` is several hosts, and has one address", entry.key);
                self.fail::<()>(Code::BadFleetFile, entry.place, message, "give each host a key of its own");
            }
            for name in names {
                if inventory.host(&name).is_some() {
                    let message = format!("{name} appears twice");
                    self.fail::<()>(
                        Code::BadHostList,
                        entry.place,
                        message,
                        "name each host once, in load or in observe",
                    );
                    continue;
                }
                all.push(name.clone());
                let Host { user, port, identity, jump, .. } = ssh.clone();
                inventory.hosts.push(Host { name, user, port, identity, jump, ..known.clone() });
            }
        }
        if all.is_empty() && role == HostRole::Load && !self.out.has_errors() {
            self.fail::<()>(Code::ValueMissing, node.place, "a fleet needs a load host", "load: {load1: {}}");
        }
        all
    }

    /// Returns what the value of a host says.
    fn host(&mut self, node: &Node, role: HostRole) -> Option<Host> {
        if node.is_null() {
            return Some(Host { role, ..Host::default() });
        }
        let map = if role == HostRole::Load { MapName::LoadHost } else { MapName::ObservedHost };
        let mut keys = Keys::open(self, node, map)?;
        let address = keys.take("address").and_then(|node| self.text(node, "an address"));
        let mut host = Host { role, address: address.map(|address| address.value), ..Host::default() };
        if role == HostRole::Load {
            let weight = keys.take("weight").and_then(|node| self.count_positive(node));
            host.weight = weight.map(|weight| u32::try_from(weight.value).unwrap_or(u32::MAX));
            host.sources =
                keys.take("sources").and_then(|node| self.text(node, "addresses")).map(|text| text.value);
        } else {
            let kinds = [("balancer", "balancer"), ("server", "server"), ("other", "other")];
            let observed_as = keys.take("as").and_then(|node| self.one_of(node, "as", &kinds));
            host.observed_as = Some(observed_as.unwrap_or("server").to_owned());
        }
        keys.finish();
        Some(host)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fold_hosts;

    const WHOLE: &str = "wavetank_fleet: 1\nname: dc1\nssh: {user: ops, jump: bastion, sudo: true, at_once: 8}\n\
        link: nats://ctl:4222\nallow: [192.168.60.246, 10.10.0.0/16]\nload:\n  load[01-03]: {}\n  big[01-02]: {weight: 4, \
        sources: 10.0.8.0/28}\n  near:\nobserve:\n  lb1: {as: balancer, address: 10.0.0.7}\n  app[1-2]: {}\n";

    #[test]
    fn a_fleet_is_read() {
        let parsed = read_fleet_file("x", WHOLE.as_bytes());
        assert!(!parsed.diagnostics.has_errors(), "{:?}", parsed.diagnostics.sorted().first());
        let fleet = parsed.fleet.expect("a fleet");
        let names: Vec<String> = fleet.inventory.hosts.iter().map(|host| host.name.clone()).collect();
        assert_eq!(fold_hosts(&names), "load[01-03],big[01-02],near,lb1,app[1-2]");
        let groups: Vec<String> =
            fleet.inventory.groups.iter().map(|(name, hosts)| format!("{name} {}", hosts.len())).collect();
        assert_eq!(groups, ["load 6", "observe 3"]);
        let big = fleet.inventory.host("big02").expect("big02");
        assert_eq!((big.weight, big.sources.as_deref()), (Some(4), Some("10.0.8.0/28")));
        assert_eq!((big.user.as_deref(), big.jump.as_deref()), (Some("ops"), Some("bastion")));
        let lb = fleet.inventory.host("lb1").expect("lb1");
        assert_eq!((lb.address.as_deref(), lb.observed_as.as_deref()), (Some("10.0.0.7"), Some("balancer")));
        assert_eq!((fleet.name.as_str(), fleet.allow.len(), fleet.ssh.fan_out), ("dc1", 2, Some(8)));
        assert_eq!(fleet.link, FleetLink::Nats("nats://ctl:4222".to_owned()));
    }

    #[track_caller]
    fn check_refused(text: &str, line: u32, part: &str) {
        let parsed = read_fleet_file("x", text.as_bytes());
        let found: Vec<(u32, String)> = parsed
            .diagnostics
            .sorted()
            .iter()
            .map(|one| (one.place.map_or(0, |place| place.line as u32), one.message.clone()))
            .collect();
        assert!(found.iter().any(|(at, message)| *at == line && message.contains(part)), "{found:?}");
        assert!(parsed.fleet.is_none());
    }

    #[test]
    fn mistakes_have_a_place() {
        check_refused("wavetank_fleet: 1\nload:\n  a[3-1]: {}\n", 3, "goes down");
        check_refused("wavetank_fleet: 1\nload: {a: {}, b: {wieght: 2}}\n", 2, "wieght");
        check_refused("wavetank_fleet: 1\nload:\n  a: {}\nobserve:\n  a: {}\n", 5, "appears twice");
        check_refused("wavetank_fleet: 1\nload:\n  a[1-2]: {address: b}\n", 3, "several hosts");
        check_refused("wavetank_fleet: 1\nlink: mqtt\nload: {a: {}}\n", 2, "not a link");
        check_refused("wavetank_fleet: 1\nload: {}\n", 2, "needs a load host");
        check_refused("wavetank: 1\ntarget: x\n", 1, "experiment");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_fleet_or_diagnostics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let parsed = read_fleet_file("x", &bytes);
            prop_assert!(parsed.fleet.is_some() || parsed.diagnostics.has_errors());
        }
    }
}
