//! Reads certificates and keys from PEM, and checks them with the library that uses them.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, RootCertStore};
use wavetank_plan::pem;

use super::problem::TlsProblem;

const CERT_HINT: &str = "use a certificate between -----BEGIN CERTIFICATE----- and -----END CERTIFICATE-----";
const KEY_HINT: &str = "use a key between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----, \
                        unencrypted: RSA, ECDSA or Ed25519";

/// The names of a certificate and its key in errors, with the options that set them.
#[derive(Clone, Copy)]
pub(super) struct PemSource {
    cert: &'static str,
    key: &'static str,
}

impl PemSource {
    pub(super) const CLIENT: Self =
        Self { cert: "the client certificate (--cert)", key: "the client key (--key)" };
    pub(super) const SERVER: Self =
        Self { cert: "the server certificate (--tls-cert)", key: "the server key (--tls-key)" };
}

/// Returns all certificates of `pem`; at least one. `owner` names the purpose of the file in
/// errors.
pub(super) fn certificates(pem: &[u8], owner: &str) -> Result<Vec<CertificateDer<'static>>, TlsProblem> {
    match pem::certificates(pem) {
        Ok(all) => Ok(all.into_iter().map(CertificateDer::from).collect()),
        Err(fault) => Err(TlsProblem::new(format!("{owner} has no certificate: {fault}"), CERT_HINT)),
    }
}

/// Returns a chain and its key, checked to belong together.
pub(super) fn identity(
    chain_pem: &[u8],
    key_pem: &[u8],
    owner: PemSource,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>, TlsProblem> {
    let PemSource { cert: its_cert, key: its_key } = owner;
    let chain = certificates(chain_pem, its_cert)?;
    let key = pem::private_key(key_pem)
        .map_err(|fault| TlsProblem::new(format!("{its_key} is unusable: {fault}"), KEY_HINT))?;
    let key = provider
        .key_provider
        .load_private_key(key)
        .map_err(|error| TlsProblem::new(format!("{its_key} is unusable: {}", plain(&error)), KEY_HINT))?;
    let certified = CertifiedKey::new(chain, key);
    match certified.keys_match() {
        // Unknown: the key does not reveal its public half. The handshake will show whether it
        // fits.
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(Arc::new(certified)),
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            let hint = "the first certificate of the chain must be the one made with this key";
            Err(TlsProblem::new(format!("{its_key} does not belong to {its_cert}"), hint))
        }
        Err(error) => Err(TlsProblem::new(format!("{its_cert} is malformed: {}", plain(&error)), CERT_HINT)),
    }
}

/// Returns the roots in `pem`.
pub(super) fn roots(pem: &[u8], owner: &str) -> Result<RootCertStore, TlsProblem> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem, owner)? {
        roots.add(certificate).map_err(|error| {
            TlsProblem::new(format!("{owner} holds a malformed certificate: {}", plain(&error)), CERT_HINT)
        })?;
    }
    Ok(roots)
}

/// Returns the library's message without its prefix.
fn plain(error: &Error) -> String {
    match error {
        Error::General(words) => words.clone(),
        other => other.to_string(),
    }
}
