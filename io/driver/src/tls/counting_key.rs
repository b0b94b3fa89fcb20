//! [`CountingResolver`]: counts the full handshakes of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{SignatureAlgorithm, SignatureScheme};

/// The number of signatures that the server of one thread has made for handshakes. One that resumes
/// a session needs none.
#[derive(Clone, Debug, Default)]
pub struct QuicSignatures(Arc<AtomicU64>);

impl QuicSignatures {
    /// The number of signatures so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Passes certificates on, with keys that count their uses.
#[derive(Debug)]
pub(super) struct CountingResolver {
    pub(super) inner: Arc<dyn ResolvesServerCert>,
    pub(super) signatures: QuicSignatures,
}

impl ResolvesServerCert for CountingResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut own = CertifiedKey::clone(&*self.inner.resolve(hello)?);
        own.key = Arc::new(CountingKey { inner: own.key, signatures: self.signatures.clone() });
        Some(Arc::new(own))
    }
}

#[derive(Debug)]
struct CountingKey {
    inner: Arc<dyn SigningKey>,
    signatures: QuicSignatures,
}

impl SigningKey for CountingKey {
    /// A signature follows if a scheme fits.
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        self.signatures.0.fetch_add(1, Ordering::Relaxed);
        self.inner.choose_scheme(offered)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.inner.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.inner.algorithm()
    }
}
