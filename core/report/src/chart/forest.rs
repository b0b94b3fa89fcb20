//! [`ForestPlot`]: ratios with their intervals.

use super::figure::{Figure, level};
use super::frame::Frame;
use super::labels::{WIDTHS, place_labels, text_width};
use super::row_texts::RowLabels;
use super::svg::percent;

/// Pixels between the start of a row and its texts.
const ABOVE: u32 = 4;
/// Pixels below a row's texts: the row's interval, close to the texts, and the gap to the next row.
const INTERVAL: u32 = 26;
/// Pixels on the left of the plot.
const MARGIN: f64 = 6.0;
/// Most rows; more are counted.
const ROWS_MAX: usize = 60;
/// The widest axis: a ratio and its inverse.
const RATIO_MAX: f64 = 1_000.0;
/// Ratios that may be ticks, in order of preference: those with a change in round numbers.
const TICKS: [f64; 33] = [
    1.0, 2.0, 0.5, 10.0, 0.1, 100.0, 0.01, 1_000.0, 0.001, 1.2, 0.8, 1.1, 0.9, 5.0, 0.2, 1.5, 20.0, 0.05,
    50.0, 0.02, 1.05, 0.95, 1.02, 0.98, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 0.7, 1.3, 1.4,
];

/// Ratios with their intervals on a logarithmic axis around 1. Values right of the middle have
/// grown; an interval that touches the middle shows no difference.
#[derive(Clone, Debug)]
pub struct ForestPlot<'a> {
    /// Its name, title and language; the height follows from the rows.
    pub frame: Frame<'a>,
    /// One interval each.
    pub rows: Vec<Ratio>,
    /// Key text of each meaning, used if a row has that meaning.
    pub key: Vec<(Polarity, String)>,
    /// Key text of the rows' limits, used if there are any.
    pub limit_key: String,
}

/// A ratio with its interval.
#[derive(Clone, Debug)]
pub struct Ratio {
    /// What was compared.
    pub name: String,
    /// Text on the right: the ratio as the table shows it.
    pub text: String,
    /// Lower end of the interval, ratio, upper end. Ends that are not finite or not positive are
    /// drawn up to the end of the axis.
    pub ends: [f64; 3],
    /// Whether the change is good or bad.
    pub meaning: Polarity,
    /// Ratio marked by a line across the row, such as the maximum regression that is allowed.
    pub limit: Option<f64>,
}

/// Meaning of a ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polarity {
    /// No difference is shown: a hollow circle.
    #[default]
    None,
    /// A difference for the better: a filled diamond.
    Better,
    /// A difference for the worse: a filled square.
    Worse,
    /// Undecided: a hollow triangle.
    Undecided,
}

impl Polarity {
    /// Class and shape of its marker.
    const fn marker(self) -> (&'static str, &'static str) {
        match self {
            Self::None => ("same", "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z"),
            Self::Better => ("good", "M0-6.5L6.5 0 0 6.5-6.5 0z"),
            Self::Worse => ("bad", "M-5-5h10v10h-10z"),
            Self::Undecided => ("same", "M0-5.5L5.5 4.5h-11z"),
        }
    }
}

impl Ratio {
    /// Its limit, if it is within the range of the axis.
    fn known_limit(&self) -> Option<f64> {
        self.limit.filter(|limit| limit.is_finite() && *limit > 0.0)
    }
}

impl ForestPlot<'_> {
    /// The chart as `<figure>`.
    pub fn draw(&self) -> String {
        let rows = self.rows.len().min(ROWS_MAX);
        let texts = RowLabels::from_rows(
            self.rows.iter().take(rows).map(|row| (row.name.as_str(), row.text.as_str())),
        );
        let row_height = ABOVE + texts.height() + INTERVAL;
        let mut figure = Figure::new(self.frame.high(row_height * rows.max(2) as u32)).wide("wide");
        let widest = self.widest();
        let at = |ratio: f64| (0.5 + ratio.ln() / widest.ln() / 2.0).clamp(0.0, 1.0);
        axis(&mut figure, widest, at);
        for (number, row) in self.rows.iter().take(rows).enumerate() {
            let top = row_height * number as u32;
            if number > 0 {
                figure.push(&format!("<line class=\"grid\" x2=\"100%\" y1=\"{top}\" y2=\"{top}\"/>"));
            }
            if let Some(limit) = row.known_limit() {
                let (x, end) = (percent(at(limit)), top + row_height);
                figure.push(&format!(
                    "<line class=\"limit\" x1=\"{x}\" x2=\"{x}\" y1=\"{top}\" y2=\"{end}\"/>"
                ));
            }
            texts.draw(&mut figure, &row.name, &row.text, top + ABOVE);
            interval(&mut figure, row, top + ABOVE + texts.height() + 9, at);
            let words = figure.labels();
            figure.add_description(format!("{}{}{}{}", row.name, words.colon, row.text, words.stop));
        }
        self.key(&mut figure, rows);
        if self.rows.is_empty() {
            figure.no_data();
        }
        if self.rows.len() > rows {
            figure.key_item(&format!("+{}", self.rows.len() - rows), "", 0);
        }
        figure.finish()
    }

    /// Adds key entries for the elements drawn in the first `rows` rows.
    fn key(&self, figure: &mut Figure<'_>, rows: usize) {
        for (meaning, name) in &self.key {
            if self.rows.iter().take(rows).any(|row| row.meaning == *meaning) {
                let (class, shape) = meaning.marker();
                let drawing = format!(
                    "<path class=\"whisker {class}\" d=\"M1 6h28M1 2v8M29 2v8\"/><path class=\"ratio {class}\" d=\"{shape}\" \
                     transform=\"translate(15 6)\"/>"
                );
                figure.key_item(name, &drawing, 30);
            }
        }
        let has_limit = self.rows.iter().take(rows).any(|row| row.known_limit().is_some());
        if has_limit && !self.limit_key.is_empty() {
            figure.key_item(&self.limit_key, "<path class=\"limit\" d=\"M15 0v12\"/>", 30);
        }
    }

    /// The ratio at the right end; its inverse is at the left one.
    fn widest(&self) -> f64 {
        let ends = self.rows.iter().flat_map(|row| row.ends.into_iter().chain(row.limit));
        let far = ends.filter(|end| end.is_finite() && *end > 0.0).map(|end| end.max(1.0 / end));
        far.fold(1.01, f64::max).powf(1.08).min(RATIO_MAX)
    }
}

/// A line at 1 and changes in percent under the rows.
fn axis(figure: &mut Figure<'_>, widest: f64, at: impl Fn(f64) -> f64) {
    let ticks = TICKS.into_iter().filter(|tick| *tick <= widest && *tick >= 1.0 / widest);
    let ticks = ticks.map(|ratio| (at(ratio), change(ratio)));
    // This plot has almost no margin on the left, where other charts have their vertical axis.
    let is_inside = |(at, text): &(f64, String)| at * WIDTHS[0] >= text_width(text) / 2.0 - MARGIN;
    let wanted = ticks.filter(is_inside).collect();
    for label in place_labels(wanted) {
        let (x, height, level) = (percent(label.at), figure.height(), level(label.level));
        let middle = if (label.at - 0.5).abs() < 1e-9 { " base" } else { "" };
        figure.push(&format!("<line class=\"grid{middle}{level}\" x1=\"{x}\" x2=\"{x}\" y2=\"{height}\"/>"));
        figure.tick(&label);
    }
}

/// A ratio as a change: `+10 %`, `−9.1 %`, from twice on `×2`, from half on `÷2`.
fn change(ratio: f64) -> String {
    let trimmed = |value: f64| wavetank_units::quantity::trimmed(&format!("{value:.1}")).to_owned();
    match ratio {
        ratio if (ratio - 1.0).abs() < 1e-12 => "0 %".to_owned(),
        ratio if ratio >= 1.95 => format!("×{}", trimmed(ratio)),
        ratio if ratio <= 1.0 / 1.95 => format!("÷{}", trimmed(1.0 / ratio)),
        ratio if ratio > 1.0 => format!("+{} %", trimmed((ratio - 1.0) * 100.0)),
        ratio => format!("−{} %", trimmed((1.0 - ratio) * 100.0)),
    }
}

fn interval(figure: &mut Figure<'_>, row: &Ratio, y: u32, at: impl Fn(f64) -> f64) {
    let [low, ratio, high] = row.ends;
    let known = |end: f64| (end.is_finite() && end > 0.0).then(|| at(end));
    let (from, until) = (known(low).unwrap_or(0.0), known(high).unwrap_or(1.0));
    let (class, shape) = row.meaning.marker();
    figure.push(&format!(
        "<line class=\"whisker {class}\" x1=\"{}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\"/>",
        percent(from),
        percent(until.max(from))
    ));
    for end in [known(low), known(high)].into_iter().flatten() {
        let x = percent(end);
        let (top, bottom) = (y - 4, y + 4);
        figure.push(&format!(
            "<line class=\"whisker {class}\" x1=\"{x}\" x2=\"{x}\" y1=\"{top}\" y2=\"{bottom}\"/>"
        ));
    }
    if let Some(place) = known(ratio) {
        let x = percent(place);
        figure.push(&format!("<svg x=\"{x}\" y=\"{y}\"><path class=\"ratio {class}\" d=\"{shape}\"/></svg>"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::labels::check_no_overlap;
    use super::super::strings::ChartStrings;
    use super::*;

    fn draw(ends: [f64; 3]) -> String {
        let row = Ratio {
            name: "p99".to_owned(),
            text: "+5.0 %".to_owned(),
            ends,
            meaning: Polarity::Worse,
            limit: Some(1.1),
        };
        let key = [(Polarity::Worse, "for the worse"), (Polarity::None, "no difference shown")];
        ForestPlot {
            frame: Frame::new("f", "Ratios", &ChartStrings::EN),
            rows: vec![row],
            key: key.map(|(meaning, name)| (meaning, name.to_owned())).to_vec(),
            limit_key: "allowed".to_owned(),
        }
        .draw()
    }

    #[test]
    fn any_interval_is_drawn_inside() {
        for ends in [
            [1.01, 1.05, 1.09],
            [0.0, 1.0, f64::INFINITY],
            [f64::NAN, f64::NAN, f64::NAN],
            [1e-9, 1.0, 1e9],
            [1.0, 1.0, 1.0],
        ] {
            let svg = draw(ends);
            assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("\"-"), "{ends:?}: {svg}");
        }
        assert!(draw([1.01, 1.05, 1.09]).contains("p99: +5.0 %."));
    }

    #[test]
    fn the_key_has_what_is_drawn() {
        let svg = draw([1.01, 1.05, 1.09]);
        let key = svg.split("</ul>").next().unwrap_or_default();
        assert!(key.contains("</svg>for the worse</li>") && key.contains("</svg>allowed</li>"), "{svg}");
        assert!(!key.contains("no difference shown"), "no row has none: {svg}");
    }

    /// A row's texts are closer to its own interval than to the interval of the row above, and a
    /// line separates the rows.
    #[test]
    fn rows_are_parted() {
        let row = Ratio {
            name: "p99".to_owned(),
            text: "+5 %".to_owned(),
            ends: [1.0; 3],
            meaning: Polarity::None,
            limit: None,
        };
        let frame = Frame::new("f", "Ratios", &ChartStrings::EN);
        let rows = vec![row.clone(), row];
        let svg = ForestPlot { frame, rows, key: Vec::new(), limit_key: String::new() }.draw();
        let all = |begin: &str, end: char| -> Vec<u32> {
            let places = svg.split(begin).skip(1).filter_map(|rest| rest.split(end).next()?.parse().ok());
            places.collect()
        };
        let (names, marks) = (all("class=\"name\" x=\"0\" y=\"", '"'), all("<svg x=\"50%\" y=\"", '"'));
        let lines = all("<line class=\"grid\" x2=\"100%\" y1=\"", '"');
        assert_eq!((names.len(), marks.len(), lines.len()), (2, 2, 1), "{svg}");
        assert!(marks[0] - names[0] < names[1] - marks[0], "{names:?} {marks:?}");
        assert!(marks[0] < lines[0] && lines[0] < names[1], "{lines:?}");
    }

    #[test]
    fn ticks_of_any_width_fit() {
        for widest in [1.011, 1.05, 1.3, 2.5, 12.0, 1_000.0_f64] {
            let at = |ratio: f64| 0.5 + ratio.ln() / widest.ln() / 2.0;
            let wanted: Vec<(f64, String)> = TICKS
                .into_iter()
                .filter(|tick| *tick <= widest && *tick >= 1.0 / widest)
                .map(|ratio| (at(ratio), change(ratio)))
                .collect();
            check_no_overlap(&place_labels(wanted), &format!("{widest}"));
        }
        assert_eq!(
            ["+10 %", "−9.1 %", "×2", "÷10"],
            [1.1, 0.909, 2.0, 0.1].map(change).each_ref().map(String::as_str)
        );
    }
}
