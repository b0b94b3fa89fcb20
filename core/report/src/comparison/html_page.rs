//! [`ComparisonPage`]: a page of a comparison under construction.

use wavetank_record::{CompareDoc, MetricDoc};

use super::side_time_series::SideTimeSeries;
use super::strings::CompareStrings;
use super::values::{change_in, ratio};
use crate::html::{Language, Strings};

/// Input of the page.
#[derive(Clone, Copy, Debug)]
pub struct CompareSource<'a> {
    /// The comparison.
    pub doc: &'a CompareDoc,
    /// Sides A and B over time; an empty side has no charts.
    pub courses: [&'a SideTimeSeries; 2],
    /// The command that compares the same again.
    pub command: &'a str,
}

/// A page of a comparison under construction.
pub(super) struct ComparisonPage<'a> {
    pub(super) source: CompareSource<'a>,
    pub(super) own: &'static CompareStrings,
    pub(super) words: &'static Strings,
    pub(super) language: Language,
}

/// The change of the ratio as text, for the right side of the forest plot.
pub(super) fn short(page: &ComparisonPage, metric: &MetricDoc) -> String {
    let of = metric.ratio.map(ratio).unwrap_or_default();
    format!("{} {of} · {}", page.own.page.ratio, change_in(metric, page.own))
}
