//! The run over time: planned and measured rates, response times as a heat map, errors, statuses,
//! users.

use maud::{Markup, html};
use wavetank_measure::{ErrorClass, TimeBucket, TimeSeries};
use wavetank_plan::{Load, Plan};
use wavetank_record::Number;
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_rate, show_request_rate};

use super::Section;
use super::figures::{
    Numbers, RowInstant, all, at_ends, complete_columns, end_of_last, figure, judged, late_note, names,
    points, sampled_columns,
};
use super::page_context::{PageContext, with_nonbreaking_units};
use super::times::left_out;
use crate::chart::{ColorRole, HeatColumn, HeatMap, Layer, LineChart, LineStyle, Series, StackedArea, Unit};
use crate::completeness::is_known;
use crate::format;
use crate::load_text::{requests_each, warmup_overlaps};

/// Statuses that have a layer of their own; the others share one.
const STATUSES_MAX: usize = 7;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let words = sheet.words;
    let course = sheet.source.course.filter(|course| !course.columns.is_empty())?;
    let asked = course.counters.offered > 0;
    let body = html! {
        p.aside {
            ((words.charts.column_length)(&format::seconds(Number(course.column.0 as f64 / 1e9))))
            @if let Some(last) = shorter_last(course) {
                @let from = format::seconds(Number(last.from.0 as f64 / 1e9));
                // There is no such table in print.
                span.on-screen { (words.page.sentence_gap) (with_nonbreaking_units(&(words.charts.last_column)(&from, &last.len.to_string()))) }
            }
            @if sheet.source.plan.is_some_and(warmup_overlaps) { (words.page.sentence_gap) (words.charts.warmup_alongside) }
            @for reported in left_out(sheet) { (words.page.sentence_gap) (reported) }
        }
        @if asked {
            (rates(sheet, course))
            (heat_map(sheet, course))
            (errors(sheet, course))
            (statuses(sheet, course))
        }
        (users(sheet, course))
    };
    Section::new("course", words.titles.course, words.leads.course, body)
}

/// The last column if it is shorter than the others: a run seldom ends with a whole column.
fn shorter_last(course: &TimeSeries) -> Option<&TimeBucket> {
    judged(course).last().copied().filter(|last| Nanos::ZERO < last.len && last.len < course.column)
}

/// Requests per second: planned, done, and not done.
pub(crate) fn rates(sheet: &PageContext, course: &TimeSeries) -> Markup {
    let (words, counts) = (&sheet.words.charts, &sheet.words.counts);
    let lines = rate_lines(sheet, course, "rate");
    let columns = &sampled_columns(course);
    let rows = columns.iter().map(|column| {
        let own = &column.counters;
        let rates =
            [own.offered, own.done, own.failed(), own.dropped()].map(|n| show_request_rate(column.per_s(n)));
        (
            column.from,
            rates.into_iter().chain([format_grouped(own.late), format_grouped(column.open)]).collect(),
        )
    });
    let heads =
        names(&[counts.offered, counts.done, counts.failed, counts.dropped, counts.late, counts.open]);
    let numbers = Numbers {
        title: words.rate,
        heads,
        rows: rows.collect(),
        instant: RowInstant::From,
        note: late_note(sheet, course),
    };
    figure(sheet, &lines.draw(), &numbers)
}

/// The chart of rates alone.
pub(crate) fn rate_lines<'a>(sheet: &PageContext, course: &TimeSeries, id: &'a str) -> LineChart<'a> {
    let (words, counts) = (&sheet.words.charts, &sheet.words.counts);
    let columns = &mut sampled_columns(course);
    // The rest of a column at the end of the run is too short for a rate: a drain of some ms would
    // look like a drop to zero.
    if columns.iter().any(|column| is_long(column, course)) {
        columns.retain(|column| is_long(column, course));
    }
    let rate = |of: fn(&TimeBucket) -> u64| points(columns, move |column| Some(column.per_s(of(column))));
    let mut series = Vec::new();
    if let Some(planned) = sheet.source.plan.and_then(|plan| planned(plan, columns)) {
        series.push(Series::plan(words.planned, planned));
    } else if sheet.record().load.model == "open" {
        let offered = columns.iter().map(|column| (column.from, Some(column.per_s(column.counters.offered))));
        series.push(Series::plan(counts.offered, offered.collect()));
    }
    series.push(Series::line(counts.done, rate(|column| column.counters.done)).with_color(ColorRole::Of(0)));
    if columns.iter().any(|column| column.counters.failed() > 0) {
        series.push(
            Series::line(counts.failed, rate(|column| column.counters.failed())).with_color(ColorRole::Bad),
        );
    }
    if columns.iter().any(|column| column.counters.dropped() > 0) {
        series.push(
            Series::line(counts.dropped, rate(|column| column.counters.dropped()))
                .with_color(ColorRole::Warn),
        );
    }
    let timeline = sheet.timeline(course);
    LineChart { frame: sheet.frame(id, words.rate), timeline, unit: Unit::Rate, series, limits: Vec::new() }
}

/// Whether at least half of a column's length was sealed, or the column was lost.
fn is_long(column: &TimeBucket, course: &TimeSeries) -> bool {
    column.intervals == 0 || column.len.0 * 2 >= course.column.0
}

/// Planned requests per second in each column. `None` if users pace themselves, or if the number of
/// requests of a session is unknown.
fn planned(plan: &Plan, columns: &[&TimeBucket]) -> Option<Vec<(Nanos, Option<f64>)>> {
    let open: Vec<_> = plan.phases.iter().filter(|phase| phase.load != Load::Pause).collect();
    let mut points = Vec::new();
    for column in columns {
        let mut wanted = 0;
        // The columns of judged load exclude a parallel warm-up.
        for phase in open.iter().filter(|phase| !phase.warmup || column.from < Nanos::ZERO) {
            wanted += phase.sessions_between(column.from, column.end())? * requests_each(plan, phase)?;
        }
        points.push((column.from, Some(column.per_s(wanted))));
    }
    // The last value applies to the end of the chart, where nothing is planned any more.
    (!open.is_empty()).then_some(points)
}

fn heat_map(sheet: &PageContext, course: &TimeSeries) -> Markup {
    let words = &sheet.words.charts;
    let columns = &sampled_columns(course);
    // Without any response there is nothing to draw, and empty axes mislead.
    if columns.iter().all(|column| column.response.is_empty()) {
        return html! {};
    }
    let drawn = complete_columns(columns);
    let cells = drawn.iter().map(|column| HeatColumn {
        from: column.from,
        len: column.len,
        values: &column.response,
        dropped: column.counters.dropped(),
        offered: column.counters.offered,
    });
    let frame = sheet.frame("heat", words.heat).high(240);
    let svg = HeatMap { frame, timeline: sheet.timeline(course), columns: cells.collect() }.draw();
    // A second without a response between others must be visible: nothing was received in it.
    let is_reported = |column: &&TimeBucket| !column.response.is_empty();
    let first = columns.iter().position(is_reported).unwrap_or(0);
    let end = columns.iter().rposition(is_reported).map_or(first, |last| last + 1);
    let rows = columns[first..end].iter().map(|column| {
        let response = &column.response;
        let percentile = |q| response.percentile(q).map_or_else(|| "–".to_owned(), time);
        let guess = |q| {
            if !is_known(column.counters.dropped(), column.counters.offered, q) {
                sheet.words.times.above_dropped.to_owned()
            } else if response.is_uncertain(q) && !response.is_empty() {
                format!("~{}", percentile(q))
            } else {
                percentile(q)
            }
        };
        let cells = vec![
            format_grouped(response.count()),
            guess(50.0),
            guess(90.0),
            guess(99.0),
            if response.is_empty() { "–".to_owned() } else { time(response.max()) },
            format_grouped(column.censored()),
        ];
        (column.from, cells)
    });
    let columns = &sheet.words.columns;
    let heads = names(&[columns.samples, "p50", "p90", "p99", columns.max, words.unanswered]);
    let is_missing = |column: &&TimeBucket| {
        !column.response.is_empty() && !is_known(column.counters.dropped(), column.counters.offered, 99.0)
    };
    let missing = drawn.iter().any(is_missing);
    let numbers =
        Numbers { title: words.heat, heads, rows: rows.collect(), instant: RowInstant::From, note: "" };
    html! {
        (figure(sheet, &svg, &numbers))
        @if missing { p.aside { (sheet.words.times.line_missing) } }
    }
}

fn time(ns: u64) -> String {
    Nanos(ns as i64).to_string()
}

/// Failed requests a second, a layer for each class that occurred.
fn errors(sheet: &PageContext, course: &TimeSeries) -> Markup {
    let columns = sampled_columns(course);
    let has = |class: ErrorClass| columns.iter().any(|column| column.counters.errors[class as usize] > 0);
    let occurred = ErrorClass::ALL.into_iter().filter(|&class| has(class));
    // The first colour is the one of "done" in the neighbouring charts. Layers have patterns, too.
    let tone = |place: usize| if place == 0 { ColorRole::Bad } else { ColorRole::Next };
    let layers = occurred.enumerate();
    let layers: Vec<_> =
        layers.map(|(place, class)| (class.name().to_owned(), tone(place), class as usize)).collect();
    let of = |column: &TimeBucket, class: &usize| column.counters.errors[*class];
    stacked(sheet, course, "errors", sheet.words.charts.errors, &layers, of)
}

/// Answers a second, a layer for each status.
fn statuses(sheet: &PageContext, course: &TimeSeries) -> Markup {
    let mut counts = wavetank_measure::StatusCounts::default();
    for column in sampled_columns(course) {
        counts.merge(&column.status);
    }
    let mut ordered = counts.0;
    ordered.sort_by_key(|&(status, n)| (std::cmp::Reverse(n), status));
    let own: Vec<u16> = ordered.iter().take(STATUSES_MAX).map(|&(status, _)| status).collect();
    let others = ordered.len() > own.len();
    let mut layers: Vec<_> =
        own.iter().map(|&status| (status.to_string(), tone_of(status), Some(status))).collect();
    layers.extend(others.then(|| (sheet.words.charts.others.to_owned(), ColorRole::Muted, None)));
    let of = |column: &TimeBucket, status: &Option<u16>| match status {
        Some(status) => column.status.get(*status),
        None => column.status.0.iter().filter(|(status, _)| !own.contains(status)).map(|(_, n)| n).sum(),
    };
    stacked(sheet, course, "statuses", sheet.words.charts.statuses, &layers, of)
}

const fn tone_of(status: u16) -> ColorRole {
    match status {
        200..300 => ColorRole::Good,
        300..500 => ColorRole::Warn,
        _ => ColorRole::Bad,
    }
}

/// Layers of values per second; empty without any.
fn stacked<K>(
    sheet: &PageContext,
    course: &TimeSeries,
    id: &str,
    title: &str,
    layers: &[(String, ColorRole, K)],
    of: impl Fn(&TimeBucket, &K) -> u64,
) -> Markup {
    if layers.is_empty() {
        return html! {};
    }
    let columns = &sampled_columns(course);
    let whole = complete_columns(columns);
    let values = |key: &K| whole.iter().map(|column| column.per_s(of(column, key))).collect();
    let rows = columns.iter().map(|column| {
        (column.from, layers.iter().map(|(_, _, key)| show_rate(column.per_s(of(column, key)))).collect())
    });
    let rows: Vec<(Nanos, Vec<String>)> = rows.collect();
    let heads = layers.iter().map(|(name, _, _)| name.clone()).collect();
    let drawn = layers.iter().map(|(name, tone, key)| Layer::new(name.clone(), values(key)).toned(*tone));
    let svg = StackedArea {
        frame: sheet.frame(id, title).high(140),
        timeline: sheet.timeline(course),
        unit: Unit::Rate,
        columns: whole.iter().map(|column| column.from).collect(),
        len: course.column,
        layers: drawn.collect(),
    }
    .draw();
    figure(sheet, &svg, &Numbers { title, heads, rows, instant: RowInstant::From, note: "" })
}

/// Users, if their number changes: planned and actual.
fn users(sheet: &PageContext, course: &TimeSeries) -> Markup {
    let words = &sheet.words.charts;
    let Some(plan) = sheet.source.plan else { return html! {} };
    let closed: Vec<_> =
        plan.phases.iter().filter(|phase| matches!(phase.load, Load::Closed { .. })).collect();
    let moving = closed.len() > 1
        || closed
            .iter()
            .any(|phase| phase.load.levels().is_some_and(|levels| levels.as_constant().is_none()));
    if !moving {
        return html! {};
    }
    let wanted = |at: Nanos| closed.iter().filter_map(|phase| phase.users_at(at)).sum::<u64>();
    let columns = &all(course);
    let planned = at_ends(columns, |column| wanted(end_of_last(column)) as f64);
    let there = at_ends(columns, |column| column.users as f64);
    let at_ends = |series| Series { form: LineStyle::AtEnds, ..series };
    let series = vec![
        at_ends(Series::plan(words.planned, planned)),
        at_ends(Series::line(words.users, there).with_color(ColorRole::Of(0))),
    ];
    let svg = LineChart {
        frame: sheet.frame("users", words.users).high(140),
        timeline: sheet.timeline(course),
        unit: Unit::Count,
        series,
        limits: Vec::new(),
    }
    .draw();
    let rows = columns.iter().map(|column| {
        (column.from, vec![format_grouped(wanted(end_of_last(column))), format_grouped(column.users)])
    });
    figure(
        sheet,
        &svg,
        &Numbers {
            title: words.users,
            heads: names(&[words.planned, words.users]),
            rows: rows.collect(),
            instant: RowInstant::From,
            note: "",
        },
    )
}
