//! [`Broker`]: where the broker is, and what makes both sides sure of each other.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;

use crate::{NatsKey, Subjects};

/// Largest file with certificates, in bytes.
const CA_BYTES_MAX: u64 = 4 << 20;

/// A broker, and the key by which it knows this end.
#[derive(Clone)]
pub struct Broker {
    pub(crate) url: String,
    pub(crate) key: NatsKey,
    pub(crate) tls: ClientConfig,
    pub(crate) subjects: Subjects,
}

/// Why a broker cannot be used.
#[derive(Debug)]
pub enum BrokerError {
    /// The file of certificates cannot be read.
    Unreadable(PathBuf, std::io::Error),
    /// The file has no certificate that can be used.
    NoCertificate(PathBuf, String),
    /// The URL is not that of a NATS broker.
    Url,
}

impl Broker {
    /// The broker at `url`, `nats://HOST:PORT`, for the fleet with this name. The connection is
    /// always encrypted, and the broker's certificate must be signed by one in the file `ca` (PEM).
    ///
    /// # Errors
    /// If the URL is wrong, or the file cannot be read or has no certificate.
    pub fn new(url: &str, fleet: &str, key: NatsKey, ca: &Path) -> Result<Self, BrokerError> {
        let is_plain = url.parse::<async_nats::ServerAddr>().is_ok_and(|address| {
            ["nats", "tls"].contains(&address.scheme())
                && address.username().is_none()
                && address.password().is_none()
        });
        if !is_plain {
            return Err(BrokerError::Url);
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| BrokerError::NoCertificate(ca.to_owned(), error.to_string()))?
            .with_root_certificates(roots(ca)?)
            .with_no_client_auth();
        Ok(Self { url: url.to_owned(), key, tls, subjects: Subjects::new(fleet) })
    }
}

fn roots(ca: &Path) -> Result<RootCertStore, BrokerError> {
    let unreadable = |error| BrokerError::Unreadable(ca.to_owned(), error);
    let unusable = |reason: &dyn fmt::Display| BrokerError::NoCertificate(ca.to_owned(), reason.to_string());
    if std::fs::metadata(ca).map_err(unreadable)?.len() > CA_BYTES_MAX {
        return Err(unusable(&"it is too large"));
    }
    let pem = std::fs::read(ca).map_err(unreadable)?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| unusable(&error))?;
        roots.add(certificate).map_err(|error| unusable(&error))?;
    }
    if roots.is_empty() {
        return Err(unusable(&"it has none"));
    }
    Ok(roots)
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker").field("url", &self.url).field("key", &self.key).finish_non_exhaustive()
    }
}

impl fmt::Display for BrokerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::NoCertificate(path, reason) => {
                write!(f, "cannot use the certificates in {}: {reason}", path.display())
            }
            // A password in it would be a secret.
            Self::Url => f.write_str("cannot use the broker's URL: it is not nats://HOST:PORT"),
        }
    }
}

impl std::error::Error for BrokerError {}
