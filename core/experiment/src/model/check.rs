//! [`Check`]: a condition on an answer or on variables.

use wavetank_plan::Nanos;

use super::Template;
use crate::Span;

/// `SUBJECT OP VALUE [or VALUE …]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The text as written, with white space folded.
    pub text: String,
    /// Position in the file.
    pub place: Span,
    /// What is looked at.
    pub subject: CheckSubject,
    /// How it is compared.
    pub op: CheckOp,
    /// With what: one of them is enough; for `!=` it is none of them.
    pub expected: Vec<Alternative>,
}

/// The left-hand side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckSubject {
    /// A part of the answer.
    Answer(AnswerSource),
    /// `${VAR}` and its like.
    Value(Template),
}

/// The part of a response to use (FROM).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerSource {
    /// `status`: the status code.
    Status,
    /// `time`: the response time.
    Time,
    /// `size`: bytes of the body, decoded.
    Size,
    /// `body`.
    Body,
    /// `header NAME`.
    Header(String),
    /// `cookie NAME`: a cookie the answer sets.
    Cookie(String),
    /// `json PATH` (RFC 9535).
    Json(String),
    /// `xml XPATH`.
    Xml(String),
    /// `css SELECTOR` or `css SELECTOR@ATTR`.
    Css {
        /// The selector.
        selector: String,
        /// The attribute; without one it is the element's text.
        attribute: Option<String>,
    },
    /// `regex /RE/`: its first group, or the whole match. The text includes slashes and flags.
    Regex(String),
}

impl AnswerSource {
    /// As `wavetank_journey::extract::Extractor` reads it.
    pub fn text(&self) -> String {
        match self {
            Self::Status => "status".to_owned(),
            Self::Time => "time".to_owned(),
            Self::Size => "size".to_owned(),
            Self::Body => "body".to_owned(),
            Self::Header(name) => format!("header {name}"),
            Self::Cookie(name) => format!("cookie {name}"),
            Self::Json(path) => format!("json {path}"),
            Self::Xml(path) => format!("xml {path}"),
            Self::Css { selector, attribute: None } => format!("css {selector}"),
            Self::Css { selector, attribute: Some(attribute) } => format!("css {selector}@{attribute}"),
            Self::Regex(pattern) => format!("regex {pattern}"),
        }
    }
}

/// The comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOp {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `contains`
    Contains,
    /// `matches`: a regular expression is found in it.
    Matches,
}

/// One alternative of the right-hand side.
#[derive(Clone, Debug, PartialEq)]
pub enum Alternative {
    /// One value.
    One(Operand),
    /// `A to B`, both included.
    Range(Operand, Operand),
}

/// A value to compare with, in the subject's unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// Of `status`.
    Code(u16),
    /// Of `time`.
    Time(Nanos),
    /// Of `size`, in bytes.
    Size(u64),
    /// A number.
    Number(f64),
    /// Text; compared as numbers if both sides are.
    Text(Template),
    /// Of `matches`: between slashes, flags behind them.
    Regex(String),
}
