//! [`Keys`]: a map with fixed keys; what is not in the grammar is told.

use super::{Reader, words};
use crate::grammar::{self, Key, Kind};
use crate::{At, Entry, Node, NodeKind, Place};

/// The entries of a map whose keys the grammar fixes.
pub(crate) struct Keys<'n> {
    entries: &'n [Entry],
    known: Vec<&'static Key>,
    taken: Vec<&'static str>,
    /// Where the map stands.
    pub(crate) place: Place,
}

impl<'n> Keys<'n> {
    /// Opens `node` as `what` ("a phase"), whose keys are `known`; keys that are not are told.
    pub(crate) fn open(
        reader: &mut Reader<'_>,
        node: &'n Node,
        what: &str,
        known: impl Iterator<Item = &'static Key>,
    ) -> Option<Self> {
        let NodeKind::Map(entries) = &node.kind else {
            let known: Vec<&str> = known.map(|key| key.name).collect();
            let shown = known.iter().take(4).map(|key| format!("{key}:")).collect::<Vec<_>>().join(", ");
            let message = format!("{what} is a map of keys, and this is {}", node.what());
            return reader.fail("not_a_map", node.place, message, format!("with keys such as {shown}"));
        };
        let known: Vec<&'static Key> = known.collect();
        let keys = Self { entries, known, taken: Vec::new(), place: node.place };
        for entry in entries {
            match keys.known.iter().find(|key| key.name == entry.key) {
                None => keys.tell_unknown(reader, entry, what),
                Some(key) if entry.value.is_null() && !matches!(key.kind, Kind::Value) => {
                    let message = format!("`{}` has no value", entry.key);
                    reader.fail::<()>(
                        "value_missing",
                        entry.place,
                        message,
                        format!("{} Or leave it out", key.about),
                    );
                }
                Some(_) => {}
            }
        }
        Some(keys)
    }

    fn tell_unknown(&self, reader: &mut Reader<'_>, entry: &Entry, what: &str) {
        let word = entry.key.as_str();
        if reader.advice_is_wasted() {
            reader.fail::<()>("key_unknown", entry.place, String::new(), String::new());
            return;
        }
        let hint = if let Some((key, value)) = word.split_once(':').filter(|_| entry.value.is_null()) {
            format!("a blank after the colon: {key}: {value}")
        } else if word == "<<" {
            "name what is shared under blocks: or vars:".to_owned()
        } else if let Some(meant) = words::meant(word, self.known.iter().map(|key| key.name)) {
            meant
        } else if let Some(home) = home_of(word) {
            format!("`{word}` belongs to {home}")
        } else {
            let known: Vec<&str> = self.known.iter().map(|key| key.name).collect();
            format!("{what} has: {}", known.join(", "))
        };
        let message = format!("{what} has no key `{word}`");
        reader.fail::<()>("key_unknown", entry.place, message, hint);
    }

    /// The entry of `key`, if it stands there with a value.
    pub(crate) fn entry(&mut self, key: &'static str) -> Option<&'n Entry> {
        debug_assert!(
            self.known.iter().any(|known| known.name == key),
            "`{key}` is not in the grammar's table"
        );
        self.taken.push(key);
        let kind = self.known.iter().find(|known| known.name == key).map(|known| &known.kind);
        let null_is_value = matches!(kind, Some(Kind::Value));
        self.entries
            .iter()
            .find(|entry| entry.key == key)
            .filter(|entry| null_is_value || !entry.value.is_null())
    }

    /// The value of `key`, if it stands there with a value.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Whether `key` stands there, with a value or without.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The text of a key's single value as written.
    pub(crate) fn text_of(&self, key: &str) -> Option<&'n str> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        entry.value.scalar().map(|scalar| scalar.text.as_str())
    }

    /// The value of a key that must stand there.
    pub(crate) fn require(
        &mut self,
        reader: &mut Reader<'_>,
        key: &'static str,
        what: &str,
    ) -> Option<&'n Node> {
        if !self.has(key) {
            let known = self.known.iter().find(|known| known.name == key);
            let hint = match known.map(|known| (&known.kind, known.about)) {
                Some((Kind::Version, _)) => format!("{key}: 1 as the first line"),
                Some((_, about)) => format!("{key}: … {about}"),
                None => String::new(),
            };
            let message = format!("{what} wants `{key}`");
            reader.fail::<()>("key_missing", self.place, message, hint);
        }
        self.take(key)
    }

    /// Ends the reading: in debug builds every key of the table must have been asked for.
    pub(crate) fn finish(self) {
        for key in self.known {
            debug_assert!(
                self.taken.contains(&key.name),
                "nobody reads `{}`, which the grammar has",
                key.name
            );
        }
    }
}

impl Reader<'_> {
    /// The entries of a map with names of the user's choosing.
    pub(crate) fn entries<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Entry] {
        if let NodeKind::Map(entries) = &node.kind {
            return entries;
        }
        let message = format!("{what} is a map of names and values, and this is {}", node.what());
        self.fail::<()>("not_a_map", node.place, message, "NAME: VALUE, one in each line");
        &[]
    }

    /// The items of a list.
    pub(crate) fn list<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        if let NodeKind::List(items) = &node.kind {
            return items;
        }
        let message = format!("{what} is a list, and this is {}", node.what());
        self.fail::<()>("not_a_list", node.place, message, "each item begins with a dash: - …");
        &[]
    }

    /// Each item of a list or one alone, read by `read`.
    pub(crate) fn each<T>(
        &mut self,
        node: &Node,
        mut read: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Vec<T> {
        let items = node.one_or_list().iter();
        items.filter_map(|item| read(self, item)).collect()
    }

    /// Names and texts.
    pub(crate) fn texts(&mut self, node: &Node, what: &str) -> Vec<At<String>> {
        self.each(node, |reader, item| reader.text(item, what))
    }
}

/// Where a key belongs that stands in the wrong place.
fn home_of(word: &str) -> Option<String> {
    let sections = [
        &grammar::EXPERIMENT,
        &grammar::HTTP,
        &grammar::TLS,
        &grammar::SCENARIO,
        &grammar::PHASE,
        &grammar::EVENT,
        &grammar::DATA_FILE,
    ];
    let homes = sections.iter().filter(|section| section.keys.iter().any(|key| key.name == word));
    let mut names: Vec<&str> = homes.map(|section| section.name).collect();
    let in_step = |form: &&grammar::Form| form.verbs.iter().chain(form.keys).any(|key| key.name == word);
    if grammar::FORMS.iter().any(|form| in_step(&form)) {
        names.push("a step");
    }
    (!names.is_empty()).then(|| names.join(", or to "))
}
