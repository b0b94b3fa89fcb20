//! Faults and pool changes during the load, and their effect on clients: bands in the charts, and a
//! table.

use maud::{Markup, html};
use wavetank_record::{ClientWindowDoc, ImpactDoc, ImpactOutcome, Number, Status};
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_request_rate, show_share};

use super::Section;
use super::page_context::{PageContext, outside_code, with_nonbreaking_units};
use super::table::{Cell, Table};
use crate::chart::Shade;
use crate::format;
use crate::section::PageText::Own;
use crate::section::{ImpactStrings, impacts, page_section};

/// Most bands drawn; more of them would hide the chart.
const BANDS_MAX: usize = 30;
/// Most events listed on the first page.
const MEANWHILE_MAX: usize = 3;
/// An event that is never reverted, or is reverted immediately, is a narrow band: one part in this
/// many of the axis.
const NARROWEST: i64 = 200;

/// Returns the stretches with a fault or pool change, for a time axis from one instant to another.
pub(super) fn bands(sheet: &PageContext, (from, until): (Nanos, Nanos)) -> Vec<Shade> {
    let instant = |at: Number| Nanos((at.0 * 1e9) as i64);
    let narrowest = Nanos(until.0.saturating_sub(from.0) / NARROWEST);
    let done = sheet.record().impacts.iter().filter(|impact| was_done(impact));
    let bands = done.map(|impact| {
        let begin = instant(impact.from_s);
        let end = impact.until_s.map_or(until, instant).max(begin.after(narrowest));
        Shade { from: begin, until: end.min(until), label: format!("{} {}", impact.what, impact.host) }
    });
    bands.filter(|band| band.from < until).take(BANDS_MAX).collect()
}

const fn was_done(impact: &ImpactDoc) -> bool {
    matches!(impact.outcome, ImpactOutcome::Done | ImpactOutcome::Undone | ImpactOutcome::Stuck)
}

/// Faults and pool changes during the load, in a line next to the verdict, because some readers see
/// the first page only. Empty if there were none.
pub(super) fn impact_summary(sheet: &PageContext) -> Markup {
    let words = ImpactStrings::for_language(sheet.language());
    let done: Vec<_> = sheet.record().impacts.iter().filter(|impact| was_done(impact)).collect();
    let when = |impact: &ImpactDoc| {
        let begin = format::seconds(impact.from_s);
        impact
            .until_s
            .map_or_else(|| (words.from)(&begin), |end| (words.from_to)(&begin, &format::seconds(end)))
    };
    html! {
        @if !done.is_empty() {
            p {
                (words.meanwhile) (sheet.words.page.colon)
                @for (number, impact) in done.iter().take(MEANWHILE_MAX).enumerate() {
                    @if number > 0 { ", " }
                    (outside_code(&format!("{} {}", impact.what, impact.host))) " (" (with_nonbreaking_units(&when(impact))) ")"
                }
                @if done.len() > MEANWHILE_MAX {
                    " " ((sheet.words.front.more_below)(&(done.len() - MEANWHILE_MAX).to_string()))
                }
                // It may be the cause of a threshold that failed during it.
                (words.stop) @if sheet.record().verdict.status != Status::Pass { (words.no_proof) }
            }
        }
    }
}

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let words = ImpactStrings::for_language(sheet.language());
    let text = |own| Own(own).in_language(sheet.language());
    let heads = [
        (text(["Event", "事件"]), false),
        (text(["Time", "时段"]), false),
        (sheet.words.columns.at, true),
        (text(["Outcome", "执行情况"]), false),
        (sheet.words.front.done_rate, true),
        (sheet.words.counts.failed, true),
        ("p50", true),
        ("p99", true),
        (text(["Connections lost", "断开的连接"]), true),
        (text(["Recovery", "恢复情况"]), false),
    ];
    let section = impacts(sheet.record());
    let mut table = Table::new(section.title.in_language(sheet.language()), &heads);
    for impact in &sheet.record().impacts {
        for row in rows(sheet, words, impact) {
            table.row(row);
        }
    }
    page_section(&section, sheet, &table.render(sheet))
}

/// A row for each known stretch of time; an event that was not executed has one row, too.
fn rows(sheet: &PageContext, words: &ImpactStrings, impact: &ImpactDoc) -> Vec<Vec<Cell>> {
    let stretches =
        [(words.before, &impact.before), (words.during, &impact.during), (words.after, &impact.after)];
    let known: Vec<_> = stretches.iter().filter_map(|&(name, seen)| Some((name, seen.as_ref()?))).collect();
    let mut rows: Vec<Vec<Cell>> = known.iter().map(|&(name, seen)| stretch(name, seen)).collect();
    if rows.is_empty() {
        rows.push((0..STRETCH_CELLS).map(|_| Cell::label("")).collect());
    }
    let last = rows.len() - 1;
    // The first cell names every row; values that apply to all rows are in the first row.
    let name = || Cell::Name(format!("{} {}", impact.what, impact.host));
    let head = |row: usize| {
        if row > 0 {
            return vec![name(), Cell::Number(String::new()), Cell::label("")];
        }
        let at = Cell::Number(format::seconds(impact.from_s));
        vec![name(), at, Cell::Any(outcome(sheet, words, impact))]
    };
    let end = |row: usize| if row == last { words.recovery(impact) } else { String::new() };
    let whole = rows.into_iter().enumerate().map(|(row, cells)| {
        // The stretch is next to the name, because on a phone the other columns are beyond the
        // edge.
        let (mut head, mut cells) = (head(row).into_iter(), cells.into_iter());
        let first = head.next().into_iter().chain(cells.next());
        first.chain(head).chain(cells).chain([Cell::label(&end(row))]).collect::<Vec<Cell>>()
    });
    whole.collect()
}

/// Cells of [`stretch`].
const STRETCH_CELLS: usize = 6;

fn stretch(name: &str, seen: &ClientWindowDoc) -> Vec<Cell> {
    let time = |time: Option<Number>| Cell::Number(time.map(format::time).unwrap_or_default());
    vec![
        Cell::Short(html! { (name) " (" (format::seconds(seen.seconds)) ")" }),
        Cell::Number(show_request_rate(seen.done_per_s.0)),
        Cell::Number(show_share(seen.failed_share.0)),
        time(seen.p50_us),
        time(seen.p99_us),
        Cell::Number(if seen.lost > 0 { format_grouped(seen.lost) } else { String::new() }),
    ]
}

fn outcome(sheet: &PageContext, words: &ImpactStrings, impact: &ImpactDoc) -> Markup {
    html! {
        (with_nonbreaking_units(&words.outcome(impact)))
        @if !impact.why.is_empty() { br; (sheet.stored(&impact.why)) }
    }
}
