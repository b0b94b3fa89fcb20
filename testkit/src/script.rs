//! [`Script`]: how a target behaves: how it accepts, and what it does with each request.

use std::sync::Arc;
use std::time::Duration;

use crate::naive_parser::ReceivedRequest;
use crate::script_action::{ScriptAction, answer, answer_with};

/// The actions for a request: a pure function of it and of its place in the target's schedule.
pub type RequestScript = dyn Fn(&ReceivedRequest) -> Vec<ScriptAction> + Send + Sync;

/// How connections are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// Immediately.
    AtOnce,
    /// The kernel completes handshakes, but the target never accepts the connections.
    Never,
    /// No connection is accepted for this long after the target's start; the kernel's queue holds
    /// `backlog`.
    After {
        /// Time without accepting.
        delay: Duration,
        /// Connections the kernel queues (plus one); further ones are not answered.
        backlog: i32,
    },
    /// The port is bound and closed: the kernel refuses.
    Refuse,
}

/// A target's behaviour.
#[derive(Clone)]
pub struct Script {
    /// How connections are accepted.
    pub accept: Accept,
    /// Actions on a connection before its first request is read.
    pub greeting: Vec<ScriptAction>,
    /// Actions for each request.
    pub play: Arc<RequestScript>,
}

impl Script {
    /// A script that accepts immediately and does what `play` returns.
    pub fn new(play: impl Fn(&ReceivedRequest) -> Vec<ScriptAction> + Send + Sync + 'static) -> Self {
        Self { accept: Accept::AtOnce, greeting: Vec::new(), play: Arc::new(play) }
    }

    /// The same, accepting otherwise.
    #[must_use]
    pub fn accepting(mut self, accept: Accept) -> Self {
        self.accept = accept;
        self
    }

    /// The same script, with these actions at the start of each connection.
    #[must_use]
    pub fn greeting(mut self, greeting: Vec<ScriptAction>) -> Self {
        self.greeting = greeting;
        self
    }

    /// 200 with a small body after `delay`.
    pub fn constant(delay: Duration) -> Self {
        Self::new(move |seen| vec![ScriptAction::Wait(delay), ok_to(seen)])
    }

    /// Every `every`-th request takes `slow`, all others `fast`.
    pub fn bimodal(fast: Duration, slow: Duration, every: u64) -> Self {
        Self::new(move |seen| {
            let delay = if seen.number.is_multiple_of(every) { slow } else { fast };
            vec![ScriptAction::Wait(delay), ok()]
        })
    }

    /// Responds after `base`, but pauses for `length` on all connections, `at` after the first
    /// request.
    pub fn freeze(base: Duration, at: Duration, length: Duration) -> Self {
        Self::new(move |seen| {
            let from = seen.first.plus(at);
            let to = from.plus(length);
            let due = seen.arrived.plus(base);
            let frozen = due >= from && seen.arrived < to;
            vec![ScriptAction::WaitUntil(if frozen { to.plus(base) } else { due }), ok()]
        })
    }

    /// Resets instead of answering.
    pub fn reset() -> Self {
        Self::new(|_| vec![ScriptAction::Reset])
    }

    /// Sends a head that promises `promised` bytes, a few of them, then resets.
    pub fn reset_after_head(promised: usize) -> Self {
        Self::new(move |_| {
            vec![
                ScriptAction::Send(torso(promised)),
                ScriptAction::Wait(Duration::from_millis(5)),
                ScriptAction::Reset,
            ]
        })
    }

    /// Sends a head that promises `promised` bytes and a few of them, then FIN; goes on reading.
    pub fn half_close(promised: usize) -> Self {
        Self::new(move |_| vec![ScriptAction::Send(torso(promised)), ScriptAction::HalfClose])
    }

    /// Reads everything and never responds.
    pub fn silence() -> Self {
        Self::new(|_| vec![ScriptAction::Silence])
    }

    /// Answers byte by byte, `gap` apart.
    pub fn trickle(body: &[u8], gap: Duration) -> Self {
        let bytes = answer(200, body);
        Self::new(move |_| vec![ScriptAction::Trickle(bytes.clone(), gap)])
    }

    /// Answers `served` requests of each connection, then closes on reading the next, unanswered.
    pub fn close_before_request(served: u64) -> Self {
        Self::new(move |seen| vec![if seen.on_connection > served { ScriptAction::Close } else { ok() }])
    }

    /// Answers `served` requests of each connection, the last one with `Connection: close`.
    pub fn close_announced(served: u64) -> Self {
        Self::new(move |seen| {
            if seen.on_connection < served {
                return vec![ok()];
            }
            vec![
                ScriptAction::Send(answer_with(200, &[("Connection", "close")], b"hello\n")),
                ScriptAction::Close,
            ]
        })
    }

    /// Responds, and closes a connection without any data for `limit`.
    pub fn close_idle(limit: Duration) -> Self {
        Self::new(move |_| vec![ScriptAction::IdleLimit(limit), ok()])
    }

    /// Answers with exactly these bytes; closes after them if `close`.
    pub fn raw(bytes: &[u8], close: bool) -> Self {
        let bytes = bytes.to_vec();
        Self::new(move |_| {
            let mut acts = vec![ScriptAction::Send(bytes.clone())];
            if close {
                acts.push(ScriptAction::Close);
            }
            acts
        })
    }

    /// Sends interim responses (100, 102, 103) in pieces, then the final one.
    pub fn interim() -> Self {
        Self::new(|_| {
            let interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX-Note: interim\r\n\r\n";
            let hints = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n";
            vec![ScriptAction::Send(interim.to_vec()), ScriptAction::Send(hints.to_vec()), ok()]
        })
    }

    /// The statuses in turn, over all requests of the target.
    pub fn statuses(statuses: &[u16]) -> Self {
        let statuses = statuses.to_vec();
        Self::new(move |seen| {
            let status = statuses[(seen.number - 1) as usize % statuses.len()];
            vec![ScriptAction::Send(if matches!(status, 204 | 304) {
                bodiless(status)
            } else {
                answer(status, b"hello\n")
            })]
        })
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script").field("accept", &self.accept).finish_non_exhaustive()
    }
}

/// 200 with a small body.
pub fn ok() -> ScriptAction {
    ScriptAction::Send(answer(200, b"hello\n"))
}

/// As [`ok`], with a header that the connection is kept for an HTTP/1.0 client that asked for it.
fn ok_to(seen: &ReceivedRequest) -> ScriptAction {
    if seen.version == "HTTP/1.0" && seen.keeps_alive() {
        ScriptAction::Send(answer_with(200, &[("Connection", "keep-alive")], b"hello\n"))
    } else {
        ok()
    }
}

/// The head of a response with `promised` bytes, and the first four of them.
fn torso(promised: usize) -> Vec<u8> {
    assert!(promised > 4, "a truncated response must be incomplete");
    let mut bytes = format!("HTTP/1.1 200 Scripted\r\nContent-Length: {promised}\r\n\r\n").into_bytes();
    bytes.extend_from_slice(b"part");
    bytes
}

fn bodiless(status: u16) -> Vec<u8> {
    format!("HTTP/1.1 {status} Scripted\r\n\r\n").into_bytes()
}
