//! [`Http`]: how HTTP is spoken.

use wavetank_plan::{
    Close, ConnectTo, DnsPolicy, HttpVersion, IpFamily, Nanos, ProxyProtocol, ProxyUrl, StatusSet, TlsResume,
    TlsVersions,
};

use super::Template;
use crate::Spanned;

/// `http:`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Http {
    /// Version of the request line.
    pub version: Option<HttpVersion>,
    /// From *begun* to *complete*.
    pub timeout: Option<Spanned<Nanos>>,
    /// For the connection alone.
    pub connect_timeout: Option<Spanned<Nanos>>,
    /// Connections serve more than one request.
    pub keepalive: Option<bool>,
    /// Sent with every request.
    pub headers: Vec<Header>,
    /// Who a request says it is from.
    pub auth: Option<Auth>,
    /// Users keep cookies.
    pub cookies: Option<bool>,
    /// Redirects followed.
    pub follow: Option<u32>,
    /// Statuses that make an answer *done*.
    pub expect: Option<StatusSet>,
    /// A forward proxy.
    pub proxy: Option<Proxy>,
    /// The PROXY protocol's header is sent.
    pub proxy_protocol: Option<ProxyProtocol>,
    /// How connections are closed.
    pub close: Option<Close>,
    /// Pipelined requests on one connection.
    pub pipeline: Option<u32>,
    /// Answers after which a connection is closed.
    pub requests_per_connection: Option<u64>,
    /// When names are resolved.
    pub dns: Option<DnsPolicy>,
    /// Only addresses of this family.
    pub ip: Option<IpFamily>,
    /// Go elsewhere than the URL says.
    pub connect_to: Vec<ConnectTo>,
    /// Bytes of a body at most.
    pub body_max: Option<u64>,
    /// How TLS is spoken.
    pub tls: Option<TlsSettings>,
}

/// A header's name and value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name as given.
    pub name: Spanned<String>,
    /// The value.
    pub value: Template,
}

/// Who a request says it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// No user, although `http.auth` names one.
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
    /// Where it is; with a user and password where the environment brought the whole URL.
    pub url: Spanned<ProxyUrl>,
    /// User and password that are written in the file, percent signs as they are.
    pub user: Option<(Template, Template)>,
}

/// `tls:`; files are named, not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// Check the server's certificate.
    pub verify: Option<bool>,
    /// Certificates to trust.
    pub ca: Option<Spanned<String>>,
    /// Our own chain.
    pub cert: Option<Spanned<String>>,
    /// Its key.
    pub key: Option<Spanned<String>>,
    /// The name in the handshake.
    pub sni: Option<String>,
    /// Resumption.
    pub resume: Option<TlsResume>,
    /// The one version spoken.
    pub version: Option<TlsVersions>,
    /// Groups in order of preference.
    pub groups: Vec<String>,
    /// Cipher suites in order of preference.
    pub ciphers: Vec<String>,
    /// Protocols in order of preference; given but empty: none is offered.
    pub alpn: Option<Vec<String>>,
}
