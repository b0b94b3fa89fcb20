//! [`Journal`]: what a fix changes, written before it does, so that everything can be restored.

use serde::{Deserialize, Serialize};

/// Version of the journal.
const SCHEMA: &str = "wavetank.doctor_journal/1";

/// What fixes changed since the last undo. One JSON object in a file, replaced as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    schema: String,
    /// Everything that changes, in order.
    pub entries: Vec<JournalEntry>,
}

/// One value or file that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its path.
    pub path: String,
    /// Whether it is a value of the kernel, which is written in place.
    pub is_value: bool,
    /// Its content before the first change; `None`: there was no such file.
    pub before: Option<String>,
    /// The content that the last change writes.
    pub written: String,
    /// Folders that did not exist and were made for the file, the innermost first.
    #[serde(default)]
    pub folders: Vec<String>,
}

impl Default for Journal {
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), entries: Vec::new() }
    }
}

impl Journal {
    /// Reads a journal.
    ///
    /// # Errors
    /// Why the text is none, in a phrase.
    pub fn parse(text: &str) -> Result<Self, String> {
        let journal: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if journal.schema != SCHEMA {
            return Err(format!("it is `{}`, not `{SCHEMA}`", journal.schema));
        }
        Ok(journal)
    }

    /// Returns the text, ending in a newline.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings are JSON") + "\n"
    }

    /// Adds an entry. What was before the first of several changes of a path stays.
    pub fn add(&mut self, entry: JournalEntry) {
        match self.entries.iter_mut().find(|known| known.path == entry.path) {
            Some(known) => known.written = entry.written,
            None => self.entries.push(entry),
        }
    }

    /// Returns the entries in the order in which they are restored.
    pub fn undo_order(&self) -> impl Iterator<Item = &JournalEntry> {
        self.entries.iter().rev()
    }
}
