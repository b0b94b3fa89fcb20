//! [`Check`]: a condition on a response or on variables.

use wavetank_grammar::Span;
use wavetank_units::{Nanos, Number};

use super::Template;

/// `SUBJECT OP VALUE [or VALUE …]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The text as written, with white space folded.
    pub text: String,
    /// Position in the file.
    pub place: Span,
    /// The left-hand side.
    pub subject: CheckSubject,
    /// The comparison.
    pub op: CheckOp,
    /// The right-hand side: one alternative suffices; with `!=` none may be equal.
    pub expected: Vec<Alternative>,
}

/// The left-hand side of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckSubject {
    /// A part of the response.
    Answer(AnswerSource),
    /// A template such as `${VAR}`.
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
    /// `cookie NAME`: a cookie that the response sets.
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
    /// Returns the text that `wavetank_journey::extract::Extractor` parses.
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
    /// `matches`: the regular expression matches a part of it.
    Matches,
}

/// One alternative of the right-hand side.
#[derive(Clone, Debug, PartialEq)]
pub enum Alternative {
    /// One value.
    One(Operand),
    /// A range `A to B`, both ends included.
    Range(Operand, Operand),
}

/// A value to compare with, in the subject's unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A status code.
    Code(u16),
    /// A time.
    Time(Nanos),
    /// A size in bytes.
    Size(u64),
    /// A number.
    Number(Number),
    /// Text; compared as numbers if both sides are.
    Text(Template),
    /// A regular expression for `matches`, between slashes and followed by its flags.
    Regex(String),
}
