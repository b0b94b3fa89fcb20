//! JSON: the record as it is stored, one object on one line.

use wavetank_record::{CompareDoc, ErrorDoc, RunRecord};
use wavetank_units::UserError;

/// The `wavetank.run/1` object with a newline.
pub fn json(record: &RunRecord) -> String {
    record.to_json() + "\n"
}

/// The same with a comparison as its field `comparison`, so that stdout has a single object.
pub fn json_with_comparison(record: &RunRecord, comparison: &CompareDoc) -> String {
    let run = record.to_json();
    let open = run.strip_suffix('}').expect("an object ends with its brace");
    format!("{open},\"comparison\":{}}}\n", comparison.to_json())
}

/// The `wavetank.error/1` object with a newline, for a run that ended before anything was sent.
pub fn error_json(error: &UserError) -> String {
    ErrorDoc::from(error).to_json() + "\n"
}
