//! [`TlsServerOptions`]: the TLS settings of the built-in server.

use crate::TlsVersions;

/// The TLS settings of a server, apart from its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsServerOptions {
    /// Enabled TLS versions.
    pub versions: TlsVersions,
    /// Key exchange groups in order of preference, by their names in TLS; empty: the library's
    /// choice.
    pub groups: Vec<String>,
    /// Cipher suites in order of preference, by their names in TLS; empty: the library's choice.
    pub ciphers: Vec<String>,
    /// Supported application protocols in order of preference; empty: any protocol of the client is
    /// accepted.
    pub alpn: Vec<String>,
    /// Whether clients get tickets by which they can resume their sessions.
    pub tickets: bool,
    /// Clients must present a certificate that one of these signed, as PEM; `None`: they are not
    /// asked.
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
