//! Slices of a chart that show their values as tooltips.

use std::ops::Range;

use super::figure::Figure;
use super::svg::{escape, percent};

/// Most slices of a chart.
const SLICES_MAX: usize = 60;

/// A slice: its start and end (0 to 1), and its tooltip; an empty text means none.
pub(super) type Slice = (f64, f64, String);

/// Draws invisible `slices`, each with its tooltip.
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

/// Distributes the columns over at most as many slices as a chart may have. Each slice has whole
/// columns, so no tooltip describes half a column.
pub(super) fn groups(columns: usize) -> impl Iterator<Item = Range<usize>> {
    let per = columns.div_ceil(SLICES_MAX).max(1);
    (0..columns).step_by(per).map(move |first| first..(first + per).min(columns))
}

/// The minimum and maximum of some values as one text: `1.2 ms` or `1.2 ms – 4 ms`.
pub(super) fn range(low: f64, high: f64, show: impl Fn(f64) -> String) -> String {
    let (low, high) = (show(low), show(high));
    if low == high { low } else { format!("{low} – {high}") }
}
