//! [`Message`]: what a step does on a WebSocket.

use wavetank_plan::MessageAction;

use super::Check;

/// What a step does on a WebSocket.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The action.
    pub action: MessageAction,
    /// A message is sent as bytes instead of text.
    pub binary: bool,
    /// The awaited answer.
    pub reply: AwaitedReply,
    /// The number of messages to wait for.
    pub count: u32,
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
    pub(crate) const fn new(action: MessageAction) -> Self {
        Self { action, binary: false, reply: AwaitedReply::None, count: 1 }
    }

    /// Returns the step's verb.
    pub const fn verb(&self) -> &'static str {
        match self.action {
            MessageAction::Connect => "ws.connect",
            MessageAction::Send => "ws.send",
            MessageAction::Wait => "ws.wait",
            MessageAction::Close => "ws.close",
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
}
