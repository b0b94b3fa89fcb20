//! [`PackDoc`]: `pack.json`, the `wavetank.pack/1` object that a packed run begins with.

use serde::{Deserialize, Serialize};

use crate::DecodeError;

/// Version of the format; fields are only ever added to it.
pub const PACK_SCHEMA: &str = "wavetank.pack/1";

/// The table of contents at the start of a pack. A reader accepts these files in this order and
/// nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackDoc {
    /// Always [`PACK_SCHEMA`].
    pub schema: String,
    /// Version of wavetank that packed it.
    pub version: String,
    /// Name of the archive's folder; all paths of the tar file begin with it.
    pub folder: String,
    /// The files, in their order in the pack.
    pub files: Vec<PackedFile>,
}

/// One packed file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedFile {
    /// Path inside the archive, with `/`.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its content in hex.
    pub sha256: String,
}

impl PackDoc {
    /// The object as indented JSON: people open this file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data with string keys always encodes")
    }

    /// Reads the object. Unknown fields are skipped: the format only grows.
    ///
    /// # Errors
    /// If the text is not a JSON object of this schema.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let doc: Self =
            serde_json::from_str(text).map_err(|error| DecodeError::json_for(text, PACK_SCHEMA, &error))?;
        if doc.schema == PACK_SCHEMA { Ok(doc) } else { Err(DecodeError::schema(&doc.schema, PACK_SCHEMA)) }
    }
}
