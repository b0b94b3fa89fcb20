//! [`Ruleset`]: a text for `nft` while it is being written, and the parts common to such texts.

use std::fmt::Write as _;

use wavetank_grammar::Span;

use super::Maglev;
use crate::{Backend, Rendered, Service};

/// Seed of the hash of a connection's addresses. It is an arbitrary constant, the same on all
/// balancers of an address.
pub(super) const SEED: &str = "0x57415645";
/// Number of elements in one line. Short lines keep a message of `nft` about one of them readable.
const ELEMENTS_PER_LINE: usize = 64;

/// Returns the name of a service's table. It contains letters, digits and `_` only, because `nft`
/// accepts nothing else without quotes.
pub(super) fn table_name(service: &Service) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    format!("wavetank_{}", service.name.chars().map(plain).collect::<String>())
}

/// Returns the ports of a service as a set.
pub(super) fn ports(service: &Service) -> String {
    let ports: Vec<String> = service.listen.iter().map(ToString::to_string).collect();
    format!("{{ {} }}", ports.join(", "))
}

/// Returns the owner of each slot for these weights. Servers are identified by their names.
pub(super) fn maglev(servers: &[Backend], weights: &[u32], slots: u32) -> Maglev {
    let names: Vec<String> =
        servers.iter().map(|server| format!("{}:{}", server.name, server.port)).collect();
    let weights = weights.iter().copied().chain(std::iter::repeat(0));
    let members: Vec<(&str, u32)> = names.iter().map(String::as_str).zip(weights).collect();
    Maglev::new(&members, slots)
}

/// Returns the lines that replace the contents of `map` in `table` by `elements`. Within one `nft
/// -f` this is a single step, so no packet sees the map empty or half full.
pub(super) fn replace_map(table: &str, map: &str, elements: impl Iterator<Item = String>) -> String {
    let mut text = format!("flush map {table} {map}\n");
    let elements: Vec<String> = elements.collect();
    for some in elements.chunks(ELEMENTS_PER_LINE) {
        writeln!(text, "add element {table} {map} {{ {} }}", some.join(", ")).expect("text takes everything");
    }
    text
}

/// A text in which each line has its origin.
pub(super) struct Ruleset<'s> {
    rendered: Rendered,
    service: &'s Service,
}

impl<'s> Ruleset<'s> {
    pub(super) fn new(path: String, service: &'s Service) -> Self {
        Self { rendered: Rendered::new(path), service }
    }

    /// Writes a line caused by the value of `key`, or by the service itself.
    pub(super) fn rule_from_key(&mut self, text: &str, key: &str) {
        self.rendered.line(text, Some(self.service.place_of(key)));
    }

    /// Writes a line caused by one server.
    pub(super) fn rule_for_server(&mut self, text: &str, place: Span) {
        self.rendered.line(text, Some(place));
    }

    /// Writes a line without an origin.
    pub(super) fn static_rule(&mut self, text: &str) {
        self.rendered.line(text, None);
    }

    pub(super) fn finish(self) -> Rendered {
        self.rendered
    }
}
