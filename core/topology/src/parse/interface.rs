//! A host on its networks.

use std::net::IpAddr;
use wavetank_units::Code;

use wavetank_grammar::{Entry, Node, Scalar, Spanned};

use super::{Reader, TreeReader as _};
use crate::Link;
use crate::ast::FileInterface;
use crate::grammar::MapName;

/// Maximum number of addresses of one host on one network, and of a whole network. The kernel keeps
/// 1,024 neighbours for all namespaces together; beyond that, packets are lost.
pub(crate) const ADDRESSES_MAX: u32 = 1_000;

impl Reader<'_> {
    /// Reads names, or a map from names to their settings. `sources` is the key of the host.
    pub(super) fn host_networks(&mut self, node: &Node, sources: Option<&Entry>) -> Vec<FileInterface> {
        let of_host = sources.and_then(|entry| self.count_up_to(&entry.value, ADDRESSES_MAX, "addresses"));
        let all: Vec<Option<FileInterface>> = if let Some(entries) = node.entries() {
            entries.iter().map(|entry| self.interface(entry)).collect()
        } else {
            node.as_list().iter().map(|item| self.plain_interface(item)).collect()
        };
        let mut all: Vec<FileInterface> = all.into_iter().flatten().collect();
        if node.entries().is_some_and(<[_]>::is_empty) || node.items().is_some_and(<[_]>::is_empty) {
            self.fail::<()>(Code::ValueMissing, node.place, "a host needs a network", "networks: [front]");
        }
        match (sources, all.as_mut_slice()) {
            (Some(_), [only]) if only.sources == 1 => {
                only.sources = of_host.map_or(1, |sources| sources.value);
            }
            (Some(entry), [_]) => {
                let message = "`sources` is set here and at the network";
                self.fail::<()>(Code::LabSources, entry.place, message, "keep one of the two");
            }
            (Some(entry), [first, _, ..]) => {
                let message = "the host is on several networks, so `sources` is ambiguous";
                let hint = format!("networks: {{{}: {{sources: 2}}}}", first.network.value);
                self.fail::<()>(Code::LabSources, entry.place, message, hint);
            }
            _ => {}
        }
        all
    }

    fn plain_interface(&mut self, node: &Node) -> Option<FileInterface> {
        if let Some([entry]) = node.entries() {
            let message = "a list of networks has their names only";
            let hint = format!("with more about one, a map: networks: {{{}: {{address: …}}}}", entry.key);
            return self.fail(Code::NotAValue, node.place, message, hint);
        }
        let network = self.name(node, "a network")?;
        Some(FileInterface { network, addresses: None, sources: 1, link: Link::default() })
    }

    fn interface(&mut self, entry: &Entry) -> Option<FileInterface> {
        let network = self.own_name(entry, "a network");
        if entry.value.is_null() {
            return Some(FileInterface {
                network: network?,
                addresses: None,
                sources: 1,
                link: Link::default(),
            });
        }
        if let Some(Scalar { text, .. }) = entry.value.scalar() {
            let message = format!("a host's network must be a map of keys, not `{text}`");
            return self.fail(Code::NotAMap, entry.value.place, message, format!("{{address: {text}}}?"));
        }
        let mut keys = self.open(&entry.value, MapName::Interface)?;
        let addresses = keys.take("address").map(|node| self.addresses(node));
        let sources =
            keys.take("sources").and_then(|node| self.count_up_to(node, ADDRESSES_MAX, "addresses"));
        let link = Link {
            rate_bits: keys.take("rate").and_then(|node| self.link_rate(node)),
            delay: keys.take("delay").and_then(|node| self.positive_duration(node)),
            loss_ppm: keys.take("loss").and_then(|node| self.share_ppm(node)).unwrap_or_default(),
        };
        keys.finish();
        let addresses = addresses.map_or(Some(None), |all| all.map(Some));
        let sources = sources.map_or(1, |sources| sources.value);
        Some(FileInterface { network: network?, addresses: addresses?, sources, link })
    }

    /// Reads one address `A` or a range `A to B`.
    fn addresses(&mut self, node: &Node) -> Option<Spanned<Vec<IpAddr>>> {
        let text = self.text(node, "an address")?;
        let Some((from, to)) = text.value.split_once(" to ") else {
            let address = self.parse_address(&text.value, &text)?;
            return Some(Spanned::new(vec![address], text.place));
        };
        let (from, to) = (self.parse_address(from, &text)?, self.parse_address(to, &text)?);
        if let Some(all) = range(from, to) {
            return Some(Spanned::new(all, text.place));
        }
        let message = format!("`{}` is not a range of addresses", text.value);
        let hint = format!(
            "write the lower address first, with at most {ADDRESSES_MAX} in total: 10.30.0.11 to 10.30.0.14"
        );
        self.fail(Code::LabAddress, text.place, message, hint)
    }
}

/// Returns all addresses from the first to the last; `None` if the range is empty or too large.
fn range(from: IpAddr, to: IpAddr) -> Option<Vec<IpAddr>> {
    let all: Vec<IpAddr> = match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) if u32::from(to).checked_sub(u32::from(from))? < ADDRESSES_MAX => {
            (u32::from(from)..=u32::from(to)).map(|address| IpAddr::V4(address.into())).collect()
        }
        (IpAddr::V6(from), IpAddr::V6(to))
            if u128::from(to).checked_sub(u128::from(from))? < u128::from(ADDRESSES_MAX) =>
        {
            (u128::from(from)..=u128::from(to)).map(|address| IpAddr::V6(address.into())).collect()
        }
        _ => return None,
    };
    Some(all)
}
