//! Connections: how many were opened, held and lost, and the parameters of their TLS handshakes.

use maud::{Markup, html};
use wavetank_measure::{TimeBucket, TimeSeries};
use wavetank_plan::{Load, Plan};
use wavetank_units::Nanos;
use wavetank_units::quantity::format_grouped;

use super::Section;
use super::figures::{
    Numbers, RowInstant, all, at_ends, complete_columns, end_of_last, figure, names, points,
};
use super::page_context::PageContext;
use crate::chart::{ColorRole, LineChart, LineStyle, Series, Unit};
use crate::section::{connections, handshakes, held_table, page_body, page_table};
use crate::threshold_state::was_killed;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let body = html! {
        @if record.connections.offered > 0 || record.connections.planned > 0 { (page_body(&connections(record), sheet)) }
        @if let Some(course) = sheet.source.course.filter(|course| course.columns.len() > 1) { (over_time(sheet, course)) }
        @if !record.held.is_empty() {
            h3 { (words.front.plateau) }
            (plateaus(sheet, true))
            @if record.held.iter().any(|held| held.kernel.is_some()) { p.aside { (words.connections.kernel_means) } }
        }
        @if let Some(tls) = &record.tls { h3 { (words.connections.tls) } (page_body(&handshakes(tls), sheet)) }
    };
    let known = was_killed(record);
    let lead = if known { words.leads.connections_known } else { words.leads.connections };
    Section::new("connections", words.titles.connections, lead, body)
}

/// The phases with a constant number of connections. The kernel's count, which needs explaining, is
/// shown only `in_full`.
pub(crate) fn plateaus(sheet: &PageContext, in_full: bool) -> Markup {
    let name = sheet.words.front.plateau;
    let name = if in_full { name.to_owned() } else { (sheet.words.page.in_short)(name) };
    page_table(&held_table(sheet.record(), in_full), sheet, &name)
}

fn over_time(sheet: &PageContext, course: &TimeSeries) -> Markup {
    let words = &sheet.words.charts;
    let columns = &all(course);
    let wanted = |column: &TimeBucket| sheet.source.plan.and_then(|plan| planned(plan, end_of_last(column)));
    // The gauge is sampled at the end of a second, which shows almost none of the connections that
    // live for one request. Seconds without any connection say nothing about how long they live.
    let stand = columns.iter().filter(|column| column.conns.open > 0).count();
    let had = columns.iter().filter(|column| column.conns.open > 0 || column.conns.opened > 0).count();
    let are_held = stand > 0 && stand * 2 >= had || columns.iter().any(|column| wanted(column).is_some());
    let held = if are_held { open_connection_lines(sheet, course, "held").draw() } else { String::new() };
    // All connections may be opened and closed in columns too short to be drawn.
    let moved = complete_columns(columns).iter().any(|column| {
        let conns = &column.conns;
        conns.opened + conns.closed + conns.lost + conns.failed > 0
    });
    let has_rates = moved || held.is_empty();
    let svg = if has_rates { held + &comings(sheet, course).draw() } else { held };
    let rows = columns.iter().map(|column| {
        let conns = &column.conns;
        let counts = [conns.open, conns.opened, conns.closed, conns.lost, conns.failed].map(format_grouped);
        let wanted = wanted(column).map(format_grouped).unwrap_or_default();
        (column.from, [wanted].into_iter().chain(counts).collect())
    });
    let heads = names(&[
        words.planned,
        words.open,
        words.opened,
        words.closed,
        words.lost,
        sheet.words.connections.failed,
    ]);
    let title = if are_held { words.held } else { words.comings };
    let numbers = Numbers { title, heads, rows: rows.collect(), instant: RowInstant::From, note: "" };
    let (drawn, peak) = (complete_columns(columns), sheet.record().connections.peak);
    let left_over = |of: fn(&TimeBucket) -> u64| {
        let sum = |columns: &[&TimeBucket]| columns.iter().map(|column| of(column)).sum::<u64>();
        sum(columns) - sum(&drawn)
    };
    let [opened, closed] = [left_over(|column| column.conns.opened), left_over(|column| column.conns.closed)];
    html! {
        (figure(sheet, &svg, &numbers))
        @if are_held && columns.iter().all(|column| column.conns.open < peak) {
            p.aside { ((words.open_between)(&format_grouped(peak))) }
        }
        @if has_rates && opened + closed > 0 { p.aside { ((words.not_drawn)(&format_grouped(opened), &format_grouped(closed))) } }
    }
}

/// Open connections, and how many the plan holds.
pub(crate) fn open_connection_lines<'a>(
    sheet: &PageContext,
    course: &TimeSeries,
    id: &'a str,
) -> LineChart<'a> {
    let words = &sheet.words.charts;
    let columns = &all(course);
    let wanted = |column: &TimeBucket| sheet.source.plan.and_then(|plan| planned(plan, end_of_last(column)));
    let plan: Vec<_> =
        columns.iter().map(|column| (column.end(), wanted(column).map(|n| n as f64))).collect();
    let mut series = Vec::new();
    if plan.iter().any(|point| point.1.is_some()) {
        series.push(Series { form: LineStyle::AtEnds, ..Series::plan(words.planned, plan) });
    }
    let open = Series::line(words.open, at_ends(columns, |column| column.conns.open as f64));
    series.push(Series { form: LineStyle::AtEnds, ..open.with_color(ColorRole::Of(0)) });
    let (frame, timeline) = (sheet.frame(id, words.held).high(140), sheet.timeline(course));
    LineChart { frame, timeline, unit: Unit::Count, series, limits: Vec::new() }
}

/// Target number of connections of hold phases at `at`; `None` without such phases.
fn planned(plan: &Plan, at: Nanos) -> Option<u64> {
    let holds = || plan.phases.iter().filter(|phase| matches!(phase.load, Load::Hold { .. }));
    holds().next()?;
    Some(holds().filter_map(|phase| phase.users_at(at)).sum())
}

fn comings(sheet: &PageContext, course: &TimeSeries) -> LineChart<'static> {
    let words = &sheet.words.charts;
    let rate =
        |of: fn(&TimeBucket) -> u64| points(&all(course), move |column| Some(column.per_s(of(column))));
    let mut series = vec![
        Series::line(words.opened, rate(|column| column.conns.opened)).with_color(ColorRole::Of(0)),
        Series::line(words.closed, rate(|column| column.conns.closed)).with_color(ColorRole::Of(2)),
    ];
    if course.columns.iter().any(|column| column.conns.failed > 0) {
        let failed = rate(|column| column.conns.failed);
        series.push(Series::line(sheet.words.connections.failed, failed).with_color(ColorRole::Warn));
    }
    if course.columns.iter().any(|column| column.conns.lost > 0) {
        series.push(Series::line(words.lost, rate(|column| column.conns.lost)).with_color(ColorRole::Bad));
    }
    let (frame, timeline) = (sheet.frame("comings", words.comings).high(120), sheet.timeline(course));
    LineChart { frame, timeline, unit: Unit::Rate, series, limits: Vec::new() }
}
