//! [`XyChart`]: one number against another, with intervals.

use super::color::ColorRole;
use super::figure::{ACROSS, Figure, LIMIT_ROOM, level};
use super::frame::Frame;
use super::labels::{Label, WIDTHS, cut, fit_ticks, place_labels};
use super::path::polyline;
use super::scale::Scale;
use super::svg::{escape, num, percent};
use super::unit::Unit;

/// Pixels left of the plot that a text above it may use.
const LEFT: f64 = 56.0;
/// A marked interval in the key.
const KEY_MARKED: &str =
    r#"<rect class="marked" width="30" height="12"/><line class="best" x1="15" x2="15" y2="12"/>"#;

/// One number against another, such as latency against load. It has points with intervals, lines
/// through them, and a marked interval on the horizontal axis, such as the position of the knee.
#[derive(Clone, Debug)]
pub struct XyChart<'a> {
    /// Its name, title, height and language.
    pub frame: Frame<'a>,
    /// Name under the horizontal axis.
    pub x_name: &'a str,
    /// Unit of the horizontal axis.
    pub x: Unit,
    /// Formats a horizontal value in a name or a point, if three digits are not the right format.
    pub x_reported: Option<fn(f64) -> String>,
    /// Unit of the vertical axis. Times that differ by more than a factor of 50 get a logarithmic
    /// axis.
    pub y: Unit,
    /// Scale of the horizontal axis.
    pub across: XAxis,
    /// One line each.
    pub series: Vec<CurveSeries>,
    /// A marked interval on the horizontal axis.
    pub marked: Option<ReferenceValue>,
    /// Limits on the vertical axis, such as a threshold: name and value.
    pub limits: Vec<(String, f64)>,
}

/// A value on an axis with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceValue {
    /// Name of the value.
    pub name: String,
    /// Name of both in the key.
    pub key: String,
    /// Lower end of the interval, value, upper end of the interval. Parts beyond the axis are not
    /// drawn.
    pub ends: [f64; 3],
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum XAxis {
    /// From 0, evenly.
    FromZero,
    /// Logarithmically.
    Log,
    /// Evenly, from one value to another and out to the next ticks.
    Close(f64, f64),
}

/// A line of a curve.
#[derive(Clone, Debug, Default)]
pub struct CurveSeries {
    /// Name in the key.
    pub name: String,
    /// What was measured, in any order.
    pub points: Vec<CurvePoint>,
    /// A line, such as a fit, ordered by x. If it is empty, no line is drawn.
    pub line: Vec<(f64, f64)>,
    /// Its colour.
    pub tone: ColorRole,
}

/// A point with its vertical interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CurvePoint {
    /// Its horizontal value.
    pub x: f64,
    /// Its value.
    pub y: f64,
    /// The lower and upper end of the value's interval.
    pub between: Option<(f64, f64)>,
}

impl XyChart<'_> {
    /// The chart as `<figure>`.
    pub fn draw(&self) -> String {
        let mut figure = Figure::new(self.frame).wide("named");
        let (across, upwards) = (self.scale_across(), self.scale_upwards(&figure));
        figure.grid(&upwards);
        self.axis(&mut figure, &across);
        self.mark(&mut figure, &across);
        for (number, series) in self.series.iter().enumerate() {
            self.draw_series(&mut figure, &across, &upwards, number, series);
        }
        // It comes after the series in the key, because it is not a series.
        if let Some(marked) = &self.marked {
            figure.key_item(&marked.key, KEY_MARKED, 30);
        }
        figure.limits(&self.limits, &upwards);
        if self.series.iter().all(|series| series.points.is_empty() && series.line.is_empty()) {
            figure.no_data();
        }
        figure.finish()
    }

    /// A horizontal value as text.
    fn format_x(&self, x: f64) -> String {
        self.x_reported.filter(|_| x.is_finite()).map_or_else(|| self.x.value(x), |listed| listed(x))
    }

    /// The place of a horizontal value, 0 to 1.
    pub(crate) fn place(&self, x: f64) -> f64 {
        self.scale_across().position(x)
    }

    fn scale_across(&self) -> Scale {
        let points = self.series.iter().flat_map(|series| series.points.iter().map(|point| point.x));
        let lines = self.series.iter().flat_map(|series| series.line.iter().map(|corner| corner.0));
        let marked = self.marked.iter().flat_map(|marked| marked.ends);
        let all = points.chain(lines).chain(marked);
        match self.across {
            XAxis::FromZero => Scale::linear(all, self.x, 6),
            XAxis::Log => Scale::log(all, self.x),
            XAxis::Close(low, high) => Scale::close([low, high].into_iter(), self.x, 6),
        }
    }

    fn scale_upwards(&self, figure: &Figure<'_>) -> Scale {
        let points = self.series.iter().flat_map(|series| series.points.iter());
        let ends = points.flat_map(|point| {
            let (low, high) = point.between.unwrap_or((point.y, point.y));
            [point.y, low, high]
        });
        let lines = self.series.iter().flat_map(|series| series.line.iter().map(|corner| corner.1));
        let all = ends.chain(lines).chain(self.limits.iter().map(|limit| limit.1 * LIMIT_ROOM));
        Scale::fitting(all, self.y, figure.ticks_upwards())
    }

    /// Draws the horizontal axis, with vertical lines at its labels.
    fn axis(&self, figure: &mut Figure<'_>, across: &Scale) {
        for label in names(across) {
            let (x, height, level) = (percent(label.at), figure.height(), level(label.level));
            figure.push(&format!("<line class=\"grid{level}\" x1=\"{x}\" x2=\"{x}\" y2=\"{height}\"/>"));
            figure.tick(&label);
        }
        let y = figure.height() + 36;
        figure.push(&format!(
            "<text class=\"axis\" x=\"50%\" y=\"{y}\">{}</text>",
            escape(&cut(self.x_name, WIDTHS[0] + LEFT))
        ));
    }

    fn mark(&self, figure: &mut Figure<'_>, across: &Scale) {
        let Some(ReferenceValue { name, ends: [low, best, high], .. }) = &self.marked else { return };
        let (from, until, height) = (across.position(*low), across.position(*high), figure.height());
        let x = percent(across.position(*best));
        figure.push(&format!(
            "<rect class=\"marked\" x=\"{}\" width=\"{}\" height=\"{height}\"/><line class=\"best\" x1=\"{x}\" x2=\"{x}\" \
             y1=\"-4\" y2=\"{height}\"/>",
            percent(from),
            percent((until - from).max(0.0))
        ));
        // The label is next to its line, on the side with more room.
        let at = across.position(*best);
        let (anchor, dx, room) = if at > 0.5 {
            ("end", "4", at * WIDTHS[0] + LEFT)
        } else {
            ("start", "-4", (1.0 - at) * WIDTHS[0])
        };
        let text = cut(&format!("{name} {}", self.format_x(*best)), room);
        figure.push(&format!(
            "<text class=\"cap {anchor}\" x=\"{x}\" dx=\"{dx}\" y=\"-8\">{}</text>",
            escape(&text)
        ));
        let words = figure.labels();
        figure.add_description((words.between)(
            name,
            &self.format_x(*best),
            &self.format_x(*low),
            &self.format_x(*high),
        ));
    }

    fn draw_series(
        &self,
        figure: &mut Figure<'_>,
        across: &Scale,
        upwards: &Scale,
        number: usize,
        series: &CurveSeries,
    ) {
        let classes = series.tone.classes(number);
        let finite = |x: f64, y: f64| x.is_finite() && y.is_finite();
        let corners: Vec<(f64, f64)> = series
            .line
            .iter()
            .filter(|(x, y)| finite(*x, *y))
            .map(|(x, y)| (across.position(*x) * ACROSS, figure.y(upwards.position(*y))))
            .collect();
        if !corners.is_empty() {
            let mut path = String::new();
            polyline(&mut path, &corners);
            figure.stretched("data", |figure| {
                figure.push(&format!("<path class=\"l {classes}\" d=\"{path}\"/>"));
            });
        }
        let words = figure.labels();
        for point in series.points.iter().filter(|point| finite(point.x, point.y)) {
            let (at, place) = (across.position(point.x), self.format_x(point.x));
            let named = format!("{} {place}", series.name);
            let mut listed = format!("{} · {place} · {}", series.name, self.y.value(point.y));
            if let Some((low, high)) = point.between.filter(|(low, high)| finite(*low, *high)) {
                let x = percent(at);
                let (top, bottom) = (figure.y(upwards.position(high)), figure.y(upwards.position(low)));
                figure.push(&format!(
                    "<svg x=\"{x}\"><path class=\"bar {classes}\" d=\"M0 {t}V{b}M-4 {t}h8M-4 {b}h8\"/></svg>",
                    t = num(top),
                    b = num(bottom)
                ));
                let (low, high) = (self.y.value(low), self.y.value(high));
                figure.add_description((words.between)(&named, &self.y.value(point.y), &low, &high));
                listed = format!("{listed} ({low} – {high})");
            } else {
                figure.add_description(format!(
                    "{named}{}{}{}",
                    words.colon,
                    self.y.value(point.y),
                    words.stop
                ));
            }
            figure.point(number, series.tone, at, figure.y(upwards.position(point.y)), &listed);
        }
        figure.key_line(&series.name, number, series.tone, false);
    }
}

/// Labels of a horizontal axis, as many as fit.
fn names(across: &Scale) -> Vec<Label> {
    let ticks = across.ticks(8);
    if !across.log {
        // Labels are at even steps, because readers misread values between uneven ones.
        let each = |step: usize| ticks.iter().step_by(step).cloned().collect();
        return fit_ticks(&[4, 2, 1], |fine, coarse| coarse % fine == 0, each);
    }
    // Both ends come first, so that each value is between two labels; then every second tick.
    let last = ticks.len().saturating_sub(1);
    let (first, rest): (Vec<_>, Vec<_>) =
        ticks.into_iter().enumerate().partition(|(number, _)| [0, last].contains(number));
    let (even, odd): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(number, _)| number % 2 == 0);
    place_labels(first.into_iter().chain(even).chain(odd).map(|(_, tick)| tick).collect())
}

#[cfg(test)]
mod tests {
    use super::super::strings::ChartStrings;
    use super::*;

    fn curve(points: Vec<CurvePoint>) -> XyChart<'static> {
        XyChart {
            frame: Frame::new("curve", "Latency against load", &ChartStrings::EN),
            x_name: "offered",
            x: Unit::Rate,
            x_reported: None,
            y: Unit::Time,
            across: XAxis::FromZero,
            series: vec![CurveSeries { name: "p99".to_owned(), points, ..CurveSeries::default() }],
            marked: Some(ReferenceValue {
                name: "knee".to_owned(),
                key: "knee and its interval".to_owned(),
                ends: [900.0, 1_000.0, 1_100.0],
            }),
            limits: vec![("p99 < 50 ms".to_owned(), 50e6)],
        }
    }

    #[test]
    fn names_of_a_close_axis_are_evenly_apart_at_any_width() {
        let scale = Scale::close([496.0, 518.8].into_iter(), Unit::Rate, 6);
        let names = names(&scale);
        for level in 0..WIDTHS.len() {
            let shown: Vec<_> = names.iter().filter(|label| label.level <= level).collect();
            let steps: Vec<_> =
                shown.windows(2).map(|two| ((two[1].at - two[0].at) * 1e6).round() as i64).collect();
            assert!(!steps.is_empty() && steps.windows(2).all(|two| two[0] == two[1]), "{level}: {names:?}");
        }
    }

    #[test]
    fn points_intervals_and_the_knee() {
        let point = CurvePoint { x: 500.0, y: 25e6, between: Some((20e6, 30e6)) };
        let svg = curve(vec![point]).draw();
        assert!(svg.contains("500/s: 25.0 ms, between 20.0 ms and 30.0 ms."), "{svg}");
        assert!(svg.contains("knee: 1,000/s, between 900/s and 1,100/s."), "{svg}");
        assert!(svg.contains("p99 &lt; 50 ms"));
        assert!(svg.contains("</svg>knee and its interval</li>"), "{svg}");
    }

    /// Each load is between two labels, even in a plot too narrow for all of them.
    #[test]
    fn both_ends_of_the_axis_are_named() {
        let points = [100.0, 4_000.0].map(|x| CurvePoint { x, y: 25e6, between: None });
        let plain = XyChart { across: XAxis::Log, marked: None, ..curve(points.to_vec()) };
        let svg = plain.draw();
        for end in ["100/s", "5,000/s"] {
            let tick = svg.split("<text").find(|text| text.contains(&format!(">{end}<"))).expect(end);
            assert!(!tick.contains(" n1") && !tick.contains(" n2"), "{end} is shown at every width: {svg}");
        }
    }

    #[test]
    fn awful_points_are_left_out() {
        let svg =
            curve(vec![CurvePoint { x: f64::NAN, y: 1.0, between: None }, CurvePoint::default()]).draw();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(XyChart { marked: None, ..curve(Vec::new()) }.draw().contains("no data"));
    }
}
