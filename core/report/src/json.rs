//! JSON: the record as it is stored, one object on one line.

use wavetank_plan::UserError;
use wavetank_record::{ErrorDoc, RunRecord};

/// The `wavetank.run/1` object with a newline.
pub fn json(record: &RunRecord) -> String {
    record.to_json() + "\n"
}

/// The `wavetank.error/1` object with a newline, for what ended before anything was sent.
pub fn error_json(error: &UserError) -> String {
    ErrorDoc::from(error).to_json() + "\n"
}
