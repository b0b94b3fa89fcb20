//! [`StackedArea`]: the parts of a total, over time.

use wavetank_units::Nanos;

use super::color::ColorRole;
use super::figure::{ACROSS, Figure};
use super::frame::Frame;
use super::scale::Scale;
use super::svg::num;
use super::timeline::Timeline;
use super::tooltips::{groups, range, readout};
use super::unit::Unit;

/// Columns drawn at most; more are merged.
const COLUMNS_MAX: usize = 300;
/// Patterns of layers; the first has none.
const PATTERNS: usize = 6;

/// The parts of a total, over time: stacked layers, each column as high as their sum. Layers have
/// patterns in addition to their colours.
#[derive(Clone, Debug)]
pub struct StackedArea<'a> {
    /// Its name, title, height and language.
    pub frame: Frame<'a>,
    /// The time axis.
    pub timeline: Timeline,
    /// What the values are.
    pub unit: Unit,
    /// Starts of the columns, in order.
    pub columns: Vec<Nanos>,
    /// The length of a column; if the next one starts later there is a gap.
    pub len: Nanos,
    /// From below.
    pub layers: Vec<Layer>,
}

/// A layer of a stack.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Name in the key.
    pub name: String,
    /// A value for each column, not negative; missing values are 0.
    pub values: Vec<f64>,
    /// Its colour.
    pub tone: ColorRole,
}

impl Layer {
    /// A layer of the next colour.
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self { name: name.into(), values, tone: ColorRole::Next }
    }

    /// The same in another colour.
    #[must_use]
    pub fn toned(self, tone: ColorRole) -> Self {
        Self { tone, ..self }
    }
}

/// Columns as they are drawn.
struct Merged {
    /// Start and end of each.
    columns: Vec<(Nanos, Nanos)>,
    /// For each column the layers' values.
    values: Vec<Vec<f64>>,
}

impl StackedArea<'_> {
    /// The chart as `<figure>`.
    pub fn draw(&self) -> String {
        let mut figure = Figure::new(self.frame);
        let merged = self.merged();
        let tops = merged.values.iter().map(|column| column.iter().sum::<f64>());
        let scale = Scale::linear(tops, self.unit, figure.ticks_upwards());
        self.patterns(&mut figure);
        figure.grid(&scale);
        self.timeline.draw_shades(&mut figure);
        for number in 0..self.layers.len() {
            self.layer(&mut figure, &scale, &merged, number);
        }
        self.timeline.draw_edges(&mut figure);
        self.timeline.draw_events(&mut figure);
        self.keys(&mut figure, &merged);
        if merged.values.iter().flatten().all(|value| *value == 0.0) {
            figure.no_data();
        }
        self.readout(&mut figure, &merged);
        figure.finish()
    }

    /// Returns at most [`COLUMNS_MAX`] columns. Each layer keeps the maximum of merged columns, so
    /// that no failure is hidden.
    fn merged(&self) -> Merged {
        let per = self.columns.len().div_ceil(COLUMNS_MAX).max(1);
        let value = |layer: &Layer, column: usize| {
            let value = layer.values.get(column).copied().unwrap_or(0.0);
            if value.is_finite() { value.clamp(0.0, 1e300) } else { 0.0 }
        };
        let numbers: Vec<usize> = (0..self.columns.len()).collect();
        let groups = || numbers.chunks(per);
        // The first column may be shorter.
        let end = |column: usize| {
            let end = Nanos(self.columns[column].0.saturating_add(self.len.0));
            self.columns.get(column + 1).map_or(end, |next| end.min(*next))
        };
        Merged {
            columns: groups().map(|group| (self.columns[group[0]], end(group[group.len() - 1]))).collect(),
            values: groups()
                .map(|group| {
                    let most = |layer: &Layer| group.iter().map(|n| value(layer, *n)).fold(0.0, f64::max);
                    self.layers.iter().map(most).collect()
                })
                .collect(),
        }
    }

    /// Draws the layer as the clip of a rectangle. The rectangle is not stretched, so its pattern
    /// is not stretched either.
    fn layer(&self, figure: &mut Figure<'_>, scale: &Scale, merged: &Merged, number: usize) {
        let below = |column: &[f64], layers: usize| scale.position(column[..layers].iter().sum());
        let mut path = String::new();
        let mut run: Vec<usize> = Vec::new();
        for column in 0..merged.columns.len() {
            run.push(column);
            let next = merged.columns.get(column + 1);
            if next.is_none_or(|next| next.0 > merged.columns[column].1) {
                let edge = |layers: usize| {
                    run.iter().map(move |column| (*column, layers)).map(|(column, layers)| {
                        let (from, until) = merged.columns[column];
                        let y = figure.y(below(&merged.values[column], layers));
                        (self.timeline.x(from) * ACROSS, self.timeline.x(until) * ACROSS, y)
                    })
                };
                outline(&mut path, &edge(number + 1).collect::<Vec<_>>(), &edge(number).collect::<Vec<_>>());
                run.clear();
            }
        }
        let (id, height) = (figure.id().to_owned(), figure.height());
        let classes = self.layers[number].tone.classes(number);
        let pattern = match number % PATTERNS {
            0 => String::new(),
            pattern => format!(
                "<rect width=\"100%\" height=\"{height}\" fill=\"url(#{id}-p{pattern})\" clip-path=\"url(#{id}-c{number})\"/>"
            ),
        };
        figure.push(&format!(
            "<clipPath id=\"{id}-c{number}\" clipPathUnits=\"objectBoundingBox\"><path transform=\"scale(.001 {})\" \
             d=\"{path}\"/></clipPath><rect class=\"layer {classes}\" width=\"100%\" height=\"{height}\" \
             clip-path=\"url(#{id}-c{number})\"/>{pattern}",
            format_args!("{:.9}", 1.0 / f64::from(height))
        ));
    }

    /// Hatchings in the background colour: strokes up, strokes down, dots, horizontal, vertical.
    fn patterns(&self, figure: &mut Figure<'_>) {
        const SHAPES: [(u32, &str); PATTERNS - 1] = [
            (6, "M-1 7L7-1M-1 1L1-1M5 7L7 5"),
            (6, "M-1-1L7 7M-1 5L1 7M5-1L7 1"),
            (5, "M2.5 1.5v2"),
            (4, "M0 2h4"),
            (4, "M2 0v4"),
        ];
        let id = figure.id().to_owned();
        for (number, (size, shape)) in (1..).zip(SHAPES).take(self.layers.len().saturating_sub(1)) {
            figure.push(&format!(
                "<pattern id=\"{id}-p{number}\" width=\"{size}\" height=\"{size}\" patternUnits=\"userSpaceOnUse\"><path \
                 class=\"hatch\" d=\"{shape}\"/></pattern>"
            ));
        }
    }

    fn keys(&self, figure: &mut Figure<'_>, merged: &Merged) {
        let words = figure.labels();
        let id = figure.id().to_owned();
        let sums: Vec<f64> = self
            .layers
            .iter()
            .map(|layer| layer.values.iter().filter(|value| value.is_finite()).sum())
            .collect();
        let all: f64 = sums.iter().sum();
        for (number, layer) in self.layers.iter().enumerate() {
            let classes = layer.tone.classes(number);
            let pattern = match number % PATTERNS {
                0 => String::new(),
                pattern => format!("<rect width=\"22\" height=\"12\" fill=\"url(#{id}-p{pattern})\"/>"),
            };
            let drawing = format!("<rect class=\"layer {classes}\" width=\"22\" height=\"12\"/>{pattern}");
            figure.key_item(&layer.name, &drawing, 22);
            let said = if sums[number] > 0.0 && all.is_finite() {
                (words.share)(&layer.name, &Unit::Share.value(sums[number] / all))
            } else {
                (words.nothing)(&layer.name)
            };
            figure.add_description(said);
        }
        let tops = || merged.values.iter().map(|column| column.iter().sum::<f64>());
        if let Some((column, most)) = tops().enumerate().max_by(|one, other| one.1.total_cmp(&other.1)) {
            let at = self.timeline.clock(merged.columns[column].0);
            figure.add_description((words.most)(&self.unit.value(most), &at));
        }
    }

    fn readout(&self, figure: &mut Figure<'_>, merged: &Merged) {
        let colon = figure.labels().colon;
        let slices = groups(merged.columns.len()).map(|group| {
            let (from, until) = (merged.columns[group.start].0, merged.columns[group.end - 1].1);
            let inside = &merged.values[group];
            let reported = self.layers.iter().enumerate().filter_map(|(number, layer)| {
                let values = || inside.iter().map(|column| column[number]).filter(|value| *value > 0.0);
                let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
                Some(format!("{}{colon}{}", layer.name, range(low, high, |value| self.unit.value(value))))
            });
            let reported: Vec<String> = reported.collect();
            self.timeline.slice(from, until, &reported)
        });
        readout(figure, slices);
    }
}

/// Adds the outline of a run of columns: along the upper edge and back along the lower one. Both
/// are lists of left, right, height.
fn outline(path: &mut String, upper: &[(f64, f64, f64)], lower: &[(f64, f64, f64)]) {
    use std::fmt::Write as _;
    let Some(first) = upper.first() else { return };
    if upper.iter().zip(lower).all(|(upper, lower)| num(upper.2) == num(lower.2)) {
        return;
    }
    let _ = write!(path, "M{} {}", num(first.0), num(first.2));
    let mut walk = |steps: &mut dyn Iterator<Item = (f64, f64)>| {
        let mut pending: Option<(String, String)> = None;
        for (x, y) in steps {
            let (x, y) = (num(x), num(y));
            match pending.take() {
                Some((end, level)) if level != y => {
                    let _ = write!(path, "H{end}V{y}");
                }
                None => {
                    let _ = write!(path, "V{y}");
                }
                _ => {}
            }
            pending = Some((x, y));
        }
        if let Some((end, _)) = pending {
            let _ = write!(path, "H{end}");
        }
    };
    walk(&mut upper.iter().map(|(_, until, y)| (*until, *y)));
    walk(&mut lower.iter().rev().map(|(from, _, y)| (*from, *y)));
    path.push('z');
}

#[cfg(test)]
mod tests {
    use super::super::strings::ChartStrings;
    use super::*;

    fn draw(columns: &[i64], layers: &[&[f64]]) -> String {
        StackedArea {
            frame: Frame::new("stack", "Statuses", &ChartStrings::EN).high(100),
            timeline: Timeline::new(Nanos::ZERO, Nanos::from_secs(10)),
            unit: Unit::Count,
            columns: columns.iter().map(|s| Nanos::from_secs(*s)).collect(),
            len: Nanos::SECOND,
            layers: (0..)
                .zip(layers)
                .map(|(n, values)| Layer::new(format!("layer {n}"), values.to_vec()))
                .collect(),
        }
        .draw()
    }

    #[test]
    fn layers_stand_on_each_other_and_gaps_stay() {
        let svg = draw(&[0, 1, 3], &[&[10.0, 10.0, 5.0], &[0.0, 10.0, 0.0]]);
        assert!(svg.contains("d=\"M0 50V50H200V100H0zM300 75V75H400V100H300z\""), "{svg}");
        assert!(svg.contains("d=\"M0 50V50H100V0H200V50H0z\""), "{svg}");
        assert!(svg.contains("layer 0: 71.4 % of the total. layer 1: 28.6 % of the total."), "{svg}");
    }

    #[test]
    fn nothing_and_much() {
        assert!(draw(&[], &[]).contains("no data"));
        assert!(draw(&[0], &[&[f64::NAN]]).contains("no data"));
        let columns: Vec<i64> = (0..3_600).collect();
        let noise: Vec<f64> = (0..3_600).map(|n| f64::from(n * 7_919 % 1_000)).collect();
        let svg = draw(&columns, &[&noise, &noise, &noise, &noise, &noise, &noise]);
        assert!(svg.len() < 60_000, "{}", svg.len());
    }
}
