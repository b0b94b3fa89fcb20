//! [`HandshakesLine`]: the TLS handshakes in one element of an interval line's `series`.

use serde::{Deserialize, Serialize};
use wavetank_measure::{HandshakeParams, Handshakes};

/// Complete handshakes by what they agreed on, and how many failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HandshakesLine {
    failed: u64,
    complete: Vec<AgreedLine>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AgreedLine {
    n: u64,
    version: String,
    cipher: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    alpn: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    resumed: bool,
}

impl HandshakesLine {
    /// `None` where there were no handshakes.
    pub(crate) fn new(handshakes: &Handshakes) -> Option<Self> {
        let Handshakes { complete, failed } = handshakes;
        let agreed = |(agreed, n): &(HandshakeParams, u64)| {
            let HandshakeParams { version, cipher, group, alpn, resumed } = agreed.clone();
            AgreedLine { n: *n, version, cipher, group, alpn, resumed }
        };
        (!handshakes.is_empty())
            .then(|| Self { failed: *failed, complete: complete.iter().map(agreed).collect() })
    }

    pub(crate) fn decode(self) -> Handshakes {
        let agreed = |AgreedLine { n, version, cipher, group, alpn, resumed }| {
            (HandshakeParams { version, cipher, group, alpn, resumed }, n)
        };
        Handshakes { complete: self.complete.into_iter().map(agreed).collect(), failed: self.failed }
    }
}
