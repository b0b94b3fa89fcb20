//! [`TlsServer`]: the server side of TLS.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, SanType};
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::Ticketer;
use rustls::server::{
    NoServerSessionStorage, UnbufferedServerConnection, WebPkiClientVerifier, danger::ClientCertVerifier,
};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{Error, ServerConfig, SignatureAlgorithm, SupportedCipherSuite, SupportedProtocolVersion};
use sha2::{Digest, Sha256};
use wavetank_plan::TlsServerOptions;

use super::counting_key::{CountingResolver, QuicSignatures};
use super::crypto_config::CryptoConfig;
use super::pem::{self, PemSource};
use super::problem::TlsProblem;
use super::rng_warmup::seed;

/// Separates [`TlsServer::reset_secret`] from other uses of the key.
const RESET_LABEL: &[u8] = b"wavetank QUIC stateless reset";

/// The server side of TLS: made once, shared by all threads. Tickets hold the encrypted sessions
/// themselves, so that resumption costs the server no memory. Each thread accepts the tickets of
/// all others.
#[derive(Debug)]
pub struct TlsServer {
    config: Arc<ServerConfig>,
    chain_pem: Vec<u8>,
    fingerprint: String,
    reset_secret: [u8; 32],
}

impl TlsServer {
    /// Makes a server with a certificate chain (its own first) and its key, both as PEM.
    ///
    /// Fails on unreadable PEM, on a key that does not belong to the certificate, and on unknown
    /// groups and ciphers.
    pub fn new(chain_pem: &[u8], key_pem: &[u8], options: &TlsServerOptions) -> Result<Self, TlsProblem> {
        let CryptoConfig { provider, versions } =
            CryptoConfig::new(options.versions, &options.groups, &options.ciphers)?;
        let own = pem::identity(chain_pem, key_pem, PemSource::SERVER, &provider)?;
        check_key_fits(&own, &provider, &versions)?;
        let fingerprint = fingerprint(&own.cert[0]);
        let clients: Arc<dyn ClientCertVerifier> = match &options.client_ca_pem {
            None => WebPkiClientVerifier::no_client_auth(),
            Some(ca_pem) => {
                let roots = Arc::new(pem::roots(ca_pem, "the CA file for clients (--tls-client-ca)")?);
                WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider))
                    .build()
                    .map_err(|error| TlsProblem::new(error.to_string(), "use another CA file"))?
            }
        };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(|error| unusable(&error))?
            .with_client_cert_verifier(clients)
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(own)));
        config.alpn_protocols = options.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        config.session_storage = Arc::new(NoServerSessionStorage {});
        if options.tickets {
            config.ticketer = Ticketer::new().map_err(|error| unusable(&error))?;
        } else {
            config.send_tls13_tickets = 0;
        }
        let reset_secret = Sha256::new().chain_update(RESET_LABEL).chain_update(key_pem).finalize().into();
        Ok(Self { config: Arc::new(config), chain_pem: chain_pem.to_vec(), fingerprint, reset_secret })
    }

    /// Makes a server with a new self-signed certificate for `names` (host names and addresses), on
    /// a new P-256 key. The certificate is its own CA file, and it is valid for longer than it will
    /// be used.
    pub fn self_signed(names: &[String], options: &TlsServerOptions) -> Result<Self, TlsProblem> {
        let (chain_pem, key_pem) = make(names).map_err(|error| {
            TlsProblem::new(
                format!("cannot make a certificate: {error}"),
                "pass one with its key: --tls-cert, --tls-key",
            )
        })?;
        Self::new(chain_pem.as_bytes(), key_pem.as_bytes(), options)
    }

    /// Returns the certificate chain as PEM: the file that a client must trust.
    pub fn chain_pem(&self) -> &[u8] {
        &self.chain_pem
    }

    /// Returns the SHA-256 of the server's certificate, as `openssl x509 -fingerprint -sha256`
    /// prints it: `AB:CD:…`.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the configuration for QUIC, which has TLS inside, with HTTP/3 as its only protocol.
    /// Also returns the count of its signatures. Call it on the thread that uses them.
    pub fn quic_config(&self) -> (ServerConfig, QuicSignatures) {
        self.prepare_thread();
        let mut config = ServerConfig::clone(&self.config);
        config.alpn_protocols = vec![b"h3".to_vec()];
        let signatures = QuicSignatures::default();
        let inner = Arc::clone(&config.cert_resolver);
        config.cert_resolver = Arc::new(CountingResolver { inner, signatures: signatures.clone() });
        (config, signatures)
    }

    /// Returns a secret by which a server recognises the QUIC connections of an earlier one with
    /// the same key (RFC 9000 §10.3.2).
    pub const fn reset_secret(&self) -> &[u8; 32] {
        &self.reset_secret
    }

    /// Uses a configuration unchanged.
    #[cfg(test)]
    pub(super) fn from_config(config: ServerConfig) -> Self {
        Self {
            config: Arc::new(config),
            chain_pem: Vec::new(),
            fingerprint: String::new(),
            reset_secret: [0; 32],
        }
    }

    /// Call it on each serving thread, before any client waits for it.
    pub(super) fn prepare_thread(&self) {
        seed(self.config.crypto_provider());
    }

    /// Returns a connection that waits for its client to start.
    pub(super) fn begin(&self) -> Result<UnbufferedServerConnection, Error> {
        UnbufferedServerConnection::new(Arc::clone(&self.config))
    }
}

/// Fails if no selected cipher can be used with the certificate's key: no handshake would ever
/// succeed.
fn check_key_fits(
    own: &CertifiedKey,
    provider: &CryptoProvider,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<(), TlsProblem> {
    let key = own.key.algorithm();
    let fits = |suite: &SupportedCipherSuite| {
        let spoken = versions.iter().any(|version| version.version == suite.version().version);
        // In TLS 1.3 any suite goes with any key.
        spoken && suite.usable_for_signature_algorithm(key)
    };
    if provider.cipher_suites.iter().any(fits) {
        return Ok(());
    }
    let (has, with) = if key == SignatureAlgorithm::RSA {
        ("an RSA key", "with ECDHE_RSA")
    } else {
        ("an ECDSA key", "with ECDHE_ECDSA")
    };
    Err(TlsProblem::new(
        format!("the server certificate has {has}, and none of the ciphers goes with it (--tls-ciphers)"),
        format!("use ciphers {with} or of TLS 1.3, or a certificate with another key: --tls-cert, --tls-key"),
    ))
}

fn unusable(error: &Error) -> TlsProblem {
    TlsProblem::new(format!("these TLS settings do not fit together: {error}"), "use fewer of them")
}

fn make(names: &[String]) -> Result<(String, String), rcgen::Error> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let mut params = CertificateParams::default();
    for name in names {
        params.subject_alt_names.push(match name.parse::<IpAddr>() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(name.as_str().try_into()?),
        });
    }
    params.distinguished_name.push(DnType::CommonName, "wavetank serve");
    Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
}

fn fingerprint(der: &[u8]) -> String {
    let mut text = String::with_capacity(96);
    for (at, byte) in Sha256::digest(der).iter().enumerate() {
        let colon = if at == 0 { "" } else { ":" };
        write!(text, "{colon}{byte:02X}").expect("writing to a string does not fail");
    }
    text
}
