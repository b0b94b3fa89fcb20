//! [`Finding`]: one judgement of one line of a file.

use crate::Verdict;

/// One judgement of one line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The setting, as its file spells it; empty if the line has none.
    pub setting: String,
    /// What is wrong.
    pub verdict: Verdict,
    /// One sentence.
    pub sentence: String,
    /// What to write instead, in the imperative; may be empty.
    pub hint: String,
    /// Where the statement comes from; may be empty.
    pub source: &'static str,
}

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// A judgement without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What is wrong.
    pub verdict: Verdict,
    /// One sentence.
    pub sentence: String,
    /// What to write instead; may be empty.
    pub hint: String,
    /// Where the statement comes from; may be empty.
    pub source: &'static str,
}

impl Judgement {
    /// Builds a judgement without a source.
    pub fn new(verdict: Verdict, sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { verdict, sentence: sentence.into(), hint: hint.into(), source: "" }
    }

    /// Adds the source.
    #[must_use]
    pub const fn from(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    /// Returns the finding at `place` about `setting`.
    pub fn at(self, place: &Place, setting: &str) -> Finding {
        Finding {
            file: place.file.clone(),
            line: place.line,
            column: place.column,
            setting: setting.to_owned(),
            verdict: self.verdict,
            sentence: self.sentence,
            hint: self.hint,
            source: self.source,
        }
    }
}

/// Builds a judgement for an arm of a `match` in which other arms have none.
#[expect(clippy::unnecessary_wraps, reason = "arms of a match have one type")]
pub(crate) fn found(
    verdict: Verdict,
    sentence: impl Into<String>,
    hint: impl Into<String>,
) -> Option<Judgement> {
    Some(Judgement::new(verdict, sentence, hint))
}
