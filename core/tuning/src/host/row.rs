//! [`Row`]: one line of the result of checking a host; [`Fix`]: what would change it.

use crate::Severity;

/// One line of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is about: the key of a setting, or a name such as `clock source`.
    pub what: String,
    /// Its present value.
    pub now: String,
    /// The value that it should have; empty if there is no single one.
    pub wanted: String,
    /// Why, in one sentence.
    pub why: String,
    /// Where the statement comes from; may be empty.
    pub source: String,
    /// How much it matters.
    pub severity: Severity,
    /// What would change it; `None` if this program cannot.
    pub fix: Option<Fix>,
}

/// A change of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// A kernel setting.
    Setting {
        /// The key, with dots.
        key: String,
        /// The new value.
        value: String,
    },
    /// The limit of open files, of sessions and of services.
    OpenFiles(u64),
    /// The frequency governor of all CPUs.
    Governor(String),
}

impl Row {
    /// Builds a row that this program cannot change.
    pub(crate) fn new(
        severity: Severity,
        what: impl Into<String>,
        now: impl Into<String>,
        wanted: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        Self {
            what: what.into(),
            now: now.into(),
            wanted: wanted.into(),
            why: why.into(),
            source: String::new(),
            severity,
            fix: None,
        }
    }

    /// Builds a row about a kernel setting that this program can change.
    pub(crate) fn setting(severity: Severity, key: &str, now: &str, wanted: &str, why: &str) -> Self {
        let fix = Fix::Setting { key: key.to_owned(), value: wanted.to_owned() };
        Self { fix: Some(fix), ..Self::new(severity, key, now, wanted, why) }
    }

    /// Adds the source.
    #[must_use]
    pub(crate) fn from(mut self, source: &str) -> Self {
        source.clone_into(&mut self.source);
        self
    }
}
