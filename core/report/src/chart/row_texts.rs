//! [`RowLabels`]: names and values above the intervals of rows.

use super::figure::Figure;
use super::labels::{WIDTHS, cut, text_width};
use super::svg::escape;

/// Pixels of a line of text.
const LINE: u32 = 17;
/// Additional width of a plot without labels on its left.
const WIDER: f64 = 60.0;
/// Pixels between a name and its value.
const GAP: f64 = 14.0;
/// Share of a line that a value may take.
const VALUE_SHARE: f64 = 0.65;

/// Names on the left and values on the right. If one pair does not fit on a narrow page, values are
/// below their names there, and all rows have room for that.
pub(super) struct RowLabels {
    two_lines: bool,
}

impl RowLabels {
    /// For rows of these names and values.
    pub(super) fn from_rows<'r>(rows: impl Iterator<Item = (&'r str, &'r str)>) -> Self {
        let mut rows = rows;
        let two_lines =
            rows.any(|(name, value)| text_width(name) + GAP + text_width(value) > WIDTHS[0] + WIDER);
        Self { two_lines }
    }

    /// Pixels that the texts of a row take.
    pub(super) fn height(&self) -> u32 {
        if self.two_lines { 2 * LINE } else { LINE + 2 }
    }

    /// The texts of the row that begins `top` pixels below the plot's top.
    pub(super) fn draw(&self, figure: &mut Figure<'_>, name: &str, value: &str, top: u32) {
        let (narrow, wide) = (WIDTHS[0] + WIDER, WIDTHS[1] + WIDER);
        let first = top + 13;
        if self.two_lines {
            let second = first + LINE;
            text(figure, "name n0", "0", first, name, narrow);
            text(figure, "value n0", "100%", second, value, narrow);
            let value_room = (wide - GAP) * VALUE_SHARE;
            let name_room = wide - GAP - text_width(value).min(value_room);
            text(figure, "name n1", "0", second, name, name_room);
            text(figure, "value n1", "100%", second, value, value_room);
        } else {
            text(figure, "name", "0", first, name, narrow);
            text(figure, "value", "100%", first, value, narrow);
        }
    }
}

/// A text cut to its room, with the whole text as a tooltip.
fn text(figure: &mut Figure<'_>, class: &str, x: &str, y: u32, whole: &str, room: f64) {
    let shown = cut(whole, room);
    let title = if shown == whole { String::new() } else { format!("<title>{}</title>", escape(whole)) };
    figure.push(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}{title}</text>", escape(&shown)));
}
