//! [`Check`]: what a step asks of its answer, and [`AnswerPart`]: where in an answer something stands.

use crate::{Op, Template};

/// One condition on an answer or on variables: of `check`, `count`, `if` and `while`.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The user's words, white space folded: its name in reports.
    pub text: String,
    /// What is looked at.
    pub subject: Tested,
    /// What it must be.
    pub test: Test,
}

/// The subject of a [`Check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tested {
    /// Something of the answer.
    Answer(AnswerPart),
    /// A value of the session.
    Value(Template),
}

/// What a subject must be.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Compared: one of the alternatives holds (`=`), or none of them equals (`!=`).
    Compare(Op, Vec<Operand>),
    /// Contains one of these texts.
    Contains(Vec<Template>),
    /// One of these regular expressions is found in it.
    Matches(Vec<String>),
}

/// What a subject is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A number with its kind.
    Number(f64, Quantity),
    /// From the first to the second, both included.
    Range(f64, f64, Quantity),
    /// A text, or a value of the session; compared as numbers if both sides are.
    Text(Template),
}

/// What a number in a check counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nothing in particular.
    Bare,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
}

/// Where in an answer something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerPart {
    /// The status code.
    Status,
    /// The response time.
    Time,
    /// Bytes of the body, decoded.
    Size,
    /// The body.
    Body,
    /// The value of a header; the first of several.
    Header(String),
    /// The value of a cookie that the answer sets.
    Cookie(String),
    /// RFC 9535.
    Json(String),
    /// `XPath` 1.0.
    Xml(String),
    /// A CSS selector, and the attribute whose value is taken (otherwise the text).
    Css {
        /// The selector.
        selector: String,
        /// The attribute.
        attribute: Option<String>,
    },
    /// A regular expression; its first group, or all of it.
    Regex(String),
}

impl AnswerPart {
    /// Whether the body must be kept to find it.
    pub const fn needs_body(&self) -> bool {
        matches!(self, Self::Body | Self::Json(_) | Self::Xml(_) | Self::Css { .. } | Self::Regex(_))
    }

    /// Whether the head's fields must be kept to find it.
    pub const fn needs_head(&self) -> bool {
        matches!(self, Self::Header(_) | Self::Cookie(_))
    }
}
