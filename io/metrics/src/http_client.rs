//! [`HttpSink`]: posts one body for each interval.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};
use wavetank_units::sanitize;

use crate::output_thread::Sink;
use crate::snapshot::Snapshot;

/// Time limit of one request, from connecting to the end of the response.
const REQUEST_MAX: Duration = Duration::from_secs(3);
/// Bytes of a response that are read for the message of an error.
const ANSWER_MAX: u64 = 4096;
/// Characters of it that are shown.
const SHOWN_MAX: usize = 160;

/// Makes the body of a request.
pub(crate) type Encode = fn(&Snapshot) -> Result<Vec<u8>, String>;

/// Posts one body for each interval.
pub(crate) struct HttpSink {
    agent: Agent,
    url: url::Url,
    headers: Vec<(&'static str, String)>,
    encode: Encode,
}

impl HttpSink {
    /// Posts to `url`. Its host has the `addresses`.
    pub(crate) fn new(
        url: url::Url,
        addresses: Vec<SocketAddr>,
        headers: Vec<(&'static str, String)>,
        encode: Encode,
    ) -> Self {
        let mut config = Config::builder()
            .timeout_global(Some(REQUEST_MAX))
            .http_status_as_error(false)
            .max_redirects(0)
            // The environment is no part of the command.
            .proxy(None)
            .user_agent(concat!("wavetank/", env!("CARGO_PKG_VERSION")));
        if url.scheme() == "https" {
            config = config.tls_config(tls());
        }
        let agent = Agent::with_parts(config.build(), DefaultConnector::default(), Known(addresses));
        Self { agent, url, headers, encode }
    }

    fn post(&self, body: &[u8]) -> Result<(), String> {
        let mut request = self.agent.post(self.url.as_str());
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let mut response = request.send(body).map_err(|error| self.reason(&error))?;
        let status = response.status();
        // Reading to the end keeps the connection.
        let text = response.body_mut().with_config().limit(ANSWER_MAX).read_to_string().unwrap_or_default();
        if status.is_success() {
            return Ok(());
        }
        let text: String = sanitize(text.trim()).chars().take(SHOWN_MAX).collect();
        let text = if text.is_empty() { text } else { format!(": {text}") };
        Err(format!("it answered {}{text}", status.as_u16()))
    }

    /// The reason as text, without the query of the URL.
    fn reason(&self, error: &Error) -> String {
        match error {
            Error::Io(error) => error.to_string(),
            Error::Timeout(_) => format!("no answer within {} s", REQUEST_MAX.as_secs()),
            error => {
                let text = error.to_string();
                self.url.query().map_or_else(|| text.clone(), |query| text.replace(query, "***"))
            }
        }
    }
}

impl Sink for HttpSink {
    fn send(&mut self, snapshot: &Snapshot) -> Result<(), String> {
        self.post(&(self.encode)(snapshot)?)
    }
}

/// The addresses that were looked up before the run. In a lab, names of the machine cannot be
/// resolved any more when the load runs.
#[derive(Debug)]
struct Known(Vec<SocketAddr>);

impl Resolver for Known {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut addresses = self.empty();
        // The list has room for a fixed number.
        self.0.iter().take(MOST_ADDRESSES).for_each(|address| addresses.push(*address));
        Ok(addresses)
    }
}

/// Addresses of a name that are tried.
const MOST_ADDRESSES: usize = 8;

/// Trusts the roots of this host. `SSL_CERT_FILE` names others.
fn tls() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<_> = found.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(provider)
        .build()
}
