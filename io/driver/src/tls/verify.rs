//! [`CachingVerifier`] and [`NoVerifier`]: how certificates of servers are verified.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::pem;
use super::problem::TlsProblem;
use super::sessions::SessionCache;

/// A chain that was valid is accepted for this long without verifying it again.
const REMEMBERED_S: u64 = 60;
/// Chains remembered. A run has few server names, but a load balancer may have a certificate on
/// each host.
const CHAINS_MAX: usize = 32;

/// Returns the certificates that the user named as trusted.
pub(super) fn named(ca_pem: Option<&[u8]>) -> Result<Arc<[CertificateDer<'static>]>, TlsProblem> {
    ca_pem.map_or_else(|| Ok([].into()), |pem| pem::certificates(pem, CA_FILE).map(Into::into))
}

/// What messages call the file.
const CA_FILE: &str = "the CA file (--cacert)";

/// Returns the trusted roots: the certificates of `ca_pem` alone, or else the host's own. If there
/// are none, as in an empty container, these are Mozilla's list as of the build of this program.
pub(super) fn roots(ca_pem: Option<&[u8]>) -> Result<RootCertStore, TlsProblem> {
    if let Some(ca_pem) = ca_pem {
        return pem::roots(ca_pem, CA_FILE);
    }
    Ok(or_built_in(rustls_native_certs::load_native_certs().certs))
}

fn or_built_in(native: Vec<CertificateDer<'static>>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    // A host has hundreds of roots, and single ones may be malformed: only the others count.
    roots.add_parsable_certificates(native);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

/// Verifies chains by roots and names, and remembers the valid ones: in a load test each handshake
/// has the same chain. The signature of the handshake is checked each time.
#[derive(Debug)]
pub(super) struct CachingVerifier {
    judge: Arc<WebPkiServerVerifier>,
    /// Certificates that the user named as trusted.
    named: Arc<[CertificateDer<'static>]>,
    good: Mutex<Vec<Good>>,
}

#[derive(Debug)]
struct Good {
    chain: Vec<CertificateDer<'static>>,
    name: ServerName<'static>,
    at: UnixTime,
}

impl Good {
    fn is(&self, first: &CertificateDer<'_>, others: &[CertificateDer<'_>], name: &ServerName<'_>) -> bool {
        self.name == *name
            && self.chain.len() == 1 + others.len()
            && self.chain[0] == *first
            && self.chain[1..].iter().zip(others).all(|(mine, other)| mine == other)
    }
}

impl CachingVerifier {
    /// Makes a verifier for one thread, so that its lock is never contended.
    pub(super) fn new(judge: Arc<WebPkiServerVerifier>, named: Arc<[CertificateDer<'static>]>) -> Self {
        Self { judge, named, good: Mutex::default() }
    }

    /// Accepts a CA's certificate (CA:TRUE, as `openssl req -x509` makes it) as a server's if the
    /// user named this very certificate. The library has checked its dates by then, but not the
    /// name.
    fn accept_named(
        &self,
        error: Error,
        end_entity: &CertificateDer<'_>,
        server_name: &ServerName<'_>,
    ) -> Result<ServerCertVerified, Error> {
        if !is_ca_as_server(&error) || !self.named.contains(end_entity) {
            return Err(error);
        }
        verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
        Ok(ServerCertVerified::assertion())
    }
}

impl ServerCertVerifier for CachingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let mut good = self.good.lock().unwrap_or_else(PoisonError::into_inner);
        good.retain(|one| now.as_secs().abs_diff(one.at.as_secs()) < REMEMBERED_S);
        if good.iter().any(|one| one.is(end_entity, intermediates, server_name)) {
            return Ok(ServerCertVerified::assertion());
        }
        let verified = self
            .judge
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            .or_else(|error| self.accept_named(error, end_entity, server_name))?;
        if good.len() == CHAINS_MAX {
            good.remove(0);
        }
        let chain = std::iter::once(end_entity).chain(intermediates);
        good.push(Good {
            chain: chain.map(|one| one.clone().into_owned()).collect(),
            name: server_name.to_owned(),
            at: now,
        });
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.judge.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.judge.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.judge.supported_verify_schemes()
    }
}

/// Whether the library refuses a certificate because it is a CA's.
pub(super) fn is_ca_as_server(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(other))
        if format!("{other:?}").contains("CaUsedAsEndEntity"))
}

/// Accepts any certificate for any name. The signature of the handshake is still checked: a real
/// client pays for that check, so the load generator must pay as well.
#[derive(Debug)]
pub(super) struct NoVerifier(pub(super) Arc<CryptoProvider>);

impl ServerCertVerifier for NoVerifier {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Counts the certificates that servers show, and passes them on.
#[derive(Debug)]
pub(super) struct CountingVerifier {
    pub(super) inner: Arc<dyn ServerCertVerifier>,
    pub(super) sessions: Arc<SessionCache>,
}

impl ServerCertVerifier for CountingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.sessions.count_certificate();
        self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_roots_gets_those_built_in() {
        let broken = CertificateDer::from(vec![48, 3, 2, 1, 0]);
        for native in [vec![], vec![broken.clone()]] {
            assert!(or_built_in(native).len() > 50);
        }
        let own = rcgen::generate_simple_self_signed(["a.example".to_owned()]).expect("a certificate");
        assert_eq!(or_built_in(vec![broken, own.cert.der().clone()]).len(), 1, "the host's own come first");
    }
}
