//! [`Frame`]: the properties that every chart has.

use super::strings::ChartStrings;

/// Properties that every chart has.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Name of the figure and prefix of all ids inside it; must be unique in its page. Letters,
    /// digits, `-` and `_` are kept, other characters are dropped.
    pub id: &'a str,
    /// Title above the chart.
    pub title: &'a str,
    /// The height of the plot in pixels, without labels; at least 60 is used.
    pub height: u32,
    /// The chart's own texts, in one language.
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
