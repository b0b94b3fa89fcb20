//! Hosts.

use std::net::IpAddr;
use wavetank_units::Code;

use wavetank_grammar::{Entry, Node, Spanned};

use super::names::HOSTS_MAX;
use super::{Reader, Reported, TreeReader as _};
use crate::ast::{FileHost, FileRoute, FileVirtual};
use crate::grammar::MapName;
use crate::{Limits, Role, Subnet};

impl Reader<'_> {
    pub(super) fn hosts(&mut self, node: &Node) -> Vec<FileHost> {
        let entries = self.entries(node, "hosts");
        if entries.is_empty() && node.entries().is_some() {
            self.fail::<()>(
                Code::ValueMissing,
                node.place,
                "a lab needs a host",
                "app1: {networks: [front]}",
            );
        }
        let (mut all, mut names) = (Vec::new(), 0);
        for entry in entries {
            let Some(host) = self.host(entry) else { continue };
            names += host.names.len();
            all.push(host);
            if names > HOSTS_MAX {
                let message = format!("{names} hosts are more than a lab can have");
                self.fail::<()>(Code::LabTooMany, entry.place, message, format!("at most {HOSTS_MAX}"));
                break;
            }
        }
        all
    }

    fn host(&mut self, entry: &Entry) -> Option<FileHost> {
        let names = self.host_names(&entry.key, entry.place);
        let mut keys = self.open(&entry.value, MapName::Host)?;
        let role = keys.take("role").map(|node| self.one_of(node, "role", &Role::WORDS));
        let sources = keys.entry("sources");
        let networks = keys.require(self, "networks").map(|node| self.host_networks(node, sources));
        let virtuals = keys
            .take("virtual")
            .map(|node| self.each_listed(node, "virtual addresses", Self::virtual_address));
        let routes = keys.take("routes").map(|node| self.each_listed(node, "routes", Self::route));
        let limits = keys.take("limits").and_then(|node| self.limits(node));
        let host = FileHost {
            names: names.unwrap_or_default(),
            place: entry.place,
            // An unknown role is reported, and the rest is read all the same.
            role: role.flatten().unwrap_or(Role::Other),
            networks: networks.unwrap_or_default(),
            virtuals: virtuals.unwrap_or_default(),
            routes: routes.unwrap_or_default(),
            sysctls: keys.take("sysctls").map(|node| self.sysctls(node)).unwrap_or_default(),
            files: keys.take("files").map(|node| self.host_files(node)).unwrap_or_default(),
            limits: limits.unwrap_or(Limits { place: entry.place, ..Limits::default() }),
            sshd: keys.take("sshd").and_then(|node| self.bool(node)).unwrap_or_default(),
            services: keys.take("services").map(|node| self.services(node)).unwrap_or_default(),
        };
        keys.finish();
        Some(host).filter(|host| !host.names.is_empty())
    }

    fn virtual_address(&mut self, node: &Node) -> Option<FileVirtual> {
        let mut keys = self.open(node, MapName::Virtual)?;
        let address = keys.require(self, "address").and_then(|node| self.address(node));
        let on = keys.require(self, "on").and_then(|node| self.name(node, "a network"));
        let name = keys.take("name").map(|node| self.host_name(node, "an address"));
        keys.finish();
        // An invalid name was already reported. Ignoring it would make a different lab.
        let name = name.map_or(Some(None), |name| name.map(|name| Some(name.value)));
        Some(FileVirtual { address: address?, on: on?, name: name? })
    }

    fn route(&mut self, node: &Node) -> Option<FileRoute> {
        let mut keys = self.open(node, MapName::Route)?;
        let to = keys.require(self, "to").map(|node| self.destination(node));
        let via = keys.require(self, "via").and_then(|node| self.text(node, "a neighbour"));
        let place = keys.place;
        keys.finish();
        Some(FileRoute { place, to: to?.ok()?, via: via? })
    }

    /// Reads a destination: `default`, which becomes `None`, or a network.
    fn destination(&mut self, node: &Node) -> Result<Option<Spanned<Subnet>>, Reported> {
        let text = self.text(node, "a network").ok_or(Reported)?;
        if text.value == "default" {
            return Ok(None);
        }
        if let Some(subnet) = Subnet::parse(&text.value) {
            return Ok(Some(Spanned::new(subnet, text.place)));
        }
        let message = format!("`{}` is not a network", text.value);
        self.fail(Code::LabRoute, text.place, message, "10.30.1.0/24, or default").ok_or(Reported)
    }

    /// Reads one address without a prefix.
    pub(super) fn address(&mut self, node: &Node) -> Option<Spanned<IpAddr>> {
        let text = self.text(node, "an address")?;
        let address = self.parse_address(&text.value, &text)?;
        Some(Spanned::new(address, text.place))
    }

    /// Parses `word`, a part of `text`, as an address.
    pub(super) fn parse_address(&mut self, word: &str, text: &Spanned<String>) -> Option<IpAddr> {
        if let Ok(address) = word.trim().parse() {
            return Some(address);
        }
        let hint = match word.split_once('/') {
            Some((address, _)) => format!("leave out the prefix, which the network determines: {address}"),
            None => "use a numeric address: 10.30.0.10".to_owned(),
        };
        self.fail(Code::LabAddress, text.place, format!("`{}` is not an address", word.trim()), hint)
    }
}
