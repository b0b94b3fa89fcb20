//! Notable requests: the first failures of each kind and the slowest responses.

use maud::{Markup, html};
use wavetank_measure::ErrorClass;
use wavetank_record::{Number, RunRecord, SampleLine};
use wavetank_units::status_text;

use super::Section;
use super::language::Language;
use super::page_context::{PageContext, harmless, instant};
use super::table::{Cell, Table};
use crate::examples::is_of_warmup;
use crate::format::{self, cut};
use crate::translate::{Piece, translate};

/// The slowest responses that are printed: the number of rows that the style keeps on paper.
const ON_PAPER_MAX: usize = 10;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let failed: Vec<_> = record.samples.iter().filter(|sample| sample.kind != "slow").collect();
    let mut slow: Vec<_> = record.samples.iter().filter(|sample| sample.kind == "slow").collect();
    slow.sort_by(|a, b| b.total_us.0.total_cmp(&a.total_us.0));
    let body = html! {
        @if !failed.is_empty() { h3 { (words.journeys.first_failures) } (failures(sheet, &failed)) }
        @if !slow.is_empty() { div.slowest {
            h3 { (words.journeys.slowest) }
            @if slow.len() > ON_PAPER_MAX {
                p.aside.paper { ((words.journeys.slowest_on_paper)(&ON_PAPER_MAX.to_string(), &slow.len().to_string())) }
            }
            (slowest(sheet, &slow))
        } }
    };
    Section::new("examples", words.titles.examples, words.leads.examples, body)
}

fn failures(sheet: &PageContext, samples: &[&SampleLine]) -> Markup {
    let columns = &sheet.words.columns;
    let heads = [
        (columns.step, false),
        (columns.at, true),
        (columns.time, true),
        (columns.error, false),
        (columns.status, true),
        (columns.address, false),
        (columns.detail, false),
    ];
    let mut table = Table::new(sheet.words.journeys.first_failures, &heads);
    for sample in samples {
        table.row(vec![
            Cell::Name(sample.step.clone()),
            when(sheet, sample),
            Cell::Number(format::time(sample.total_us)),
            Cell::Name(sample.class.clone()),
            Cell::Number(sample.status.map(status_text).unwrap_or_default()),
            Cell::Name(sample.address.clone()),
            detail(sheet, sample),
        ]);
    }
    table.render(sheet)
}

/// The exact failure. Our own text is in the page's language if it is translated; text from outside
/// is added unchanged.
fn detail(sheet: &PageContext, sample: &SampleLine) -> Cell {
    let stored = &sample.detail;
    if let Some((check, found)) = found_instead(sheet.record(), sample) {
        return Cell::Name((sheet.words.journeys.found_instead)(check, found));
    }
    match sheet.language() {
        Language::English => Cell::Name(stored.clone()),
        // Text from outside may be part of a sentence of ours. Nothing in it is formatted as code
        // or as a number with its unit.
        Language::Chinese => Cell::Reported(html! {
            @for piece in translate(&harmless(stored)) { @match piece {
                Piece::Own(text) => { (cut(&text)) }
                Piece::Stored(text) => { span lang="en" { (cut(&text)) } }
            } }
        }),
    }
}

/// Returns the check that `sample` failed, and the value it found. Only checks are parsed, because
/// text of another program may look alike.
fn found_instead<'a>(record: &'a RunRecord, sample: &'a SampleLine) -> Option<(&'a str, &'a str)> {
    if sample.class != ErrorClass::Check.name() {
        return None;
    }
    let found = |check: &str| sample.detail.strip_prefix(check)?.strip_prefix(": found ");
    record.checks.iter().find_map(|check| Some((check.name.as_str(), found(&check.name)?)))
}

/// The intended start of a request, and whether it was in a warm-up, which may run in parallel to
/// the load.
fn when(sheet: &PageContext, sample: &SampleLine) -> Cell {
    let alongside = sample.intended_ns >= 0 && is_of_warmup(sheet.record(), sample);
    let (open, close) = sheet.words.page.brackets;
    let at = instant(sample.intended_ns);
    Cell::Number(if alongside { format!("{at}{open}{}{close}", sheet.words.counts.warmup) } else { at })
}

fn slowest(sheet: &PageContext, samples: &[&SampleLine]) -> Markup {
    let (columns, times) = (&sheet.words.columns, &sheet.words.times);
    let heads = [
        (columns.step, false),
        (columns.at, true),
        (times.response, true),
        (times.lag, true),
        (times.wait, true),
        (times.ttfb, true),
        (columns.status, true),
        (columns.address, false),
    ];
    let mut table = Table::new(sheet.words.journeys.slowest, &heads);
    let time = |us: Option<Number>| Cell::Number(us.map_or_else(|| "–".to_owned(), format::time));
    for sample in samples {
        table.row(vec![
            Cell::Name(sample.step.clone()),
            when(sheet, sample),
            time(Some(sample.total_us)),
            time(Some(sample.lag_us)),
            time(sample.wait_us),
            time(sample.ttfb_us),
            Cell::Number(sample.status.map(status_text).unwrap_or_default()),
            Cell::Name(sample.address.clone()),
        ]);
    }
    table.render(sheet)
}
