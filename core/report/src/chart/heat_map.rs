//! [`HeatMap`]: a distribution over time.

use std::fmt::Write as _;

use wavetank_measure::Histogram;
use wavetank_units::Nanos;

use super::describe::describe;
use super::figure::{ACROSS, Figure};
use super::frame::Frame;
use super::heat_cells::{HeatMapCells, LEVELS};
use super::path::{polyline_with_gaps, uncertain_parts};
use super::scale::Scale;
use super::series::Point;
use super::svg::num;
use super::timeline::Timeline;
use super::tooltips::{groups, readout};
use super::unit::Unit;
use crate::completeness::is_known;

/// Pixels of a row.
const ROW: u32 = 6;
/// Pixels of a line's name.
const NAME: f64 = 13.0;
/// The lines' names and percentiles.
const PERCENTILES: [(&str, f64); 2] = [("p50", 50.0), ("p99", 99.0)];

/// Times over time: columns are intervals, rows are durations on a logarithmic axis. Cells are
/// shaded by the logarithm of their count; lines show percentiles 50 and 99.
#[derive(Clone, Debug)]
pub struct HeatMap<'a> {
    /// Its name, title, height and language; 240 pixels give 40 rows.
    pub frame: Frame<'a>,
    /// The time axis.
    pub timeline: Timeline,
    /// Columns in order of time, of equal length except at the ends. A missing column is a gap.
    pub columns: Vec<HeatColumn<'a>>,
}

/// A stretch of time of a heat map.
#[derive(Clone, Copy, Debug)]
pub struct HeatColumn<'a> {
    /// Start of the column.
    pub from: Nanos,
    /// Its length.
    pub len: Nanos,
    /// What was measured in it.
    pub values: &'a Histogram,
    /// Number of requests dropped in the column; their times would be above all others.
    pub dropped: u64,
    /// How many were offered in it.
    pub offered: u64,
}

/// A line over the cells.
struct Percentile {
    name: &'static str,
    points: Vec<Point>,
    /// The same, with gaps at uncertain values.
    sure: Vec<Point>,
}

impl HeatMap<'_> {
    /// The chart as `<figure>`.
    pub fn draw(&self) -> String {
        let mut figure = Figure::new(self.frame);
        let filled = || self.columns.iter().map(|column| column.values).filter(|values| !values.is_empty());
        let ends = filled().flat_map(|values| [values.min().max(1) as f64, values.max() as f64]);
        // Times of 0 ns are in the lowest row.
        let least = filled().map(Histogram::min).min().unwrap_or(1);
        let scale = Scale::log(ends, Unit::Time).with_least(least as f64);
        let cells =
            HeatMapCells::from_columns(&self.columns, &scale, (figure.height() / ROW).clamp(12, 60) as usize);
        figure.grid(&scale);
        self.timeline.draw_shades(&mut figure);
        if let Some(cells) = &cells {
            self.cells(&mut figure, cells);
        }
        self.timeline.draw_edges(&mut figure);
        self.timeline.draw_events(&mut figure);
        match &cells {
            None => figure.no_data(),
            Some(cells) => {
                legend(&mut figure, cells);
                self.describe(&mut figure, cells, &scale);
                self.percentiles(&mut figure, cells, &scale);
                self.readout(&mut figure, cells);
            }
        }
        figure.finish()
    }

    /// Draws one path for each shade. A run of equal cells is one thick line.
    fn cells(&self, figure: &mut Figure<'_>, cells: &HeatMapCells) {
        let mut paths = vec![String::new(); LEVELS];
        for row in 0..cells.rows {
            // Position of each shade's pen in this row, once the shade was drawn there.
            let mut pens: [Option<usize>; LEVELS] = [None; LEVELS];
            let mut column = 0;
            while column < cells.columns {
                let level = cells.level(column, row);
                let run = (column..cells.columns).take_while(|next| cells.level(*next, row) == level).count();
                if let Some(level) = level {
                    let path = &mut paths[level];
                    let _ = match pens[level] {
                        None => write!(path, "M{column} {}.5h{run}", cells.rows - 1 - row),
                        Some(pen) => write!(path, "m{} 0h{run}", column - pen),
                    };
                    pens[level] = Some(column + run);
                }
                column += run;
            }
        }
        // The view box is the range of the time axis in columns; cells outside are cut off.
        let len = cells.len.0.max(1) as f64;
        let first = (self.timeline.from.0 as f64 - cells.from.0 as f64) / len;
        let (wide, rows, height) = (self.timeline.length() as f64 / len, cells.rows, figure.height());
        figure.push(&format!(
            "<svg class=\"heat\" width=\"100%\" height=\"{height}\" viewBox=\"{} 0 {} {rows}\" \
             preserveAspectRatio=\"none\">",
            (first * 1e6).round() / 1e6,
            (wide * 1e6).round() / 1e6
        ));
        for (level, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            figure.push(&format!("<path class=\"h{level}\" d=\"{path}\"/>"));
        }
        figure.push("</svg>");
    }

    /// Draws the lines of the median and of percentile 99, with a halo for every shade. The dashed
    /// median is drawn last, so that both are visible where they share a row.
    fn percentiles(&self, figure: &mut Figure<'_>, cells: &HeatMapCells, scale: &Scale) {
        let lines = PERCENTILES.map(|(name, q)| {
            let (points, sure) = (cells.percentile(q), cells.certain_percentile(q));
            Percentile { name, points, sure }
        });
        let place = |at, value| (self.timeline.x(at) * ACROSS, figure.y(scale.position(value)));
        let mut drawing = String::new();
        for line in &lines {
            let path = polyline_with_gaps(&line.points, place);
            let _ = write!(drawing, "<path class=\"halo\" d=\"{path}\"/>");
        }
        for (number, line) in lines.iter().enumerate().rev() {
            let dotted = polyline_with_gaps(&uncertain_parts(&line.points, &line.sure), place);
            for (path, dots) in [(dotted, " faint"), (polyline_with_gaps(&line.sure, place), "")] {
                if !path.is_empty() {
                    let _ = write!(drawing, "<path class=\"l p{number}{dots}\" d=\"{path}\"/>");
                }
            }
        }
        figure.stretched("data over", |figure| figure.push(&drawing));
        let mut below: Option<f64> = None;
        for (number, line) in lines.iter().enumerate() {
            below = self.name(figure, scale, (number, line), below).or(below);
        }
        if lines.iter().any(|line| line.sure != line.points) {
            figure.add_uncertain_key();
        }
    }

    /// Writes the name of the `number`-th line in the key and at the line's end, above `below`.
    /// Names thus stay apart where lines end together. Returns the pixel of the name, if any.
    fn name(
        &self,
        figure: &mut Figure<'_>,
        scale: &Scale,
        (number, line): (usize, &Percentile),
        below: Option<f64>,
    ) -> Option<f64> {
        let Percentile { name, points, sure } = line;
        let is_known = |point: &Point| point.1.is_some();
        let dots = if sure.iter().any(is_known) { "" } else { " faint" };
        figure.key_item(
            name,
            &format!("<path class=\"halo\" d=\"M0 6h30\"/><path class=\"l p{number}{dots}\" d=\"M0 6h30\"/>"),
            30,
        );
        let (words, reported) = (figure.labels(), |value| Unit::Time.value(value));
        figure.add_description(describe(words, name, points, reported, |at| self.timeline.clock(at)));
        let last = points.iter().rev().find_map(|point| point.1)?;
        let y = figure.y(scale.position(last)) + 4.0;
        let y = below.map_or(y, |below| y.min(below - NAME));
        figure.push(&format!("<text class=\"last\" x=\"100%\" y=\"{}\" dx=\"4\">{name}</text>", num(y)));
        Some(y)
    }

    fn describe(&self, figure: &mut Figure<'_>, cells: &HeatMapCells, scale: &Scale) {
        let fullest = (0..cells.counts.len()).max_by_key(|cell| cells.counts[*cell]).unwrap_or(0);
        let (column, row) = (fullest / cells.rows, fullest % cells.rows);
        let least = cells.merged.iter().filter(|values| !values.is_empty()).map(Histogram::min).min();
        let most = cells.merged.iter().map(Histogram::max).max();
        // The middle of a cell may be above all of its values.
        let place = scale.value_at((row as f64 + 0.5) / cells.rows as f64);
        let place = place.max(least.unwrap_or(0) as f64).min(most.unwrap_or(u64::MAX) as f64);
        let texts = [
            Unit::Time.value(least.unwrap_or(0) as f64),
            Unit::Time.value(most.unwrap_or(0) as f64),
            Unit::Count.value(cells.most as f64),
            self.timeline.clock(cells.begin(column)),
            Unit::Time.value(place),
        ];
        let said = (figure.labels().heat)(texts.each_ref().map(String::as_str));
        figure.add_description(said);
    }

    fn readout(&self, figure: &mut Figure<'_>, cells: &HeatMapCells) {
        let words = figure.labels();
        let slices = groups(cells.columns).map(|group| {
            let (from, until) = (cells.begin(group.start), cells.begin(group.end));
            let mut all = Histogram::default();
            cells.merged[group.clone()].iter().for_each(|column| all.merge(column));
            let sign = |q| if all.is_uncertain(q) { "~" } else { "" };
            let sum = |of: &[u64]| of[group.clone()].iter().sum::<u64>();
            let (dropped, offered) = (sum(&cells.dropped), sum(&cells.offered));
            let percentile = |q| {
                let value = all.percentile(q).filter(|_| is_known(dropped, offered, q))?;
                Some(format!("{}{}", sign(q), Unit::Time.value(value as f64)))
            };
            let reported = (!all.is_empty()).then(|| {
                let (colon, most) = (words.colon, Unit::Time.value(all.max() as f64));
                let known = PERCENTILES.iter().filter_map(|(name, q)| Some((*name, percentile(*q)?)));
                let known = known.map(|(name, value)| format!("{name}{colon}{value}"));
                let n = format!("n{colon}{}", Unit::Count.value(all.count() as f64));
                let most = format!("max{colon}{most}");
                std::iter::once(n).chain(known).chain([most]).collect::<Vec<_>>().join(" · ")
            });
            self.timeline.slice(from, until, reported.as_slice())
        });
        readout(figure, slices);
    }
}

/// The shades in the key.
fn legend(figure: &mut Figure<'_>, cells: &HeatMapCells) {
    let mut drawing = String::new();
    // With few values some shades have no count of their own.
    let begins = |level: usize| (cells.level_floor(level) - 1e-9).ceil();
    let used = (0..LEVELS).filter(|&level| level + 1 == LEVELS || begins(level) < begins(level + 1));
    let used: Vec<usize> = used.collect();
    for (place, &level) in used.iter().enumerate() {
        let _ = write!(
            drawing,
            "<rect class=\"k{level}\" x=\"{}\" width=\"14\" height=\"12\"><title>≥ {}</title></rect>",
            place * 14,
            Unit::Count.value(begins(level))
        );
    }
    // With few values, the shades rise in steps of one.
    let factor = (used.len() == LEVELS).then(|| format!("{:.1}", cells.level_floor(1)));
    let name = (figure.labels().per_cell)(&Unit::Count.value(cells.most as f64), factor.as_deref());
    figure.key_item(&name, &drawing, 14 * used.len() as u32);
}

#[cfg(test)]
mod tests {
    use super::super::strings::ChartStrings;
    use super::*;

    /// An hour of seconds, each with some thousand values around a median that moves.
    fn hour(seconds: u64) -> Vec<Histogram> {
        let mut state = 42_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        (0..seconds)
            .map(|_| {
                let mut values = Histogram::default();
                for _ in 0..300 {
                    let tail = -random().max(1e-9).ln();
                    values.record((2e6 * (1.0 + random()) * (1.0 + tail * tail)) as u64);
                }
                values
            })
            .collect()
    }

    fn draw(values: &[Histogram]) -> String {
        let columns = (0..).zip(values).map(|(s, values)| HeatColumn {
            from: Nanos::from_secs(s),
            len: Nanos::SECOND,
            values,
            dropped: 0,
            offered: values.count(),
        });
        HeatMap {
            frame: Frame::new("heat", "Response time", &ChartStrings::EN).high(240),
            timeline: Timeline::new(Nanos::ZERO, Nanos::from_secs(values.len() as i64)),
            columns: columns.collect(),
        }
        .draw()
    }

    #[test]
    fn an_hour_stays_small() {
        let svg = draw(&hour(3_600));
        assert!(svg.len() < 120_000, "{} bytes (seed 42)", svg.len());
        assert!(svg.contains("viewBox=\"0 0 300 40\""), "300 columns of 12 s, 40 rows");
    }

    /// Zeros have no place on a logarithmic axis, and are drawn at its lower end.
    #[test]
    fn times_of_nothing_are_reported_as_at_most_the_lowest_name() {
        let of = |least: u64| {
            let mut values = Histogram::default();
            for value in [least, 5_000, 1_000_000] {
                values.record(value);
            }
            draw(&[values])
        };
        assert!(of(0).contains(">≤ 1 ns<"), "{}", of(0));
        assert!(!of(100).contains('≤'), "{}", of(100));
    }

    #[test]
    fn columns_beyond_the_axis_are_not_squeezed_in() {
        let values = hour(3);
        let columns = (0..).zip(&values).map(|(s, values)| HeatColumn {
            from: Nanos::from_secs(s),
            len: Nanos::SECOND,
            values,
            dropped: 0,
            offered: values.count(),
        });
        let svg = HeatMap {
            frame: Frame::new("heat", "Response time", &ChartStrings::EN),
            timeline: Timeline::new(Nanos::from_millis(500), Nanos::from_secs(2)),
            columns: columns.collect(),
        }
        .draw();
        assert!(svg.contains("viewBox=\"0.5 0 1.5 33\""), "{svg}");
    }

    #[test]
    fn nothing_one_and_a_gap() {
        assert!(draw(&[]).contains("no data"));
        assert!(draw(&[Histogram::default()]).contains("no data"));
        let mut one = Histogram::default();
        one.record(5_000_000);
        let svg = draw(&[one.clone(), Histogram::default(), one]);
        assert!(svg.contains("h1m1 0h1"), "the second column is empty: {svg}");
        assert!(svg.contains("class=\"l p1 faint\"") && svg.contains("p99: ~5.00 ms"), "one value: {svg}");
        assert!(
            svg.contains("class=\"l p1 faint\" d=\"M0 6h30\""),
            "no value is certain, and the key says so: {svg}"
        );
        assert_eq!(svg.matches("<title>≥ ").count(), 1, "a cell has one value, and one shade: {svg}");
    }

    /// The times of dropped requests would be above all answered ones.
    #[test]
    fn percentiles_that_dropped_requests_leave_unknown_are_not_reported() {
        let mut values = Histogram::default();
        values.record_n(5_000_000, 1_000);
        let svg = |dropped: u64| {
            let column = HeatColumn {
                from: Nanos::ZERO,
                len: Nanos::SECOND,
                values: &values,
                dropped,
                offered: 1_000 + dropped,
            };
            let timeline = Timeline::new(Nanos::ZERO, Nanos::SECOND);
            HeatMap { frame: Frame::new("heat", "h", &ChartStrings::EN), timeline, columns: vec![column] }
                .draw()
        };
        assert!(svg(5).contains("p50: 5.00 ms · p99: 5.00 ms"), "{}", svg(5));
        assert!(svg(300).contains("p50: 5.00 ms · max"), "{}", svg(300));
        assert!(svg(300).contains("p99: no data"), "{}", svg(300));
        assert!(svg(2_000).contains("n: 1,000 · max"), "{}", svg(2_000));
    }

    /// If both are in one row, the line of the longer times would hide the other.
    #[test]
    fn the_median_is_drawn_over_the_longer_times() {
        let mut one = Histogram::default();
        one.record_n(5_000_000, 2_000);
        let svg = draw(&[one.clone(), one]);
        let map = svg.split_once("class=\"data over\"").expect("lines over the map").1;
        let at = |class: &str| map.find(class).unwrap_or_else(|| panic!("{class}: {svg}"));
        assert!(
            at("class=\"halo\"") < at("class=\"l p1\"") && at("class=\"l p1\"") < at("class=\"l p0\""),
            "{svg}"
        );
        let lines = map.split_once("</svg>").expect("an end").0;
        assert!(lines.rfind("halo") < lines.find("class=\"l "), "no halo hides a line: {svg}");
    }

    #[test]
    fn shades_are_reported_once_each_and_what_is_sure_is_solid() {
        let mut few = Histogram::default();
        few.record_n(5_000_000, 6);
        let svg = draw(&[few]);
        let shades = svg.split("<title>≥ ").skip(1).filter_map(|rest| rest.split('<').next());
        assert_eq!(shades.collect::<Vec<_>>(), ["1", "2", "3", "4", "5"]);
        let mut many = Histogram::default();
        (1..=2_000).for_each(|n| many.record(n * 1_000_000));
        assert!(!draw(&[many]).contains("faint"));
    }
}
