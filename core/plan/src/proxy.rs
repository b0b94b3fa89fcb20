//! [`ProxyPlan`]: the forward proxy of a run. [`ProxyUrl`]: the user's notation for it.
//! [`ProxyProtocol`]: the header that load balancers send.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use wavetank_units::{Code, UserError, percent_decoded};

use crate::{Secret, TargetUrl};

/// A forward proxy for all connections. Requests to http targets contain the whole URL. For https
/// targets the proxy opens tunnels (CONNECT, RFC 9110 §9.3.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyPlan {
    /// Its URL, without secrets.
    pub url: String,
    /// Resolved addresses, used in turn; never empty.
    #[serde(with = "wavetank_units::portable_addresses")]
    pub addresses: Vec<SocketAddr>,
    /// Value of Proxy-Authorization, e.g. `Basic dTpw`.
    pub authorization: Option<Secret>,
}

/// Version of the PROXY protocol's header at the start of each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProxyProtocol {
    /// A line of text.
    V1,
    /// Binary.
    V2,
}

/// A forward proxy as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyUrl {
    /// Host and port; path `/`, no TLS.
    pub at: TargetUrl,
    /// User and password, joined by a colon, with percent-encoding decoded.
    pub credentials: Option<Secret>,
}

/// A forward proxy and what its name resolved to, for resolving a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyChoice {
    /// The requested proxy.
    pub url: ProxyUrl,
    /// Addresses with port, in the resolver's order; filled in by the caller that resolves names.
    pub addresses: Vec<SocketAddr>,
}

impl ProxyUrl {
    /// Parses `http://[USER:PASSWORD@]HOST:PORT`; the scheme may be left out. Errors never contain
    /// the user part.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let (user, plain) = split_user(text);
        let credentials =
            user.map(|user| percent_decoded(user).map(Secret::new).ok_or_else(bad_user)).transpose()?;
        let this = Self { at: host_and_port(&plain)?, credentials };
        this.authorization()?;
        Ok(this)
    }

    /// Parses the URL without the user part, which [`split_user`](Self::split_user) removed.
    pub fn from_parts(plain: &str, credentials: Option<Secret>) -> Result<Self, UserError> {
        let this = Self { at: host_and_port(plain)?, credentials };
        this.authorization()?;
        Ok(this)
    }

    /// The user part of a URL, still encoded, and the URL without it.
    pub fn split_user(text: &str) -> (Option<&str>, String) {
        split_user(text)
    }

    /// Decodes the percent-encoding of a user part; `None` if the result is not UTF-8 text.
    pub fn decode_user(text: &str) -> Option<String> {
        percent_decoded(text)
    }

    /// Returns the value of Proxy-Authorization (RFC 7617).
    ///
    /// # Errors
    /// The user part has no colon, or contains control characters.
    pub fn authorization(&self) -> Result<Option<Secret>, UserError> {
        let Some(words) = &self.credentials else { return Ok(None) };
        let words = words.reveal();
        if !words.contains(':') || words.chars().any(char::is_control) {
            return Err(bad_user());
        }
        Ok(Some(Secret::new(format!("Basic {}", STANDARD.encode(words)))))
    }

    /// Returns the plan's proxy settings, with the addresses to use.
    ///
    /// # Errors
    /// As [`authorization`](Self::authorization).
    pub fn plan(&self, addresses: Vec<SocketAddr>) -> Result<ProxyPlan, UserError> {
        let url = self.at.url().trim_end_matches('/').to_owned();
        Ok(ProxyPlan { url, addresses, authorization: self.authorization()? })
    }
}

fn bad_user() -> UserError {
    UserError::usage(
        Code::BadProxy,
        "the proxy's URL has no user and password with a colon between them before the @",
        "http://USER:PASSWORD@HOST:PORT, with a colon or @ in either of them as %3A or %40",
    )
}

fn split_user(text: &str) -> (Option<&str>, String) {
    let start = text.find("://").map_or(0, |at| at + 3);
    let end = text[start..].find(['/', '?', '#', '\\']).map_or(text.len(), |at| start + at);
    match text[start..end].rfind('@') {
        Some(at) => {
            let (user, rest) = (&text[start..start + at], &text[start + at + 1..]);
            (Some(user), format!("{}{rest}", &text[..start]))
        }
        None => (None, text.to_owned()),
    }
}

fn host_and_port(plain: &str) -> Result<TargetUrl, UserError> {
    let later = |message: String, hint: &str| Err(UserError::usage(Code::ValueLater, message, hint));
    if let Some((scheme, rest)) = plain.split_once("://") {
        let scheme = scheme.to_ascii_lowercase();
        let hint = "an HTTP proxy: http://HOST:PORT; it carries https targets, too";
        if scheme.starts_with("socks") {
            return later(format!("`{scheme}://{rest}`: SOCKS proxies are not supported"), hint);
        }
        if scheme == "https" {
            return later(format!("`{scheme}://{rest}`: TLS to the proxy itself is not supported"), hint);
        }
    }
    let at = TargetUrl::parse(plain)?;
    if at.path != "/" {
        return Err(UserError::usage(
            Code::BadProxy,
            format!("`{plain}` has a path, but a proxy is only a host and a port"),
            format!("http://{}", at.authority()),
        ));
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_as_people_write_them() {
        let check = |text: &str, url: &str, authorization: Option<&str>| {
            let read = ProxyUrl::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let plan = read.plan(Vec::new()).expect("was looked at");
            assert_eq!(plan.url, url, "{text}");
            let value = plan.authorization.as_ref().map(Secret::reveal);
            assert_eq!(value, authorization, "{text}");
        };
        check("http://127.0.0.1:3128", "http://127.0.0.1:3128", None);
        check("proxy.example:3128/", "http://proxy.example:3128", None);
        check("http://proxy.example", "http://proxy.example", None);
        check("http://[::1]:8888", "http://[::1]:8888", None);
        check("http://u:p@127.0.0.1:3128", "http://127.0.0.1:3128", Some("Basic dTpw"));
        // RFC 7617's own example.
        let aladdin = "http://Aladdin:open%20sesame@[::1]:8888";
        check(aladdin, "http://[::1]:8888", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        check("u:p%40@h:1", "http://h:1", Some("Basic dTpwQA=="));
        check("http://u:p@q@h:1", "http://h:1", Some("Basic dTpwQHE="));
        check("u:100%@h:1", "http://h:1", Some("Basic dToxMDAl"));
    }

    #[test]
    fn what_is_none_is_refused_without_its_password() {
        let check = |text: &str, code: &str| {
            let error = ProxyUrl::parse(text).expect_err(text);
            assert_eq!(error.code, code, "{text}: {error}");
            assert!(!error.to_string().contains("hunter2"), "{text}: {error}");
        };
        check("socks5://u:hunter2@h:1080", "value_later");
        check("https://u:hunter2@h:3128", "value_later");
        check("ftp://u:hunter2@h:3128", "bad_scheme");
        check("http://u:hunter2@h:0", "bad_url");
        check("http://u:hunter2@h:99999", "bad_url");
        check("http://u:hunter2@/", "bad_url");
        check("http://u:hunter2@h:1/path", "bad_proxy");
        check("http://hunter2@h:1", "bad_proxy");
        check("http://u:hunter2%0A@h:1", "bad_proxy");
        check("http://u:hunter2%FF@h:1", "bad_proxy");
        check("", "no_url");
    }
}
