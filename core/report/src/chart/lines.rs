//! [`LineChart`]: numbers over time.

use wavetank_units::Nanos;

use super::color::{ColorRole, numbers};
use super::describe::describe;
use super::downsample::{downsampled, value};
use super::figure::{ACROSS, Figure, LIMIT_ROOM};
use super::frame::Frame;
use super::markers::{marker_points, places};
use super::path::{polyline_with_gaps, uncertain_parts};
use super::scale::Scale;
use super::series::{LineStyle, Point, Series};
use super::slices::{ValueRange, borders, ranges_in, uncertain_in};
use super::svg::num;
use super::timeline::Timeline;
use super::tooltips::{groups, range, readout};
use super::unit::Unit;

/// Points of a line up to which each has a dot.
const DOTS_MAX: usize = 30;

/// Numbers over time: several series, each with a dash and a marker of its own.
#[derive(Clone, Debug)]
pub struct LineChart<'a> {
    /// Its name, title, height and language.
    pub frame: Frame<'a>,
    /// The time axis.
    pub timeline: Timeline,
    /// Unit of the values. Times that differ by more than a factor of 50 get a logarithmic axis.
    pub unit: Unit,
    /// The series; a plan first, so that measured values are drawn over it.
    pub series: Vec<Series>,
    /// Limits across the chart, such as a threshold: name and value.
    pub limits: Vec<(String, f64)>,
}

impl LineChart<'_> {
    /// The chart as `<figure>`.
    pub fn draw(&self) -> String {
        let mut figure = Figure::new(self.frame);
        let scale = Scale::fitting(self.values(), self.unit, figure.ticks_upwards());
        figure.grid(&scale);
        self.timeline.draw(&mut figure);
        figure.stretched("data", |figure| {
            for (number, series) in self.numbered() {
                self.line(figure, &scale, number, series);
                self.dots(figure, &scale, number, series);
            }
        });
        figure.limits(&self.limits, &scale);
        for (number, series) in self.numbered() {
            self.markers(&mut figure, &scale, number, series);
            figure.key_line(&series.name, number, series.tone, series.is_all_uncertain());
            let said = describe(
                figure.labels(),
                &series.name,
                &series.points,
                |value| self.unit.value(value),
                |at| self.timeline.clock(at),
            );
            figure.add_description(said);
        }
        if self.series.iter().all(|series| series.points.iter().all(|point| value(point).is_none())) {
            figure.no_data();
        }
        if self.series.iter().any(|series| series.sure.is_some()) {
            figure.add_uncertain_key();
        }
        self.readout(&mut figure);
        figure.finish()
    }

    /// Series with the numbers of their dashes and markers.
    fn numbered(&self) -> impl Iterator<Item = (usize, &Series)> {
        numbers(self.series.iter().map(|series| series.tone)).zip(&self.series)
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        let points = self.series.iter().flat_map(|series| series.points.iter().filter_map(value));
        // A share is at most 1, so an axis of shares needs no room above it.
        let most = if self.unit == Unit::Share { 1.0 } else { f64::INFINITY };
        let limits = self.limits.iter().map(move |(_, value)| (value * LIMIT_ROOM).min(most.max(*value)));
        points.chain(limits)
    }

    fn place(&self, figure: &Figure<'_>, scale: &Scale, at: Nanos, value: f64) -> (f64, f64) {
        (self.timeline.x(at) * ACROSS, figure.y(scale.position(value)))
    }

    /// Draws the line of a series, dotted at uncertain values.
    fn line(&self, figure: &mut Figure<'_>, scale: &Scale, number: usize, series: &Series) {
        let points = downsampled(&series.points);
        let path = |points: &[Point]| match series.form {
            LineStyle::Line | LineStyle::AtEnds => {
                polyline_with_gaps(points, |at, value| self.place(figure, scale, at, value))
            }
            LineStyle::Step => self.stair(figure, scale, points),
        };
        let sure = series.sure.as_ref().map_or_else(|| points.clone(), |sure| among(&points, sure));
        let classes = series.tone.classes(number);
        for (path, dots) in [(path(&uncertain_parts(&points, &sure)), " faint"), (path(&sure), "")] {
            if !path.is_empty() {
                figure.push(&format!("<path class=\"l {classes}{dots}\" d=\"{path}\"/>"));
            }
        }
    }

    /// Draws a dot on each point where there are few points. Without dots, a line next to lines
    /// with markers looks as if nothing had been measured.
    fn dots(&self, figure: &mut Figure<'_>, scale: &Scale, number: usize, series: &Series) {
        let known: Vec<_> = series.points.iter().filter_map(|point| Some((point.0, value(point)?))).collect();
        if known.len() > DOTS_MAX || series.tone == ColorRole::Muted {
            return;
        }
        let mut dots = String::new();
        for (at, value) in known {
            let (x, y) = self.place(figure, scale, at, value);
            dots.extend(["M", &num(x), " ", &num(y), "h0"]);
        }
        if !dots.is_empty() {
            let classes = series.tone.classes(number);
            figure.push(&format!("<path class=\"dot {classes}\" d=\"{dots}\"/>"));
        }
    }

    fn stair(&self, figure: &Figure<'_>, scale: &Scale, points: &[Point]) -> String {
        let mut path = String::new();
        // Level of the last tread, and the position of its end in the path, so that level treads
        // are merged.
        let mut drawn: Option<(String, usize)> = None;
        for (number, point) in points.iter().enumerate() {
            let Some(value) = value(point) else {
                drawn = None;
                continue;
            };
            let (x, y) = self.place(figure, scale, point.0, value);
            let end = points.get(number + 1).map_or(self.timeline.until, |next| next.0);
            let end = num(self.timeline.x(end) * ACROSS);
            let level = num(y);
            match drawn {
                Some((before, end_at)) if before == level => path.truncate(end_at),
                Some(_) => path.extend(["V", level.as_str()]),
                None => path.extend(["M", num(x).as_str(), " ", level.as_str()]),
            }
            drawn = Some((level, path.len()));
            path.extend(["H", end.as_str()]);
        }
        path
    }

    /// Draws a few markers, at other places for each series. A plan, the only stair, has no
    /// markers.
    fn markers(&self, figure: &mut Figure<'_>, scale: &Scale, number: usize, series: &Series) {
        if series.tone == ColorRole::Muted {
            return;
        }
        let points = downsampled(&series.points);
        let known = points.iter().filter_map(|point| Some(self.place(figure, scale, point.0, value(point)?)));
        let known: Vec<_> = known.collect();
        let lines = self.numbered().filter(|(_, series)| series.tone != ColorRole::Muted).count();
        for (x, y) in marker_points(&known, ACROSS, places(number, lines)) {
            figure.marker(number, series.tone, x / ACROSS, y);
        }
    }

    fn readout(&self, figure: &mut Figure<'_>) {
        let words = figure.labels();
        let ends = self.ends();
        let seen: Vec<Vec<ValueRange>> = self.series.iter().map(|series| ranges_in(series, &ends)).collect();
        let guessed: Vec<Vec<bool>> = self.series.iter().map(|series| uncertain_in(series, &ends)).collect();
        let slices = ends.windows(2).enumerate().map(|(slice, ends)| {
            let shown =
                self.series.iter().zip(seen.iter().zip(&guessed)).filter_map(|(series, (seen, guessed))| {
                    let (low, high) = seen[slice]?;
                    Some(format!(
                        "{}{}{}{}",
                        series.name,
                        words.colon,
                        if guessed[slice] { "~" } else { "" },
                        range(low, high, |value| self.unit.value(value))
                    ))
                });
            self.timeline.slice(ends[0], ends[1], &shown.collect::<Vec<_>>())
        });
        readout(figure, slices);
    }

    /// Returns the borders of the chart's slices. A point is in the middle of its column, so
    /// borders are half-way between points and slices are whole columns. Borders of gauges are at
    /// their points; borders of stairs alone are at the starts of treads.
    fn ends(&self) -> Vec<Nanos> {
        let of = |form: LineStyle| {
            let own = self.series.iter().filter(|series| series.form == form);
            let mut instants: Vec<Nanos> =
                own.flat_map(|own| own.points.iter().map(|point| point.0)).collect();
            instants.sort_unstable();
            instants.dedup();
            instants
        };
        let (points, looks, treads) = (of(LineStyle::Line), of(LineStyle::AtEnds), of(LineStyle::Step));
        if points.len() < 2 && looks.len() >= 2 {
            let after = |look: Nanos| Nanos(look.0.saturating_add(1));
            let begin = Nanos(looks[0].0.saturating_mul(2).saturating_sub(looks[1].0));
            let inner = groups(looks.len()).map(|group| after(looks[group.end - 1]));
            return [after(begin)].into_iter().chain(inner).collect();
        }
        if points.len() < 2 {
            let begins = groups(treads.len()).map(|group| treads[group.start]);
            let inner = begins.filter(|at| self.timeline.from < *at && *at < self.timeline.until);
            // A point at the very end belongs to the last slice.
            let end = Nanos(self.timeline.until.0.saturating_add(1));
            return [self.timeline.from].into_iter().chain(inner).chain([end]).collect();
        }
        let borders = borders(&points);
        let inner = groups(points.len()).skip(1).map(|group| borders[group.start]);
        [borders[0]].into_iter().chain(inner).chain([borders[points.len()]]).collect()
    }
}

/// Returns those of `points` with certain values, and gaps for the others; `sure` is in order of
/// time.
fn among(points: &[Point], sure: &[Point]) -> Vec<Point> {
    let is_sure = |at: Nanos| {
        sure.binary_search_by_key(&at, |point| point.0).is_ok_and(|found| value(&sure[found]).is_some())
    };
    points.iter().map(|point| (point.0, point.1.filter(|_| is_sure(point.0)))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::strings::ChartStrings;
    use super::*;

    fn check(series: Series, expected: &str) {
        let lines = LineChart {
            frame: Frame::new("lines", "Rate", &ChartStrings::EN).high(100),
            timeline: Timeline::new(Nanos::ZERO, Nanos::from_secs(10)),
            unit: Unit::Count,
            series: vec![series],
            limits: Vec::new(),
        };
        let svg = lines.draw();
        assert!(svg.contains(&format!(" d=\"{expected}\"")), "{expected}: {svg}");
    }

    fn points(values: &[Option<f64>]) -> Vec<Point> {
        (0..).map(Nanos::from_secs).zip(values.iter().copied()).collect()
    }

    /// Each slice shows its own column and nothing of its neighbours, and the planned value in it.
    #[test]
    fn slices_are_columns() {
        let half = |s: i64| Nanos(s * 1_000_000_000 + 500_000_000);
        let done = (0..12).map(|s| (half(s), Some(if s == 4 { 0.0 } else { 185.0 + s as f64 }))).collect();
        // The planned values before and after are in none of the slices.
        let wanted = |s: i64| if (0..12).contains(&s) { 5.0 } else { 50.0 };
        let planned = (-2..13).map(|s| (Nanos::from_secs(s), Some(wanted(s)))).collect();
        let lines = LineChart {
            frame: Frame::new("lines", "Rate", &ChartStrings::EN).high(100),
            timeline: Timeline::new(Nanos::ZERO, Nanos::from_secs(13)),
            unit: Unit::Count,
            series: vec![Series::plan("plan", planned), Series::line("done", done)],
            limits: Vec::new(),
        };
        let svg = lines.draw();
        for shown in [
            "00:00 – 00:01 · plan: 5 · done: 185",
            "00:03 – 00:04 · plan: 5 · done: 188",
            "00:04 – 00:05 · plan: 5 · done: 0",
            "00:11 – 00:12 · plan: 5 · done: 196",
        ] {
            assert!(svg.contains(&format!("<title>{shown}")), "{shown}: {svg}");
        }
        assert_eq!(svg.matches("<title>00:").count(), 12, "{svg}");
    }

    #[test]
    fn markers_stand_on_points_near_even_steps() {
        let line = |name: &str, seconds: &[i64]| {
            Series::line(name, seconds.iter().map(|&s| (Nanos::from_secs(s), Some(5.0))).collect())
        };
        let plan = Series::plan("plan", points(&[Some(5.0)]));
        let lines = LineChart {
            frame: Frame::new("lines", "Rate", &ChartStrings::EN).high(100),
            timeline: Timeline::new(Nanos::ZERO, Nanos::from_secs(10)),
            unit: Unit::Count,
            series: vec![plan, line("done", &[0, 1, 10]), line("failed", &[4, 7])],
            limits: Vec::new(),
        };
        let svg = lines.draw();
        let marked = svg.split("<svg x=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let expected = ["0%", "40%", "70%"];
        assert_eq!(marked.collect::<Vec<_>>(), expected, "{svg}");
    }

    /// In the plot the name would hide the point where a line crosses the limit.
    #[test]
    fn names_of_limits_stand_in_the_key() {
        let lines = LineChart {
            frame: Frame::new("lines", "Busy", &ChartStrings::EN).high(100),
            timeline: Timeline::new(Nanos::ZERO, Nanos::from_secs(10)),
            unit: Unit::Share,
            series: vec![Series::line("busy", points(&[Some(0.9), Some(0.9)]))],
            limits: vec![("limits from here".to_owned(), 0.95)],
        };
        let svg = lines.draw();
        let (key, plot) = svg.split_once("</ul>").expect("a key");
        assert!(key.contains("limits from here</li>") && !plot.contains("limits from here</text>"), "{svg}");
        assert_eq!(plot.matches("<line class=\"limit\"").count(), 1, "{svg}");
    }

    /// A gauge shows its value at the end of a slice, not an earlier one.
    #[test]
    fn slices_of_gauges_end_at_their_points() {
        let open = [Some(0.0), Some(202.0), Some(400.0)];
        let series = Series { form: LineStyle::AtEnds, ..Series::line("open", points(&open)) };
        let lines = LineChart {
            frame: Frame::new("lines", "Open", &ChartStrings::EN).high(100),
            timeline: Timeline::new(Nanos::ZERO, Nanos::from_secs(2)),
            unit: Unit::Count,
            series: vec![series],
            limits: Vec::new(),
        };
        let svg = lines.draw();
        for shown in ["0 s – 1 s · open: 202", "1 s – 2 s · open: 400"] {
            assert!(svg.contains(&format!("<title>{shown}")), "{shown}: {svg}");
        }
    }

    #[test]
    fn a_plan_is_a_stair_that_holds_to_the_end() {
        let plan = points(&[Some(5.0), Some(5.0), Some(10.0), None, Some(10.0)]);
        check(Series::plan("plan", plan), "M0 50H200V0H300M400 0H1000");
    }

    #[test]
    fn a_gap_is_no_zero() {
        let done = points(&[Some(10.0), Some(5.0), None, Some(0.0), None, Some(f64::INFINITY)]);
        check(Series::line("done", done), "M0 0L100 50M300 100h0");
    }

    /// An uncertain value is dotted in the drawing and marked in the tooltip.
    #[test]
    fn guesses_are_dotted() {
        let check =
            |sure: &[Option<f64>], solid: Option<&str>, dotted: Option<&str>, key: bool, guessed: usize| {
                let at = points(&[Some(10.0), Some(5.0), Some(5.0)]);
                let lines = LineChart {
                    frame: Frame::new("lines", "Rate", &ChartStrings::EN).high(100),
                    timeline: Timeline::new(Nanos::ZERO, Nanos::from_secs(10)),
                    unit: Unit::Count,
                    series: vec![Series::line("p99", at).with_certain(points(sure))],
                    limits: Vec::new(),
                };
                let svg = lines.draw();
                let has = |class: &str, path: &str| {
                    svg.contains(&format!("<path class=\"l s0 d0{class}\" d=\"{path}\"/>"))
                };
                let all = "M0 0L100 50L200 50";
                assert!(solid.is_none_or(|path| has("", path)), "{solid:?}: {svg}");
                assert!(dotted.is_none_or(|path| has(" faint", path)), "{dotted:?}: {svg}");
                assert_eq!(has("", all), solid == Some(all), "{svg}");
                assert_eq!(svg.matches("d0 faint\" d=\"M0 6h30").count(), usize::from(key), "{svg}");
                assert_eq!(svg.contains("Dotted where"), dotted.is_some(), "{svg}");
                assert_eq!(svg.matches("p99: ~").count(), guessed, "{svg}");
            };
        let all = Some("M0 0L100 50L200 50");
        check(&[Some(10.0), Some(5.0), Some(5.0)], all, None, false, 0);
        check(&[Some(10.0), Some(5.0), None], Some("M0 0L100 50"), Some("M100 50L200 50"), false, 1);
        check(&[None, None, None], None, all, true, 3);
    }
}
