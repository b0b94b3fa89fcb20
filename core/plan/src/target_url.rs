//! [`TargetUrl`]: the URL of `run URL`, in the forms people type.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use wavetank_units::{
    Code, UserError, is_unix, split_unix, split_zone, unix_address, with_brackets, without_zone,
};

use crate::ProxyUrl;

/// The target of a request before names are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetUrl {
    /// Name or address, IPv6 without brackets and with its zone (`fe80::1%eth0`). A name keeps its
    /// final dot: the resolver's search list does not apply to it. A Unix socket is
    /// `unix:/run/app.sock`.
    pub host: String,
    /// Port; 80 unless given, 443 with TLS. A Unix socket has none, and this is the default.
    pub port: u16,
    /// Path and query as in the request line; starts with `/`.
    pub path: String,
    /// Whether the scheme is `https`, `grpcs`, `wss`, `sses` or `tls`, so that the target uses TLS.
    pub tls: bool,
    /// What the scheme says about the requests.
    pub protocol: UrlProtocol,
}

/// What the steps of a URL send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UrlProtocol {
    /// HTTP requests: `http`, `https`, `unix`.
    #[default]
    Http,
    /// gRPC calls: `grpc`, `grpcs`.
    Grpc,
    /// WebSocket messages: `ws`, `wss`.
    WebSocket,
    /// Server-sent events: `sse`, `sses`.
    Events,
    /// Bytes: `tcp`, `tls`.
    Tcp,
    /// Datagrams: `udp`.
    Udp,
}

impl UrlProtocol {
    /// Whether connections carry messages instead of requests and responses.
    pub const fn has_messages(self) -> bool {
        matches!(self, Self::WebSocket | Self::Events | Self::Tcp | Self::Udp)
    }

    /// Whether connections are used as they are, so that a URL has a port and no path.
    pub const fn is_bare(self) -> bool {
        matches!(self, Self::Tcp | Self::Udp)
    }
}

impl TargetUrl {
    /// Parses `http://host:port/path`, the same with `https`, `grpc` and `grpcs`, `host/path`,
    /// `host:port`, `:8080/path` (this host), `[::1]:80` and `unix:/run/app.sock:/path`.
    ///
    /// Fails on other schemes, on a user or password in the URL, on port 0 and on text that is not
    /// a URL.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let (Scheme { tls, protocol }, rest) = without_scheme(text)?;
        let encoded = has_encoded_socket(text);
        if let Some(found) = split_unix(rest, encoded) {
            let (host, path) = found?;
            if protocol == UrlProtocol::Udp {
                let hint = "udp://HOST:PORT";
                let message = format!("`{text}` is a Unix socket, not UDP");
                return Err(UserError::usage(Code::BadUrl, message, hint));
            }
            let path = Self::path_of(path);
            return Ok(Self { host, port: default_port(tls), path, tls, protocol });
        }
        let scheme = scheme_name(tls, UrlProtocol::Http);
        if let Some((hidden, plain)) = without_user(scheme, rest) {
            let option =
                if hidden.is_empty() { "" } else { &format!(" --basic {hidden}:… (or --basic @FILE)") };
            return Err(UserError::usage(
                Code::UrlUser,
                format!("`{plain}` was given with a user or password before the `@`"),
                format!("leave it out of the URL: {plain}{option}"),
            ));
        }
        let with_host = if rest.starts_with(':') { format!("localhost{rest}") } else { rest.to_owned() };
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            let hint = "write a space as %20, and quote the URL for the shell";
            let message = format!("the URL `{text}` contains white space");
            return Err(UserError::usage(Code::BadUrl, message, hint));
        }
        let (with_host, zone) = without_zone(&with_host);
        let url = Url::parse(&format!("{scheme}://{with_host}")).map_err(|error| bad_url(text, error))?;
        let host = match url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(v4)) => v4.to_string(),
            Some(Host::Ipv6(v6)) => zone.map_or_else(|| v6.to_string(), |zone| format!("{v6}%{zone}")),
            None => String::new(),
        };
        if host.trim_end_matches('.').is_empty() {
            return Err(bad_url(text, url::ParseError::EmptyHost));
        }
        let port = url.port().unwrap_or(default_port(tls));
        if port == 0 {
            let hint = "ports are 1 to 65535; 80 if left out, 443 with https";
            return Err(UserError::usage(Code::BadUrl, format!("`{text}` has port 0"), hint));
        }
        let path = path_and_query(&url);
        if protocol.is_bare() {
            check_bare(text, protocol, &with_host, &path)?;
        }
        Ok(Self { host, port, path, tls, protocol })
    }

    /// Returns the position in the start of a URL where the path or query of the request starts;
    /// `None`: the text ends before it.
    pub fn path_start(text: &str) -> Option<usize> {
        let host = text.find("://").map_or(0, |at| at + 3);
        let is_socket = |part: &str| part.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("unix:"));
        // The path of a Unix socket ends at a colon.
        if is_socket(text) || is_socket(&text[host..]) {
            let socket = if is_socket(text) { 5 } else { host + 5 };
            return text[socket..].find(':').map(|at| socket + at + 1);
        }
        text[host..].find(['/', '?', '#', '\\']).map(|at| host + at)
    }

    /// Returns a path and query, starting with `/` or `?`, as [`path`](Self::path) has them: in
    /// ASCII, without dot segments and fragment.
    pub fn normal_path(text: &str) -> String {
        // The host does not matter: everything from a slash on is valid.
        Url::parse(&format!("http://host{text}")).map_or_else(|_| text.to_owned(), |url| path_and_query(&url))
    }

    /// Returns the normal path of a request to a Unix socket; it may be empty in the URL.
    fn path_of(path: &str) -> String {
        if path.is_empty() { "/".to_owned() } else { Self::normal_path(path) }
    }

    /// Whether the target is a Unix socket of this host.
    pub fn is_unix_socket(&self) -> bool {
        is_unix(&self.host)
    }

    /// The host as an address, if it is one: then there is no name to resolve. A Unix socket is
    /// one, too ([`unix_address`]).
    pub fn address(&self) -> Option<SocketAddr> {
        if let Some(address) = unix_address(&self.host) {
            return Some(address);
        }
        self.host.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, self.port))
    }

    /// Returns the value of the Host header: IPv6 addresses in brackets, and the port unless it is
    /// the scheme's default (RFC 9110 §7.2). A Unix socket has no name: it is `localhost`, as in
    /// curl, nginx and Docker.
    pub fn host_header(&self) -> String {
        if self.is_unix_socket() {
            return "localhost".to_owned();
        }
        if self.port == default_port(self.tls) { self.bracketed() } else { self.authority() }
    }

    /// Whether `host` names this host's loopback addresses: `localhost`, or a name below it (RFC
    /// 6761 §6.3).
    pub fn is_localhost(host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        let above = host.len().checked_sub("localhost".len()).and_then(|at| host.split_at_checked(at));
        above.is_some_and(|(above, last)| {
            last.eq_ignore_ascii_case("localhost") && (above.is_empty() || above.ends_with('.'))
        })
    }

    /// Returns the host as certificates name it: without the final dot of a name (RFC 6066 §3), and
    /// without the zone of an address.
    pub fn certificate_name(&self) -> &str {
        if self.is_unix_socket() {
            return "localhost";
        }
        split_zone(self.host.strip_suffix('.').unwrap_or(&self.host)).0
    }

    /// Host and port, always both. A zone has a meaning on this host only, so it is left out (RFC
    /// 6874 §4).
    pub fn authority(&self) -> String {
        if self.is_unix_socket() {
            return self.host.clone();
        }
        format!("{}:{}", self.bracketed(), self.port)
    }

    /// The whole URL; it never holds a secret of the user part, for that is refused.
    pub fn url(&self) -> String {
        if self.is_unix_socket() {
            return format!("{}://{}:{}", self.scheme(), self.host, self.path);
        }
        let is_bare = self.protocol.is_bare();
        let header = if is_bare { self.authority() } else { self.host_header() };
        let at = match split_zone(&self.host) {
            (address, Some(zone)) => header.replacen(address, &format!("{address}%25{zone}"), 1),
            (_, None) => header,
        };
        format!("{}://{at}{}", self.scheme(), if is_bare { "" } else { &self.path })
    }

    /// Returns what the scheme of `url` says about the requests.
    pub fn protocol_of(url: &str) -> UrlProtocol {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        known_scheme(&scheme.to_ascii_lowercase()).map_or(UrlProtocol::Http, |known| known.protocol)
    }

    /// Returns the scheme.
    pub const fn scheme(&self) -> &'static str {
        scheme_name(self.tls, self.protocol)
    }

    fn bracketed(&self) -> String {
        let (host, _) = split_zone(&self.host);
        if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
    }
}

fn path_and_query(url: &Url) -> String {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}{query}", url.path())
}

/// What a scheme says.
struct Scheme {
    tls: bool,
    protocol: UrlProtocol,
}

const fn scheme_name(tls: bool, protocol: UrlProtocol) -> &'static str {
    match (protocol, tls) {
        (UrlProtocol::Http, false) => "http",
        (UrlProtocol::Http, true) => "https",
        (UrlProtocol::Grpc, false) => "grpc",
        (UrlProtocol::Grpc, true) => "grpcs",
        (UrlProtocol::WebSocket, false) => "ws",
        (UrlProtocol::WebSocket, true) => "wss",
        (UrlProtocol::Events, false) => "sse",
        (UrlProtocol::Events, true) => "sses",
        (UrlProtocol::Tcp, false) => "tcp",
        (UrlProtocol::Tcp, true) => "tls",
        (UrlProtocol::Udp, _) => "udp",
    }
}

/// Returns what a scheme in lower case says, unless it is one of Unix sockets.
fn known_scheme(scheme: &str) -> Option<Scheme> {
    use UrlProtocol::{Events, Grpc, Http, Tcp, Udp, WebSocket};
    let protocols = [Http, Grpc, WebSocket, Events, Tcp, Udp];
    let all = protocols.into_iter().flat_map(|protocol| [(false, protocol), (true, protocol)]);
    let all = all.map(|(tls, protocol)| Scheme { tls, protocol });
    all.into_iter().find(|known| scheme_name(known.tls, known.protocol) == scheme)
}

/// Checks that the URL of a target without requests has a port and nothing after it.
fn check_bare(text: &str, protocol: UrlProtocol, with_host: &str, path: &str) -> Result<(), UserError> {
    let start = text.find("://").map_or(0, |at| at + 3);
    let end = with_host.find(['/', '?', '#']).unwrap_or(with_host.len());
    let port = with_host[..end].rsplit_once(':').map(|(_, port)| port);
    if !port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())) {
        let hint = format!("{}{}:7000", &text[..start], &with_host[..end]);
        return Err(UserError::usage(Code::BadUrl, format!("`{text}` has no port"), hint));
    }
    if path != "/" {
        let hint = format!("{}{}; steps say what is sent", &text[..start], &with_host[..end]);
        let name = if protocol == UrlProtocol::Udp { "UDP" } else { "TCP" };
        return Err(UserError::usage(
            Code::BadUrl,
            format!("`{text}` has a path, which {name} has not"),
            hint,
        ));
    }
    Ok(())
}

const fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// Removes the scheme and returns what it says. Refuses schemes that this version does not support.
fn without_scheme(text: &str) -> Result<(Scheme, &str), UserError> {
    let http = |tls| Scheme { tls, protocol: UrlProtocol::Http };
    if text.is_empty() {
        return Err(UserError::usage(Code::NoUrl, "the URL is empty", "for example: localhost:8080/path"));
    }
    // A later `://` belongs to a path or query.
    let is_scheme = |word: &str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let Some((scheme, rest)) = text.split_once("://").filter(|(word, _)| is_scheme(word)) else {
        return schemeless(text).map(|rest| (http(false), rest));
    };
    match scheme.to_ascii_lowercase().as_str() {
        "http+unix" => Ok((http(false), rest)),
        "https+unix" => Ok((http(true), rest)),
        "unix" => Ok((http(false), text)),
        other => known_scheme(other).map(|known| (known, rest)).ok_or_else(|| bad_scheme(other, rest)),
    }
}

/// Whether the scheme says that the host is a Unix socket with `%2F` for each slash.
fn has_encoded_socket(text: &str) -> bool {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    scheme.eq_ignore_ascii_case("http+unix") || scheme.eq_ignore_ascii_case("https+unix")
}

/// Another protocol is never taken for HTTP.
fn bad_scheme(scheme: &str, rest: &str) -> UserError {
    let what = match scheme {
        "h2" | "h2c" => {
            let message = format!("`{scheme}://` is not a scheme of HTTP");
            let hint = format!("--http 2 https://{rest}, or --http 2 http://{rest} without TLS");
            return UserError::usage(Code::BadScheme, message, hint);
        }
        "h3" | "quic" => {
            let message = format!("`{scheme}://` is not a scheme of HTTP");
            return UserError::usage(Code::BadScheme, message, format!("--http 3 https://{rest}"));
        }
        "ssl" | "mqtt" | "mqtts" | "amqp" | "amqps" | "redis" | "rediss" | "postgres" | "postgresql"
        | "mysql" | "mongodb" | "kafka" | "nats" | "ldap" | "ldaps" | "smtp" | "ftp" | "sftp" | "ftps"
        | "file" => "this protocol is",
        _ => {
            let message = format!("`{scheme}://` is not a scheme of HTTP");
            return UserError::usage(Code::BadScheme, message, format!("http://{rest}, or https://{rest}"));
        }
    };
    let hint = "http, https, grpc, ws, sse, tcp and udp are; docs/limitations.md lists what is not supported";
    UserError::usage(Code::BadScheme, format!("`{scheme}://`: {what} not supported"), hint)
}

fn schemeless(text: &str) -> Result<&str, UserError> {
    let path = text.split(['?', '#']).next().unwrap_or(text);
    let file = [".yaml", ".yml"].iter().any(|suffix| path.ends_with(suffix));
    if file && !path.contains(':') {
        return Err(UserError::usage(
            Code::FileForUrl,
            format!("`{text}` looks like an experiment file, but a URL is expected here"),
            format!("wavetank run {text} runs an experiment file; if it is a URL: http://{text}"),
        ));
    }
    let lower = text.to_ascii_lowercase();
    for tls in [true, false] {
        let scheme = scheme_name(tls, UrlProtocol::Http);
        let broken =
            lower.strip_prefix(scheme).filter(|rest| rest.starts_with(':') || rest.starts_with("//"));
        if let Some(rest) = broken {
            let rest = text[text.len() - rest.len()..].trim_start_matches([':', '/']);
            let hint = format!("a scheme ends in a colon and two slashes: {scheme}://{rest}");
            return Err(UserError::usage(Code::BadUrl, format!("`{text}` is not a URL"), hint));
        }
    }
    Ok(text)
}

/// If there is a user part, returns its user name and the URL without it. The password is in
/// neither.
fn without_user(scheme: &str, rest: &str) -> Option<(String, String)> {
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (user, host) = rest[..end].rsplit_once('@')?;
    let encoded = user.split(':').next().unwrap_or_default();
    // In the option, the user is not encoded. What cannot be part of it is left as it is.
    let decoded = ProxyUrl::decode_user(encoded);
    let name = decoded.filter(|name| !name.contains(|c: char| c == ':' || c.is_control()));
    let name = name.unwrap_or_else(|| encoded.to_owned());
    Some((name, format!("{scheme}://{host}{}", &rest[end..])))
}

fn bad_url(text: &str, error: url::ParseError) -> UserError {
    let start = text.find("://").map_or(0, |at| at + 3);
    let end = text[start..].find(['/', '?', '#']).map_or(text.len(), |at| start + at);
    let at = &text[start..end];
    if let Some(bracketed) = with_brackets(at) {
        let hint = format!("write {}{bracketed}{}", &text[..start], &text[end..]);
        return UserError::usage(
            Code::BadUrl,
            format!("`{text}` has an IPv6 address without brackets"),
            hint,
        );
    }
    if at.starts_with('[') && at.contains('%') {
        let hint = "the zone is an interface or its number: http://[fe80::1%25eth0]:8080/path";
        return UserError::usage(Code::BadUrl, format!("`{text}` has an IPv6 address with a bad zone"), hint);
    }
    let hint = match error {
        url::ParseError::InvalidPort => "ports are 1 to 65535: http://localhost:8080/path",
        url::ParseError::InvalidIpv6Address => "write an IPv6 address in brackets: http://[::1]:8080/path",
        url::ParseError::EmptyHost => "name a host: http://localhost:8080/path, or :8080/path for this host",
        _ => "for example: http://localhost:8080/path",
    };
    UserError::usage(Code::BadUrl, format!("`{text}` is not a URL: {error}"), hint)
}
