//! [`WebSocketPlan`]: how connections become WebSockets or event streams.

use serde::{Deserialize, Serialize};

/// The fields of every request for an event stream (WHATWG HTML §9.2.2).
pub const EVENT_STREAM_FIELDS: [(&str, &str); 2] =
    [("Accept", "text/event-stream"), ("Cache-Control", "no-store")];

/// How connections of `ws://` and `wss://` are upgraded. An event stream has only headers of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSocketPlan {
    /// The subprotocols to offer, separated by commas.
    pub subprotocol: Option<String>,
    /// Offer permessage-deflate.
    pub deflate: bool,
    /// Further fields of the request that no step sends, without templates.
    pub headers: Vec<(String, String)>,
    /// Names of headers (lower case) with values that are never written anywhere.
    pub secret_headers: Vec<String>,
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
