//! [`TlsClient`]: our side of TLS with the targets of a run.

use std::net::IpAddr;
use std::sync::Arc;

use rustls::client::{Resumption, UnbufferedClientConnection, WebPkiServerVerifier};
use rustls::pki_types::ServerName;
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, Error};
use wavetank_plan::{TlsPlan, TlsResume};

use super::choices::Choices;
use super::pem::{self, Whose};
use super::problem::TlsProblem;
use super::seeding::seed;
use super::sessions::Sessions;
use super::verify::{self, AnyCertificate, Remembering};
use crate::driver::DialTls;

/// Our side of TLS with the targets of a run: made once, shared by all threads.
#[derive(Debug)]
pub struct TlsClient {
    config: ClientConfig,
    /// `None`: any certificate will do.
    judge: Option<Arc<WebPkiServerVerifier>>,
    resume: TlsResume,
    names: Vec<ServerName<'static>>,
}

impl TlsClient {
    /// As `plan` says, with the servers of `names`, which [`DialTls::name`] counts: host names or addresses
    /// (those of IPv6 with or without brackets). They are what certificates must be good for, and what the
    /// handshake names (SNI, for host names): whoever resolved the plan put [`TlsPlan::sni`] in place of them.
    ///
    /// Without [`TlsPlan::ca_pem`] the host's own roots are trusted; where it has none, Mozilla's as of the
    /// build of this program. Fails on unknown groups and ciphers, on PEM that cannot be read, on a key that
    /// does not belong to its certificate, and on names that no certificate can be for.
    pub fn new(plan: &TlsPlan, names: &[String]) -> Result<Self, TlsProblem> {
        let Choices { provider, versions } = Choices::new(plan.versions, &plan.groups, &plan.ciphers)?;
        let judge = if plan.verify {
            let roots = verify::roots(plan.ca_pem.as_deref())?;
            let judge = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
            Some(judge.build().map_err(|error| TlsProblem::new(error.to_string(), "another CA file"))?)
        } else {
            None
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .map_err(|error| unusable(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(Arc::clone(&provider))));
        let mut config = match &plan.client {
            None => builder.with_no_client_auth(),
            Some(own) => {
                let own = pem::identity(&own.chain_pem, &own.key_pem, Whose::CLIENT, &provider)?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(own)))
            }
        };
        config.alpn_protocols = plan.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        config.resumption = Resumption::disabled();
        let names = names.iter().map(|name| server_name(name));
        Ok(Self { config, judge, resume: plan.resume, names: names.collect::<Result<_, _>>()? })
    }

    /// With a configuration as it is, and nobody to talk to.
    #[cfg(test)]
    pub(super) fn of(config: ClientConfig) -> Self {
        Self { config, judge: None, resume: TlsResume::Never, names: Vec::new() }
    }
}

fn unusable(error: &Error) -> TlsProblem {
    TlsProblem::new(format!("these TLS settings do not fit together: {error}"), "fewer of them")
}

fn server_name(name: &str) -> Result<ServerName<'static>, TlsProblem> {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(ServerName::IpAddress(address.into()));
    }
    // A dot at the end is for name servers; TLS knows no such names (RFC 6066 §3).
    let bare = name.strip_suffix('.').unwrap_or(name);
    ServerName::try_from(bare.to_owned()).map_err(|_| {
        let hint = "a host name like www.example.com, or an address";
        TlsProblem::new(format!("`{name}` cannot be a server's name in TLS"), hint)
    })
}

/// One thread's share of a [`TlsClient`].
pub(super) struct ClientSide {
    shared: Arc<TlsClient>,
    config: Arc<ClientConfig>,
    sessions: Arc<Sessions>,
}

impl ClientSide {
    /// To be made on the thread that uses it, before anybody waits for it.
    pub(super) fn new(shared: Arc<TlsClient>) -> Self {
        seed(shared.config.crypto_provider());
        let sessions = Arc::new(Sessions::new(shared.resume));
        let mut config = shared.config.clone();
        if shared.resume != TlsResume::Never {
            config.resumption = Resumption::store(Arc::clone(&sessions) as _);
        }
        if let Some(judge) = &shared.judge {
            config.dangerous().set_certificate_verifier(Arc::new(Remembering::new(Arc::clone(judge))));
        }
        Self { config: Arc::new(config), shared, sessions }
    }

    /// Whether there is a server of this number.
    pub(super) fn knows(&self, dial: DialTls) -> bool {
        usize::from(dial.name) < self.shared.names.len()
    }

    /// The beginning of a handshake.
    pub(super) fn begin(&self, dial: DialTls) -> Result<UnbufferedClientConnection, Error> {
        self.sessions.turn_to(dial);
        let name = self.shared.names[usize::from(dial.name)].clone();
        UnbufferedClientConnection::new(Arc::clone(&self.config), name)
    }

    /// What was kept for the user of that number is not for the next one.
    pub(super) fn forget(&self, session: u32) {
        self.sessions.forget(session, self.shared.names.len());
    }

    /// What follows is about this connection.
    #[inline]
    pub(super) fn turn_to(&self, dial: DialTls) {
        self.sessions.turn_to(dial);
    }
}

#[cfg(test)]
mod tests {
    use wavetank_plan::TlsVersions;

    use super::*;

    #[test]
    fn names_are_taken_as_they_are_given() {
        // `--sni` is applied where targets get their names; here it must not win over what one of several is called.
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
        let names: Vec<_> = client.names.iter().map(|name| name.to_str().into_owned()).collect();
        assert_eq!(names, ["a.example", "b.example"]);
    }
}
