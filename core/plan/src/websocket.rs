//! [`WebSocketPlan`]: how connections are upgraded to WebSocket.

use serde::{Deserialize, Serialize};

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
