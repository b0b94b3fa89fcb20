//! Conditions that say the opposite of the intended one.

use wavetank_grammar::{Diagnostic, Diagnostics, Spanned};
use wavetank_plan::{Condition, Op, RequestCounter, Subject};
use wavetank_units::Code;

use crate::model::Experiment;

pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    for condition in &experiment.thresholds {
        if let Some(turned) = turned(&condition.value, bad_when_high, Op::Greater, Op::GreaterEqual) {
            let message = format!("`{}`: a threshold says what must be true", condition.value.text);
            let hint = format!("{turned}? (stop conditions say what must not be true)");
            out.push(Diagnostic::warning(Code::ThresholdSense, condition.place, message, hint));
        }
        if let Some(turned) = turned(&condition.value, good_when_high, Op::Less, Op::LessEqual) {
            let message = format!("`{}`: a threshold says what must be true", condition.value.text);
            out.push(Diagnostic::warning(
                Code::ThresholdSense,
                condition.place,
                message,
                format!("{turned}?"),
            ));
        }
    }
    for condition in &experiment.stop {
        if let Some(turned) = turned(&condition.value, bad_when_high, Op::Less, Op::LessEqual) {
            let message =
                format!("`{}`: a stop condition ends the run when it becomes true", condition.value.text);
            let hint = format!("{turned}? (thresholds say what must be true)");
            out.push(Diagnostic::warning(Code::StopSense, condition.place, message, hint));
        }
        twice(experiment, condition, out);
    }
}

/// Reports a condition that is both a threshold and a stop condition, which is a contradiction.
fn twice(experiment: &Experiment, condition: &Spanned<Condition>, out: &mut Diagnostics) {
    if experiment.thresholds.iter().any(|threshold| threshold.value.text == condition.value.text) {
        let message =
            format!("`{}` must be true, but also ends the run when it is true", condition.value.text);
        out.push(Diagnostic::error(Code::ConditionBoth, condition.place, message, "invert one of the two"));
    }
}

/// Returns the inverted condition if its comparison is one of the two and `about` accepts its
/// subject.
fn turned(condition: &Condition, about: fn(&Subject) -> bool, one: Op, other: Op) -> Option<String> {
    let against = match condition.op {
        Op::Greater => Op::Less,
        Op::GreaterEqual => Op::LessEqual,
        Op::Less => Op::Greater,
        Op::LessEqual => Op::GreaterEqual,
        Op::Equal | Op::NotEqual => return None,
    };
    let fits = (condition.op == one || condition.op == other) && about(&condition.subject);
    let (from, to) = (format!(" {} ", condition.op.as_str()), format!(" {} ", against.as_str()));
    fits.then(|| condition.text.replacen(&from, &to, 1))
}

fn bad_when_high(subject: &Subject) -> bool {
    matches!(
        subject,
        Subject::Percentile(..)
            | Subject::Mean(..)
            | Subject::Max(..)
            | Subject::Errors(_)
            | Subject::ConnectionsFailed
            | Subject::Lost
            | Subject::PingsLost
            | Subject::Skew(_)
            | Subject::Check(_)
            | Subject::Requests(RequestCounter::Failed | RequestCounter::Late | RequestCounter::Dropped, _)
    )
}

fn good_when_high(subject: &Subject) -> bool {
    matches!(subject, Subject::Held | Subject::Requests(RequestCounter::Done, _))
}
