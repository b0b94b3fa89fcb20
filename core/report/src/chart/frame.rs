//! [`Frame`]: what every chart has.

use super::strings::ChartStrings;

/// What every chart has.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The figure's name in its page, and the beginning of all names inside it: must be used once in a page. Letters, digits,
    /// `-` and `_`; others are left out.
    pub id: &'a str,
    /// What stands above it.
    pub title: &'a str,
    /// The height of the plot in pixels, without labels; at least 60 is used.
    pub height: u32,
    /// The language of what the chart says of itself.
    pub words: &'a ChartStrings,
}

impl<'a> Frame<'a> {
    /// A frame of the usual height.
    pub const fn new(id: &'a str, title: &'a str, words: &'a ChartStrings) -> Self {
        Self { id, title, height: 200, words }
    }

    /// The same of another height, in pixels.
    #[must_use]
    pub const fn high(self, height: u32) -> Self {
        Self { height, ..self }
    }
}
