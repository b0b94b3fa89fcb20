//! [`TlsOptions`]: what a person asked of TLS, not yet resolved.

use std::fmt;

use crate::{TlsResume, TlsVersions};

/// The options of TLS; `None`, empty and `false` mean *not given*.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// `--insecure`: take any certificate.
    pub insecure: bool,
    /// `--cacert`: certificates to trust instead of the host's own.
    pub ca: Option<PemFile>,
    /// `--cert`: our own certificate chain, perhaps with its key.
    pub cert: Option<PemFile>,
    /// `--key`: the key of `cert`.
    pub key: Option<PemFile>,
    /// `--sni`: the name in the handshake.
    pub sni: Option<String>,
    /// `--tls`: the only enabled version.
    pub version: Option<TlsVersions>,
    /// `--tls-groups`, in order of preference.
    pub groups: Vec<String>,
    /// `--tls-ciphers`, in order of preference.
    pub ciphers: Vec<String>,
    /// `--alpn`, in order of preference; empty but given: none is offered.
    pub alpn: Option<Vec<String>>,
    /// `--tls-resume`.
    pub resume: Option<TlsResume>,
}

impl TlsOptions {
    /// The options that are given, by their names on the command line.
    pub fn given_flags(&self) -> Vec<&'static str> {
        // Taken apart by name, so that a new option cannot be forgotten here.
        let Self { insecure, ca, cert, key, sni, version, groups, ciphers, alpn, resume } = self;
        [
            ("--insecure", *insecure),
            ("--cacert", ca.is_some()),
            ("--cert", cert.is_some()),
            ("--key", key.is_some()),
            ("--sni", sni.is_some()),
            ("--tls", version.is_some()),
            ("--tls-groups", !groups.is_empty()),
            ("--tls-ciphers", !ciphers.is_empty()),
            ("--alpn", alpn.is_some()),
            ("--tls-resume", resume.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, given)| given.then_some(name))
        .collect()
    }
}

/// A file of certificates or keys in PEM (RFC 7468), already read by the command line.
#[derive(Clone, PartialEq, Eq)]
pub struct PemFile {
    /// Its name as given, for errors.
    pub name: String,
    /// All of it; may hold a private key.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for PemFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PemFile").field("name", &self.name).finish_non_exhaustive()
    }
}
