//! [`TlsClient`]: the client side of TLS with the targets of a run.

use std::net::IpAddr;
use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, UnbufferedClientConnection, WebPkiServerVerifier};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, Error};
use wavetank_plan::{TlsPlan, TlsResume};

use super::crypto_config::CryptoConfig;
use super::pem::{self, PemSource};
use super::problem::TlsProblem;
use super::rng_warmup::seed;
use super::sessions::{QuicSessions, SessionCache};
use super::verify::{self, CachingVerifier, CountingVerifier, NoVerifier};
use crate::driver::DialTls;

/// The client side of TLS with the targets of a run: made once, shared by all threads.
#[derive(Debug)]
pub struct TlsClient {
    /// Never empty.
    ways: Vec<TlsProfile>,
    /// Server names, each with the index of its profile.
    names: Vec<(ServerName<'static>, usize)>,
}

/// One TLS configuration.
#[derive(Debug)]
struct TlsProfile {
    config: ClientConfig,
    /// `None`: any certificate is accepted.
    judge: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates that are trusted themselves.
    named: Arc<[CertificateDer<'static>]>,
    resume: TlsResume,
}

impl TlsClient {
    /// Makes the client side of `plan` for the servers in `names`, the list that [`DialTls::name`]
    /// indexes. Names are host names or addresses (IPv6 with or without brackets). Certificates
    /// must be valid for them, and the handshake sends host names (SNI). The code that resolved the
    /// plan has already put [`TlsPlan::sni`] in their place.
    ///
    /// Without [`TlsPlan::ca_pem`] the host's own roots are trusted. If the host has none, these
    /// are Mozilla's roots as of the build of this program. Fails on unknown groups and ciphers,
    /// unreadable PEM, a key that does not belong to its certificate, and names that no certificate
    /// can contain.
    pub fn new(plan: &TlsPlan, names: &[String]) -> Result<Self, TlsProblem> {
        let plans: Vec<&TlsPlan> = names.iter().map(|_| plan).collect();
        Self::each(plan, names, &plans)
    }

    /// As [`new`](Self::new), with a plan for each of `names`; `common` is the plan of most of
    /// them.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn each(common: &TlsPlan, names: &[String], plans: &[&TlsPlan]) -> Result<Self, TlsProblem> {
        let mut known = vec![common];
        let mut ways = vec![TlsProfile::new(common)?];
        let mut all = Vec::with_capacity(names.len());
        for (name, plan) in names.iter().zip(plans) {
            let way = known.iter().position(|known| known == plan);
            let way = way.map_or_else(
                || {
                    known.push(plan);
                    ways.push(TlsProfile::new(plan)?);
                    Ok::<_, TlsProblem>(ways.len() - 1)
                },
                Ok,
            )?;
            all.push((server_name(name)?, way));
        }
        Ok(Self { ways, names: all })
    }

    /// Returns the configurations for QUIC, which has TLS inside, and the sessions of each, by
    /// profile. Call it on the thread that uses them, before any measured time runs.
    pub fn quic_configs(&self) -> Vec<(Arc<ClientConfig>, QuicSessions)> {
        let configs = self.ways.iter().map(|way| {
            seed(way.config.crypto_provider());
            let sessions = Arc::new(SessionCache::new(way.resume));
            let mut config = way.config.clone();
            if way.resume != TlsResume::Never {
                config.resumption = Resumption::store(Arc::clone(&sessions) as _);
            }
            let inner = way.verifier();
            let verifier = CountingVerifier { inner, sessions: Arc::clone(&sessions) };
            config.dangerous().set_certificate_verifier(Arc::new(verifier));
            (Arc::new(config), QuicSessions::new(sessions, self.names.len()))
        });
        configs.collect()
    }

    /// Returns the name of the server that `dial` names, and the index of its profile.
    pub fn quic_server(&self, dial: DialTls) -> Option<(String, usize)> {
        let (name, way) = self.names.get(usize::from(dial.name))?;
        Some((name.to_str().into_owned(), *way))
    }

    /// Uses a configuration unchanged, without any server.
    #[cfg(test)]
    pub(super) fn from_config(config: ClientConfig) -> Self {
        let ways = vec![TlsProfile { config, judge: None, named: [].into(), resume: TlsResume::Never }];
        Self { ways, names: Vec::new() }
    }
}

impl TlsProfile {
    fn new(plan: &TlsPlan) -> Result<Self, TlsProblem> {
        let CryptoConfig { provider, versions } =
            CryptoConfig::new(plan.versions, &plan.groups, &plan.ciphers)?;
        let judge = if plan.verify {
            let roots = verify::roots(plan.ca_pem.as_deref())?;
            let judge = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
            Some(judge.build().map_err(|error| TlsProblem::new(error.to_string(), "use another CA file"))?)
        } else {
            None
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .map_err(|error| unusable(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(NoVerifier(Arc::clone(&provider))));
        let mut config = match &plan.client {
            None => builder.with_no_client_auth(),
            Some(own) => {
                let own = pem::identity(&own.chain_pem, &own.key_pem, PemSource::CLIENT, &provider)?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(own)))
            }
        };
        config.alpn_protocols = plan.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        config.resumption = Resumption::disabled();
        let named = verify::named(plan.ca_pem.as_deref())?;
        Ok(Self { config, judge, named, resume: plan.resume })
    }

    /// Returns the verifier of certificates for a thread.
    fn verifier(&self) -> Arc<dyn ServerCertVerifier> {
        match &self.judge {
            Some(judge) => Arc::new(CachingVerifier::new(Arc::clone(judge), Arc::clone(&self.named))),
            None => Arc::new(NoVerifier(Arc::clone(self.config.crypto_provider()))),
        }
    }
}

fn unusable(error: &Error) -> TlsProblem {
    TlsProblem::new(format!("these TLS settings do not fit together: {error}"), "use fewer of them")
}

fn server_name(name: &str) -> Result<ServerName<'static>, TlsProblem> {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(ServerName::IpAddress(address.into()));
    }
    // A trailing dot is for name servers; TLS does not allow it in names (RFC 6066 §3).
    let bare = name.strip_suffix('.').unwrap_or(name);
    ServerName::try_from(bare.to_owned()).map_err(|_| {
        let hint = "use a host name like www.example.com, or an address";
        TlsProblem::new(format!("`{name}` cannot be a server's name in TLS"), hint)
    })
}

/// The part of a [`TlsClient`] that belongs to one thread.
pub(super) struct ThreadTlsClient {
    shared: Arc<TlsClient>,
    /// Configuration and session cache of each profile.
    own: Vec<(Arc<ClientConfig>, Arc<SessionCache>)>,
}

impl ThreadTlsClient {
    /// Call it on the thread that uses it, before any measured time runs.
    pub(super) fn new(shared: Arc<TlsClient>) -> Self {
        let own = shared.ways.iter().map(|way| {
            seed(way.config.crypto_provider());
            let sessions = Arc::new(SessionCache::new(way.resume));
            let mut config = way.config.clone();
            if way.resume != TlsResume::Never {
                config.resumption = Resumption::store(Arc::clone(&sessions) as _);
            }
            config.dangerous().set_certificate_verifier(way.verifier());
            (Arc::new(config), sessions)
        });
        Self { own: own.collect(), shared }
    }

    /// Returns whether the server that `dial` names exists.
    pub(super) fn has_server(&self, dial: DialTls) -> bool {
        usize::from(dial.name) < self.shared.names.len()
    }

    /// Starts a handshake.
    pub(super) fn begin(&self, dial: DialTls) -> Result<UnbufferedClientConnection, Error> {
        let (name, way) = &self.shared.names[usize::from(dial.name)];
        let (config, sessions) = &self.own[*way];
        sessions.select_connection(dial);
        UnbufferedClientConnection::new(Arc::clone(config), name.clone())
    }

    /// Drops the sessions of this user number: a different user has it next.
    pub(super) fn forget(&self, session: u32) {
        for (_, sessions) in &self.own {
            sessions.forget(session, self.shared.names.len());
        }
    }

    /// Selects the sessions of this connection for the calls that follow.
    #[inline]
    pub(super) fn set_current(&self, dial: DialTls) {
        if let Some((_, way)) = self.shared.names.get(usize::from(dial.name)) {
            self.own[*way].1.select_connection(dial);
        }
    }
}

#[cfg(test)]
mod tests {
    use wavetank_plan::TlsVersions;

    use super::*;

    #[test]
    fn names_are_taken_as_they_are_given() {
        // `--sni` is applied when targets get their names. Here it must not replace the name of one
        // of several targets.
        let plan = TlsPlan {
            verify: false,
            ca_pem: None,
            client: None,
            sni: Some("sni.example".to_owned()),
            resume: TlsResume::Never,
            versions: TlsVersions::Both,
            groups: Vec::new(),
            ciphers: Vec::new(),
            alpn: Vec::new(),
        };
        let client =
            TlsClient::new(&plan, &["a.example".to_owned(), "b.example.".to_owned()]).expect("good names");
        let names: Vec<_> = client.names.iter().map(|(name, _)| name.to_str().into_owned()).collect();
        assert_eq!(names, ["a.example", "b.example"]);
    }
}
