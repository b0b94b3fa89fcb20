//! [`Grammar`]: a kind of file, as a table.

use serde_json::Value;

use crate::{ErrorHints, MapSchema};

/// The maps with fixed keys of one kind of file, by name: a table of constants cannot point at tables that point back.
///
/// One source for several readers: [`MapReader`](crate::MapReader) refuses what is not here, [`schema()`](crate::schema()) and the
/// tables of [`page`](crate::page) are made of it, and *did you mean* looks here. Whoever adds a key here and reads it
/// nowhere is told so by the reader's own check.
pub trait Grammar: Copy + Eq + 'static {
    /// Kinds of single values that only such files have.
    type Own: CustomKind;

    /// All maps, in the order of the page.
    const ALL: &'static [Self];
    /// The whole file.
    const FILE: Self;
    /// What the schema is called: "Wavetank experiment, version 1".
    const TITLE: &'static str;
    /// What is told of mistakes that have nothing to do with keys.
    const ADVICE: ErrorHints;
    /// What keys are called elsewhere, and what they are called here; the first word is a key.
    const SYNONYMS: &'static [(&'static str, &'static str)] = &[];
    /// How a text looks that stands for any value, as a regular expression; `None` where every value is written out.
    const VARIABLE: Option<&'static str> = None;

    /// The map's keys.
    fn section(self) -> &'static MapSchema<Self>;

    /// The map's name among the definitions of the schema.
    fn definition(self) -> String;

    /// What the page calls the map where a key takes it.
    fn taken(self) -> String {
        self.section().name.to_owned()
    }

    /// What a name must look like to the schema.
    fn name_shape() -> Value;

    /// The maps that have a key of this name, as messages call them.
    fn homes(word: &str) -> Vec<&'static str> {
        maps_with_key(Self::ALL, word)
    }
}

/// A kind of single values of one grammar alone.
pub trait CustomKind: 'static {
    /// What the page calls it.
    fn takes(&self) -> &'static str;

    /// What it must look like to the schema.
    fn shape(&self) -> Value;

    /// Whether nothing is a value, too, as `null` is in JSON.
    fn may_be_nothing(&self) -> bool {
        false
    }
}

/// Those of `maps` that have a key of this name, as messages call them.
pub fn maps_with_key<G: Grammar>(maps: &[G], word: &str) -> Vec<&'static str> {
    let sections = maps.iter().map(|map| map.section());
    let homes = sections.filter(|section| section.keys.iter().any(|key| key.name == word));
    homes.map(|section| section.name).collect()
}
