//! [`Sentence`]: a sentence of a run's record; [`SENTENCES`]: the patterns of all of them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// A sentence that a record stores, in English and with the values of a run in it, or a part of
/// one. [`sentence!`](crate::sentence) and [`phrase!`](crate::phrase) make it and list its pattern
/// in [`SENTENCES`]. Otherwise it is read from a stored document, or [quoted](Self::quoted).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sentence(Cow<'static, str>);

/// The pattern of sentences that one place of the program makes.
#[derive(Clone, Copy, Debug)]
pub struct SentenceSource {
    /// The English text, in the syntax of `format!` if it is one of [`sentence!`](crate::sentence).
    pub english: &'static str,
    /// Whether it has placeholders in that syntax.
    pub is_format: bool,
    /// The source file and line.
    pub place: (&'static str, u32),
}

/// The patterns of all sentences of the crates that are linked into this program.
#[linkme::distributed_slice]
pub static SENTENCES: [SentenceSource];

/// Makes a [`Sentence`] from a pattern and values, as `format!` does, and adds the pattern to
/// [`SENTENCES`]. A value that is a sentence itself must be a [`Sentence`], too. It allocates, so
/// it is not for single requests of a load.
#[macro_export]
macro_rules! sentence {
    ($pattern:literal $($values:tt)*) => {
        $crate::Sentence::from_macro({
            $crate::register_sentence!($pattern, true);
            ::std::format!($pattern $($values)*)
        })
    };
}

/// Makes a [`Sentence`] without values, also in constants, and adds it to [`SENTENCES`].
#[macro_export]
macro_rules! phrase {
    ($text:literal) => {
        $crate::Sentence::from_literal($crate::registered!($text))
    };
}

/// A text without values that becomes part of a [`Sentence`] later, such as the fault of a
/// response. It is the text itself, added to [`SENTENCES`].
#[macro_export]
macro_rules! registered {
    ($text:literal) => {
        $crate::registered_text({
            $crate::register_sentence!($text, false);
            $text
        })
    };
}

/// Adds a pattern to [`SENTENCES`].
#[doc(hidden)]
#[macro_export]
macro_rules! register_sentence {
    ($english:literal, $is_format:literal) => {
        #[$crate::linkme::distributed_slice($crate::SENTENCES)]
        #[linkme(crate = $crate::linkme)]
        static PATTERN: $crate::SentenceSource = $crate::SentenceSource {
            english: $english,
            is_format: $is_format,
            place: (::std::file!(), ::std::line!()),
        };
    };
}

/// For [`registered!`](crate::registered) only.
#[doc(hidden)]
pub const fn registered_text(text: &'static str) -> &'static str {
    text
}

impl Sentence {
    /// For [`sentence!`](crate::sentence) only.
    #[doc(hidden)]
    pub const fn from_macro(text: String) -> Self {
        Self(Cow::Owned(text))
    }

    /// For [`phrase!`](crate::phrase) only.
    #[doc(hidden)]
    pub const fn from_literal(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// A text that was made elsewhere: by a user, the system, another program, or as an example of
    /// tests.
    pub fn quoted(text: impl Into<String>) -> Self {
        Self(Cow::Owned(text.into()))
    }

    /// No sentence.
    pub const fn empty() -> Self {
        Self(Cow::Borrowed(""))
    }

    /// Several sentences or parts of one, with `separator` between them: `; `, `, ` or ` · `.
    pub fn join(parts: impl IntoIterator<Item = Self>, separator: &str) -> Self {
        let parts: Vec<_> = parts.into_iter().map(|part| part.0).collect();
        Self(Cow::Owned(parts.join(separator)))
    }

    /// The sentence with `from` replaced by `to`, for names that are known only later.
    #[must_use]
    pub fn replace(&self, from: &str, to: &str) -> Self {
        Self(Cow::Owned(self.0.replace(from, to)))
    }

    /// Whether it has no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The English text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Sentence {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Sentence {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl PartialEq<str> for Sentence {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Sentence {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<String> for Sentence {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

impl PartialEq<Sentence> for str {
    fn eq(&self, other: &Sentence) -> bool {
        self == other.0
    }
}

impl PartialEq<Sentence> for String {
    fn eq(&self, other: &Sentence) -> bool {
        *self == other.0
    }
}

impl From<Sentence> for String {
    fn from(sentence: Sentence) -> Self {
        sentence.0.into_owned()
    }
}
