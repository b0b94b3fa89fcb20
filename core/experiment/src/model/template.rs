//! [`Template`]: text with `${…}` in it.

use crate::Span;

/// Text with holes, in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Parts in order; no two texts are adjacent.
    pub parts: Vec<Part>,
    /// Position of the whole text.
    pub place: Span,
}

impl Template {
    /// Text without holes.
    pub fn fixed(text: impl Into<String>, place: Span) -> Self {
        let text = text.into();
        Self { parts: if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] }, place }
    }

    /// The text, if it has no holes.
    pub fn as_fixed(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the only hole, if the template has no other part: then its value keeps its type.
    pub fn as_single_hole(&self) -> Option<&Part> {
        match self.parts.as_slice() {
            [Part::Text(_)] => None,
            [part] => Some(part),
            _ => None,
        }
    }

    /// Returns the text for output: holes as `${…}` with their content, secrets by their names.
    pub fn display_text(&self) -> String {
        self.parts.iter().map(Part::display_text).collect()
    }
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text as it is.
    Text(String),
    /// `${NAME}`: a variable of the file or of the session.
    Variable(String),
    /// `${DATA.column}`.
    Column {
        /// The name under `data`.
        data: String,
        /// The column.
        column: String,
    },
    /// `${count.NAME}`: what a `count` of that name has counted, known when all is quiet.
    Count(String),
    /// `${user}`: the user's number.
    User,
    /// `${session}`: the session's number.
    Session,
    /// `${secret:NAME}`: resolved at send, shown by its name only.
    Secret(String),
    /// A value that is new each time.
    Call(Function),
}

/// The functions of templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Function {
    /// A random UUID (RFC 9562 version 4).
    Uuid,
    /// A whole number, both ends included.
    Random(i64, i64),
    /// One of several, each as often.
    Pick(Vec<Template>),
    /// 0, 1, 2, …, each once in a run.
    Seq,
    /// Milliseconds since 1970.
    Now,
    /// RFC 4648 §4.
    Base64(Box<Template>),
    /// RFC 2104 with SHA-256, in lower-case hexadecimal.
    HmacSha256 {
        /// The key.
        key: Box<Template>,
        /// What is signed.
        message: Box<Template>,
    },
}

impl Part {
    fn display_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Variable(name) => format!("${{{name}}}"),
            Self::Column { data, column } => format!("${{{data}.{column}}}"),
            Self::Count(name) => format!("${{count.{name}}}"),
            Self::User => "${user}".to_owned(),
            Self::Session => "${session}".to_owned(),
            Self::Secret(name) => format!("${{secret:{name}}}"),
            Self::Call(function) => format!("${{{}}}", function.name()),
        }
    }
}

impl Function {
    /// Its name with parentheses.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Uuid => "uuid()",
            Self::Random(..) => "random()",
            Self::Pick(_) => "pick()",
            Self::Seq => "seq()",
            Self::Now => "now()",
            Self::Base64(_) => "base64()",
            Self::HmacSha256 { .. } => "hmac_sha256()",
        }
    }
}
