//! [`HandshakeInfo`]: what a handshake came to.

use rustls::{CommonState, HandshakeKind, ProtocolVersion};

use super::crypto_config;

/// What a handshake came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeInfo {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The cipher suite by its name in TLS, e.g. `TLS_AES_128_GCM_SHA256`.
    pub cipher: &'static str,
    /// TLS name of the key exchange group, e.g. `X25519`; `None` where a resumed session of 1.2
    /// needed none.
    pub group: Option<&'static str>,
    /// Whether an earlier session was resumed.
    pub resumed: bool,
    /// The application protocol agreed on.
    pub alpn: Option<Alpn>,
}

impl HandshakeInfo {
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

/// The name of an application protocol; longer ones than any that is registered are cut.
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

    /// The name, e.g. `http/1.1`; empty where it is no text.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl std::fmt::Debug for Alpn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}
