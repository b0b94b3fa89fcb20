//! [`Http`]: HTTP settings.

use wavetank_grammar::Spanned;
use wavetank_plan::{
    Close, ConnectTo, DnsPolicy, HttpVersion, IpFamily, ProxyProtocol, ProxyUrl, StatusSet, TlsResume,
    TlsVersions,
};
use wavetank_units::Nanos;

use super::Template;

/// `http:`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Http {
    /// Version of HTTP.
    pub version: Option<HttpVersion>,
    /// Request timeout, including connecting and the full response.
    pub timeout: Option<Spanned<Nanos>>,
    /// Connect timeout.
    pub connect_timeout: Option<Spanned<Nanos>>,
    /// Whether a connection is used for more than one request.
    pub keepalive: Option<bool>,
    /// Headers of every request.
    pub headers: Vec<Header>,
    /// Whether a request without a User-Agent has none. Only `--curl` sets it.
    pub no_user_agent: bool,
    /// Credentials of every request.
    pub auth: Option<Auth>,
    /// Whether users store cookies.
    pub cookies: Option<bool>,
    /// Maximum number of redirects to follow.
    pub follow: Option<u32>,
    /// Statuses with which a request is done.
    pub expect: Option<StatusSet>,
    /// The forward proxy.
    pub proxy: Option<Proxy>,
    /// The version of the PROXY protocol header that starts each connection.
    pub proxy_protocol: Option<ProxyProtocol>,
    /// How connections are closed.
    pub close: Option<Close>,
    /// Pipelined requests on one connection.
    pub pipeline: Option<u32>,
    /// Requests in flight on one HTTP/2 connection.
    pub streams: Option<u32>,
    /// Number of responses after which a connection is closed.
    pub requests_per_connection: Option<u64>,
    /// When names are resolved.
    pub dns: Option<DnsPolicy>,
    /// Only addresses of this family.
    pub ip: Option<IpFamily>,
    /// Addresses to connect to instead of those of the URLs.
    pub connect_to: Vec<ConnectTo>,
    /// The time between two pings of a connection.
    pub ping: Option<Spanned<Nanos>>,
    /// Maximum size of a body in bytes.
    pub body_max: Option<u64>,
    /// TLS settings.
    pub tls: Option<TlsSettings>,
}

impl Http {
    /// Returns the number of requests that one connection carries simultaneously.
    pub fn requests_in_flight(&self) -> u32 {
        self.streams.or(self.pipeline).unwrap_or(1)
    }
}

/// A header's name and value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name as given.
    pub name: Spanned<String>,
    /// The value.
    pub value: Template,
}

/// The credentials of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// No credentials, although `http.auth` has some.
    None,
    /// RFC 7617: user and password.
    Basic(Template, Template),
    /// RFC 7616: user and password.
    Digest(Template, Template),
    /// RFC 6750: the token.
    Bearer(Template),
}

/// `proxy:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// The URL. It contains a user and password if the whole URL comes from the environment.
    pub url: Spanned<ProxyUrl>,
    /// User and password as written in the file, with percent signs unchanged.
    pub user: Option<(Template, Template)>,
}

/// `tls:`. Files are named, not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// Check the server's certificate.
    pub verify: Option<bool>,
    /// Certificates to trust.
    pub ca: Option<Spanned<String>>,
    /// The client's certificate chain.
    pub cert: Option<Spanned<String>>,
    /// The key of the certificate.
    pub key: Option<Spanned<String>>,
    /// The server name in the handshake.
    pub sni: Option<String>,
    /// TLS session resumption.
    pub resume: Option<TlsResume>,
    /// The only TLS version used.
    pub version: Option<TlsVersions>,
    /// Groups in order of preference.
    pub groups: Vec<String>,
    /// Cipher suites in order of preference.
    pub ciphers: Vec<String>,
    /// ALPN protocols in order of preference. An empty list offers none.
    pub alpn: Option<Vec<String>>,
}
