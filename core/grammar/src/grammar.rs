//! [`Grammar`]: a kind of file, as a table.

use serde_json::Value;

use crate::{ErrorHints, MapSchema};

/// The maps with fixed keys of one kind of file. Maps refer to each other by name, because constant
/// tables cannot contain reference cycles.
///
/// The table is the single source for several uses. [`MapReader`](crate::MapReader) refuses keys
/// that are not in it, [`schema()`](crate::schema()) and [`markdown_docs`](crate::markdown_docs)
/// are generated from it, and suggestions for misspelt keys are taken from it. A key that is in the
/// table but never read is detected by [`MapReader`](crate::MapReader).
pub trait Grammar: Copy + Eq + 'static {
    /// Kinds of single values that only such files have.
    type Own: CustomKind;

    /// All maps, in the order of the page.
    const ALL: &'static [Self];
    /// The whole file.
    const FILE: Self;
    /// What the schema is called: "Wavetank experiment, version 1".
    const TITLE: &'static str;
    /// Hints for mistakes that have nothing to do with keys.
    const ADVICE: ErrorHints;
    /// Names of keys in other tools, and the names here; the first word is a key.
    const SYNONYMS: &'static [(&'static str, &'static str)] = &[];
    /// A regular expression for a variable that may replace any value; `None` if the grammar has no
    /// variables.
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

/// Returns the maps that have a key of this name, as named in messages.
pub fn maps_with_key<G: Grammar>(maps: &[G], word: &str) -> Vec<&'static str> {
    let sections = maps.iter().map(|map| map.section());
    let homes = sections.filter(|section| section.keys.iter().any(|key| key.name == word));
    homes.map(|section| section.name).collect()
}
