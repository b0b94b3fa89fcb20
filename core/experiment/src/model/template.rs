//! [`Template`]: text with `${…}`.

use wavetank_grammar::Span;

/// Text with holes, as parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Parts in order; no two texts are adjacent.
    pub parts: Vec<Part>,
    /// Position of the whole text.
    pub place: Span,
}

impl Template {
    /// Returns a template without holes.
    pub fn fixed(text: impl Into<String>, place: Span) -> Self {
        let text = text.into();
        Self { parts: if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] }, place }
    }

    /// Returns the text if it has no holes.
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
    /// Literal text.
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
    /// `${count.NAME}`: the number of responses counted by `count` of that name. It is known after
    /// the load.
    Count(String),
    /// `${user}`: the user's number.
    User,
    /// `${session}`: the session's number.
    Session,
    /// `${secret:NAME}`: resolved when it is sent. Only its name is shown.
    Secret(String),
    /// A value that is new each time.
    Call(Function),
}

/// The functions of templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Function {
    /// A random UUID (RFC 9562 version 4).
    Uuid,
    /// A random integer between two, both included.
    Random(i64, i64),
    /// One of several, with equal probability.
    Pick(Vec<Template>),
    /// A counter: 0, 1, 2, …, each value once in a run.
    Seq,
    /// Milliseconds since 1970.
    Now,
    /// Base64 (RFC 4648 §4).
    Base64(Box<Template>),
    /// HMAC (RFC 2104) with SHA-256, in lower-case hexadecimal.
    HmacSha256 {
        /// The key.
        key: Box<Template>,
        /// The message to sign.
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
    /// Returns its name with parentheses.
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
