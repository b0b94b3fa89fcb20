//! [`Language`]: the language of a page.

use super::strings::{EN, Strings, ZH};

/// The language of a page's own texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese, simplified.
    Chinese,
}

impl Language {
    pub(crate) const fn strings(self) -> &'static Strings {
        match self {
            Self::English => &EN,
            Self::Chinese => &ZH,
        }
    }
}
