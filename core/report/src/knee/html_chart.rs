//! Latency against load as charts: all of it, and near the knee.

use std::ops::RangeInclusive;

use wavetank_plan::quantity::show_whole;
use wavetank_plan::{Condition, Part, Subject, Value};
use wavetank_record::{Number, SearchDoc, SearchPointDoc};

use super::html::Page;
use super::level_text;
use crate::chart::{Across, Curve, CurvePoint, CurveSeries, Frame, Tone, Unit};
use crate::html::chart_words;

/// The percentiles drawn: name, which it is, and how a level has it.
type Drawn = (&'static str, f64, fn(&SearchPointDoc) -> Option<Number>);
const DRAWN: [Drawn; 3] = [
    ("p50", 50.0, |point| point.p50_us),
    ("p95", 95.0, |point| point.p95_us),
    ("p99", 99.0, |point| point.p99_us),
];
/// So much narrower than all levels are those near the knee that have a chart of their own, on a logarithmic scale.
const NARROWER: f64 = 4.0;
/// Fewer levels are told apart among all others.
const NEAR_MIN: usize = 3;

/// All levels; those near the knee, which would lie upon each other there, in a chart of their own.
pub(super) fn charts(page: &Page) -> String {
    let near = near(page.doc);
    let all = chart(page, "latency-load", page.own.chart, &|level| {
        near.as_ref().is_none_or(|near| !near.contains(&level))
    });
    let Some(near) = near else { return all.draw() };
    let mut zoomed = chart(page, "latency-near", page.own.chart_near, &|level| near.contains(&level));
    zoomed.across = Across::Close;
    for series in &mut zoomed.series {
        series.line.retain(|(level, _)| near.contains(level));
    }
    all.draw() + &zoomed.draw()
}

/// From the lowest to the highest level of the random order and of the interval; `None` where one chart shows all.
fn near(doc: &SearchDoc) -> Option<RangeInclusive<f64>> {
    let ends = [doc.answer.low, doc.answer.high];
    let random = doc.curve.iter().filter(|point| point.chance.is_some()).map(|point| point.level);
    let span = |levels: &mut dyn Iterator<Item = Number>| {
        levels.fold((f64::INFINITY, 0.0_f64), |(low, high), level| (low.min(level.0), high.max(level.0)))
    };
    let (low, high) = span(&mut random.chain(ends.into_iter().flatten()));
    let (lowest, highest) = span(&mut doc.curve.iter().map(|point| point.level));
    let levels = doc.curve.iter().filter(|point| (low..=high).contains(&point.level.0)).count();
    let is_narrow = (highest / lowest).ln() > NARROWER * (high / low).ln();
    (levels >= NEAR_MIN && is_narrow).then_some(low..=high)
}

/// A chart of all levels, with markers at those that `marks` says.
fn chart<'a>(page: &Page<'a>, id: &'a str, title: &'a str, marks: &dyn Fn(f64) -> bool) -> Curve<'a> {
    let doc = page.doc;
    let series = DRAWN.iter().map(|(name, _, of)| {
        let line: Vec<_> =
            doc.curve.iter().filter_map(|point| Some((point.level.0, of(point)?.as_nanos()))).collect();
        let marked = line.iter().filter(|(level, _)| marks(*level));
        let points = marked.map(|&(x, y)| CurvePoint { x, y, between: None }).collect();
        CurveSeries { name: (*name).to_owned(), points, line, tone: Tone::Next }
    });
    let ends = [doc.answer.low, doc.answer.knee, doc.answer.high];
    let marked = match ends {
        [Some(low), Some(knee), Some(high)] => Some((page.own.knee.to_owned(), [low.0, knee.0, high.0])),
        _ => None,
    };
    let is_rate = doc.unit == "per_s";
    Curve {
        frame: Frame::new(id, title, chart_words(page.words)).high(280),
        x_name: (page.own.of)(&doc.of),
        x: if is_rate { Unit::Rate } else { Unit::Count },
        // As in the table: levels next to each other differ in their fourth digit.
        x_told: Some(if is_rate {
            |level| level_text("rate", Number(level))
        } else {
            |level| show_whole(level.max(0.0).round() as u64)
        }),
        y: Unit::Time,
        across: Across::Log,
        series: series.collect(),
        marked,
        limits: doc.thresholds.iter().filter_map(|threshold| limit(threshold)).collect(),
    }
}

/// The most that a condition allows to a percentile that is drawn.
fn limit(threshold: &str) -> Option<(String, f64)> {
    let condition = Condition::parse(threshold).ok()?;
    if condition.phase.is_some() || condition.window.is_some() {
        return None;
    }
    match (condition.subject, condition.value) {
        (Subject::Percentile(of, Part::Response, None), Value::Time(time)) => {
            let is_drawn = DRAWN.iter().any(|(_, drawn, _)| drawn.total_cmp(&of).is_eq());
            is_drawn.then_some((condition.text, time.0 as f64))
        }
        _ => None,
    }
}
