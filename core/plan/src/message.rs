//! [`MessagePlan`]: what a step does on a connection that carries messages: a WebSocket.

use serde::{Deserialize, Serialize};

use crate::Check;

/// What a step does on a connection that carries messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessagePlan {
    /// The action.
    pub action: MessageAction,
    /// A message is sent as bytes instead of text.
    pub binary: bool,
    /// The answer that is awaited.
    pub reply: Reply,
    /// The number of messages to wait for.
    pub count: u32,
}

/// An action on a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageAction {
    /// Upgrades a connection.
    Connect,
    /// Sends a message.
    Send,
    /// Waits for messages.
    Wait,
    /// Closes the WebSocket.
    Close,
}

/// The answer to a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// None is awaited: the request is done once the message was handed to the kernel.
    None,
    /// The next message.
    Any,
    /// The next message that meets a condition. Others are ignored.
    Matching(Box<Check>),
}

impl WebSocketPlan {
    /// Returns the fields of an upgrade that depend on these settings.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let subprotocol = self.subprotocol.clone().map(|names| ("Sec-WebSocket-Protocol", names));
        let deflate = self.deflate.then(|| {
            ("Sec-WebSocket-Extensions", "permessage-deflate; client_no_context_takeover".to_owned())
        });
        subprotocol.into_iter().chain(deflate).collect()
    }
}

impl MessagePlan {
    /// Whether no answer is awaited. Such a request has no service time.
    pub const fn is_one_way(&self) -> bool {
        matches!((self.action, &self.reply), (MessageAction::Send, Reply::None))
    }
}

/// How connections of `ws://` and `wss://` are upgraded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSocketPlan {
    /// The subprotocols to offer, separated by commas.
    pub subprotocol: Option<String>,
    /// Offer permessage-deflate.
    pub deflate: bool,
    /// Further fields of the upgrade that no step sends, without templates.
    pub headers: Vec<(String, String)>,
    /// Names of headers (lower case) with values that are never written anywhere.
    pub secret_headers: Vec<String>,
}
