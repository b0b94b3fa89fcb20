//! [`TlsServerOptions`]: how the built-in server speaks TLS.

use crate::TlsVersions;

/// How a server speaks TLS, apart from its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsServerOptions {
    /// Versions spoken.
    pub versions: TlsVersions,
    /// Key exchange groups in order of preference, by their names in TLS; empty: the library's choice.
    pub groups: Vec<String>,
    /// Cipher suites in order of preference, by their names in TLS; empty: the library's choice.
    pub ciphers: Vec<String>,
    /// Application protocols spoken, in order of preference; empty: whatever the client says is let pass.
    pub alpn: Vec<String>,
    /// Whether clients get tickets by which they can resume their sessions.
    pub tickets: bool,
    /// Clients must show a certificate that one of these signed, as PEM; `None`: they are not asked.
    pub client_ca_pem: Option<Vec<u8>>,
}

impl Default for TlsServerOptions {
    /// 1.2 and 1.3, all groups and ciphers there are, tickets, no client certificates.
    fn default() -> Self {
        Self {
            versions: TlsVersions::Both,
            groups: Vec::new(),
            ciphers: Vec::new(),
            alpn: Vec::new(),
            tickets: true,
            client_ca_pem: None,
        }
    }
}
