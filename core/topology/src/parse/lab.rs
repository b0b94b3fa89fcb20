//! The top of the file.

use wavetank_grammar::{Entry, Node, Spanned};
use wavetank_units::Code;

use super::text::{is_label, name_like};
use super::{Keys, Reader, TreeReader as _};
use crate::Subnet;
use crate::ast::{FileLab, FileNetwork};
use crate::grammar::MapName;

/// Maximum number of networks of a lab.
const NETWORKS_MAX: usize = 16;

/// Reads the whole file; `file` is its name.
pub(crate) fn read_lab(reader: &mut Reader<'_>, root: &Node, file: &str) -> Option<FileLab> {
    let mut keys = reader.open(root, MapName::Lab)?;
    keys.version(reader, "wavetank_lab");
    let name = match keys.take("name") {
        Some(node) => reader.lab_name(node).map(|name| name.value),
        None => reader.name_of(file, &keys),
    };
    if let Some(node) = keys.take("about") {
        reader.text(node, "a text");
    }
    let networks = keys.require(reader, "networks").map(|node| reader.networks(node));
    let hosts = keys.require(reader, "hosts").map(|node| reader.hosts(node));
    let faults = keys.take("faults").map(|node| reader.faults(node)).unwrap_or_default();
    keys.finish();
    Some(FileLab { name: name?, networks: networks?, hosts: hosts?, faults })
}

impl Reader<'_> {
    /// Derives the lab's name from the file's name.
    fn name_of(&mut self, file: &str, keys: &Keys<'_>) -> Option<String> {
        let last = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
        if is_label(stem) {
            return Some(stem.to_owned());
        }
        let near = name_like(stem);
        let near = if near.is_empty() { "shop".to_owned() } else { near };
        let message = format!("the file name is not a valid lab name: `{stem}`");
        self.fail(Code::LabBadName, keys.place, message, format!("name: {near}"))
    }

    fn networks(&mut self, node: &Node) -> Vec<FileNetwork> {
        let entries = self.entries(node, "networks");
        if entries.is_empty() && node.entries().is_some() {
            self.fail::<()>(Code::ValueMissing, node.place, "a lab needs a network", "front: 10.30.0.0/24");
        }
        if let Some(beyond) = entries.get(NETWORKS_MAX) {
            let message = format!("{} networks", entries.len());
            self.fail::<()>(Code::LabTooMany, beyond.place, message, format!("at most {NETWORKS_MAX}"));
        }
        let all: Vec<_> = entries.iter().take(NETWORKS_MAX).map(|entry| self.network(entry)).collect();
        all.into_iter().flatten().collect()
    }

    fn network(&mut self, entry: &Entry) -> Option<FileNetwork> {
        let name = self.own_name(entry, "a network");
        if entry.value.is_null() {
            let message = format!("network `{}` has no addresses", entry.key);
            return self.fail(
                Code::ValueMissing,
                entry.place,
                message,
                format!("{}: 10.30.0.0/24", entry.key),
            );
        }
        let subnet = if entry.value.entries().is_some() {
            let mut keys = self.open(&entry.value, MapName::Network)?;
            let subnet = keys.require(self, "subnet").and_then(|node| self.subnet(node));
            keys.finish();
            subnet
        } else {
            self.subnet(&entry.value)
        };
        // In a host's virtual addresses, `lo` is its loopback interface.
        if entry.key == "lo" {
            return self.fail(Code::LabBadName, entry.place, "a network cannot be called `lo`", "front: …");
        }
        Some(FileNetwork { name: name?, subnet: subnet? })
    }

    /// Reads the subnet of a network. It must be private and have at least two addresses.
    fn subnet(&mut self, node: &Node) -> Option<Spanned<Subnet>> {
        const HINT: &str = "use private addresses, for example 10.30.0.0/24";
        let text = self.text(node, "a network's addresses")?;
        let Some(subnet) = Subnet::parse(&text.value).filter(|_| text.value.contains('/')) else {
            let message = format!("`{}` is not a network", text.value);
            return self.fail(Code::LabSubnet, text.place, message, HINT);
        };
        let shown = subnet.to_string();
        let written = text.value.split('/').next().and_then(|address| address.parse().ok());
        if written != Some(subnet.address()) {
            let message = format!("`{}` is an address inside a network", text.value);
            return self.fail(Code::LabSubnet, text.place, message, format!("the network is {shown}"));
        }
        let (shortest, longest) = if subnet.is_ipv4() { (8, 30) } else { (8, 126) };
        if !(shortest..=longest).contains(&subnet.prefix()) {
            let message =
                format!("`{shown}` is too {}", if subnet.prefix() < shortest { "wide" } else { "narrow" });
            let hint = format!("a prefix from /{shortest} to /{longest}");
            return self.fail(Code::LabSubnet, text.place, message, hint);
        }
        if !PRIVATE.iter().filter_map(|own| Subnet::parse(own)).any(|own| within(subnet, own)) {
            let message = format!("`{shown}` is not a private network");
            let hint = format!("use a network in {}", PRIVATE.join(", "));
            return self.fail(Code::LabSubnet, text.place, message, hint);
        }
        Some(Spanned::new(subnet, text.place))
    }
}

/// Subnets for private use (RFC 1918, RFC 6598, RFC 2544, RFC 4193).
const PRIVATE: [&str; 6] =
    ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15", "fd00::/8"];

fn within(inner: Subnet, outer: Subnet) -> bool {
    outer.contains(inner.address()) && inner.prefix() >= outer.prefix()
}
