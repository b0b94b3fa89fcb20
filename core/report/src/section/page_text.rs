//! [`PageText`]: a text of the page, in each of its languages.

use crate::html::{Language, Strings};

/// A text of the page, in each of its languages.
#[derive(Clone, Copy)]
pub(crate) enum PageText {
    /// English, then Chinese.
    Own([&'static str; 2]),
    /// One of the texts that sections share.
    Shared(fn(&Strings) -> &'static str),
    /// A page does not have it.
    Absent,
}

impl PageText {
    pub(crate) fn in_language(self, language: Language) -> &'static str {
        match (self, language) {
            (Self::Own([english, _]), Language::English) => english,
            (Self::Own([_, chinese]), Language::Chinese) => chinese,
            (Self::Shared(of), _) => of(language.strings()),
            (Self::Absent, _) => "",
        }
    }

    pub(crate) const fn is_absent(self) -> bool {
        matches!(self, Self::Absent)
    }
}
