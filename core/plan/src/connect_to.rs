//! [`ConnectTo`]: redirects connections to another address than the URL's.

use wavetank_units::{Code, UserError, unix_host, with_brackets};

use crate::TargetUrl;

/// `--connect-to`: where connections go instead of the URL's host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    /// Only for this host; `None`: any.
    pub from_host: Option<String>,
    /// Only for this port; `None`: any.
    pub from_port: Option<u16>,
    /// Host to connect to; `None`: the URL's own.
    pub host: Option<String>,
    /// Port to connect to; `None`: the URL's own.
    pub port: Option<u16>,
}

impl ConnectTo {
    /// Parses `HOST`, `HOST:PORT`, `:PORT`, or curl's four parts `FROM:PORT:TO:PORT`, each of which
    /// may be empty. IPv6 addresses are written in brackets. `unix:/run/app.sock` is a Unix socket.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        if let Some(path) = text.strip_prefix("unix:") {
            let host = Some(unix_host(path)?);
            return Ok(Self { from_host: None, from_port: None, host, port: None });
        }
        let bad = || {
            UserError::usage(
                Code::BadConnectTo,
                format!("`{text}` does not say where to connect to"),
                "HOST:PORT, FROM:PORT:HOST:PORT or unix:/PATH; IPv6 in brackets: [::1]:8080",
            )
        };
        if let Some(hint) = without_brackets(text) {
            let message = format!("`{text}` has an IPv6 address without brackets");
            return Err(UserError::usage(Code::BadConnectTo, message, hint));
        }
        let parts = split(text).ok_or_else(bad)?;
        let host = |part: &str| (!part.is_empty()).then(|| part.to_owned());
        let port = |part: &str| match part {
            "" => Ok(None),
            digits => digits.parse().ok().filter(|port| *port != 0).map(Some).ok_or_else(bad),
        };
        let (from_host, from_port, to_host, to_port) = match parts.as_slice() {
            [to] => (None, None, host(to), None),
            [to, at] => (None, None, host(to), port(at)?),
            [from, from_at, to, at] => (host(from), port(from_at)?, host(to), port(at)?),
            _ => return Err(bad()),
        };
        if to_host.is_none() && to_port.is_none() {
            return Err(bad());
        }
        Ok(Self { from_host, from_port, host: to_host, port: to_port })
    }

    /// Host and port to resolve and connect to for `url`, or `None` if this rule is not about it.
    pub fn apply(&self, url: &TargetUrl) -> Option<(String, u16)> {
        let plain = |host: &str| host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let host_fits = self.from_host.as_ref().is_none_or(|from| plain(from) == plain(&url.host));
        let port_fits = self.from_port.is_none_or(|from| from == url.port);
        (host_fits && port_fits)
            .then(|| (self.host.clone().unwrap_or_else(|| url.host.clone()), self.port.unwrap_or(url.port)))
    }
}

/// Splits at colons outside brackets and takes the brackets off; `None` if brackets do not close.
fn split(text: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let (part, tail) = match rest.strip_prefix('[') {
            Some(inside) => inside.split_once(']')?,
            None => rest.split_at(rest.find(':').unwrap_or(rest.len())),
        };
        parts.push(part);
        match tail.strip_prefix(':') {
            Some(tail) => rest = tail,
            None if tail.is_empty() => return Some(parts),
            None => return None,
        }
    }
}

/// If `text` has an IPv6 address without brackets, returns it with them.
///
/// `::web1:80` and `::db:80` are curl's four parts. A whole number is no host, so `::1:80` is an
/// address.
fn without_brackets(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        ["", "", host, _] if host.is_empty() || !host.bytes().all(|b| b.is_ascii_digit()) => None,
        [.., _, _, _] => with_brackets(text).or_else(|| {
            let behind = parts.get(2..)?.join(":");
            Some(format!("{}:{}:{}", parts[0], parts[1], with_brackets(&behind)?))
        }),
        _ => None,
    }
}
