//! [`Bars`]: shares beside each other.

use super::figure::Figure;
use super::frame::Frame;
use super::row_texts::RowTexts;
use super::scale::Scale;
use super::svg::percent;
use super::tone::Tone;
use super::unit::Unit;

/// Pixels below a row's texts: its bar and what parts it from the next row.
const BELOW: u32 = 18;
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
        let said: Vec<String> = self.rows.iter().take(rows).map(|row| self.said(row)).collect();
        let texts =
            RowTexts::of(self.rows.iter().map(|row| row.name.as_str()).zip(said.iter().map(String::as_str)));
        let row_height = texts.height() + BELOW;
        let mut figure = Figure::new(self.frame.high(row_height * rows.max(2) as u32)).wide("wide bars");
        let whole = (self.unit == Unit::Share).then_some(1.0);
        let values = self.rows.iter().map(|row| row.value.max(0.0));
        let scale = Scale::linear(values.chain(whole), self.unit, 4);
        for ((number, row), value) in self.rows.iter().enumerate().zip(&said) {
            let top = row_height * number as u32;
            texts.draw(&mut figure, &row.name, value, top);
            let length = percent(scale.at(row.value.max(0.0)));
            let y = top + texts.height();
            let classes = row.tone.classes(number);
            // What there is at all is seen, however little it is.
            let least = if row.value > 0.0 {
                format!("<rect class=\"layer {classes}\" y=\"{y}\" width=\"2\" height=\"{BAR}\"/>")
            } else {
                String::new()
            };
            figure.push(&format!(
                "<rect class=\"rest\" y=\"{y}\" width=\"100%\" height=\"{BAR}\"/>{least}<rect class=\"layer {classes}\" \
                 y=\"{y}\" width=\"{length}\" height=\"{BAR}\"/>"
            ));
            let words = figure.words();
            figure.say(format!("{}{}{value}{}", row.name, words.colon, words.stop));
        }
        if self.rows.is_empty() {
            figure.no_data();
        }
        if self.rows.len() > rows {
            figure.key_item(&format!("+{}", self.rows.len() - rows), "", 0);
        }
        figure.finish()
    }

    /// What stands beside a row's name.
    fn said(&self, row: &Bar) -> String {
        let value = self.unit.value(row.value);
        if row.note.is_empty() { value } else { format!("{value} · {}", row.note) }
    }
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
