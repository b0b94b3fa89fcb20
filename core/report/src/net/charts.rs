//! Charts of a pair.

use maud::{Markup, PreEscaped, html};
use wavetank_record::NetPairDoc;

use crate::chart::{CurvePoint, CurveSeries, Frame, Unit, XAxis, XyChart};
use crate::html::{Language, chart_labels};

/// A chart of a pair, without its series.
struct Shape<'a> {
    id: &'a str,
    title: &'a str,
    x_name: &'a str,
    x: Unit,
    y: Unit,
    across: XAxis,
}

/// Charts of pair number `number`: throughput over time, the sweep of sizes, round-trip times.
pub(super) fn charts(pair: &NetPairDoc, number: usize) -> Markup {
    let name = |what: &str| format!("net-{what}-{number}");
    let [over_time, sizes, latency, round_trip] = ["tcp", "sizes", "latency", "rr"].map(name);
    let drawn = [
        draw(
            &Shape {
                id: &over_time,
                title: "TCP throughput over time",
                x_name: "seconds",
                x: Unit::Plain,
                y: Unit::BitRate,
                across: XAxis::FromZero,
            },
            throughput(pair),
        ),
        draw(
            &Shape {
                id: &sizes,
                title: "Throughput by size of message",
                x_name: "size of a message",
                x: Unit::Bytes,
                y: Unit::BitRate,
                across: XAxis::Log,
            },
            of_sizes(pair, "throughput", |point| point.bits_per_s.0),
        ),
        draw(
            &Shape {
                id: &latency,
                title: "Time of a message, one way",
                x_name: "size of a message",
                x: Unit::Bytes,
                y: Unit::Time,
                across: XAxis::Log,
            },
            of_sizes(pair, "latency", |point| point.latency_us.as_nanos()),
        ),
        draw(
            &Shape {
                id: &round_trip,
                title: "Share of round trips within a time",
                x_name: "round-trip time",
                x: Unit::Time,
                y: Unit::Share,
                across: XAxis::Log,
            },
            round_trips(pair),
        ),
    ];
    html! { @for chart in drawn.into_iter().flatten() { (PreEscaped(chart)) } }
}

fn draw(shape: &Shape<'_>, series: Vec<CurveSeries>) -> Option<String> {
    let words = chart_labels(Language::English.strings());
    let chart = XyChart {
        frame: Frame::new(shape.id, shape.title, words),
        x_name: shape.x_name,
        x: shape.x,
        x_reported: None,
        y: shape.y,
        across: shape.across,
        series,
        marked: None,
        limits: Vec::new(),
    };
    (!chart.series.is_empty()).then(|| chart.draw())
}

fn throughput(pair: &NetPairDoc) -> Vec<CurveSeries> {
    let alone = pair.tcp.iter().filter(|tcp| !tcp.both && !tcp.intervals.is_empty());
    let series = alone.map(|tcp| {
        let line = tcp.intervals.iter().enumerate();
        let middle = |at: usize| (at as f64 + 0.5) * tcp.interval_s.0;
        CurveSeries {
            name: format!("{}, {} streams", tcp.direction, tcp.streams),
            line: line.map(|(at, rate)| (middle(at), rate.0)).collect(),
            ..CurveSeries::default()
        }
    });
    series.collect()
}

fn of_sizes(
    pair: &NetPairDoc,
    name: &str,
    value: impl Fn(&wavetank_record::SizePointDoc) -> f64,
) -> Vec<CurveSeries> {
    let Some(sizes) = pair.sizes.as_ref().filter(|sizes| !sizes.points.is_empty()) else { return Vec::new() };
    let points: Vec<(f64, f64)> =
        sizes.points.iter().map(|point| (point.bytes as f64, value(point))).collect();
    let marked = points.iter().map(|&(x, y)| CurvePoint { x, y, between: None });
    vec![CurveSeries {
        name: name.to_owned(),
        points: marked.collect(),
        line: points.clone(),
        ..CurveSeries::default()
    }]
}

fn round_trips(pair: &NetPairDoc) -> Vec<CurveSeries> {
    let Some(rr) = pair.rr.as_ref().filter(|rr| rr.round_trip_us.count > 0) else { return Vec::new() };
    let times = &rr.round_trip_us;
    let mut below = 0;
    let line = times.buckets.iter().map(|(upper, count)| {
        below += count;
        (upper.as_nanos(), below as f64 / times.count as f64)
    });
    vec![CurveSeries { name: "round trips".to_owned(), line: line.collect(), ..CurveSeries::default() }]
}
