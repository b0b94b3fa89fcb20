//! [`Timeline`]: the time axis of a chart, with what happened on it.

use wavetank_units::Nanos;

use super::figure::Figure;
use super::labels::{Label, cut, fit_ticks, place_labels};
use super::svg::{escape, percent};
use super::tooltips::Slice;
use super::unit::{clock, clock_in_tenths};

/// Steps between ticks of time, in nanoseconds, the coarse ones first.
const STEPS: [i64; 34] = [
    3_110_400_000 * S,
    311_040_000 * S,
    31_104_000 * S,
    10_368_000 * S,
    2_592_000 * S,
    604_800 * S,
    172_800 * S,
    86_400 * S,
    43_200 * S,
    21_600 * S,
    14_400 * S,
    7_200 * S,
    3_600 * S,
    1_800 * S,
    1_200 * S,
    600 * S,
    300 * S,
    120 * S,
    60 * S,
    30 * S,
    20 * S,
    10 * S,
    5 * S,
    2 * S,
    S,
    S / 2,
    S / 5,
    S / 10,
    S / 20,
    S / 50,
    S / 100,
    S / 1_000,
    S / 10_000,
    S / 100_000,
];
const S: i64 = 1_000_000_000;
/// Ticks of one step at most; a finer step is not tried.
const TICKS_MAX: i64 = 30;
/// Events drawn at most, the first ones.
const MARKS_MAX: usize = 60;
/// Up to this many events are all named where there is room. The names of more events are in
/// tables.
const MARKS_FEW: usize = 6;
/// Vertical positions of labels, in pixels below the plot's top.
const ROWS: [f64; 2] = [-8.0, -21.0];
/// Room of an event's label, in pixels.
const LABEL_MAX: f64 = 130.0;

/// The time axis of a chart: its start, its end, and the events between them.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The left end, on the run's clock.
    pub from: Nanos,
    /// The right end.
    pub until: Nanos,
    /// Stretches that are shaded, such as warm-up and drain.
    pub shades: Vec<Shade>,
    /// Stretches with a fault or pool change on a host.
    pub bands: Vec<Shade>,
    /// Events, such as the start of a phase or a signal; the first 60 are drawn.
    pub marks: Vec<Mark>,
}

/// A shaded stretch of time.
#[derive(Clone, Debug)]
pub struct Shade {
    /// Its start.
    pub from: Nanos,
    /// Its end.
    pub until: Nanos,
    /// What it is.
    pub label: String,
}

/// An event.
#[derive(Clone, Debug)]
pub struct Mark {
    /// When.
    pub at: Nanos,
    /// What.
    pub label: String,
}

impl Timeline {
    /// A stretch without events.
    pub fn new(from: Nanos, until: Nanos) -> Self {
        Self { from, until, ..Self::default() }
    }

    /// Nanoseconds across; at least one.
    pub(super) fn length(&self) -> i64 {
        self.until.0.saturating_sub(self.from.0).max(1)
    }

    /// Returns the place of an instant, 0 at the left end and 1 at the right. Instants outside are
    /// at the end.
    pub(super) fn x(&self, instant: Nanos) -> f64 {
        let passed = i128::from(instant.0) - i128::from(self.from.0);
        (passed as f64 / self.length() as f64).clamp(0.0, 1.0)
    }

    /// An instant as this axis writes it.
    pub(super) fn clock(&self, instant: Nanos) -> String {
        clock(instant, Nanos(self.until.0.max(self.length())))
    }

    /// Formats a stretch of time from one instant to another. Ends between two seconds are shown
    /// with tenths. In whole seconds they would look like other instants, or like one and the same.
    pub(super) fn span(&self, from: Nanos, until: Nanos) -> String {
        let span = self.until.0.max(self.length());
        let is_apart = |at: Nanos| (50_000_000..950_000_000).contains(&at.0.rem_euclid(S));
        let length = until.0.saturating_sub(from.0);
        let fine =
            (10 * S..7_200 * S).contains(&span) && length < 10 * S && (is_apart(from) || is_apart(until));
        let reported = |at: Nanos| {
            if fine && at.0.unsigned_abs() < 3_600 * S as u64 { clock_in_tenths(at) } else { self.clock(at) }
        };
        format!("{} – {}", reported(from), reported(until))
    }

    /// A slice of a chart from one instant to another, clipped to this axis. Its text is empty if
    /// `reported` is.
    pub(super) fn slice(&self, from: Nanos, until: Nanos, reported: &[String]) -> Slice {
        let (from, until) = (from.max(self.from), until.min(self.until));
        let text = if reported.is_empty() {
            String::new()
        } else {
            format!("{} · {}", self.span(from, until), reported.join(" · "))
        };
        (self.x(from), self.x(until), text)
    }

    /// Instants under the axis.
    pub(super) fn ticks(&self) -> Vec<Label> {
        let length = self.length();
        let steps: Vec<i64> = STEPS
            .into_iter()
            .filter(|step| {
                length / step <= TICKS_MAX && (length / step >= 1 || *step == STEPS[STEPS.len() - 1])
            })
            .collect();
        let ticks = |step: i64| -> Vec<(f64, String)> {
            let first = self.from.0.div_euclid(step) + i64::from(self.from.0.rem_euclid(step) != 0);
            (first..)
                .map_while(|number| number.checked_mul(step).map(Nanos).filter(|at| *at <= self.until))
                .take(TICKS_MAX as usize + 1)
                .map(|at| (self.x(at), self.clock(at)))
                .collect()
        };
        // With too fine a step, neighbouring ticks share a label, and ticks are at other instants
        // than their labels say.
        let differ = |step: &i64| ticks(*step).windows(2).all(|two| two[0].1 != two[1].1);
        let steps: Vec<i64> = steps.into_iter().filter(differ).collect();
        let labels = fit_ticks(&steps, |fine, coarse| coarse % fine == 0, ticks);
        if labels.len() >= 2 {
            return labels;
        }
        // There are no two round instants on the axis, so its ends are labelled.
        place_labels(vec![(0.0, self.clock(self.from)), (1.0, self.clock(self.until))])
    }

    /// Returns the captions above the plot. The upper row has the names that the lower row has no
    /// room for on narrow pages.
    fn captions(&self) -> [Vec<Label>; 2] {
        let stretch = |shade: &Shade| {
            Label::within(self.x(shade.from), self.x(shade.until), cut(&shade.label, LABEL_MAX))
        };
        let event = |mark: &Mark| {
            let at = self.x(mark.at);
            Label::within(at, at, cut(&mark.label, LABEL_MAX))
        };
        let is_named = |label: &Label| !label.text.is_empty();
        // The name of a phase is nowhere else in the chart; shaded stretches are also described
        // next to it.
        let labels = self
            .bands
            .iter()
            .map(stretch)
            .chain(self.marks().map(event))
            .chain(self.shades.iter().map(stretch));
        let mut lower = place_labels(labels.filter(is_named).collect());
        let level = |labels: &[Label], own: &Label| {
            labels.iter().find(|label| label.is_same(own)).map_or(usize::MAX, |label| label.level)
        };
        let few = self.marks().filter(|_| self.marks.len() <= MARKS_FEW).map(event);
        let named = self.bands.iter().map(stretch).chain(few).chain(self.shades.iter().map(stretch));
        let lost = named.filter(|label| is_named(label) && level(&lower, label) > 0);
        let mut upper = place_labels(lost.collect());
        upper.retain(|label| label.level < level(&lower, label));
        lower.retain(|label| !upper.iter().any(|own| own.is_same(label)));
        [lower, upper]
    }

    fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.marks.iter().filter(|mark| (self.from..=self.until).contains(&mark.at)).take(MARKS_MAX)
    }

    /// Shades and events, behind the data, and the ticks below.
    pub(super) fn draw(&self, figure: &mut Figure<'_>) {
        self.draw_shades(figure);
        self.draw_events(figure);
    }

    /// Draws the warm-up, other shades, and stretches of faults and pool changes. Coloured elements
    /// must not be drawn under them, because their colour would look different.
    pub(super) fn draw_shades(&self, figure: &mut Figure<'_>) {
        self.stretches(figure, "shade", &self.shades);
        self.stretches(figure, "fault", &self.bands);
    }

    /// Draws the edges of faults and pool changes over elements that may hide them.
    pub(super) fn draw_edges(&self, figure: &mut Figure<'_>) {
        self.stretches(figure, "fault edge", &self.bands);
    }

    fn stretches(&self, figure: &mut Figure<'_>, class: &str, stretches: &[Shade]) {
        let height = figure.height();
        for shade in stretches {
            let (from, until) = (self.x(shade.from), self.x(shade.until));
            if until > from {
                figure.push(&format!(
                    "<rect class=\"{class}\" x=\"{}\" width=\"{}\" height=\"{height}\"/>",
                    percent(from),
                    percent(until - from)
                ));
            }
        }
    }

    /// Events, names of stretches, and the ticks below.
    pub(super) fn draw_events(&self, figure: &mut Figure<'_>) {
        let height = figure.height();
        for mark in self.marks() {
            let x = percent(self.x(mark.at));
            let title = format!("{} {}", escape(&mark.label), self.clock(mark.at));
            figure.push(&format!(
                "<line class=\"mark\" x1=\"{x}\" x2=\"{x}\" y1=\"-4\" y2=\"{height}\"><title>{title}</title></line>"
            ));
        }
        for (labels, y) in self.captions().iter().zip(ROWS) {
            for label in labels {
                figure.text("cap", label, y);
            }
            if y < ROWS[0] && !labels.is_empty() {
                figure.make_room_above();
            }
        }
        for label in self.ticks() {
            figure.tick(&label);
        }
        self.describe(figure);
    }

    fn describe(&self, figure: &mut Figure<'_>) {
        let words = figure.labels();
        figure.add_description((words.span)(&self.clock(self.from), &self.clock(self.until)));
        for shade in self.shades.iter().chain(&self.bands) {
            figure.add_description((words.shaded)(
                &shade.label,
                &self.clock(shade.from),
                &self.clock(shade.until),
            ));
        }
        let marks: Vec<String> =
            self.marks().map(|mark| format!("{} {}", mark.label, self.clock(mark.at))).collect();
        if !marks.is_empty() {
            figure.add_description((words.marked)(&marks.join(words.comma)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::labels::check_no_overlap;
    use super::*;

    fn check(from: i64, until: i64, fewest: usize) {
        let axis = Timeline::new(Nanos(from), Nanos(until));
        let labels = axis.ticks();
        let context = format!("{from} to {until}");
        check_no_overlap(&labels, &context);
        assert!(labels.len() >= fewest && labels.len() <= 40, "{context}: {labels:?}");
        assert!(labels.iter().any(|label| label.level == 0), "{context}: {labels:?}");
        assert!(labels.iter().all(|label| (0.0..=1.0).contains(&label.at)), "{context}: {labels:?}");
    }

    /// The clock of an axis of ten seconds has whole seconds, and its ticks are at whole seconds.
    #[test]
    fn ticks_bear_names_of_their_own() {
        for until in [10 * S, 10 * S + 5_000_000, 12 * S, 15 * S] {
            let labels = Timeline::new(Nanos::ZERO, Nanos(until)).ticks();
            let mut names: Vec<_> = labels.iter().map(|label| label.text.clone()).collect();
            names.dedup();
            assert_eq!(names.len(), labels.len(), "{labels:?}");
        }
    }

    #[test]
    fn any_length_of_time_has_ticks() {
        for (from, until, fewest) in [
            (0, 10 * S, 5),
            (-10 * S, 60 * S, 6),
            (0, 3_600 * S, 6),
            (0, 3_661 * S, 6),
            (0, 86_400 * S, 6),
            (7 * S, 7 * S + 300_000_000, 3),
            (3 * S + 1, 3 * S + 2, 1),
            (0, 0, 1),
            (5 * S, 0, 1),
            (0, 400 * 86_400 * S, 4),
            (0, i64::MAX, 1),
            (i64::MIN, i64::MAX, 1),
        ] {
            check(from, until, fewest);
        }
    }

    #[test]
    fn no_band_next_to_another_loses_its_name() {
        let mut axis = Timeline::new(Nanos::from_secs(-2), Nanos::from_secs(92));
        let band = |from, label: &str| Shade {
            from: Nanos::from_secs(from),
            until: Nanos::from_secs(from + 18),
            label: label.to_owned(),
        };
        axis.bands = vec![band(20, "kill serve app1"), band(48, "pause serve app2")];
        let [lower, upper] = axis.captions();
        assert_eq!((lower.len(), upper.len()), (1, 1), "{lower:?} {upper:?}");
        assert!(
            lower[0].level == 0 && upper[0].level == 0,
            "both are on the narrowest page: {lower:?} {upper:?}"
        );
        assert!(lower[0].text.starts_with("kill") && upper[0].text.starts_with("pause"));
    }

    #[test]
    fn names_of_few_phases_stand_in_two_rows() {
        let check = |phases: i64, expected: bool| {
            let mut axis = Timeline::new(Nanos::ZERO, Nanos::from_secs(24));
            let mark = |n| Mark { at: Nanos::from_secs(n * 24 / phases), label: format!("plateau {n}") };
            axis.marks = (0..phases).map(mark).collect();
            let [lower, upper] = axis.captions();
            check_no_overlap(&lower, "lower");
            check_no_overlap(&upper, "upper");
            assert_eq!(!upper.is_empty(), expected, "{phases}: {lower:?} {upper:?}");
        };
        check(2, false);
        check(5, true);
        check(7, false);
    }

    #[test]
    fn ranges_show_what_seconds_would_hide() {
        let axis = Timeline::new(Nanos(-2_060_000_000), Nanos::from_secs(90));
        let check = |from: f64, until: f64, reported: &str| {
            assert_eq!(axis.span(Nanos((from * 1e9) as i64), Nanos((until * 1e9) as i64)), reported);
        };
        check(0.0, 1.0, "00:00 – 00:01");
        check(-0.52, 1.01, "−00:00.5 – 00:01.0");
        check(5.1, 5.4, "00:05.1 – 00:05.4");
        check(10.2, 40.0, "00:10 – 00:40");
    }

    #[test]
    fn labels_of_many_phases_do_not_overlap() {
        let mut axis = Timeline::new(Nanos::ZERO, Nanos::from_secs(600));
        axis.marks = (0..50)
            .map(|n| Mark { at: Nanos::from_secs(n * 12), label: format!("a phase with a long name {n}") })
            .collect();
        axis.shades =
            vec![Shade { from: Nanos::ZERO, until: Nanos::from_secs(10), label: "warm-up".to_owned() }];
        let [captions, higher] = axis.captions();
        check_no_overlap(&captions, "phases");
        assert!(
            higher.iter().all(|label| label.text == "warm-up"),
            "phases may be in their table only: {higher:?}"
        );
        assert!(
            captions[0].text.starts_with("a phase") && captions[0].at < 0.01,
            "the first phase's, before a warm-up's: {captions:?}"
        );
    }
}
