//! [`MapReader`]: reads a map with fixed keys and reports keys that are not in the grammar.

use std::borrow::Cow;
use wavetank_units::Code;

use crate::{Entry, Grammar, KeySchema, Node, NodeKind, Span, TreeReader, ValueKind, suggestions};

/// The entries of a map with keys fixed by the grammar.
pub struct MapReader<'n, G: Grammar> {
    /// What messages call the map.
    what: Cow<'static, str>,
    entries: &'n [Entry],
    known: Vec<&'static KeySchema<G>>,
    taken: Vec<&'static str>,
    /// The place of the map.
    pub place: Span,
}

impl<'n, G: Grammar> MapReader<'n, G> {
    /// Opens `node` as `map` and reports unknown keys. Checking the map's verbs is left to the
    /// caller.
    pub fn open(reader: &mut impl TreeReader, node: &'n Node, map: G) -> Option<Self> {
        let section = map.section();
        Self::open_as(reader, node, section.name, section.keys)
    }

    /// Opens `node` as `what` ("a phase") with the keys `known`.
    pub fn open_as(
        reader: &mut impl TreeReader,
        node: &'n Node,
        what: impl Into<Cow<'static, str>>,
        known: impl IntoIterator<Item = &'static KeySchema<G>>,
    ) -> Option<Self> {
        let (what, known) = (what.into(), known.into_iter().collect::<Vec<_>>());
        let NodeKind::Map(entries) = &node.kind else {
            let shown: Vec<String> = known.iter().take(4).map(|key| format!("{}:", key.name)).collect();
            let message = format!("{what} must be a map of keys, not {}", node.what());
            let hint = format!("use keys such as {}", shown.join(", "));
            return reader.fail(Code::NotAMap, node.place, message, hint);
        };
        let keys = Self { what, entries, known, taken: Vec::new(), place: node.place };
        for entry in entries {
            match keys.known(&entry.key) {
                None => keys.report_unknown(reader, entry),
                Some(key) if entry.value.is_null() && !key.kind.is_nullable() => {
                    let message = format!("`{}` has no value", entry.key);
                    let hint = format!("{} Or leave it out", key.about);
                    reader.fail::<()>(Code::ValueMissing, entry.place, message, hint);
                }
                Some(_) => {}
            }
        }
        Some(keys)
    }

    fn known(&self, name: &str) -> Option<&'static KeySchema<G>> {
        self.known.iter().copied().find(|key| key.name == name)
    }

    fn report_unknown(&self, reader: &mut impl TreeReader, entry: &Entry) {
        let (word, what) = (entry.key.as_str(), &self.what);
        if reader.advice_is_wasted() {
            reader.fail::<()>(Code::KeyUnknown, entry.place, String::new(), String::new());
            return;
        }
        let names = || self.known.iter().map(|key| key.name);
        let hint = if let Some((key, value)) = word.split_once(':').filter(|_| entry.value.is_null()) {
            format!("add a space after the colon: {key}: {value}")
        } else if word == "<<" {
            G::ADVICE.merge.to_owned()
        } else if let Some(meant) = suggestions::suggest_key::<G>(word, names()) {
            meant
        } else {
            format!("{what} has: {}", names().collect::<Vec<_>>().join(", "))
        };
        let message = format!("{what} has no key `{word}`");
        reader.fail::<()>(Code::KeyUnknown, entry.place, message, hint);
    }

    /// Returns the entry of `key`, if it is present with a value.
    pub fn entry(&mut self, key: &'static str) -> Option<&'n Entry> {
        let known = self.known(key);
        debug_assert!(known.is_some(), "`{key}` is not in the grammar's table");
        self.taken.push(key);
        let may_be_nothing = known.is_some_and(|known| known.kind.is_nullable());
        self.here(key).filter(|entry| may_be_nothing || !entry.value.is_null())
    }

    /// Returns the value of `key`, if it is present with a value.
    pub fn take(&mut self, key: &'static str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the value of a required key.
    pub fn require(&mut self, reader: &mut impl TreeReader, key: &'static str) -> Option<&'n Node> {
        if !self.has(key) {
            let hint = match self.known(key).map(|known| (&known.kind, known.about)) {
                Some((ValueKind::Version, _)) => format!("{key}: 1 as the first line"),
                Some((_, about)) => format!("{key}: … {about}"),
                None => String::new(),
            };
            let message = format!("{} needs `{key}`", self.what);
            reader.fail::<()>(Code::KeyMissing, self.place, message, hint);
        }
        self.take(key)
    }

    /// The version of the grammar under `key`, which is 1.
    pub fn version(&mut self, reader: &mut impl TreeReader, key: &'static str) {
        let Some(node) = self.require(reader, key) else { return };
        let Some(version) = reader.text(node, "the version of the grammar") else { return };
        if version.value != "1" {
            let message = format!("version `{}` of the grammar is unknown", version.value);
            reader.fail::<()>(Code::VersionUnknown, version.place, message, format!("{key}: 1"));
        }
    }

    /// All entries of the map, known or not.
    pub const fn entries(&self) -> &'n [Entry] {
        self.entries
    }

    fn here(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Whether `key` is present, with a value or without.
    pub fn has(&self, key: &str) -> bool {
        self.here(key).is_some()
    }

    /// The text of a key's single value as written.
    pub fn text(&self, key: &str) -> Option<&'n str> {
        self.here(key)?.value.scalar().map(|scalar| scalar.text.as_str())
    }

    /// Returns the place of `key`, or of the map if the key is missing.
    pub fn key_span(&self, key: &str) -> Span {
        self.here(key).map_or(self.place, |entry| entry.place)
    }

    /// Ends the reading. In debug builds it checks that every key of the table was read.
    pub fn finish(self) {
        for key in self.known {
            debug_assert!(self.taken.contains(&key.name), "`{}` of {} is never read", key.name, self.what);
        }
    }
}
