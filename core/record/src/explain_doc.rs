//! [`ExplainDoc`]: what `wavetank explain --format json` prints.

use serde::Serialize;

/// Version of the object.
pub const EXPLAIN_SCHEMA: &str = "wavetank.explain/1";

/// Codes, explained. Written on stdout and never stored; `docs/codes.md` describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainDoc {
    /// Always [`EXPLAIN_SCHEMA`].
    pub schema: String,
    /// The requested codes, by group.
    pub codes: Vec<CodeDoc>,
}

/// One code of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodeDoc {
    /// The code as it is printed.
    pub code: String,
    /// Synonyms.
    pub also: Vec<String>,
    /// Where the term occurs: `exit`, `reason`, `finding`, `error_class`, `drop_reason`, `word`,
    /// `event`, `command`, `host`, `stored`, `file`, `experiment`, `data`.
    pub group: String,
    /// What it means.
    pub means: String,
    /// Why it happens, the most likely cause first; may be empty.
    pub why: String,
    /// What to do; may be empty.
    #[serde(rename = "do")]
    pub act: String,
    /// The page of the documentation that has more.
    pub see: String,
}

impl ExplainDoc {
    /// The object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings always encode")
    }
}
