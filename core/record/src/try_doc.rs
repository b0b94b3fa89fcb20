//! [`TryDoc`]: what one user met on its way, as `wavetank try --format json` prints it.

use serde::Serialize;

use crate::Number;

/// The value of [`TryDoc::schema`].
pub const TRY_SCHEMA: &str = "wavetank.try/1";

/// One user, once. Secrets are `***` everywhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TryDoc {
    /// `wavetank.try/1`.
    pub schema: String,
    /// The experiment's name.
    pub name: String,
    /// Version of wavetank.
    pub version: String,
    /// Whether everything was as expected.
    pub ok: bool,
    /// The exit code: 0, 1, or 130 after a signal.
    pub exit: u8,
    /// The sessions that were walked through, in order.
    pub walks: Vec<TryWalk>,
    /// Additional information.
    pub notes: Vec<String>,
}

/// One pass: the run's `before`, a scenario, the run's `after`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TryWalk {
    /// `before`, `scenario` or `after`.
    pub part: String,
    /// The scenario's name; empty for the unnamed one.
    pub name: String,
    /// Requests that left, redirects, retries and embedded resources included.
    pub sent: u64,
    /// Steps with the expected response.
    pub done: u64,
    /// Steps that were not.
    pub failed: u64,
    /// Everything, in order.
    pub events: Vec<TryEvent>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
        #[serde(skip_serializing_if = "Option::is_none")]
        tls_us: Option<Number>,
        /// The negotiated parameters of the handshake.
        #[serde(skip_serializing_if = "Option::is_none")]
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
    /// A complete response arrived.
    Answer {
        /// Its status.
        status: u16,
        /// From sending to the first byte.
        ttfb_us: Number,
        /// From sending to the last byte.
        service_us: Number,
        /// The response.
        #[serde(flatten)]
        message: TryMessage,
    },
    /// No response arrived, or an unreadable one.
    NoAnswer {
        /// Why, by its class.
        class: String,
        /// A description.
        detail: String,
        /// The address that was tried.
        #[serde(skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        /// The start of the received bytes, control characters escaped.
        #[serde(skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
    },
    /// The response sets a cookie.
    Cookie {
        /// Its name.
        name: String,
        /// `kept`, `removed`, or why it was ignored.
        fate: String,
    },
    /// A value was extracted from the response.
    Extract {
        /// The variable.
        variable: String,
        /// Where.
        from: String,
        /// The values found; only some of them if there are many.
        values: Vec<String>,
        /// Number of values found.
        count: usize,
        /// Why nothing was.
        #[serde(skip_serializing_if = "Option::is_none")]
        missing: Option<String>,
    },
    /// A check on the response.
    Check {
        /// The check as written.
        check: String,
        /// Whether it passed.
        held: bool,
        /// The value found instead.
        #[serde(skip_serializing_if = "Option::is_none")]
        found: Option<String>,
    },
    /// A count, if its condition is met.
    Count {
        /// Its name.
        name: String,
        /// Whether it was.
        counted: bool,
    },
    /// The step got the expected response.
    Done,
    /// The step was not.
    Failed {
        /// Why, by its class.
        class: String,
        /// A description.
        detail: String,
        /// What to do about it.
        hint: String,
    },
    /// A variable was set by the journey.
    Set {
        /// Which.
        variable: String,
        /// The new values; only some of them if it is a list.
        values: Vec<String>,
        /// How many.
        count: usize,
    },
    /// An `if` or a `while` was evaluated.
    If {
        /// The condition as written.
        condition: String,
        /// Whether its actions are carried out now.
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
    /// The limit of requests is reached, so no more are made.
    Enough {
        /// How many.
        count: u64,
    },
    /// The journey loops forever without a request, and is left.
    Endless,
}

/// A request or a response as sent on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TryMessage {
    /// The first line.
    pub line: String,
    /// The field lines.
    pub headers: Vec<String>,
    /// The trailers, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trailers: Vec<String>,
    /// The body, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<TryBody>,
}

/// A body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TryBody {
    /// Its bytes on the wire, framing taken off.
    pub bytes: u64,
    /// Its content coding, which is taken off `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coding: Option<String>,
    /// Its start as text; `null` if it is not text.
    pub text: Option<String>,
    /// `text` is not all of it.
    pub cut: bool,
}

impl TryEvent {
    /// Calls `change` with every text that came from outside, so that secrets can be hidden.
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
        self.headers.iter_mut().chain(&mut self.trailers).for_each(&mut *change);
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
