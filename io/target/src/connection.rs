//! [`Connection`]: one client, its current request and its pending responses.

use wavetank_driver::ConnId;
use wavetank_pace::TimerId;
use wavetank_wire::h1::{Limits, RequestReader};
use wavetank_wire::h2::begins_http2;
use wavetank_wire::streams::StreamServer;
use wavetank_wire::ws::Upgrade;

use crate::answer::{Echo, ScheduledResponse};
use crate::event_stream::EventStream;
use crate::handshake::Handshake;
use crate::method::Method;
use crate::pending_responses::PendingResponses;
use crate::raw_echo::RawEcho;
use crate::route::Route;
use crate::streams::Streams;
use crate::web_socket::WebSocket;

/// Maximum number of pending responses on one connection. The last one is then a 503, and further
/// requests are not read.
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
    /// What happens after the last response.
    pub(crate) then: AfterLast,
    /// The only timer: for the next response, or for the end of lingering.
    pub(crate) timer: Option<TimerId>,
    /// The client will send no more.
    pub(crate) peer_done: bool,
    /// Queued for sending more of a long body.
    pub(crate) runnable: bool,
    /// The kind of its first request.
    pub(crate) kind: CountedAs,
    /// The state of its TLS handshake.
    pub(crate) handshake: Handshake,
    /// What it speaks instead of HTTP/1. In one box, since most connections have none.
    pub(crate) other: Option<Box<OtherProtocol>>,
}

/// A protocol other than HTTP/1, with its state.
#[derive(Debug)]
pub(crate) enum OtherProtocol {
    /// HTTP/2 or HTTP/3. Boxed, since it is several times as large as the others.
    Streams(Box<Streams>),
    WebSocket(WebSocket),
    /// The body of a response that consists of events.
    Events(EventStream),
    /// Raw TCP.
    Raw(RawEcho),
}

/// Whether received bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadMode {
    Requests,
    /// Received bytes are discarded, since the last response is decided.
    Nothing,
}

/// What happens after the last response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterLast {
    /// Read the next request.
    Go,
    /// Close. With HTTP/1, everything that was sent has been read. With streams, it happens after
    /// the requests in progress, which are still read.
    Close,
    /// Close, but the client may still be sending. After an immediate close, the kernel would
    /// answer its bytes with a reset, which destroys the last response (RFC 9112 §9.6). So finish
    /// sending, and go on reading for a while.
    Linger,
    /// Lingering is in progress.
    Lingering,
}

/// How a connection is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountedAs {
    /// No request yet.
    New,
    /// A client, which is counted.
    Counted,
    /// A connection with a first request for `/truth`: counted as `control` only.
    Control,
}

/// The part of the current request that has been read.
#[derive(Debug)]
pub(crate) struct CurrentRequest {
    pub(crate) route: Route,
    pub(crate) verb: Method,
    /// The body, if the route needs it.
    pub(crate) echo: Option<Box<Echo>>,
    pub(crate) too_large: bool,
    /// The client may be waiting for `100 Continue`.
    pub(crate) expects_continue: bool,
    /// The client asks for an upgrade to WebSocket.
    pub(crate) upgrade: Option<Box<Upgrade>>,
}

impl CurrentRequest {
    pub(crate) const fn new() -> Self {
        Self {
            route: Route::Home,
            verb: Method::Get,
            echo: None,
            too_large: false,
            expects_continue: false,
            upgrade: None,
        }
    }
}

impl Connection {
    pub(crate) fn new(id: ConnId) -> Self {
        Self {
            id,
            reader: RequestReader::new(Limits::default()),
            asked: CurrentRequest::new(),
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
            other: None,
        }
    }

    /// Speaks HTTP/2 from now on.
    pub(crate) fn begin_http2(&mut self) {
        self.begin(OtherProtocol::Streams(Box::new(Streams::new(StreamServer::http2(Limits::default())))));
    }

    /// Speaks HTTP/3 from now on.
    pub(crate) fn begin_http3(&mut self) {
        self.begin(OtherProtocol::Streams(Box::new(Streams::new(StreamServer::http3(Limits::default())))));
    }

    /// Speaks another protocol from now on.
    pub(crate) fn begin(&mut self, protocol: OtherProtocol) {
        self.other = Some(Box::new(protocol));
    }

    /// Whether it carries messages instead of requests.
    #[inline]
    pub(crate) fn carries_messages(&self) -> bool {
        self.other.is_some() && !self.has_streams()
    }

    /// Whether its requests are in streams.
    #[inline]
    pub(crate) fn has_streams(&self) -> bool {
        matches!(self.other.as_deref(), Some(OtherProtocol::Streams(_)))
    }

    /// Whether its requests are in streams, perhaps from now on because of its first bytes, which
    /// `bytes` returns.
    #[inline]
    pub(crate) fn uses_streams<'a>(&mut self, bytes: impl FnOnce() -> &'a [u8]) -> bool {
        if self.kind == CountedAs::New
            && self.other.is_none()
            && self.reader.is_fresh()
            && begins_http2(bytes())
        {
            self.begin_http2();
        }
        self.has_streams()
    }

    /// Returns the first pending response that satisfies `is_wanted`.
    pub(crate) fn find_owed(
        &mut self,
        is_wanted: impl Fn(&ScheduledResponse) -> bool,
    ) -> Option<&mut ScheduledResponse> {
        match self.other.as_deref_mut() {
            Some(OtherProtocol::Streams(streams)) => streams.find(is_wanted),
            _ => self.owed.find(is_wanted),
        }
    }

    /// Whether nothing is pending, so that a response may be sent immediately.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        self.owed.is_empty() && self.body_left == 0 && !self.pending
    }
}
