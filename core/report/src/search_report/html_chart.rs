//! Latency against load as charts: all of it, and near the knee.

use std::ops::RangeInclusive;

use maud::{Markup, PreEscaped, html};
use wavetank_plan::{Condition, LatencyPart, Subject, Value};
use wavetank_record::{Number, SearchDoc, SearchPointDoc};
use wavetank_units::quantity::{format_grouped, show_share};

use super::html::SearchPage;
use super::level_text;
use crate::chart::{ColorRole, CurvePoint, CurveSeries, Frame, ReferenceValue, Unit, XAxis, XyChart};
use crate::html::chart_labels;

/// The percentiles drawn: name, percentile, and the function that returns it for a level.
type Drawn = (&'static str, f64, fn(&SearchPointDoc) -> Option<Number>);
const DRAWN: [Drawn; 3] = [
    ("p50", 50.0, |point| point.p50_us),
    ("p95", 95.0, |point| point.p95_us),
    ("p99", 99.0, |point| point.p99_us),
];
/// Levels closer than this share of a chart overlap: a marker's width in a chart as wide as on a
/// tablet.
const APART_MIN: f64 = 8.0 / 510.0;
/// Up to this many overlapping levels are still easy to distinguish.
const NEAR_MIN: usize = 3;
/// A range that takes a larger share of the full chart gains little from a chart of its own.
const SHARE_MAX: f64 = 0.5;

/// Charts of all levels; those near the knee, if they would overlap, in a chart of their own.
pub(super) fn charts(page: &SearchPage) -> Markup {
    let all = |marks: &dyn Fn(f64) -> bool| chart(page, "latency-load", page.own.chart, marks);
    let every = all(&|_| true);
    match near(page.doc, &every) {
        None => html! { (PreEscaped(every.draw())) },
        // There are no other levels.
        Some(near) if page.doc.curve.iter().all(|point| near.contains(&point.level.0)) => {
            // A chart that cuts the interval off must not be the only one.
            let answer = &page.doc.answer;
            let has_all = [answer.low, answer.high].iter().flatten().all(|end| near.contains(&end.0));
            let chart = XyChart { across: if has_all { close(&near) } else { every.across }, ..every };
            html! { (PreEscaped(chart.draw())) }
        }
        Some(near) => {
            let mut zoomed = chart(page, "latency-near", page.own.chart_near, &|level| near.contains(&level));
            zoomed.across = close(&near);
            for series in &mut zoomed.series {
                series.line.retain(|(level, _)| near.contains(level));
            }
            html! {
                (PreEscaped(all(&|level| !near.contains(&level)).draw()))
                (unmarked(page, &near))
                (PreEscaped(zoomed.draw()))
            }
        }
    }
}

/// Remark that lines of the full chart include levels that only the next chart marks.
fn unmarked(page: &SearchPage, near: &RangeInclusive<f64>) -> Markup {
    let levels = || page.doc.curve.iter().map(|point| point.level).filter(|level| near.contains(&level.0));
    let reported = |level| (page.own.level)(&page.doc.of, level);
    html! { @if let (Some(from), Some(to)) = (levels().next(), levels().next_back()) {
        p.aside { ((page.own.unmarked)(&reported(from), &reported(to))) }
    } }
}

fn close(near: &RangeInclusive<f64>) -> XAxis {
    XAxis::Close(*near.start(), *near.end())
}

/// Returns the range that needs a chart of its own, because levels overlap in `all`, the chart of
/// all levels. The range includes the knee, and its interval if the levels stay distinguishable
/// with it. `None` if one chart is enough.
fn near(doc: &SearchDoc, all: &XyChart) -> Option<RangeInclusive<f64>> {
    let levels: Vec<f64> = doc.curve.iter().map(|point| point.level.0).collect();
    let places: Vec<f64> = levels.iter().map(|&level| all.place(level)).collect();
    let crowd = crowd(&places)?;
    let crowd = [Some(levels[*crowd.start()]), Some(levels[*crowd.end()])];
    let [low, knee, high] =
        [doc.answer.low, doc.answer.knee, doc.answer.high].map(|end| end.map(|end| end.0));
    let around = |more: &[Option<f64>]| {
        let all = || crowd.iter().chain(more).flatten();
        all().copied().fold(f64::INFINITY, f64::min)..=all().copied().fold(0.0, f64::max)
    };
    let is_part = |near: &RangeInclusive<f64>| all.place(*near.end()) - all.place(*near.start()) < SHARE_MAX;
    let distinguishes = |near: &RangeInclusive<f64>| {
        let inside: Vec<_> = levels.iter().filter(|level| near.contains(level)).collect();
        let nearest = inside.windows(2).map(|two| two[1] - two[0]).fold(f64::INFINITY, f64::min);
        nearest >= APART_MIN * (near.end() - near.start())
    };
    let whole = around(&[low, knee, high]);
    if is_part(&whole) && distinguishes(&whole) {
        return Some(whole);
    }
    Some(around(&[knee])).filter(is_part)
}

/// The longest sequence of overlapping places.
fn crowd(places: &[f64]) -> Option<RangeInclusive<usize>> {
    let mut begin = 0;
    let mut most: Option<RangeInclusive<usize>> = None;
    for at in 0..places.len() {
        if at > 0 && places[at] - places[at - 1] >= APART_MIN {
            begin = at;
        }
        let is_more = most.as_ref().is_none_or(|most| at - begin > most.end() - most.start());
        if at - begin + 1 >= NEAR_MIN && is_more {
            most = Some(begin..=at);
        }
    }
    most
}

/// A chart of all levels, with markers at those that `marks` selects.
fn chart<'a>(page: &SearchPage<'a>, id: &'a str, title: &'a str, marks: &dyn Fn(f64) -> bool) -> XyChart<'a> {
    let doc = page.doc;
    let series = DRAWN.iter().map(|(name, _, of)| {
        let line: Vec<_> =
            doc.curve.iter().filter_map(|point| Some((point.level.0, of(point)?.as_nanos()))).collect();
        let marked = line.iter().filter(|(level, _)| marks(*level));
        let points = marked.map(|&(x, y)| CurvePoint { x, y, between: None }).collect();
        CurveSeries { name: (*name).to_owned(), points, line, tone: ColorRole::Next }
    });
    let is_rate = doc.unit == "per_s";
    XyChart {
        frame: Frame::new(id, title, chart_labels(page.words)).high(280),
        x_name: (page.own.of)(&doc.of),
        x: if is_rate { Unit::Rate } else { Unit::Count },
        // As in the table: neighbouring levels differ in their fourth digit.
        x_reported: Some(if is_rate {
            |level| level_text("rate", Number(level))
        } else {
            |level| format_grouped(level.max(0.0).round() as u64)
        }),
        y: Unit::Time,
        across: XAxis::Log,
        series: series.collect(),
        marked: marked(page),
        limits: doc.thresholds.iter().filter_map(|threshold| limit(threshold)).collect(),
    }
}

/// The knee and its interval.
fn marked(page: &SearchPage) -> Option<ReferenceValue> {
    let answer = &page.doc.answer;
    let is_proven = answer.low_proven && answer.high_proven;
    let confidence = is_proven.then(|| show_share(answer.confidence.0));
    Some(ReferenceValue {
        name: page.own.knee.to_owned(),
        key: (page.own.marked)(confidence.as_deref()),
        ends: [answer.low?.0, answer.knee?.0, answer.high?.0],
    })
}

/// The limit of a threshold on a percentile that is drawn.
fn limit(threshold: &str) -> Option<(String, f64)> {
    let condition = Condition::parse(threshold).ok()?;
    if condition.phase.is_some() || condition.window.is_some() {
        return None;
    }
    match (condition.subject, condition.value) {
        (Subject::Percentile(of, LatencyPart::Response, None), Value::Time(time)) => {
            let is_drawn = DRAWN.iter().any(|(_, drawn, _)| drawn.total_cmp(&of).is_eq());
            is_drawn.then_some((condition.text, time.0 as f64))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_upon_each_other_are_found() {
        let check = |places: &[f64], found: Option<RangeInclusive<usize>>| assert_eq!(crowd(places), found);
        check(&[], None);
        check(&[0.0, 0.5, 1.0], None);
        check(&[0.0, 0.5, 0.501, 1.0], None);
        check(&[0.0, 0.5, 0.501, 0.502, 1.0], Some(1..=3));
        check(&[0.0, 0.001, 0.002, 0.5, 0.501, 0.502, 0.503], Some(3..=6));
    }
}
