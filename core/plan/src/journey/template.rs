//! [`Template`]: text with holes that a session fills.

use serde::{Deserialize, Serialize};

use crate::Secret;

/// Text with placeholders, ready to be rendered. The names in it are indices, and each placeholder
/// holds the escaping of its context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// The parts in order; two fixed parts are never adjacent.
    pub pieces: Vec<TemplatePart>,
}

impl Template {
    /// Text without holes.
    pub fn fixed(text: impl Into<Vec<u8>>) -> Self {
        let text = text.into();
        Self { pieces: if text.is_empty() { Vec::new() } else { vec![TemplatePart::Fixed(text)] } }
    }

    /// The text, if there are no holes.
    pub fn as_fixed(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(b""),
            [TemplatePart::Fixed(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns readable text: invalid UTF-8 as the replacement character, placeholders as `${…}`.
    pub fn shown(&self) -> String {
        let mut shown = String::new();
        for piece in &self.pieces {
            match piece {
                TemplatePart::Fixed(text) => shown.push_str(&String::from_utf8_lossy(text)),
                TemplatePart::Hole(_) => shown.push_str("${…}"),
            }
        }
        shown
    }

    /// Whether it is nothing at all.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The holes, in order.
    pub fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.pieces.iter().filter_map(|piece| match piece {
            TemplatePart::Hole(hole) => Some(hole),
            TemplatePart::Fixed(_) => None,
        })
    }

    /// One more piece of fixed text; joins the one before.
    pub fn push_fixed(&mut self, text: &[u8]) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(TemplatePart::Fixed(before)) => before.extend_from_slice(text),
            _ => self.pieces.push(TemplatePart::Fixed(text.to_vec())),
        }
    }
}

impl<T: AsRef<str>> From<T> for Template {
    fn from(text: T) -> Self {
        Self::fixed(text.as_ref())
    }
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplatePart {
    /// Bytes as they are.
    Fixed(#[serde(with = "super::bytes")] Vec<u8>),
    /// A value of the session.
    Hole(Hole),
}

/// A value of the session, and how it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hole {
    /// The value to write.
    pub value: Expr,
    /// How.
    pub escape: Escape,
}

/// How a value is escaped in its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Escape {
    /// Bytes as they are.
    Plain,
    /// Inside the quotes of a JSON string (RFC 8259 §7).
    JsonText,
    /// As a JSON value of its own: numbers, booleans and lists keep their type, text gets quotes.
    JsonValue,
    /// In the text or an attribute of an XML document (XML 1.0 §2.2, §2.4).
    Xml,
    /// In a form or a query: `application/x-www-form-urlencoded`.
    Form,
    /// In a path: percent-encoded where RFC 3986 §3.3 requires it.
    Path,
    /// The path and query of an address that came from elsewhere, as a whole. The request fails
    /// unless the address starts with `/`. Only characters that a request line cannot carry are
    /// percent-encoded.
    Address,
    /// In a header's value: control characters end the request instead of splitting it.
    Header,
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expr {
    /// A literal text.
    Text(String),
    /// A variable of the session: index into [`Scenario::variables`](crate::Scenario::variables).
    Variable(u16),
    /// A column of the session's row: indices into [`Plan::data`](crate::Plan::data) and its
    /// columns.
    Column {
        /// Which data.
        data: u16,
        /// Which column.
        column: u16,
    },
    /// `${count.NAME}`: index into [`Plan::counts`](crate::Plan::counts). Known when all is quiet.
    Count(u16),
    /// `${user}`: the user's number, from 0.
    User,
    /// `${session}`: the session's number, from 0.
    Session,
    /// `${now()}`: milliseconds since 1970, by the wall clock.
    Now,
    /// `${seq()}`: 0, 1, 2 …, each once in a run.
    Seq,
    /// `${uuid()}`: RFC 9562 version 4.
    Uuid,
    /// `${random(LOW, HIGH)}`: a whole number, both ends included.
    Random(i64, i64),
    /// `${pick(A, B, …)}`: one of them, each as often.
    Pick(Vec<Self>),
    /// `${base64(X)}`.
    Base64(Box<Self>),
    /// `${hmac_sha256(KEY, X)}`, in lower-case hexadecimal.
    HmacSha256(Box<Self>, Box<Self>),
    /// Several values one after the other, as an argument of a function.
    Joined(Box<Template>),
    /// `${secret:NAME}`: sent, and never written anywhere.
    Secret {
        /// Its name, which the plan shows.
        name: String,
        /// Its text.
        value: Secret,
    },
}
