//! [`Wants`]: what is wanted of a result beside its format.

use wavetank_report::{Language, TimesOf};

/// What is wanted of formats that can tell several things.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// Which times a histogram is of; `None`: response.
    pub(crate) of: Option<TimesOf>,
    /// One step's alone.
    pub(crate) step: Option<String>,
    /// Each step by itself.
    pub(crate) by_step: bool,
    /// In place of stretches of the load: hosts.
    pub(crate) by_host: bool,
    /// The language of a page's own words; `None`: English.
    pub(crate) language: Option<Language>,
}
