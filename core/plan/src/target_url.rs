//! [`TargetUrl`]: the URL of `run URL`, in the forms people type.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use crate::UserError;

/// The target of a request before names are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetUrl {
    /// Name or address, IPv6 without brackets.
    pub host: String,
    /// Port; 80 unless given, 443 with TLS.
    pub port: u16,
    /// Path and query as in the request line; starts with `/`.
    pub path: String,
    /// Whether the scheme is `https`, so that the target uses TLS.
    pub tls: bool,
}

impl TargetUrl {
    /// Parses `http://host:port/path`, the same with `https`, `host/path`, `host:port`,
    /// `:8080/path` (this host) and `[::1]:80`.
    ///
    /// Fails on other schemes, on a user or password in the URL, on port 0 and on text that is not
    /// a URL.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let (tls, rest) = without_scheme(text)?;
        let scheme = scheme(tls);
        let with_host = if rest.starts_with(':') { format!("localhost{rest}") } else { rest.to_owned() };
        if let Some((hidden, plain)) = without_user(scheme, &with_host) {
            return Err(UserError::usage(
                "url_user",
                format!("`{plain}` was given with a user or password before the `@`"),
                format!("leave it out of the URL: {plain} --basic {hidden}:… (or --basic @FILE)"),
            ));
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            let hint = "write a space as %20, and quote the URL for the shell";
            return Err(UserError::usage("bad_url", format!("the URL `{text}` has white space in it"), hint));
        }
        let url = Url::parse(&format!("{scheme}://{with_host}")).map_err(|error| bad_url(text, error))?;
        let host = match url.host() {
            Some(Host::Domain(name)) => name.trim_end_matches('.').to_owned(),
            Some(Host::Ipv4(v4)) => v4.to_string(),
            Some(Host::Ipv6(v6)) => v6.to_string(),
            None => String::new(),
        };
        if host.is_empty() {
            return Err(bad_url(text, url::ParseError::EmptyHost));
        }
        let port = url.port().unwrap_or(default_port(tls));
        if port == 0 {
            let hint = "ports are 1 to 65535; 80 if left out, 443 with https";
            return Err(UserError::usage("bad_url", format!("`{text}` has port 0"), hint));
        }
        Ok(Self { host, port, path: path_and_query(&url), tls })
    }

    /// Returns a path and query, starting with `/` or `?`, as [`path`](Self::path) has them: in
    /// ASCII, without dot segments and fragment.
    pub fn normal_path(text: &str) -> String {
        // The host does not matter: everything from a slash on is valid.
        Url::parse(&format!("http://host{text}")).map_or_else(|_| text.to_owned(), |url| path_and_query(&url))
    }

    /// The host as an address, if it is one: then there is no name to resolve.
    pub fn address(&self) -> Option<SocketAddr> {
        self.host.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, self.port))
    }

    /// Returns the value of the Host header: IPv6 addresses in brackets, and the port unless it is
    /// the scheme's default (RFC 9110 §7.2).
    pub fn host_header(&self) -> String {
        if self.port == default_port(self.tls) { self.bracketed() } else { self.authority() }
    }

    /// Host and port, always both.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.bracketed(), self.port)
    }

    /// The whole URL; it never holds a secret of the user part, for that is refused.
    pub fn url(&self) -> String {
        format!("{}://{}{}", scheme(self.tls), self.host_header(), self.path)
    }

    fn bracketed(&self) -> String {
        if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() }
    }
}

fn path_and_query(url: &Url) -> String {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}{query}", url.path())
}

const fn scheme(tls: bool) -> &'static str {
    if tls { "https" } else { "http" }
}

const fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// Removes `http://` or `https://` and returns whether it was the latter. Refuses schemes that this
/// version does not support.
fn without_scheme(text: &str) -> Result<(bool, &str), UserError> {
    if text.is_empty() {
        return Err(UserError::usage("no_url", "the URL is empty", "for example: localhost:8080/path"));
    }
    // A later `://` belongs to a path or query.
    let is_scheme = |word: &str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let Some((scheme, rest)) = text.split_once("://").filter(|(word, _)| is_scheme(word)) else {
        return schemeless(text).map(|rest| (false, rest));
    };
    match scheme.to_ascii_lowercase().as_str() {
        "http" => Ok((false, rest)),
        "https" => Ok((true, rest)),
        other => Err(bad_scheme(other, rest)),
    }
}

/// Another protocol is never taken for HTTP.
fn bad_scheme(scheme: &str, rest: &str) -> UserError {
    let what = match scheme {
        "ws" | "wss" => "WebSocket is",
        "grpc" | "grpcs" => "gRPC is",
        "h2" | "h2c" => "HTTP/2 is",
        "h3" | "quic" => "HTTP/3 is",
        "unix" | "http+unix" => "a Unix socket as the target is",
        "tcp" | "udp" | "tls" | "ssl" | "mqtt" | "mqtts" | "amqp" | "amqps" | "redis" | "rediss"
        | "postgres" | "postgresql" | "mysql" | "mongodb" | "kafka" | "nats" | "ldap" | "ldaps" | "smtp"
        | "ftp" | "sftp" | "ftps" | "file" => "this protocol is",
        _ => {
            let message = format!("`{scheme}://` is not a scheme of HTTP");
            return UserError::usage("bad_scheme", message, format!("http://{rest}, or https://{rest}"));
        }
    };
    let hint = "only http and https are; docs/limitations.md lists what is not supported";
    UserError::usage("bad_scheme", format!("`{scheme}://`: {what} not supported"), hint)
}

fn schemeless(text: &str) -> Result<&str, UserError> {
    let path = text.split(['?', '#']).next().unwrap_or(text);
    let file = [".yaml", ".yml"].iter().any(|suffix| path.ends_with(suffix));
    if file && !path.contains(':') {
        return Err(UserError::usage(
            "file_for_url",
            format!("`{text}` looks like an experiment file, but a URL is expected here"),
            format!("wavetank run {text} runs an experiment file; if it is a URL: http://{text}"),
        ));
    }
    let lower = text.to_ascii_lowercase();
    if let Some(rest) = lower.strip_prefix("unix:") {
        return Err(bad_scheme("unix", rest));
    }
    if lower.starts_with("http:") || lower.starts_with("https:") {
        let rest = text.split_once(':').map_or("", |(_, rest)| rest.trim_start_matches('/'));
        let hint = format!("a scheme ends in two slashes: {}://{rest}", scheme(lower.starts_with("https:")));
        return Err(UserError::usage("bad_url", format!("`{text}` is not a URL"), hint));
    }
    Ok(text)
}

/// If there is a user part, returns its user name and the URL without it. The password is in
/// neither.
fn without_user(scheme: &str, rest: &str) -> Option<(String, String)> {
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (user, host) = rest[..end].rsplit_once('@')?;
    let name = user.split(':').next().unwrap_or_default();
    Some((name.to_owned(), format!("{scheme}://{host}{}", &rest[end..])))
}

fn bad_url(text: &str, error: url::ParseError) -> UserError {
    let hint = match error {
        url::ParseError::InvalidPort => "ports are 1 to 65535: http://localhost:8080/path",
        url::ParseError::InvalidIpv6Address => "write an IPv6 address in brackets: http://[::1]:8080/path",
        url::ParseError::EmptyHost => "name a host: http://localhost:8080/path, or :8080/path for this host",
        _ => "for example: http://localhost:8080/path",
    };
    UserError::usage("bad_url", format!("`{text}` is not a URL: {error}"), hint)
}
