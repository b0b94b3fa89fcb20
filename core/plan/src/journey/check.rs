//! [`Check`]: what a step asks of its answer.

use serde::{Deserialize, Serialize};
use wavetank_units::Number;

use crate::{Op, Template};

/// One condition on an answer or on variables: of `check`, `count`, `if` and `while`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The check as the user wrote it, with white space folded; its name in reports.
    pub text: String,
    /// The part of the response to check.
    pub subject: CheckSubject,
    /// The expected value.
    pub test: Test,
}

/// The subject of a [`Check`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckSubject {
    /// Something of the answer: the grammar's FROM, such as `json $.sku`.
    Answer(String),
    /// A value of the session.
    Value(Template),
}

/// The test for a subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Test {
    /// Compared: one of the alternatives holds (`=`), or none of them equals (`!=`).
    Compare(Op, Vec<Operand>),
    /// Contains one of these texts.
    Contains(Vec<Template>),
    /// One of these regular expressions, each between slashes, is found in it.
    Matches(Vec<String>),
}

/// The operand of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Operand {
    /// A number with its kind.
    Number(Number, Quantity),
    /// From the first to the second, both included.
    Range(Number, Number, Quantity),
    /// A text, or a value of the session; compared as numbers if both sides are.
    Text(Template),
}

/// The unit of a number in a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quantity {
    /// No unit.
    Bare,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
}
