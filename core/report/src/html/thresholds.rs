//! Thresholds and their results, failed ones first.

use maud::html;
use wavetank_record::{RunRecord, Threshold};

use super::Section;
use super::badges::threshold_result;
use super::page_context::{PageContext, isolate_untrusted};
use super::table::{Cell, Table};
use crate::threshold_state::{measured_value, reason};

/// The thresholds of `record`: failed ones, undecided ones, and those that passed.
pub(super) fn ordered(record: &RunRecord) -> Vec<&Threshold> {
    let rank = |one: &&Threshold| match one.ok {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    };
    let mut ordered: Vec<_> = record.thresholds.iter().collect();
    ordered.sort_by_key(|one| (rank(one), one.implicit));
    ordered
}

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (words, columns) = (sheet.words, &sheet.words.columns);
    let (open, close) = words.page.brackets;
    let heads =
        [(columns.condition, false), (columns.result, false), (columns.found, true), (columns.why, false)];
    let mut table = Table::new(words.titles.thresholds, &heads);
    for one in ordered(sheet.record()) {
        let condition = html! {
            code { (isolate_untrusted(&one.expr)) }
            @if one.implicit { small { (open) (words.marks.implicit) (close) } }
        };
        table.row(vec![
            Cell::Any(condition),
            Cell::Any(threshold_result(sheet, one)),
            Cell::Number(measured_value(sheet.record(), one)),
            Cell::Any(sheet.stored(reason(sheet.record(), one))),
        ]);
    }
    Section::new("conditions", words.titles.thresholds, words.leads.thresholds, table.render(sheet))
}
