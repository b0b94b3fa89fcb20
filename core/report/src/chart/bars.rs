//! [`Bars`]: shares beside each other.

use super::figure::Figure;
use super::frame::Frame;
use super::labels::{WIDTHS, cut, text_width};
use super::scale::Scale;
use super::svg::{escape, percent};
use super::tone::Tone;
use super::unit::Unit;

/// Pixels of a row: its name and value, and the bar below them.
const ROW: u32 = 34;
/// Pixels of a bar.
const BAR: u32 = 10;
/// Rows at most; more are counted.
const ROWS_MAX: usize = 60;

/// Horizontal bars from a common zero, each with its name and its value above it, in the order given.
#[derive(Clone, Debug)]
pub struct Bars<'a> {
    /// Its name, title and language; the height follows from the rows.
    pub frame: Frame<'a>,
    /// What the values are. Shares are drawn beside the whole, others beside the greatest.
    pub unit: Unit,
    /// One bar each.
    pub rows: Vec<Bar>,
}

/// A bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its length; not negative.
    pub value: f64,
    /// Said after the value, such as `12 of 4,000`; empty without.
    pub note: String,
    /// Its colour; the first one unless said otherwise.
    pub tone: Tone,
}

impl Bar {
    /// A bar of the first colour.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), value, note: String::new(), tone: Tone::Of(0) }
    }
}

impl Bars<'_> {
    /// The chart as `<figure>`.
    pub fn draw(&self) -> String {
        let rows = self.rows.len().min(ROWS_MAX);
        let mut figure = Figure::new(self.frame.high(ROW * rows.max(2) as u32)).wide();
        let whole = (self.unit == Unit::Share).then_some(1.0);
        let values = self.rows.iter().map(|row| row.value.max(0.0));
        let scale = Scale::linear(values.chain(whole), self.unit, 4);
        for (number, row) in self.rows.iter().take(rows).enumerate() {
            let top = ROW * number as u32;
            let mut value = self.unit.value(row.value);
            if !row.note.is_empty() {
                value = format!("{value} · {}", row.note);
            }
            row_texts(&mut figure, &row.name, &value, top + 14);
            let length = percent(scale.at(row.value.max(0.0)));
            figure.push(&format!(
                "<rect class=\"rest\" y=\"{y}\" width=\"100%\" height=\"{BAR}\"/><rect class=\"layer {}\" y=\"{y}\" \
                 width=\"{length}\" height=\"{BAR}\"/>",
                row.tone.classes(number),
                y = top + 20
            ));
            let colon = figure.words().colon;
            figure.say(format!("{}{colon}{value}.", row.name));
        }
        if self.rows.is_empty() {
            figure.no_data();
        }
        if self.rows.len() > rows {
            figure.key_item(&format!("+{}", self.rows.len() - rows), "", 0);
        }
        figure.finish()
    }
}

/// A name on the left and a value on the right of one line; the name is cut to what a narrow page leaves it, and further on wide
/// ones.
pub(super) fn row_texts(figure: &mut Figure<'_>, name: &str, value: &str, y: u32) {
    // A plot without labels on its left is as much wider.
    let room = |width: f64| (width + 60.0 - text_width(value) - 16.0).max(40.0);
    let narrow = cut(name, room(WIDTHS[0]));
    let wide = cut(name, room(WIDTHS[1]));
    let title = if wide == name { String::new() } else { format!("<title>{}</title>", escape(name)) };
    if narrow == wide {
        figure.push(&format!("<text class=\"name\" y=\"{y}\">{}{title}</text>", escape(&wide)));
    } else {
        figure.push(&format!(
            "<text class=\"name n0\" y=\"{y}\">{}{title}</text><text class=\"name n1\" y=\"{y}\">{}{title}</text>",
            escape(&narrow),
            escape(&wide)
        ));
    }
    figure.push(&format!("<text class=\"value\" x=\"100%\" y=\"{y}\">{}</text>", escape(value)));
}

#[cfg(test)]
mod tests {
    use super::super::words::ChartWords;
    use super::*;

    fn draw(rows: Vec<Bar>) -> String {
        Bars { frame: Frame::new("bars", "Errors", &ChartWords::EN), unit: Unit::Share, rows }.draw()
    }

    #[test]
    fn shares_are_drawn_beside_the_whole() {
        let svg = draw(vec![Bar::new("connect_refused", 0.25), Bar::new("<b>", 0.0)]);
        assert!(svg.contains("width=\"25%\" height=\"10\""), "{svg}");
        assert!(svg.contains("connect_refused: 25 %.") && svg.contains("&lt;b&gt;") && !svg.contains("<b>"));
        assert!(draw(Vec::new()).contains("no data"));
    }

    #[test]
    fn long_names_are_cut_to_the_page() {
        let name = "GET https://shop.example/a/very/long/path/".repeat(4);
        let svg = draw(vec![Bar::new(name.clone(), 0.5)]);
        assert!(
            svg.contains("name n0")
                && svg.contains("name n1")
                && svg.contains(&format!("<title>{name}</title>"))
        );
    }
}
