//! Which thresholds a search can use.

use wavetank_plan::{Condition, Op, RequestCounter, Subject, Value};
use wavetank_units::{Code, UserError};

/// The error that no threshold defines the knee.
pub(crate) fn no_threshold(message: &str) -> UserError {
    let hint = "a search finds the highest load that meets its thresholds: --threshold 'p99 < 50ms'";
    UserError::usage(Code::ThresholdMissing, message, hint)
}

/// Refuses conditions that require much load. They fail at low levels, so no level would be the
/// highest one that passes.
pub(crate) fn check_searchable(conditions: &[Condition]) -> Result<(), UserError> {
    let asks_for_load = |condition: &&Condition| {
        let reaches = matches!(condition.op, Op::Greater | Op::GreaterEqual | Op::Equal);
        let of_load = matches!(
            condition.subject,
            Subject::Requests(RequestCounter::Offered | RequestCounter::Sent | RequestCounter::Done, _)
                | Subject::Opened
                | Subject::MessagesIn
                | Subject::MessagesOut
                | Subject::Users
                | Subject::InFlight
                | Subject::Held
        );
        reaches && of_load && matches!(condition.value, Value::PerSecond(x) | Value::Count(x) if x > 0.0)
    };
    match conditions.iter().find(asks_for_load) {
        Some(condition) => Err(UserError::usage(
            Code::ThresholdUnsearchable,
            format!(
                "`{}` requires load, and a search varies the load: low levels would fail it",
                condition.text
            ),
            "leave it out; use conditions that pass at low levels, such as p99 < 50ms or failed < 0.1%",
        )),
        None => Ok(()),
    }
}
