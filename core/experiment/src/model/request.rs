//! [`Request`]: a step that sends one.

use wavetank_plan::Nanos;

use super::{AnswerSource, Auth, Check, Header, OnFailure, Template, Value};
use crate::Spanned;

/// One request with what is asked of its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Method and path, or bytes as they are.
    pub head: RequestHead,
    /// Its name, if it has one.
    pub name: Option<Spanned<String>>,
    /// Another target.
    pub to: Option<Spanned<String>>,
    /// Added to the path.
    pub query: Vec<(String, Value)>,
    /// Sent with it.
    pub headers: Vec<Header>,
    /// The body.
    pub body: Option<Body>,
    /// Who it says it is from.
    pub auth: Option<Auth>,
    /// Instead of `http.timeout`.
    pub timeout: Option<Spanned<Nanos>>,
    /// Redirects followed.
    pub follow: Option<u32>,
    /// Fetch what a page embeds.
    pub resources: bool,
    /// Variables taken from the answer.
    pub extract: Vec<Extraction>,
    /// What the answer must be like.
    pub checks: Vec<NamedCheck>,
    /// Answers counted.
    pub counts: Vec<(Spanned<String>, Check)>,
    /// What a failure leads to.
    pub on_failure: Option<OnFailure>,
}

impl Request {
    /// A request with a head and nothing else.
    pub(crate) const fn plain(head: RequestHead) -> Self {
        Self {
            head,
            name: None,
            to: None,
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            auth: None,
            timeout: None,
            follow: None,
            resources: false,
            extract: Vec::new(),
            checks: Vec::new(),
            counts: Vec::new(),
            on_failure: None,
        }
    }

    /// Its name in reports and conditions: its own, or method and path.
    pub fn display_name(&self) -> String {
        match (&self.name, &self.head) {
            (Some(name), _) => name.value.clone(),
            (None, RequestHead::Http { method, url }) => format!("{} {}", method.value, url.display_text()),
            (None, RequestHead::Raw(_)) => "raw".to_owned(),
        }
    }
}

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestHead {
    /// A method and a path (begins with `/`) or URL.
    Http {
        /// Upper case.
        method: Spanned<String>,
        /// Path or URL.
        url: Template,
    },
    /// All of it, as it is sent.
    Raw(Template),
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// JSON.
    Json(Value),
    /// JSON as text. Only `--json` of the command line has it.
    JsonText(Template),
    /// A form's fields.
    Form(Vec<(String, Value)>),
    /// Parts.
    Multipart(Vec<(String, PartContent)>),
    /// Text.
    Text(Template),
    /// A file, by name.
    File(Spanned<String>),
}

/// A part of a multipart body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartContent {
    /// A field.
    Text(Template),
    /// A file.
    File {
        /// Its name, from the experiment's folder.
        file: Spanned<String>,
        /// The name it is sent under.
        name: Option<Template>,
        /// Its content type.
        content_type: Option<String>,
    },
}

/// `extract: {NAME: FROM}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extraction {
    /// The variable.
    pub name: Spanned<String>,
    /// The part of the response to extract from.
    pub from: Spanned<AnswerSource>,
    /// `all FROM`: all there are, as a list.
    pub all: bool,
}

/// A check, perhaps with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCheck {
    /// Its name; without one its text serves.
    pub name: Option<Spanned<String>>,
    /// The condition.
    pub check: Check,
}
