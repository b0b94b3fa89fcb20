//! [`Ruleset`]: a text for `nft` while it is being written, and what such texts have in common.

use std::fmt::Write as _;

use wavetank_grammar::Span;

use super::Maglev;
use crate::{Backend, Rendered, Service};

/// Seed of the hash over a connection's addresses: any fixed number, the same on all balancers of an address.
pub(super) const SEED: &str = "0x57415645";
/// Elements in one line, so that a message of `nft` about one names a line that can be read.
const ELEMENTS_PER_LINE: usize = 64;

/// The name of a service's table: letters, digits and `_`, which is all that `nft` takes without quotes.
pub(super) fn table_name(service: &Service) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    format!("wavetank_{}", service.name.chars().map(plain).collect::<String>())
}

/// The ports of a service as a set.
pub(super) fn ports(service: &Service) -> String {
    let ports: Vec<String> = service.listen.iter().map(ToString::to_string).collect();
    format!("{{ {} }}", ports.join(", "))
}

/// Who owns which slot, by the servers' names, if they weigh `weights`.
pub(super) fn maglev(servers: &[Backend], weights: &[u32], slots: u32) -> Maglev {
    let names: Vec<String> =
        servers.iter().map(|server| format!("{}:{}", server.name, server.port)).collect();
    let weights = weights.iter().copied().chain(std::iter::repeat(0));
    let members: Vec<(&str, u32)> = names.iter().map(String::as_str).zip(weights).collect();
    Maglev::new(&members, slots)
}

/// Lines that put `elements` into `map` of `table` in the place of all that are in it. Within one `nft -f` that is one
/// step: no packet sees the map empty or half full.
pub(super) fn replace_map(table: &str, map: &str, elements: impl Iterator<Item = String>) -> String {
    let mut text = format!("flush map {table} {map}\n");
    let elements: Vec<String> = elements.collect();
    for some in elements.chunks(ELEMENTS_PER_LINE) {
        writeln!(text, "add element {table} {map} {{ {} }}", some.join(", ")).expect("text takes everything");
    }
    text
}

/// A text with reasons and origins.
pub(super) struct Ruleset<'s> {
    rendered: Rendered,
    service: &'s Service,
}

impl<'s> Ruleset<'s> {
    pub(super) fn new(path: String, service: &'s Service) -> Self {
        Self { rendered: Rendered::new(path), service }
    }

    /// A line that the value of `key` caused, or the service itself.
    pub(super) fn rule_from_key(&mut self, text: &str, key: &str) {
        self.rendered.line(text, Some(self.service.place_of(key)));
    }

    /// A line of one server.
    pub(super) fn rule_for_server(&mut self, text: &str, place: Span) {
        self.rendered.line(text, Some(place));
    }

    /// A line that needs none.
    pub(super) fn static_rule(&mut self, text: &str) {
        self.rendered.line(text, None);
    }

    pub(super) fn finish(self) -> Rendered {
        self.rendered
    }
}
