//! [`MapSchema`] and [`KeySchema`]: a map with fixed keys.

use crate::{Grammar, ValueKind};

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
