//! Thresholds and their results.

use wavetank_record::{RunRecord, Threshold};

use super::model::Section;
use super::page_text::PageText::Shared;
use super::table::{Column, Table};
use super::value::{Sign, Value};
use crate::threshold_state::{ThresholdState, measured_value, reason};

/// A threshold of a run.
type Claim<'a> = (&'a RunRecord, &'a Threshold);
type Col<'a> = Column<Claim<'a>>;

fn columns<'a>() -> [Col<'a>; 4] {
    [
        Col::text("condition", Shared(|w| w.columns.condition), |(_, threshold)| {
            Value::Condition(threshold.expr.clone(), threshold.implicit)
        }),
        Col::text("result", Shared(|w| w.columns.result), |(record, threshold)| {
            threshold_result(record, threshold)
        }),
        Col::number("value", Shared(|w| w.columns.found), |(record, threshold)| {
            Value::Number(measured_value(record, threshold))
        }),
        Col::text("why", Shared(|w| w.columns.why), |(record, threshold)| {
            Value::stored([reason(record, threshold).to_owned()])
        }),
    ]
}

/// The thresholds in their order. A terminal has the user's, and the implicit ones that did not
/// pass.
pub(crate) fn thresholds(record: &RunRecord) -> Section {
    let shown = record.thresholds.iter().filter(|one| !one.implicit || one.ok != Some(true));
    let entry = |one: &Threshold| {
        let implicit = if one.implicit { " (implicit)" } else { "" };
        let said = [measured_value(record, one), reason(record, one).to_owned()];
        let said = said.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        let colon = if said.is_empty() { "" } else { ": " };
        let state = ThresholdState::for_threshold(record, one).name();
        (state, format!("{}{implicit}{colon}{said}", one.expr))
    };
    let section = Section::of_table("Thresholds", threshold_table(record, &record.thresholds));
    Section { label: "thresholds", terminal_entries: shown.map(entry).collect(), ..section }
}

/// `shown`, which are thresholds of `record`.
pub(crate) fn threshold_table<'a>(
    record: &'a RunRecord,
    shown: impl IntoIterator<Item = &'a Threshold>,
) -> Table {
    let claims: Vec<Claim<'_>> = shown.into_iter().map(|threshold| (record, threshold)).collect();
    Table::new("", &columns(), &claims)
}

/// The result of `threshold`, one of `record`'s. A threshold that passed in an interrupted run
/// might have failed later; a run that sent nothing is not judged.
pub(crate) fn threshold_result(record: &RunRecord, threshold: &Threshold) -> Value {
    let state = ThresholdState::for_threshold(record, threshold);
    let (sign, text) = match state {
        ThresholdState::Held => (Sign::Good, Shared(|w| w.marks.held)),
        ThresholdState::HeldAsKnown => (Sign::Doubt, Shared(|w| w.marks.held_as_known)),
        ThresholdState::NotJudged => (Sign::Doubt, Shared(|w| w.marks.not_judged)),
        ThresholdState::Broken => (Sign::Bad, Shared(|w| w.marks.broken)),
        ThresholdState::Undecided => (Sign::Doubt, Shared(|w| w.marks.undecided)),
    };
    Value::Marked(sign, state.name(), text)
}
