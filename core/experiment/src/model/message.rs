//! [`Message`]: what a step does on a connection that carries messages.

use wavetank_grammar::Spanned;
use wavetank_plan::{MessageAction, ReadExtent, UrlProtocol};
use wavetank_units::Nanos;

use super::Check;

/// What a step does on a connection that carries messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The protocol of its connection.
    pub protocol: UrlProtocol,
    /// The action.
    pub action: MessageAction,
    /// A message is sent as bytes instead of text.
    pub binary: bool,
    /// The awaited answer.
    pub reply: AwaitedReply,
    /// The number of messages to wait for.
    pub count: u32,
    /// How much of what arrives on raw TCP or UDP is the answer.
    pub read: Option<ReadExtent>,
}

/// The answer that a step awaits.
#[derive(Clone, Debug, PartialEq)]
pub enum AwaitedReply {
    /// None.
    None,
    /// The next message.
    Any,
    /// The next message that meets this condition.
    Matching(Check),
}

impl Message {
    /// Creates one that awaits no answer.
    pub(crate) const fn new(protocol: UrlProtocol, action: MessageAction) -> Self {
        Self { protocol, action, binary: false, reply: AwaitedReply::None, count: 1, read: None }
    }

    /// Returns the step's verb.
    pub const fn verb(&self) -> &'static str {
        match (self.protocol, self.action) {
            (UrlProtocol::Events, MessageAction::Connect | MessageAction::Open) => "sse.open",
            (UrlProtocol::Events, MessageAction::Send | MessageAction::Wait) => "sse.wait",
            (UrlProtocol::Events, MessageAction::Close) => "sse.close",
            (UrlProtocol::Tcp, MessageAction::Connect | MessageAction::Open) => "tcp.connect",
            (UrlProtocol::Tcp, MessageAction::Send) => "tcp.send",
            (UrlProtocol::Tcp, MessageAction::Wait) => "tcp.read",
            (UrlProtocol::Tcp, MessageAction::Close) => "tcp.close",
            (UrlProtocol::Grpc, MessageAction::Send) => "grpc.send",
            (UrlProtocol::Grpc, MessageAction::Wait) => "grpc.wait",
            (UrlProtocol::Grpc, MessageAction::Close) => "grpc.end",
            (_, MessageAction::Open) | (UrlProtocol::Grpc, _) => "grpc.open",
            (UrlProtocol::Udp, MessageAction::Wait) => "udp.read",
            (UrlProtocol::Udp, _) => "udp.send",
            (_, MessageAction::Connect) => "ws.connect",
            (_, MessageAction::Send) => "ws.send",
            (_, MessageAction::Wait) => "ws.wait",
            (_, MessageAction::Close) => "ws.close",
        }
    }

    /// Returns the condition on the answer.
    pub(crate) const fn condition(&self) -> Option<&Check> {
        match &self.reply {
            AwaitedReply::Matching(check) => Some(check),
            AwaitedReply::None | AwaitedReply::Any => None,
        }
    }
}

/// `ws:`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebSocket {
    /// The subprotocols to offer, separated by commas.
    pub subprotocol: Option<String>,
    /// Offer compression.
    pub deflate: Option<bool>,
    /// The time between two pings of a connection.
    pub ping: Option<Spanned<Nanos>>,
}
