//! [`schema`]: the grammar of topology files as JSON Schema, for editors.

use serde_json::Map;

use crate::grammar::MapName;

/// Returns the JSON Schema of topology files (draft 2020-12), as text with a newline at its end.
pub fn schema() -> String {
    wavetank_grammar::schema::<MapName>(Map::new())
}
