//! [`Keys`]: a map with fixed keys; what is not in the grammar is told.

use wavetank_experiment::{Entry, Node, NodeKind, Place};
use wavetank_plan::did_you_mean;

use super::Reader;
use crate::KeyPlace;
use crate::grammar::{Key, Kind, Room, Section};

/// The entries of a map whose keys the grammar fixes.
pub(crate) struct Keys<'n> {
    section: &'static Section,
    entries: &'n [Entry],
    taken: Vec<&'static str>,
    /// Where the map stands.
    pub(crate) place: Place,
}

impl<'n> Keys<'n> {
    /// Opens `node` as what `room` says; keys that are not there, and verbs that are none or several, are told.
    pub(crate) fn open(reader: &mut Reader<'_>, node: &'n Node, room: Room) -> Option<Self> {
        let section = room.section();
        let NodeKind::Map(entries) = &node.kind else {
            let shown: Vec<String> =
                section.keys.iter().take(4).map(|key| format!("{}:", key.name)).collect();
            let message = format!("{} is a map of keys, and this is {}", section.name, node.what());
            let hint = format!("with keys such as {}", shown.join(", "));
            return reader.fail("not_a_map", node.place, message, hint);
        };
        let keys = Self { section, entries, taken: Vec::new(), place: node.place };
        for entry in entries {
            match keys.known(&entry.key) {
                None => keys.tell_unknown(reader, entry),
                Some(key) if entry.value.is_null() => {
                    let message = format!("`{}` has no value", entry.key);
                    let hint = format!("{} Or leave it out", key.about);
                    reader.fail::<()>("value_missing", entry.place, message, hint);
                }
                Some(_) => {}
            }
        }
        keys.tell_verbs(reader);
        Some(keys)
    }

    fn known(&self, name: &str) -> Option<&'static Key> {
        self.section.keys.iter().find(|key| key.name == name)
    }

    fn tell_unknown(&self, reader: &mut Reader<'_>, entry: &Entry) {
        let (word, what) = (entry.key.as_str(), self.section.name);
        if reader.out.left_out() > 0 {
            // More mistakes than are kept are only counted, and looking for what was meant costs.
            reader.fail::<()>("key_unknown", entry.place, String::new(), String::new());
            return;
        }
        let names = || self.section.keys.iter().map(|key| key.name);
        let hint = if let Some((key, value)) = word.split_once(':').filter(|_| entry.value.is_null()) {
            format!("a blank after the colon: {key}: {value}")
        } else if let Some(near) = did_you_mean(word, names()) {
            format!("did you mean {near}?")
        } else if let Some(home) = home_of(word) {
            format!("`{word}` belongs to {home}")
        } else {
            format!("{what} has: {}", names().collect::<Vec<_>>().join(", "))
        };
        let message = format!("{what} has no key `{word}`");
        reader.fail::<()>("key_unknown", entry.place, message, hint);
    }

    /// Of some keys exactly one must stand there.
    fn tell_verbs(&self, reader: &mut Reader<'_>) {
        let verbs = self.section.verbs;
        let mut found = self.entries.iter().filter(|entry| verbs.contains(&entry.key.as_str()));
        match (verbs, found.next(), found.next()) {
            ([], ..) | (_, Some(_), None) => {}
            (_, Some(first), Some(second)) => {
                let message = format!("`{}` and `{}` stand in one map", first.key, second.key);
                let hint = format!("{} has one of the two", self.section.name);
                reader.fail::<()>("lab_verbs", second.place, message, hint);
            }
            (_, None, _) => {
                let message = format!("it is not said what {} is", self.section.name);
                let hint = format!("one of: {}", verbs.join(", "));
                reader.fail::<()>("lab_verbs", self.place, message, hint);
            }
        }
    }

    /// The entry of `key`, if it stands there with a value.
    pub(crate) fn entry(&mut self, key: &'static str) -> Option<&'n Entry> {
        debug_assert!(self.known(key).is_some(), "`{key}` is not in the grammar's table");
        self.taken.push(key);
        self.entries.iter().find(|entry| entry.key == key).filter(|entry| !entry.value.is_null())
    }

    /// The value of `key`, if it stands there with a value.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Whether `key` stands there, with a value or without.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The value of a key that must stand there.
    pub(crate) fn require(&mut self, reader: &mut Reader<'_>, key: &'static str) -> Option<&'n Node> {
        if !self.has(key) {
            let hint = match self.known(key).map(|key| (&key.kind, key.about)) {
                Some((Kind::Version, _)) => format!("{key}: 1 as the first line"),
                Some((_, about)) => format!("{key}: … {about}"),
                None => String::new(),
            };
            let message = format!("{} wants `{key}`", self.section.name);
            reader.fail::<()>("key_missing", self.place, message, hint);
        }
        self.take(key)
    }

    /// Where the values of all keys stand, those of maps inside it with a dot.
    pub(crate) fn places(&self) -> Vec<KeyPlace> {
        let mut all = Vec::new();
        for entry in self.entries {
            all.push(KeyPlace { key: entry.key.clone(), place: entry.value.place });
            for inner in entry.value.entries().unwrap_or_default() {
                let key = format!("{}.{}", entry.key, inner.key);
                all.push(KeyPlace { key, place: inner.value.place });
            }
        }
        all
    }

    /// Where `key` stands; the map itself where it does not.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        self.entries.iter().find(|entry| entry.key == key).map_or(self.place, |entry| entry.place)
    }

    /// Ends the reading: in debug builds every key of the table must have been asked for.
    pub(crate) fn finish(self) {
        for key in self.section.keys {
            debug_assert!(
                self.taken.contains(&key.name),
                "nobody reads `{}` of {}",
                key.name,
                self.section.name
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
}

/// The items of a list, where a single one may stand alone.
pub(crate) fn one_or_list(node: &Node) -> &[Node] {
    node.items().unwrap_or(std::slice::from_ref(node))
}

/// Where a key belongs that stands in the wrong place.
fn home_of(word: &str) -> Option<String> {
    let homes = Room::ALL.into_iter().map(Room::section);
    let homes = homes.filter(|section| section.keys.iter().any(|key| key.name == word));
    let names: Vec<&str> = homes.map(|section| section.name).collect();
    (!names.is_empty()).then(|| names.join(", or to "))
}
