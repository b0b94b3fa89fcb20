//! The charts of a comparison: ratios with their intervals, the sides over time, their percentiles.

use maud::{Markup, PreEscaped, html};
use wavetank_record::{MetricDoc, Spread};
use wavetank_units::Nanos;
use wavetank_units::quantity::show_rate;

use super::html_page::{ComparisonPage, short};
use super::side_time_series::SideTimeSeries;
use super::values::format_limit;
use crate::chart::{
    ChartStrings, ColorRole, ForestPlot, Frame, LineChart, PercentileChart, Polarity, Ratio, Series,
    SpectrumCurve, Timeline, Unit,
};
use crate::completeness::is_percentile_known;
use crate::format::PERCENTILE_HEADINGS;
use crate::html::{Cell, Numbers, RowInstant, Table, chart_labels, figure_in};

/// Rows of the picture on the first page. The table has all of them.
const ROWS_MAX: usize = 12;
/// The sides' names and colours; dash and marker follow from the order.
const SIDES: [(&str, ColorRole); 2] = [("A", ColorRole::Of(0)), ("B", ColorRole::Of(1))];

fn frame<'a>(page: &ComparisonPage, id: &'a str, title: &'a str) -> Frame<'a> {
    let words: &'static ChartStrings = chart_labels(page.words);
    Frame::new(id, title, words)
}

/// The ratios of the judged values; `None` without any.
pub(super) fn forest(page: &ComparisonPage) -> Option<String> {
    let doc = page.source.doc;
    let rows: Vec<Ratio> = doc.metrics.iter().filter_map(|metric| row(page, metric)).take(ROWS_MAX).collect();
    let limit_key =
        doc.max_regression.map(|limit| (page.own.page.allowed)(&format_limit(limit.0))).unwrap_or_default();
    let frame = frame(page, "ratios", page.own.page.forest);
    (!rows.is_empty()).then(|| ForestPlot { frame, rows, key: key(page), limit_key }.draw())
}

/// The meaning of the markers.
fn key(page: &ComparisonPage) -> Vec<(Polarity, String)> {
    let own = &page.own.page;
    let all = [
        (Polarity::Worse, own.key_worse),
        (Polarity::Better, own.key_better),
        (Polarity::None, own.key_none),
        (Polarity::Undecided, own.key_undecided),
    ];
    all.map(|(meaning, name)| (meaning, name.to_owned())).to_vec()
}

fn row(page: &ComparisonPage, metric: &MetricDoc) -> Option<Ratio> {
    let ends = [metric.low?.0, metric.ratio?.0, metric.high?.0];
    let meaning = match metric.verdict.as_str() {
        "difference" if (ends[1] > 1.0) == (metric.better == "more") => Polarity::Better,
        "difference" => Polarity::Worse,
        "undecided" => Polarity::Undecided,
        _ => Polarity::None,
    };
    // A value has a limit on its worse side only, because the other side is never a regression.
    let sign = if metric.better == "more" { -1.0 } else { 1.0 };
    let limit = page.source.doc.max_regression.map(|limit| 1.0 + sign * limit.0);
    metric.judged.then(|| Ratio {
        name: metric.name.clone(),
        text: short(page, metric),
        ends,
        meaning,
        limit,
    })
}

/// Rate, median and p99 of both sides over time.
pub(super) fn over_time(page: &ComparisonPage) -> Markup {
    let own = &page.own.page;
    let time = |ns: f64| Nanos(ns as i64).to_string();
    let courses = page.source.courses;
    let percentile = |names, q: f64| {
        let is_guess = |side: usize, at| courses[side].is_uncertain(at, q);
        lines(page, names, &|side, at| courses[side].percentile(at, q), &is_guess, &time)
    };
    html! {
        (lines(page, ("rate", own.rate, Unit::Rate), &|side, at| courses[side].rate(at), &|_, _| false, &show_rate))
        (percentile(("median", own.p50, Unit::Time), 50.0))
        (percentile(("tail", own.p99, Unit::Time), 99.0))
    }
}

fn lines(
    page: &ComparisonPage,
    (id, title, unit): (&str, &str, Unit),
    of: &dyn Fn(usize, Nanos) -> Option<f64>,
    is_guess: &dyn Fn(usize, Nanos) -> bool,
    shown: &dyn Fn(f64) -> String,
) -> Markup {
    let courses = page.source.courses;
    let until = courses.map(SideTimeSeries::end);
    let until = until[0].max(until[1]);
    if until == Nanos::ZERO {
        return html! {};
    }
    let series = SIDES.iter().enumerate().map(|(side, &(name, tone))| {
        let sure = courses[side].points(|at| of(side, at).filter(|_| !is_guess(side, at)));
        Series::line(name, courses[side].points(|at| of(side, at))).with_certain(sure).with_color(tone)
    });
    let chart = LineChart {
        frame: frame(page, id, title).high(180),
        timeline: Timeline::new(Nanos::ZERO, until),
        unit,
        series: series.collect(),
        limits: Vec::new(),
    };
    let mut begins: Vec<Nanos> = courses.iter().flat_map(|course| course.begins()).collect();
    begins.sort_unstable();
    begins.dedup();
    let cell = |side: usize, at: Nanos| {
        let Some(value) = of(side, at) else { return "–".to_owned() };
        format!("{}{}", if is_guess(side, at) { "~" } else { "" }, shown(value))
    };
    let rows = begins.into_iter().map(|at| (at, vec![cell(0, at), cell(1, at)])).collect();
    let heads = SIDES.iter().map(|(name, _)| (*name).to_owned()).collect();
    figure_in(page.words, &chart.draw(), &Numbers { title, heads, rows, instant: RowInstant::From, note: "" })
}

/// Percentiles of both sides, and as a table.
pub(super) fn spectrum(page: &ComparisonPage) -> Markup {
    let own = &page.own.page;
    let times = page.source.courses.map(SideTimeSeries::response);
    if times.iter().all(|times| times.is_empty()) {
        return html! {};
    }
    let known = page.source.courses.map(SideTimeSeries::known_share);
    let curves = SIDES.iter().zip(times).zip(known).map(|((&(name, tone), values), known)| {
        SpectrumCurve { tone, ..SpectrumCurve::new(name, values) }.known_up_to(known)
    });
    let frame = frame(page, "spectrum", own.spectrum).high(280);
    let svg = PercentileChart { frame, curves: curves.collect(), limits: Vec::new() }.draw();
    let mut heads = vec![(own.side, false), (page.words.columns.samples, true)];
    heads.extend(PERCENTILE_HEADINGS.map(|name| (name, true)));
    heads.push((page.words.columns.max, true));
    let mut table = Table::new(own.spectrum, &heads);
    let time = |ns: u64| Nanos(ns as i64).to_string();
    let sides = SIDES.iter().zip(times).zip(known);
    for (((name, _), values), known) in sides.filter(|((_, values), _)| !values.is_empty()) {
        let mut cells =
            vec![Cell::label(name), Cell::Number(wavetank_units::quantity::format_grouped(values.count()))];
        cells.extend(Spread::PERCENTILES.iter().map(|&(_, q)| {
            if !is_percentile_known(known, q) {
                return Cell::Number(page.words.times.above_dropped.to_owned());
            }
            let listed = values.percentile(q).map_or_else(|| "–".to_owned(), time);
            Cell::Number(if values.is_uncertain(q) { format!("~{listed}") } else { listed })
        }));
        cells.push(Cell::Number(time(values.max())));
        table.row(cells);
    }
    html! { (PreEscaped(svg)) (table.render_in(page.words)) }
}
