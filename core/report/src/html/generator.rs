//! Whether the generator's numbers can be trusted.

use maud::{Markup, html};
use wavetank_measure::{Histogram, TimeBucket, TimeSeries};
use wavetank_plan::constants::THREAD_FULL_SHARE;
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_share, show_size};

use super::Section;
use super::figures::{
    Numbers, RowInstant, all, complete_columns, figure, late_note, names, points, sampled_columns,
};
use super::page_context::{PageContext, isolate_untrusted};
use super::table::facts;
use crate::chart::{ColorRole, LineChart, Series, Unit};
use crate::format::{self, count_with_share};

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let (own, generator) = (&words.generator, &record.generator);
    let cpu = generator.cpu_user_s.0 + generator.cpu_system_s.0;
    let over_s = format::cpu_over_s(record);
    let of_cpu = (cpu > 0.0 && over_s > 0.0).then(|| {
        let cpus = format!("{:.2}", cpu / over_s);
        (own.cpu_of)(&cpus, &format!("{cpu:.2} s"))
    });
    let lag = record.lag_us.spread.as_ref().map(|lag| {
        let p99 = sheet.percentile(lag, "p99");
        // Sent requests only, as in the chart below.
        let of_sent = || lag.percentile("p99").map(|p99| (words.times.of_sent)(&format::time(p99)));
        if lag.is_unknown("p99") { of_sent().unwrap_or(p99) } else { p99 }
    });
    let late = (record.requests.offered > 0)
        .then(|| count_with_share(record.requests.late, record.requests.offered));
    let memory = (generator.peak_rss_bytes > 0).then(|| show_size(generator.peak_rss_bytes));
    let busiest = (generator.busiest_thread.0 > 0.0).then(|| show_share(generator.busiest_thread.0));
    let threads = (generator.threads > 0).then(|| generator.threads.to_string());
    let each = generator.connection_memory.map(|memory| {
        (own.per_connection_of)(&show_size(memory.bytes_per_connection), &format_grouped(memory.connections))
    });
    let body = facts(vec![
        (own.busiest, html! { (busiest.unwrap_or_default()) }),
        (own.lag_p99, html! { (lag.unwrap_or_default()) }),
        (own.late_share, html! { (late.unwrap_or_default()) }),
        (own.cpu, html! { (of_cpu.unwrap_or_default()) }),
        (own.memory, html! { (memory.unwrap_or_default()) }),
        (own.per_connection, html! { (each.unwrap_or_default()) }),
        (own.threads, html! { (threads.unwrap_or_default()) }),
        (own.engine, html! { @if !generator.engine.is_empty() { (isolate_untrusted(&generator.engine)) } }),
    ]);
    let course = sheet.source.course.filter(|course| course.columns.len() > 1);
    let body = html! {
        (body)
        @if record.load.model == "closed" && record.requests.sent > 0 { p.aside { (own.lag_closed) } }
        @if let Some(course) = course { (busy_share(sheet, course)) (lags(sheet, course)) }
    };
    Section::new("generator", words.titles.generator, words.leads.generator, body)
}

/// Utilisation of the load threads, with the share from which on they are the bottleneck.
fn busy_share(sheet: &PageContext, course: &TimeSeries) -> Markup {
    let words = &sheet.words.charts;
    let columns = &all(course);
    let series = vec![
        Series::line(words.busy_max, points(columns, |column| Some(column.busy_max)))
            .with_color(ColorRole::Of(1)),
        Series::line(words.busy_mean, points(columns, |column| Some(column.busy_mean())))
            .with_color(ColorRole::Of(0)),
    ];
    let svg = LineChart {
        frame: sheet.frame("busy", words.busy).high(120),
        timeline: sheet.timeline(course),
        unit: Unit::Share,
        series,
        limits: vec![(words.busy_limit.to_owned(), THREAD_FULL_SHARE)],
    }
    .draw();
    let drawn: Vec<Nanos> = complete_columns(columns).iter().map(|column| column.from).collect();
    let rows = columns.iter().map(|column| {
        let cpus = if column.len.0 > 0 { column.cpu_ns as f64 / column.len.0 as f64 } else { 0.0 };
        let of_turns = |n: u64| show_share(n as f64 / column.turns.max(1) as f64);
        // The short rest at both ends has too few turns for a share.
        if !drawn.contains(&column.from) {
            return (column.from, vec!["–".to_owned(); 5]);
        }
        let cells = vec![
            show_share(column.busy_max),
            show_share(column.busy_mean()),
            format!("{cpus:.2}"),
            of_turns(column.stalled_turns),
            of_turns(column.starved_turns),
        ];
        (column.from, cells)
    });
    let heads = names(&[words.busy_max, words.busy_mean, words.cpu, words.stalled, words.starved]);
    figure(
        sheet,
        &svg,
        &Numbers { title: words.busy, heads, rows: rows.collect(), instant: RowInstant::From, note: "" },
    )
}

/// Lag of the started requests.
fn lags(sheet: &PageContext, course: &TimeSeries) -> Markup {
    let words = &sheet.words.charts;
    if course.lag.is_empty() {
        return html! {};
    }
    let columns = &sampled_columns(course);
    let at = |q: f64| points(columns, move |column| column.lag.percentile(q).map(|ns| ns as f64));
    let is_sure = |column: &TimeBucket, q| !column.lag.is_uncertain(q);
    let sure = |q: f64| {
        points(columns, move |column| {
            column.lag.percentile(q).filter(|_| is_sure(column, q)).map(|ns| ns as f64)
        })
    };
    let line = |name, q| Series::line(name, at(q)).with_certain(sure(q));
    let series = vec![
        line(words.lag_p99, 99.0).with_color(ColorRole::Of(1)),
        line(words.lag_p50, 50.0).with_color(ColorRole::Of(0)),
    ];
    let (frame, timeline) = (sheet.frame("lag", words.lag).high(120), sheet.timeline(course));
    let svg = LineChart { frame, timeline, unit: Unit::Time, series, limits: Vec::new() }.draw();
    let time = |ns: Option<u64>| ns.map(|ns| Nanos(ns as i64).to_string()).unwrap_or_default();
    let sign = |lag: &Histogram, q| if lag.is_uncertain(q) && !lag.is_empty() { "~" } else { "" };
    let rows =
        columns.iter().filter(|column| !column.lag.is_empty() || column.counters.late > 0).map(|column| {
            let of = |q| format!("{}{}", sign(&column.lag, q), time(column.lag.percentile(q)));
            let most = (!column.lag.is_empty()).then(|| column.lag.max());
            (column.from, vec![of(50.0), of(99.0), time(most), format_grouped(column.counters.late)])
        });
    let heads = names(&[words.lag_p50, words.lag_p99, sheet.words.columns.max, sheet.words.counts.late]);
    let numbers = Numbers {
        title: words.lag,
        heads,
        rows: rows.collect(),
        instant: RowInstant::From,
        note: late_note(sheet, course),
    };
    html! {
        (figure(sheet, &svg, &numbers))
        @if sheet.record().requests.dropped > 0 { p.aside { (sheet.words.times.lag_of_sent) } }
    }
}
