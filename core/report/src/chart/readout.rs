//! Slices of a chart that tell their values when pointed at.

use super::figure::Figure;
use super::svg::{escape, percent};

/// Slices of a chart at most.
pub(super) const SLICES_MAX: usize = 60;

/// Draws unseen slices of equal width, each with the text that `tell` gives for its number and
/// its bounds (0 to 1); empty texts have none.
pub(super) fn readout(figure: &mut Figure<'_>, slices: usize, tell: impl Fn(usize, f64, f64) -> String) {
    let slices = slices.clamp(1, SLICES_MAX);
    let width = 1.0 / slices as f64;
    let height = figure.height();
    for number in 0..slices {
        let from = number as f64 * width;
        let text = tell(number, from, from + width);
        if !text.is_empty() {
            figure.push(&format!(
                "<rect class=\"hit\" x=\"{}\" width=\"{}\" height=\"{height}\"><title>{}</title></rect>",
                percent(from),
                percent(width),
                escape(&text)
            ));
        }
    }
}

/// The least and the greatest of some values as one text: `1.2 ms` or `1.2 ms – 4 ms`.
pub(super) fn range(low: f64, high: f64, show: impl Fn(f64) -> String) -> String {
    let (low, high) = (show(low), show(high));
    if low == high { low } else { format!("{low} – {high}") }
}
