//! [`Response`] and [`ScheduledResponse`]: the response to a request, and its time.

use wavetank_shop::{ShopReply, ShopResponse};
use wavetank_units::Nanos;
use wavetank_wire::ws::Upgrade;

use crate::grpc::GrpcReply;

/// The response to a request.
#[derive(Debug)]
pub(crate) enum Response {
    /// The small fixed response.
    Home,
    /// A body of this many bytes.
    Bytes(u64),
    /// A status with its phrase as the body.
    Status(u16),
    /// A status with a line that explains it.
    Plain(u16, &'static str),
    /// 405, with the allowed methods.
    Allow(&'static str),
    /// The request's body.
    Echo(Box<Echo>),
    /// The response to a gRPC call.
    Grpc(Box<GrpcReply>),
    /// The head of the response to a gRPC call that answers each message.
    OpenCall,
    /// `101 Switching Protocols`: the connection is a WebSocket from here on.
    Upgrade(Box<Upgrade>),
    /// The head of a response that consists of events.
    Events,
    /// `100 Continue`: the client may send the body.
    Continue,
    /// The counts of all threads, taken when its turn comes.
    Truth,
    /// The current connection counts, taken when its turn comes.
    Standing,
    /// Resets the counts when its turn comes.
    Reset,
    /// A complete JSON document.
    Json(Vec<u8>),
    /// The outcome of the database job with this ticket, once it returns.
    Awaited(u32),
    /// A response of the shop.
    Page(Box<ShopResponse>),
}

impl From<ShopReply> for Response {
    fn from(reply: ShopReply) -> Self {
        match reply {
            ShopReply::Page(page) => Self::Page(page),
            ShopReply::Allow(methods) => Self::Allow(methods),
            ShopReply::Awaited(ticket) => Self::Awaited(ticket),
        }
    }
}

impl Response {
    /// Whether it concerns the server as a whole. Such a response is made at the end of a turn, so
    /// that it includes everything counted in the turn.
    #[inline]
    pub(crate) const fn is_control(&self) -> bool {
        matches!(self, Self::Truth | Self::Standing | Self::Reset)
    }

    /// Whether it is replaced by another response before it is sent.
    #[inline]
    pub(crate) const fn is_placeholder(&self) -> bool {
        self.is_control() || matches!(self, Self::Awaited(_))
    }
}

/// A request's body, to be sent back or passed to the shop.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    /// Empty if the request has none.
    pub(crate) content_type: Vec<u8>,
    /// For the shop; empty if the request has none.
    pub(crate) cookie: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// What happens to the connection after a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It stays open, which is the default of HTTP/1.1.
    Silently,
    /// It stays open, and an HTTP/1.0 client needs `Connection: keep-alive`.
    Saying,
    /// It is closed.
    No,
}

/// A response, and how to send it.
#[derive(Debug)]
pub(crate) struct ScheduledResponse {
    /// Earliest time to send it.
    pub(crate) at: Nanos,
    pub(crate) answer: Response,
    /// Without the body, for a HEAD request.
    pub(crate) head_only: bool,
    pub(crate) keep: Keep,
    /// Whether it is counted.
    pub(crate) counted: bool,
}
