//! [`ReportOptions`]: what is wanted of a result beside its format.

use wavetank_report::{Language, LatencySeries};

/// What is wanted of formats that can tell several things.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReportOptions {
    /// Which times a histogram is of; `None`: response.
    pub(crate) times: Option<LatencySeries>,
    /// One step's alone.
    pub(crate) step: Option<String>,
    /// Each step by itself.
    pub(crate) by_step: bool,
    /// In place of stretches of the load: hosts.
    pub(crate) by_host: bool,
    /// The language of a page's own words; `None`: English.
    pub(crate) language: Option<Language>,
}
