//! [`ReportOptions`]: options of a result other than its format.

use wavetank_report::{Language, LatencySeries};

/// Options of formats with several possible contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReportOptions {
    /// Times shown by a histogram; `None` for response times.
    pub(crate) times: Option<LatencySeries>,
    /// Only this step.
    pub(crate) step: Option<String>,
    /// Each step separately.
    pub(crate) by_step: bool,
    /// Hosts instead of intervals of the load.
    pub(crate) by_host: bool,
    /// Language of a page; `None` for English.
    pub(crate) language: Option<Language>,
}
