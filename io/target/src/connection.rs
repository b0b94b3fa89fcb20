//! [`Connection`]: one client, its request under way and the answers owed to it.

use wavetank_driver::ConnId;
use wavetank_pace::TimerId;
use wavetank_wire::h1::{Limits, RequestReader};

use crate::answer::Echo;
use crate::pending_responses::PendingResponses;
use crate::route::Route;

/// Answers owed to one connection. A client that pipelines more than this gets the answers up to here.
pub(crate) const OWED_MAX: usize = 1_000;

/// One client.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) id: ConnId,
    pub(crate) reader: RequestReader,
    pub(crate) asked: CurrentRequest,
    pub(crate) owed: PendingResponses,
    /// Bytes left of the body that is being sent.
    pub(crate) body_left: u64,
    /// The driver keeps bytes that the kernel did not take.
    pub(crate) pending: bool,
    pub(crate) reading: ReadMode,
    /// What happens after the last answer.
    pub(crate) then: AfterLast,
    /// The one timer: the next answer falls due, or lingering ends.
    pub(crate) timer: Option<TimerId>,
    /// The client will send no more.
    pub(crate) peer_done: bool,
    /// Queued for another go at sending.
    pub(crate) runnable: bool,
    /// What its first request was for.
    pub(crate) kind: CountedAs,
    /// How its TLS began.
    pub(crate) handshake: Handshake,
}

/// How TLS began on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// Not yet, or not at all.
    None,
    Full,
    /// With an earlier session.
    Resumed,
}

/// Whether what comes is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadMode {
    Requests,
    /// What comes is thrown away: the last answer is decided.
    Nothing,
}

/// What happens after the last answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterLast {
    /// The next request.
    Go,
    /// Close: all that was sent has been read.
    Close,
    /// Close, but the client may be sending still. An immediate close would be answered to its bytes with
    /// a reset, which takes the last answer with it (RFC 9112 §9.6): finish sending, and go on reading a while.
    Linger,
    /// Doing so.
    Lingering,
}

/// How a connection is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountedAs {
    /// Nothing was asked yet.
    New,
    /// It counts.
    Counted,
    /// It asked for the truth first: it is in no count but its own.
    Control,
}

/// What is known of the request under way.
#[derive(Debug)]
pub(crate) struct CurrentRequest {
    pub(crate) route: Route,
    pub(crate) verb: Method,
    /// The body, if it is wanted back.
    pub(crate) echo: Option<Box<Echo>>,
    pub(crate) too_large: bool,
    /// The client may be waiting for `100 Continue`.
    pub(crate) expects_continue: bool,
}

/// As much as matters of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// GET or HEAD.
    Get,
    Post,
    /// Another one that servers know and that is answered alike.
    Known,
    Unknown,
}

impl Connection {
    pub(crate) fn new(id: ConnId) -> Self {
        Self {
            id,
            reader: RequestReader::new(Limits::default()),
            asked: CurrentRequest {
                route: Route::Home,
                verb: Method::Get,
                echo: None,
                too_large: false,
                expects_continue: false,
            },
            owed: PendingResponses::default(),
            body_left: 0,
            pending: false,
            reading: ReadMode::Requests,
            then: AfterLast::Go,
            timer: None,
            peer_done: false,
            runnable: false,
            kind: CountedAs::New,
            handshake: Handshake::None,
        }
    }

    /// Nothing is owed: an answer may be given at once.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        self.owed.is_empty() && self.body_left == 0 && !self.pending
    }
}
