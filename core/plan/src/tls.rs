//! [`TlsPlan`]: the TLS settings, every choice fixed.

use serde::{Deserialize, Serialize};

/// The TLS settings for all targets with an `https` URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsPlan {
    /// Whether the target's certificate must be good for its name.
    pub verify: bool,
    /// Certificates to trust instead of the host's own, as PEM.
    pub ca_pem: Option<Vec<u8>>,
    /// Our own certificate, where the target asks for one.
    pub client: Option<TlsIdentity>,
    /// The requested name in the handshake instead of the target's host. Targets already contain it
    /// ([`Target::server_name`](crate::Target::server_name)).
    pub sni: Option<String>,
    /// Whether sessions are resumed, and by which users.
    pub resume: TlsResume,
    /// Enabled TLS versions.
    pub versions: TlsVersions,
    /// Key exchange groups in order of preference, by their names in TLS (`X25519`, `secp256r1`,
    /// …); empty: the library's choice.
    pub groups: Vec<String>,
    /// Cipher suites in order of preference, by their names in TLS; empty: the library's choice.
    pub ciphers: Vec<String>,
    /// Application protocols offered, in order; empty: none.
    pub alpn: Vec<String>,
}

/// A certificate chain and its key, as PEM.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsIdentity {
    /// Own certificate first.
    pub chain_pem: Vec<u8>,
    /// The private key; never written anywhere.
    pub key_pem: Vec<u8>,
}

impl std::fmt::Debug for TlsIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsIdentity").finish_non_exhaustive()
    }
}

/// Whether a connection may resume the session of an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TlsResume {
    /// Every handshake is a full one.
    #[default]
    Never,
    /// Each virtual user (each place of a pool) resumes its own sessions, as a browser does.
    User,
    /// All connections of a load thread share one cache.
    Shared,
}

/// Versions of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TlsVersions {
    /// 1.2 and 1.3, whichever the target prefers.
    #[default]
    Both,
    /// 1.2 only.
    Tls12,
    /// 1.3 only.
    Tls13,
}
