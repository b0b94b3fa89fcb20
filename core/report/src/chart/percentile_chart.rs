//! [`PercentileChart`]: percentiles on an axis that gives the tail its room.

use wavetank_measure::Histogram;
use wavetank_plan::constants::UNCERTAIN_BELOW;

use super::color::ColorRole;
use super::figure::{ACROSS, Figure, LIMIT_ROOM, level};
use super::frame::Frame;
use super::labels::{Label, place_labels};
use super::markers::{marker_points, places};
use super::path::polyline;
use super::scale::Scale;
use super::svg::percent;
use super::tooltips::readout;
use super::unit::Unit;
use crate::completeness::is_percentile_known;

/// Places at which a curve is looked up.
const STEPS: usize = 160;
/// Number of slices that show their values as tooltips.
const SLICES: u32 = 30;
/// Greatest ratio of the maximum to the lowest value drawn, if almost nothing is below that value.
/// Lower values are drawn at the bottom.
const SPAN_MAX: u64 = 100_000;
/// Times below this, in nanoseconds, are not distinguished if the maximum is longer by a factor of
/// [`SPAN_MAX`].
const LEAST_SHOWN: u64 = 1_000;
/// Most nines shown.
const NINES_MAX: f64 = 9.0;
/// Percentiles that the description names.
const SHOWN: [(&str, f64); 5] =
    [("50 %", 50.0), ("90 %", 90.0), ("99 %", 99.0), ("99.9 %", 99.9), ("99.99 %", 99.99)];

/// Percentiles on the axis 1 / (1 − q), where 90 %, 99 % and 99.9 % are equally far apart.
/// Percentiles with fewer than ten values above them are drawn faint.
#[derive(Clone, Debug)]
pub struct PercentileChart<'a> {
    /// Its name, title, height and language.
    pub frame: Frame<'a>,
    /// One line each.
    pub curves: Vec<SpectrumCurve<'a>>,
    /// Limits across the chart, such as a threshold: name and nanoseconds.
    pub limits: Vec<(String, f64)>,
}

/// A line of a spectrum.
#[derive(Clone, Debug)]
pub struct SpectrumCurve<'a> {
    /// Name in the key.
    pub name: String,
    /// What was measured, in nanoseconds.
    pub values: &'a Histogram,
    /// Its colour.
    pub tone: ColorRole,
    /// The share of values up to which the curve is known; nothing is drawn above.
    pub known: f64,
}

impl<'a> SpectrumCurve<'a> {
    /// A curve of the next colour.
    pub fn new(name: impl Into<String>, values: &'a Histogram) -> Self {
        Self { name: name.into(), values, tone: ColorRole::Next, known: 1.0 }
    }

    /// The same, with missing values that would all be above this share.
    #[must_use]
    pub fn known_up_to(self, known: f64) -> Self {
        Self { known: known.clamp(0.0, 1.0), ..self }
    }

    /// Whether percentile `q` (0 to 100) is known.
    fn is_known(&self, q: f64) -> bool {
        is_percentile_known(self.known, q)
    }

    /// The place where it ends.
    fn end(&self, nines: f64) -> f64 {
        let places = (self.values.count() as f64).log10().min(nines);
        if self.known < 1.0 { places.min(-(1.0 - self.known).log10()) } else { places }
    }
}

impl PercentileChart<'_> {
    /// The chart as `<figure>`.
    pub fn draw(&self) -> String {
        let mut figure = Figure::new(self.frame);
        let filled = || self.curves.iter().map(|curve| curve.values).filter(|values| !values.is_empty());
        let most = filled().map(Histogram::max).max().unwrap_or_default();
        // A few values near zero, as lags have, would take all the room from the relevant ones. One
        // long wait must not raise the lower end for all others, though.
        let low = filled().filter_map(|values| values.percentile(1.0)).min().unwrap_or_default();
        let least = (most / SPAN_MAX).min(low.max(LEAST_SHOWN)).max(1);
        let ends = filled().flat_map(|values| [values.min().max(least) as f64, values.max() as f64]);
        let scale = Scale::fitting(
            ends.chain(self.limits.iter().map(|limit| limit.1 * LIMIT_ROOM)),
            Unit::Time,
            figure.ticks_upwards(),
        );
        let shortest = filled().map(Histogram::min).min().unwrap_or(least);
        let scale = scale.with_least(shortest as f64);
        let nines = filled().map(|values| (values.count() as f64).log10()).fold(2.0, f64::max).min(NINES_MAX);
        figure.grid(&scale);
        axis(&mut figure, nines);
        figure.limits(&self.limits, &scale);
        for (number, curve) in self.curves.iter().enumerate() {
            draw_curve(&mut figure, (&scale, nines), (number, self.curves.len()), curve);
            figure.key_line(&curve.name, number, curve.tone, false);
            describe(&mut figure, curve);
        }
        if filled().next().is_none() {
            figure.no_data();
        } else {
            figure.add_uncertain_key();
        }
        self.readout(&mut figure, nines);
        figure.finish()
    }

    fn readout(&self, figure: &mut Figure<'_>, nines: f64) {
        let colon = figure.labels().colon;
        let filled = self.curves.iter().filter(|curve| !curve.values.is_empty());
        let filled: Vec<_> = filled.map(|curve| (curve, Ranks::of(curve.values))).collect();
        let slices = (0..SLICES).map(|slice| {
            let (from, until) =
                (f64::from(slice) / f64::from(SLICES), f64::from(slice + 1) / f64::from(SLICES));
            // A slice that contains a named percentile shows that one.
            let named = (1..=nines as i32).map(f64::from).chain([2.0_f64.log10()]);
            let named = { named }.find(|place| (from..until).contains(&(place / nines)));
            let place = named.unwrap_or_else(|| f64::midpoint(from, until) * nines);
            let reported = filled.iter().filter(|(curve, _)| curve.end(nines) >= place);
            let reported = reported.map(|(curve, ranks)| {
                let (value, certain) = ranks.at(place);
                format!("{}{colon}{}{}", curve.name, if certain { "" } else { "~" }, time(value))
            });
            let reported: Vec<String> = reported.collect();
            let text = if reported.is_empty() {
                String::new()
            } else {
                format!("{} · {}", share_text(place), reported.join(" · "))
            };
            (from, until, text)
        });
        readout(figure, slices);
    }
}

/// The values of a histogram by their rank, so that many percentiles of it cost one pass.
struct Ranks {
    /// The number of values at or below a value, and the value.
    upto: Vec<(u64, u64)>,
}

impl Ranks {
    /// Builds the ranks of a histogram that is not empty.
    fn of(values: &Histogram) -> Self {
        let mut below = 0;
        let upto = values.iter().map(|(bucket, n)| {
            below += n;
            (below, Histogram::highest_equivalent(bucket).min(values.max()))
        });
        Self { upto: upto.collect() }
    }

    /// Returns the value that one of 10^`place` values exceeds, and whether enough values are above
    /// it.
    fn at(&self, place: f64) -> (u64, bool) {
        let (count, most) = self.upto.last().copied().unwrap_or_default();
        let rank = (share_below(place) * count as f64 - 1e-9).ceil().max(1.0) as u64;
        let bucket = self.upto.partition_point(|(below, _)| *below < rank);
        let value = self.upto.get(bucket).map_or(most, |(_, value)| *value);
        (value, count - rank.min(count) >= UNCERTAIN_BELOW)
    }
}

/// Percentages under the plot, and faint lines upwards from them.
fn axis(figure: &mut Figure<'_>, nines: f64) {
    let at = |label: &(f64, String)| label.0;
    let mut wanted: Vec<(f64, String)> =
        (1..=nines as i32).map(|power| (f64::from(power) / nines, nine_text(power))).collect();
    // If there are many: every second one, then the others, then the median.
    wanted.sort_by_key(|label| (at(label) * nines).round() as i64 % 2 == 1);
    wanted.push((2.0_f64.log10() / nines, "50 %".to_owned()));
    wanted.push((0.0, "0 %".to_owned()));
    for label in place_labels(wanted) {
        tick(figure, &label);
    }
}

fn tick(figure: &mut Figure<'_>, label: &Label) {
    let (x, height, level) = (percent(label.at), figure.height(), level(label.level));
    figure.push(&format!("<line class=\"grid{level}\" x1=\"{x}\" x2=\"{x}\" y2=\"{height}\"/>"));
    figure.tick(label);
}

fn draw_curve(
    figure: &mut Figure<'_>,
    (scale, nines): (&Scale, f64),
    (number, all): (usize, usize),
    curve: &SpectrumCurve<'_>,
) {
    let values = curve.values;
    if values.is_empty() {
        return;
    }
    let ranks = Ranks::of(values);
    let end = curve.end(nines);
    let mut sure: Vec<(f64, f64)> = Vec::new();
    let mut unsure: Vec<(f64, f64)> = Vec::new();
    for step in 0..=STEPS {
        let place = end * step as f64 / STEPS as f64;
        let (value, certain) = ranks.at(place);
        let corner = (place / nines * ACROSS, figure.y(scale.position(value as f64)));
        if certain {
            sure.push(corner);
        } else {
            // The faint part starts where the other ends.
            let joint = sure.last().copied().filter(|_| unsure.is_empty());
            unsure.extend(joint);
            unsure.push(corner);
        }
    }
    // A single value is above the last place: the longest of all.
    if curve.known >= 1.0 {
        let joint = sure.last().copied().filter(|_| unsure.is_empty());
        unsure.extend(joint);
        unsure.push((end / nines * ACROSS, figure.y(scale.position(values.max() as f64))));
    }
    let classes = curve.tone.classes(number);
    figure.stretched("data", |figure| {
        for (corners, faint) in [(&sure, ""), (&unsure, " faint")] {
            if !corners.is_empty() {
                let mut path = String::new();
                polyline(&mut path, corners);
                figure.push(&format!("<path class=\"l {classes}{faint}\" d=\"{path}\"/>"));
            }
        }
    });
    for (x, y) in marker_points(&sure, ACROSS, places(number, all)) {
        figure.marker(number, curve.tone, x / ACROSS, y);
    }
}

fn describe(figure: &mut Figure<'_>, curve: &SpectrumCurve<'_>) {
    let words = figure.labels();
    let mut reported: Vec<String> = SHOWN
        .into_iter()
        .filter(|(_, q)| !curve.values.is_uncertain(*q) && curve.is_known(*q))
        .filter_map(|(name, q)| Some(format!("{name} {}", time(curve.values.percentile(q)?))))
        .collect();
    if curve.values.is_empty() {
        figure.add_description((words.nothing)(&curve.name));
        return;
    }
    if curve.known >= 1.0 {
        reported.push(format!("{} {}", words.max, time(curve.values.max())));
    }
    let count = Unit::Count.value(curve.values.count() as f64);
    figure.add_description((words.percentiles)(&curve.name, &reported.join(words.comma), &count));
}

/// Returns the share below the place that one of 10^`place` values exceeds.
fn share_below(place: f64) -> f64 {
    1.0 - 10_f64.powf(-place)
}

/// A share with enough digits to distinguish it from its neighbours.
fn share_text(place: f64) -> String {
    let decimals = (place - 1.0).ceil().max(0.0) as usize;
    format!("{:.decimals$} %", share_below(place) * 100.0)
}

/// `90 %`, `99 %`, `99.9 %`.
fn nine_text(nines: i32) -> String {
    match nines {
        1 => "90 %".to_owned(),
        2 => "99 %".to_owned(),
        more => format!("99.{} %", "9".repeat(more as usize - 2)),
    }
}

fn time(ns: u64) -> String {
    Unit::Time.value(ns as f64)
}

#[cfg(test)]
mod tests {
    use super::super::strings::ChartStrings;
    use super::*;

    fn draw(values: &Histogram) -> String {
        PercentileChart {
            frame: Frame::new("spectrum", "Percentiles", &ChartStrings::EN),
            curves: vec![SpectrumCurve::new("response", values)],
            limits: Vec::new(),
        }
        .draw()
    }

    #[test]
    fn percentiles_of_fewer_than_ten_values_are_faint() {
        let mut values = Histogram::default();
        for n in 1..=1_000 {
            values.record(n * 100_000);
        }
        let svg = draw(&values);
        assert!(svg.contains(" faint\" d=\"M"), "the last ten of 1,000");
        assert!(
            svg.contains("response, 1,000 values: 50 % 50.1 ms, 90 % 90.2 ms, 99 % 99.1 ms, max 100 ms."),
            "{svg}"
        );
        assert!(svg.contains(">99.9 %<") && !svg.contains(">99.99 %<"), "as many nines as there are values");
        assert!(svg.len() < 15_000, "{}", svg.len());
    }

    #[test]
    fn one_long_wait_leaves_the_others_where_they_are() {
        let mut values = Histogram::default();
        (0..990).for_each(|_| values.record(60_000));
        (0..10).for_each(|_| values.record(60_000_000_000));
        let svg = draw(&values);
        let bottom = format!(
            "M0 {}",
            super::super::figure::Figure::new(Frame::new("s", "s", &ChartStrings::EN)).height()
        );
        assert!(!svg.contains(&bottom), "60 µs are above the start of the axis: {svg}");
        assert!(svg.contains(">50 µs<") && svg.contains("50 % 60"), "{svg}");
    }

    #[test]
    fn unknown_values_are_not_shown() {
        let mut values = Histogram::default();
        (1..=100_000_u64).for_each(|n| values.record(n * 1_000));
        let frame = Frame::new("spectrum", "Percentiles", &ChartStrings::EN);
        let curve = SpectrumCurve::new("response", &values).known_up_to(0.9);
        let svg = PercentileChart { frame, curves: vec![curve], limits: Vec::new() }.draw();
        assert!(svg.contains("90 % 90.") && !svg.contains("99 % 9") && !svg.contains("max 1"), "{svg}");
        let path =
            svg.split("class=\"l ").nth(1).and_then(|rest| rest.split(" d=\"").nth(1)).expect("a line");
        let path = path.split('"').next().expect("it ends");
        let numbers =
            path.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|n| n.parse::<f64>().ok());
        let end = numbers.step_by(2).fold(0.0, f64::max);
        assert!(end <= ACROSS / 5.0 + 1.0, "one of five nines: {path}");
    }

    #[test]
    fn none_and_one() {
        assert!(draw(&Histogram::default()).contains("no data"));
        let mut one = Histogram::default();
        one.record(1);
        let svg = draw(&one);
        assert!(svg.contains("M0 "), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn ranks_agree_with_the_histogram() {
        let mut values = Histogram::default();
        (1..=12_345_u64).for_each(|n| values.record(n * n));
        let ranks = Ranks::of(&values);
        for place in [0.0, 0.301, 1.0, 1.5, 2.0, 3.0, 3.05, 4.0, 5.0] {
            let q = share_below(place) * 100.0;
            assert_eq!(Some(ranks.at(place).0), values.percentile(q), "{q}");
            assert_eq!(ranks.at(place).1, !values.is_uncertain(q), "{q}");
        }
    }

    #[test]
    fn shares_are_shown_with_their_digits() {
        assert_eq!(nine_text(5), "99.999 %");
        assert_eq!(share_text(3.0), "99.90 %");
        assert_eq!(share_text(0.301), "50 %");
    }
}
