//! Charts in the page: each with its numbers as a table below it, on time axes that agree.

use maud::{Markup, PreEscaped, html};
use wavetank_measure::{TimeBucket, TimeSeries};
use wavetank_record::Number;
use wavetank_units::Nanos;

use super::impacts;
use super::page_context::PageContext;
use super::strings::Strings;
use super::table::{Cell, Table};
use crate::chart::{ChartStrings, Frame, Mark, Point, Shade, Timeline};
use crate::format;

/// Most rows of the table behind a chart, without the last one. With more columns, every second,
/// third and so on is shown.
const ROWS_MAX: usize = 60;
/// A shorter drain after the load is not shaded.
const DRAIN_MIN: Nanos = Nanos(500_000_000);

/// The numbers of a chart, as a table that opens on demand.
pub(crate) struct Numbers<'a> {
    /// The chart's title.
    pub(crate) title: &'a str,
    /// Headings after the instant.
    pub(crate) heads: Vec<String>,
    /// The instant of each row, and the cells after it.
    pub(crate) rows: Vec<(Nanos, Vec<String>)>,
    /// Whether the instant is the start or the end of the row's time, or a single moment.
    pub(crate) instant: RowInstant,
    /// A note needed to read the numbers; empty if there is none.
    pub(crate) note: &'a str,
}

/// The relation of a row's instant to the row's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowInstant {
    /// The start of its stretch of time.
    From,
    /// The moment at which the values, such as gauges, were sampled.
    At,
    /// The end of its stretch of time.
    Until,
}

/// Headings of [`Numbers`].
pub(crate) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// `svg` with `numbers` below it.
pub(crate) fn figure(sheet: &PageContext, svg: &str, numbers: &Numbers) -> Markup {
    figure_in(sheet.words, svg, numbers)
}

/// The same on a page that is not about one run.
pub(crate) fn figure_in(all_words: &Strings, svg: &str, numbers: &Numbers) -> Markup {
    let words = &all_words.charts;
    let columns = &all_words.columns;
    let instant = match numbers.instant {
        RowInstant::From => columns.from,
        RowInstant::At => columns.at,
        RowInstant::Until => columns.until,
    };
    let mut heads = vec![(instant, true)];
    heads.extend(numbers.heads.iter().map(|head| (head.as_str(), true)));
    let mut table = Table::new(numbers.title, &heads);
    let all = numbers.rows.len();
    let each = all.div_ceil(ROWS_MAX).max(1);
    for at in spaced(all, each) {
        let (from, cells) = &numbers.rows[at];
        // No chart clock is finer than a millisecond, and no host sample than a hundredth of a
        // second.
        let unit = if numbers.instant == RowInstant::From { 1e6 } else { 1e7 };
        let rounded = (from.0 as f64 / unit).round() + 0.0;
        let from = format::seconds(Number(rounded * unit / 1e9)).replace('-', "−");
        table.row([from].into_iter().chain(cells.iter().cloned()).map(Cell::Number).collect());
    }
    html! {
        (PreEscaped(svg))
        @if all > 0 {
            details {
                summary { ((words.data)(numbers.title)) }
                (table.render_in(all_words))
                @if !numbers.note.is_empty() { p.aside { (numbers.note) } }
                @if each > 1 { p.aside { ((words.thinned)(&each.to_string(), &all.to_string())) } }
            }
        }
    }
}

/// Every `each`-th number below `all`, and the last.
fn spaced(all: usize, each: usize) -> impl Iterator<Item = usize> {
    (0..all).filter(move |number| number % each == 0 || number + 1 == all)
}

/// Labels of charts in the language of `words`.
pub(crate) fn chart_labels(words: &Strings) -> &'static ChartStrings {
    if words.tag == "en" { &ChartStrings::EN } else { &ChartStrings::ZH }
}

impl PageContext<'_> {
    /// Labels of charts in the page's language.
    pub(crate) fn chart_labels(&self) -> &'static ChartStrings {
        chart_labels(self.words)
    }

    pub(crate) fn frame<'b>(&self, id: &'b str, title: &'b str) -> Frame<'b> {
        Frame::new(id, title, self.chart_labels())
    }

    /// The axis that all charts over time share: the whole run, with warm-up and drain shaded and
    /// phases marked.
    pub(crate) fn timeline(&self, course: &TimeSeries) -> Timeline {
        let words = &self.words.charts;
        let (from, until) = extent(course);
        let mut timeline = Timeline::new(from, until);
        let shade = |from, until, label: &str| Shade { from, until, label: label.to_owned() };
        // A warm-up in parallel to the judged load is not shaded, because it has no stretch to
        // itself.
        if from < Nanos(-DRAIN_MIN.0) && !course.warmup().is_empty() {
            timeline.shades.push(shade(from, Nanos::ZERO.min(until), self.words.counts.warmup));
        }
        let load_end = Nanos((self.record().duration_s.0 * 1e9) as i64);
        if load_end > Nanos::ZERO && until > load_end.after(DRAIN_MIN) {
            timeline.shades.push(shade(load_end, until, words.drain));
        }
        timeline.bands = impacts::bands(self, (from, until));
        // A single phase starts with the load, so it needs no mark.
        if self.record().phases.len() > 1 {
            timeline.marks.extend(
                self.record().phases.iter().map(|phase| Mark {
                    at: Nanos((phase.start_s.0 * 1e9) as i64),
                    label: phase.name.clone(),
                }),
            );
        }
        timeline
    }
}

fn extent(course: &TimeSeries) -> (Nanos, Nanos) {
    let from = course.columns.iter().map(|column| column.from).min().unwrap_or(Nanos::ZERO);
    let until = course.columns.iter().map(TimeBucket::end).max().unwrap_or(Nanos::ZERO);
    (from, until)
}

/// The columns that can have judged requests. Columns before the load have connections only.
pub(crate) fn judged(course: &TimeSeries) -> Vec<&TimeBucket> {
    course.judged().iter().filter(|column| column.from >= Nanos::ZERO).collect()
}

/// Returns the columns that can have requests: those of the warm-up from its first request on, then
/// the judged ones. A warm-up in parallel to judged load is left out.
pub(crate) fn sampled_columns(course: &TimeSeries) -> Vec<&TimeBucket> {
    let judged = judged(course);
    let begin = judged.first().map_or(Nanos(i64::MAX), |first| first.from);
    let warmup = course.warmup().iter().skip_while(|column| column.counters.offered == 0);
    warmup.filter(|column| column.end() <= begin).chain(judged).collect()
}

/// All columns in order of time. If a time has two columns, the one of the warm-up is used.
pub(crate) fn all(course: &TimeSeries) -> Vec<&TimeBucket> {
    let warmup = course.warmup();
    let before = course.judged().iter().filter(|column| column.from < Nanos::ZERO);
    let own = |column: &&TimeBucket| {
        warmup.iter().all(|other| column.end() <= other.from || other.end() <= column.from)
    };
    let mut columns: Vec<_> = before.filter(own).chain(warmup).collect();
    columns.sort_by_key(|column| column.from);
    // A second with a warm-up in parallel to judged load has two columns, too. The judged one
    // counts requests only.
    columns.extend(judged(course).into_iter().filter(|column| column.threads_ns > 0 || own(column)));
    columns
}

/// Returns `columns` without the short rest at both ends. A load that lasts a little longer than
/// whole columns leaves a column of a few milliseconds, and a rate or a percentile of it is random.
/// The tables keep such columns.
pub(crate) fn complete_columns<'c>(columns: &[&'c TimeBucket]) -> Vec<&'c TimeBucket> {
    let longest = columns.iter().map(|column| column.len.0).max().unwrap_or(0);
    let is_left_over = |column: &&TimeBucket| column.len.0 < longest / 2;
    let from = columns.iter().position(|column| !is_left_over(column)).unwrap_or(0);
    let until = columns.iter().rposition(|column| !is_left_over(column)).map_or(0, |last| last + 1);
    columns[from..until].to_vec()
}

/// Returns a point in the middle of each [`complete_columns`] column. A column without sealed
/// intervals, or without a `value`, is a gap.
pub(crate) fn points(columns: &[&TimeBucket], value: impl Fn(&TimeBucket) -> Option<f64>) -> Vec<Point> {
    let point = |column: &&TimeBucket| {
        let middle = Nanos(column.from.0 + column.len.0 / 2);
        (middle, if column.intervals == 0 { None } else { value(column) })
    };
    complete_columns(columns).iter().map(point).collect()
}

/// Returns the points of a gauge, which is sampled at a column's end. A column without sealed
/// intervals is a gap.
pub(crate) fn at_ends(columns: &[&TimeBucket], value: impl Fn(&TimeBucket) -> f64) -> Vec<Point> {
    let point = |column: &&TimeBucket| (column.end(), (column.intervals > 0).then(|| value(column)));
    columns.iter().map(point).collect()
}

/// Explains in which row of a table over time a late request is counted; empty if none was late.
pub(crate) fn late_note(sheet: &PageContext, course: &TimeSeries) -> &'static str {
    let is_any = sampled_columns(course).iter().any(|column| column.counters.late > 0);
    if is_any { sheet.words.charts.late_when } else { "" }
}

/// The last instant of `column`. The target value at its end may belong to the next phase.
pub(crate) fn end_of_last(column: &TimeBucket) -> Nanos {
    Nanos(column.end().0 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_over_at_the_ends_is_not_drawn() {
        let check = |lens: &[i64], expected: &[i64]| {
            let of = |&len: &i64| TimeBucket { len: Nanos(len), ..TimeBucket::default() };
            let columns: Vec<_> = lens.iter().map(of).collect();
            let whole: Vec<_> = complete_columns(&columns.iter().collect::<Vec<_>>())
                .iter()
                .map(|column| column.len.0)
                .collect();
            assert_eq!(whole, expected, "{lens:?}");
        };
        check(&[3, 100, 100, 6], &[100, 100]);
        check(&[60, 100, 7, 100, 50], &[60, 100, 7, 100, 50]);
        check(&[6], &[6]);
        check(&[], &[]);
    }

    #[test]
    fn rows_are_spaced_evenly_from_first_to_last() {
        let check =
            |all, each, expected: &[usize]| assert_eq!(spaced(all, each).collect::<Vec<_>>(), expected);
        check(0, 1, &[]);
        check(1, 1, &[0]);
        check(3, 1, &[0, 1, 2]);
        check(10, 3, &[0, 3, 6, 9]);
        check(12, 3, &[0, 3, 6, 9, 11]);
    }
}
