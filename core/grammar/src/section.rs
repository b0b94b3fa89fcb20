//! [`MapSchema`], [`KeySchema`] and [`ValueKind`]: a map with fixed keys, and what they take.

use crate::{CustomKind, Grammar};

/// A map of the grammar with fixed keys.
pub struct MapSchema<G: Grammar> {
    /// What messages call it: "a phase".
    pub name: &'static str,
    /// Its heading in the page.
    pub title: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its keys, in the order in which the page lists them.
    pub keys: &'static [KeySchema<G>],
    /// Exactly one of these keys must be present; empty if there is no such rule.
    pub verbs: &'static [&'static str],
}

/// A key of a map.
pub struct KeySchema<G: Grammar> {
    /// The word.
    pub name: &'static str,
    /// What it takes.
    pub kind: ValueKind<G>,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// Whether the key must be present.
    pub required: bool,
}

/// What a key takes.
pub enum ValueKind<G: Grammar> {
    /// Any text.
    Text,
    /// One word, as the grammar's names are.
    Name,
    /// `true` or `false`.
    Bool,
    /// The version of the grammar.
    Version,
    /// A count: `500`, `10k`, `1M`.
    Count,
    /// A duration: `30s`, `1m30s`.
    Duration,
    /// A size: `16kB`.
    Size,
    /// A file's name, from the folder of the file that is read.
    File,
    /// One of these keywords.
    Word(&'static [&'static str]),
    /// A kind that only this grammar has.
    Own(G::Own),
    /// A map with fixed keys.
    Is(G),
    /// A list.
    List(&'static Self),
    /// One, or a list.
    OneOrList(&'static Self),
    /// A map from names of the user's choosing.
    Map(&'static Self),
    /// A map from names of the user's choosing, with values that may be left out.
    MapOrNothing(&'static Self),
    /// One of several kinds.
    Either(&'static [Self]),
}

impl<G: Grammar> ValueKind<G> {
    /// Whether nothing is a value, too, as `null` is in JSON.
    pub fn is_nullable(&self) -> bool {
        matches!(self, Self::Own(own) if own.may_be_nothing())
    }

    /// Whether it takes `map`, directly or nested.
    pub fn contains_map(&self, map: G) -> bool {
        match self {
            Self::Is(own) => *own == map,
            Self::List(inner) | Self::OneOrList(inner) | Self::Map(inner) | Self::MapOrNothing(inner) => {
                inner.contains_map(map)
            }
            Self::Either(kinds) => kinds.iter().any(|kind| kind.contains_map(map)),
            _ => false,
        }
    }
}

/// An optional key.
pub const fn key<G: Grammar>(name: &'static str, kind: ValueKind<G>, about: &'static str) -> KeySchema<G> {
    KeySchema { name, kind, about, required: false }
}

/// A required key.
pub const fn required<G: Grammar>(
    name: &'static str,
    kind: ValueKind<G>,
    about: &'static str,
) -> KeySchema<G> {
    KeySchema { name, kind, about, required: true }
}
