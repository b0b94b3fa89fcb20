//! [`Value`]: the content of a cell or a fact, before a format gives it a form.

use maud::Markup;
use wavetank_record::{Number, Spread};
use wavetank_units::quantity::{format_grouped, show_link, show_share, show_size};

use super::page_text::PageText;
use crate::format;

/// A judgement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Good,
    Bad,
    Doubt,
}

/// The content of a cell or a fact.
#[derive(Clone)]
pub(crate) enum Value {
    /// Nothing is known, or there is nothing to say.
    Nothing,
    /// A name from outside.
    Name(String),
    /// A name that a page keeps on one line if it is short, because its parts mean something else.
    WholeName(String),
    Count(u64),
    /// A number with its unit.
    Number(String),
    /// A percentile, and whether it is unknown because of dropped requests; `None` if nothing was
    /// timed.
    Percentile(Option<(String, bool)>),
    /// Content that only a page has.
    Page(Markup),
    /// A term of our own: plain, and on a page.
    Term(&'static str, PageText),
    /// A term that needs attention.
    Alert(&'static str, PageText),
    /// A threshold as it was written, and whether it is implicit.
    Condition(String, bool),
    /// A term with the sign of its judgement.
    Marked(Sign, &'static str, PageText),
    /// Sentences of the record, which are stored in English.
    Stored(Vec<String>),
}

impl Value {
    /// A count of which 0 means that it is not known.
    pub(crate) const fn known(count: u64) -> Self {
        if count == 0 { Self::Nothing } else { Self::Count(count) }
    }

    pub(crate) fn count(count: Option<u64>) -> Self {
        count.map_or(Self::Nothing, Self::Count)
    }

    pub(crate) fn share(share: Option<Number>) -> Self {
        Self::number(share.map(|share| show_share(share.0)))
    }

    /// Seconds.
    pub(crate) fn seconds(seconds: Option<Number>) -> Self {
        Self::number(seconds.map(format::seconds))
    }

    /// Microseconds.
    pub(crate) fn time(us: Option<Number>) -> Self {
        Self::number(us.map(format::time))
    }

    /// A percentile by its field name.
    pub(crate) fn percentile(spread: Option<&Spread>, field: &str) -> Self {
        Self::Percentile(spread.map(|spread| (format::percentile(spread, field), spread.is_unknown(field))))
    }

    pub(crate) fn size(bytes: u64) -> Self {
        Self::Number(show_size(bytes))
    }

    pub(crate) fn bit_rate(per_second: Number) -> Self {
        Self::Number(show_link(per_second.0))
    }

    pub(crate) fn number(number: Option<String>) -> Self {
        number.map_or(Self::Nothing, Self::Number)
    }

    /// Sentences of the record; nothing if there are none.
    pub(crate) fn stored(sentences: impl IntoIterator<Item = String>) -> Self {
        let sentences: Vec<_> = sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect();
        if sentences.is_empty() { Self::Nothing } else { Self::Stored(sentences) }
    }

    pub(crate) const fn is_zero(&self) -> bool {
        matches!(self, Self::Nothing | Self::Count(0))
    }

    /// The content as plain English.
    pub(crate) fn plain(&self) -> String {
        match self {
            Self::Nothing | Self::Percentile(None) | Self::Page(_) => String::new(),
            Self::Name(text)
            | Self::WholeName(text)
            | Self::Number(text)
            | Self::Condition(text, _)
            | Self::Percentile(Some((text, _))) => text.clone(),
            Self::Count(count) => format_grouped(*count),
            Self::Term(plain, _) | Self::Alert(plain, _) | Self::Marked(_, plain, _) => (*plain).to_owned(),
            Self::Stored(sentences) => sentences.join("; "),
        }
    }
}
