//! Thresholds and their results, failed ones first.

use maud::Markup;
use wavetank_record::{RunRecord, Threshold};

use super::Section;
use super::page_context::PageContext;
use crate::section::{page_mark, page_table, threshold_result, threshold_table};

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
    let words = sheet.words;
    let table = threshold_table(sheet.record(), ordered(sheet.record()));
    let body = page_table(&table, sheet, words.titles.thresholds);
    Section::new("conditions", words.titles.thresholds, words.leads.thresholds, body)
}

/// The result of a threshold as a mark.
pub(super) fn result_mark(sheet: &PageContext, threshold: &Threshold) -> Markup {
    page_mark(&threshold_result(sheet.record(), threshold), sheet)
}
