//! [`Request`]: a step that sends a request.

use wavetank_grammar::Spanned;
use wavetank_plan::MessageAction;
use wavetank_units::Nanos;

use super::{AnswerSource, Auth, Check, Header, Message, OnFailure, Template, Value};

/// One request with the checks of its response.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Method and path, or literal bytes.
    pub head: RequestHead,
    /// Its name, if it has one.
    pub name: Option<Spanned<String>>,
    /// Target other than the scenario's.
    pub to: Option<Spanned<String>>,
    /// Query parameters, which are added to the path.
    pub query: Vec<(String, Value)>,
    /// Headers of this request.
    pub headers: Vec<Header>,
    /// The body.
    pub body: Option<Body>,
    /// Its credentials.
    pub auth: Option<Auth>,
    /// Timeout that replaces `http.timeout`.
    pub timeout: Option<Spanned<Nanos>>,
    /// Maximum number of redirects to follow.
    pub follow: Option<u32>,
    /// Whether embedded resources of a page are fetched.
    pub resources: bool,
    /// Variables extracted from the response.
    pub extract: Vec<Extraction>,
    /// Conditions on the response.
    pub checks: Vec<NamedCheck>,
    /// Counters of responses that meet a condition.
    pub counts: Vec<(Spanned<String>, Check)>,
    /// Reaction to a failure.
    pub on_failure: Option<OnFailure>,
    /// What it does on a connection with messages. The head of a message is its text.
    pub message: Option<Message>,
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
            message: None,
        }
    }

    /// Whether it belongs to a gRPC call that an earlier step has opened.
    pub(crate) fn is_in_open_call(&self) -> bool {
        let action = self.message.as_ref().map(|message| message.action);
        matches!(self.head, RequestHead::Grpc(_))
            && action.is_some_and(|action| action != MessageAction::Open)
    }

    /// Returns its name in reports and conditions: its own, or method and path.
    pub fn display_name(&self) -> String {
        match (&self.name, &self.head) {
            (Some(name), _) => name.value.clone(),
            (None, RequestHead::Http { method, url }) => {
                let verb = self.message.as_ref().map_or(method.value.as_str(), |message| message.verb());
                format!("{verb} {}", url.display_text())
            }
            (None, RequestHead::Raw(_)) => {
                self.message.as_ref().map_or("raw", |message| message.verb()).to_owned()
            }
            (None, RequestHead::Grpc(method)) => match &self.message {
                Some(message) => format!("{} {}", message.verb(), method.value),
                None => method.value.clone(),
            },
        }
    }
}

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestHead {
    /// A method, and a path that starts with `/` or a URL.
    Http {
        /// The method in upper case.
        method: Spanned<String>,
        /// Path or URL.
        url: Template,
    },
    /// The literal request.
    Raw(Template),
    /// A gRPC call: service and method as given.
    Grpc(Spanned<String>),
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// JSON.
    Json(Value),
    /// JSON as text. Only `--json` of the command line has it.
    JsonText(Template),
    /// XML as text, with the call of a SOAP operation if it is one.
    Xml(Template, Option<SoapCall>),
    /// Form fields.
    Form(Vec<(String, Value)>),
    /// The parts of a multipart body.
    Multipart(Vec<(String, PartContent)>),
    /// Text.
    Text(Template),
    /// Bytes as they are, of the command line or of `hex:`.
    Bytes(Vec<u8>),
    /// The name of a file.
    File(Spanned<String>),
}

/// The operation that an XML body calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoapCall {
    /// The URI of the operation; can be empty.
    pub action: Template,
    /// The version of SOAP, which decides where the action is.
    pub version: SoapVersion,
}

/// A version of SOAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoapVersion {
    /// 1.1: the header `SOAPAction`, and `text/xml` (W3C note of 8 May 2000, §6.1).
    V1_1,
    /// 1.2: `application/soap+xml` with the parameter `action` (W3C part 2, §7.1.4; RFC 3902).
    V1_2,
}

/// A part of a multipart body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartContent {
    /// A field.
    Text {
        /// Its content.
        text: Template,
        /// The file name that is sent; a plain field has none.
        name: Option<String>,
        /// Its content type; a plain field has none.
        content_type: Option<String>,
    },
    /// A file.
    File {
        /// The file's name, relative to the experiment's folder.
        file: Spanned<String>,
        /// The file name that is sent.
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
    /// `all FROM`: all matches, as a list.
    pub all: bool,
}

/// A check with an optional name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCheck {
    /// Its name; by default its text.
    pub name: Option<Spanned<String>>,
    /// The condition.
    pub check: Check,
}
