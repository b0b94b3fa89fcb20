//! [`TryDoc`]: what one user met on his way, as `wavetank try --format json` prints it.

use serde::{Deserialize, Serialize};

use crate::Number;

/// The value of [`TryDoc::schema`].
pub const TRY_SCHEMA: &str = "wavetank.try/1";

/// One user, once. Secrets are `***` everywhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TryDoc {
    /// `wavetank.try/1`.
    pub schema: String,
    /// The experiment's name.
    pub name: String,
    /// Version of wavetank.
    pub version: String,
    /// Whether everything was as wanted.
    pub ok: bool,
    /// The exit code: 0, 1, or 130 after a signal.
    pub exit: u8,
    /// What was walked, in order.
    pub walks: Vec<TryWalk>,
    /// Worth knowing.
    pub notes: Vec<String>,
}

/// One pass: the run's `before`, a scenario, the run's `after`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TryWalk {
    /// `before`, `scenario` or `after`.
    pub part: String,
    /// The scenario's name; empty for the unnamed one.
    pub name: String,
    /// Requests that left, redirects, retries and embedded resources included.
    pub sent: u64,
    /// Steps that were answered as wanted.
    pub done: u64,
    /// Steps that were not.
    pub failed: u64,
    /// Everything, in order.
    pub events: Vec<TryEvent>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TryEvent {
    /// A step begins.
    Step {
        /// Its name.
        name: String,
    },
    /// A connection was opened.
    Connected {
        /// The peer.
        address: String,
        /// TCP's part of it.
        connect_us: Number,
        /// The handshake's part, in TLS.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tls_us: Option<Number>,
        /// What the handshake agreed on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tls: Option<String>,
    },
    /// A request left.
    Request {
        /// Why: `step`, `retry`, `challenge`, `redirect` or `resource`.
        why: String,
        /// The peer.
        address: String,
        /// The connection had carried requests before.
        reused: bool,
        /// The request.
        #[serde(flatten)]
        message: TryMessage,
    },
    /// An answer came whole.
    Answer {
        /// Its status.
        status: u16,
        /// From sending to the first byte.
        ttfb_us: Number,
        /// From sending to the last byte.
        service_us: Number,
        /// The answer.
        #[serde(flatten)]
        message: TryMessage,
    },
    /// No answer came, or none that can be read.
    NoAnswer {
        /// Why, by its class.
        class: String,
        /// In words.
        detail: String,
        /// Who was tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        /// The beginning of what came, control characters escaped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
    },
    /// The answer sets a cookie.
    Cookie {
        /// Its name.
        name: String,
        /// `kept`, `removed`, or why it was ignored.
        fate: String,
    },
    /// A value was looked for in the answer.
    Extract {
        /// The variable.
        variable: String,
        /// Where.
        from: String,
        /// What was found; some of them, if there are many.
        values: Vec<String>,
        /// How many were found.
        count: usize,
        /// Why nothing was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<String>,
    },
    /// Something was asked of the answer.
    Check {
        /// Its words.
        check: String,
        /// Whether it holds.
        held: bool,
        /// What stood there instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<String>,
    },
    /// Something is counted if it holds.
    Count {
        /// Its name.
        name: String,
        /// Whether it was.
        counted: bool,
    },
    /// The step was answered as wanted.
    Done,
    /// The step was not.
    Failed {
        /// Why, by its class.
        class: String,
        /// In words.
        detail: String,
        /// What to do about it.
        hint: String,
    },
    /// A variable was set by the journey.
    Set {
        /// Which.
        variable: String,
        /// To what; some of them, if it is a list.
        values: Vec<String>,
        /// How many.
        count: usize,
    },
    /// An `if` or a `while` asked.
    If {
        /// Its words.
        condition: String,
        /// Whether what stands in it is done now.
        held: bool,
    },
    /// A pause.
    Think {
        /// How long.
        time_us: Number,
        /// Whether it was waited for.
        waited: bool,
    },
    /// A place where users wait for each other, which one alone passes.
    Rendezvous {
        /// Its name.
        name: String,
    },
    /// A group's steps are over.
    Group {
        /// Its name.
        name: String,
        /// How long they took.
        time_us: Number,
    },
    /// A line of `log`.
    Log {
        /// The line.
        text: String,
    },
    /// The session ends before its end.
    Ends {
        /// `session` or `run` by their verbs, `failure`, or `signal`.
        why: String,
    },
    /// So many requests were made that no more are.
    Enough {
        /// How many.
        count: u64,
    },
    /// The journey goes round and round without a request, and is left.
    Endless,
}

/// A request or an answer as it was on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TryMessage {
    /// The first line.
    pub line: String,
    /// The field lines.
    pub headers: Vec<String>,
    /// The body, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<TryBody>,
}

/// A body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TryBody {
    /// Its bytes on the wire, framing taken off.
    pub bytes: u64,
    /// Its content coding, which is taken off `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coding: Option<String>,
    /// Its beginning as text; `null`: it is none.
    pub text: Option<String>,
    /// `text` is not all of it.
    pub cut: bool,
}

impl TryEvent {
    /// Call `change` with every text that came from outside, so that what must not be shown can be taken out.
    pub fn for_each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Request { message, .. } | Self::Answer { message, .. } => message.for_each_text(change),
            Self::NoAnswer { detail, seen, .. } => {
                change(detail);
                seen.iter_mut().for_each(change);
            }
            Self::Cookie { fate, .. } => change(fate),
            Self::Extract { values, .. } | Self::Set { values, .. } => values.iter_mut().for_each(change),
            Self::Check { check, found, .. } => {
                change(check);
                found.iter_mut().for_each(change);
            }
            Self::Failed { detail, .. } => change(detail),
            Self::Log { text } | Self::Step { name: text } | Self::If { condition: text, .. } => change(text),
            Self::Connected { .. }
            | Self::Count { .. }
            | Self::Done
            | Self::Think { .. }
            | Self::Rendezvous { .. }
            | Self::Group { .. }
            | Self::Ends { .. }
            | Self::Endless
            | Self::Enough { .. } => {}
        }
    }
}

impl TryMessage {
    fn for_each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        change(&mut self.line);
        self.headers.iter_mut().for_each(&mut *change);
        if let Some(text) = self.body.as_mut().and_then(|body| body.text.as_mut()) {
            change(text);
        }
    }
}

impl TryDoc {
    /// One object, indented.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("text and numbers can always be written")
    }
}
