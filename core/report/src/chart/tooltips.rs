//! Slices of a chart that tell their values when pointed at.

use std::ops::Range;

use super::figure::Figure;
use super::svg::{escape, percent};

/// Slices of a chart at most.
const SLICES_MAX: usize = 60;

/// A slice: from where to where (0 to 1), and what it tells; an empty text has none.
pub(super) type Slice = (f64, f64, String);

/// Draws unseen `slices`, each with its text.
pub(super) fn readout(figure: &mut Figure<'_>, slices: impl IntoIterator<Item = Slice>) {
    let height = figure.height();
    for (from, until, text) in slices {
        if !text.is_empty() && until > from {
            figure.push(&format!(
                "<rect class=\"hit\" x=\"{}\" width=\"{}\" height=\"{height}\"><title>{}</title></rect>",
                percent(from),
                percent(until - from),
                escape(&text)
            ));
        }
    }
}

/// So many columns in as many slices as a chart may have: whole columns each, so that no slice tells of half of one.
pub(super) fn groups(columns: usize) -> impl Iterator<Item = Range<usize>> {
    let per = columns.div_ceil(SLICES_MAX).max(1);
    (0..columns).step_by(per).map(move |first| first..(first + per).min(columns))
}

/// The least and the greatest of some values as one text: `1.2 ms` or `1.2 ms – 4 ms`.
pub(super) fn range(low: f64, high: f64, show: impl Fn(f64) -> String) -> String {
    let (low, high) = (show(low), show(high));
    if low == high { low } else { format!("{low} – {high}") }
}
