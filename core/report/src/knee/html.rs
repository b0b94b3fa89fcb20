//! [`knee_html`]: a search as one HTML file that asks no network for anything.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use wavetank_plan::harmless;
use wavetank_record::{Number, SearchDoc, SearchPointDoc};

use super::text::{HEADINGS, cells, effort};
use super::words::limit;
use crate::chart::{CHART_CSS, ChartWords, Curve, CurvePoint, CurveSeries, Frame, Tone, Unit};
use crate::html::{POLICY, STYLE};

/// The percentiles drawn: name, and how a level has it.
type Drawn = (&'static str, fn(&SearchPointDoc) -> Option<Number>);
const DRAWN: [Drawn; 3] =
    [("p50", |point| point.p50_us), ("p95", |point| point.p95_us), ("p99", |point| point.p99_us)];

/// The answer, latency against load as a chart and as a table, and what was done.
pub fn knee_html(doc: &SearchDoc) -> String {
    let title = harmless(&doc.answer.headline);
    let page: Markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="robots" content="noindex";
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(CHART_CSS)) }
            }
            body {
                header { h1 { (title) } }
                main {
                    @if let Some(limit) = limit(doc) {
                        p { strong { "limit " } (harmless(&limit)) }
                    }
                    p { (harmless(&doc.target)) " · " (effort(doc)) }
                    section aria-labelledby="curve-title" {
                        h2 #curve-title { "Latency against load" }
                        (PreEscaped(chart(doc)))
                        (table(doc))
                    }
                    @if !doc.notes.is_empty() {
                        section aria-labelledby="notes-title" {
                            h2 #notes-title { "Notes" }
                            ul { @for note in &doc.notes { li { (harmless(note)) } } }
                        }
                    }
                    section aria-labelledby="again-title" {
                        h2 #again-title { "Do it again" }
                        pre { code { (harmless(&doc.command)) } }
                    }
                }
                footer { p { "wavetank " (harmless(&doc.version)) " · " (harmless(&doc.started_at)) } }
            }
        }
    };
    page.into_string()
}

fn chart(doc: &SearchDoc) -> String {
    let series = DRAWN.iter().map(|(name, of)| {
        let points: Vec<_> = doc
            .curve
            .iter()
            .filter_map(|point| Some((point.level.0, of(point)?.as_nanos())))
            .map(|(x, y)| CurvePoint { x, y, between: None })
            .collect();
        let line = points.iter().map(|point| (point.x, point.y)).collect();
        CurveSeries { name: (*name).to_owned(), points, line, tone: Tone::Next }
    });
    let ends = [doc.answer.low, doc.answer.knee, doc.answer.high];
    let marked = match ends {
        [Some(low), Some(knee), Some(high)] => Some(("knee".to_owned(), [low.0, knee.0, high.0])),
        _ => None,
    };
    let curve = Curve {
        frame: Frame::new("latency-load", "Response time by load", &ChartWords::EN).high(280),
        x_name: &doc.of,
        x: if doc.unit == "per_s" { Unit::Rate } else { Unit::Count },
        y: Unit::Time,
        x_log: true,
        series: series.collect(),
        marked,
        limits: Vec::new(),
    };
    curve.draw()
}

fn table(doc: &SearchDoc) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Latency against load" {
            table {
                caption { "Every level that was tried; each value is that of the run in the middle" }
                thead { tr {
                    th scope="col" { (doc.of) }
                    @for heading in HEADINGS { th scope="col" { (if heading.is_empty() { "where" } else { heading }) } }
                } }
                tbody { @for point in &doc.curve {
                    tr { @for (at, cell) in cells(doc, point).iter().enumerate() {
                        @if at == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                    } }
                } }
            }
        }
    }
}
