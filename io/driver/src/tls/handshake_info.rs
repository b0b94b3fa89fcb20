//! [`HandshakeInfo`]: the result of a handshake.

use rustls::{CommonState, HandshakeKind, ProtocolVersion};

use super::crypto_config;

/// The result of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeInfo {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The TLS name of the cipher suite, e.g. `TLS_AES_128_GCM_SHA256`.
    pub cipher: &'static str,
    /// The TLS name of the key exchange group, e.g. `X25519`. `None` for a resumed TLS 1.2 session
    /// without a key exchange.
    pub group: Option<&'static str>,
    /// Whether an earlier session was resumed.
    pub resumed: bool,
    /// The application protocol that was agreed on.
    pub alpn: Option<Alpn>,
}

impl HandshakeInfo {
    /// Returns what is known of a handshake of QUIC, which has TLS 1.3 inside.
    pub fn of_quic(alpn: Option<&[u8]>, resumed: bool) -> Self {
        Self { version: "TLSv1.3", cipher: "", group: None, resumed, alpn: alpn.map(Alpn::new) }
    }

    pub(super) fn from_state(state: &CommonState) -> Self {
        let group =
            state.negotiated_key_exchange_group().map(|group| crypto_config::group_name(group.name()));
        Self {
            version: match state.protocol_version() {
                Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
                _ => "TLSv1.2",
            },
            cipher: state
                .negotiated_cipher_suite()
                .map_or("?", |suite| crypto_config::cipher_name(suite.suite())),
            group,
            resumed: state.handshake_kind() == Some(HandshakeKind::Resumed),
            alpn: state.alpn_protocol().map(Alpn::new),
        }
    }
}

/// The name of an application protocol. Names longer than any registered one are cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Alpn {
    bytes: [u8; 15],
    len: u8,
}

impl Alpn {
    fn new(name: &[u8]) -> Self {
        let mut bytes = [0; 15];
        let len = name.len().min(bytes.len());
        bytes[..len].copy_from_slice(&name[..len]);
        Self { bytes, len: len as u8 }
    }

    /// Returns the name, e.g. `http/1.1`; empty if it is not valid text.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl std::fmt::Debug for Alpn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}
