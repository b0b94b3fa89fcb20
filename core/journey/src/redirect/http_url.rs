//! [`HttpUrl`]: a parsed absolute `http` or `https` address.

use url::Url;
use wavetank_units::{Code, UserError};

use crate::cookies::Site;

/// Maximum length of an address, in bytes.
pub(super) const PLACE_BYTES_MAX: usize = 8192;

/// An absolute address of `http` or `https`, without user, password and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl(Url);

impl HttpUrl {
    /// Parses an absolute address.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let refuse = |why: String| {
            Err(UserError::usage(Code::Address, why, "write an absolute address: `http://host:port/path`"))
        };
        if text.len() > PLACE_BYTES_MAX {
            return refuse(format!(
                "an address has {} bytes; at most {PLACE_BYTES_MAX} are allowed",
                text.len()
            ));
        }
        match Url::parse(text) {
            Ok(url) => Self::new(url).map_or_else(|| refuse(format!("`{text}` is not an http address")), Ok),
            Err(error) => refuse(format!("`{text}` is not a valid address: {error}")),
        }
    }

    pub(super) fn new(mut url: Url) -> Option<Self> {
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return None;
        }
        url.set_fragment(None);
        let named = url.username().is_empty() || url.set_username("").is_ok();
        let kept = url.password().is_none() || url.set_password(None).is_ok();
        (named && kept && url.as_str().len() <= PLACE_BYTES_MAX).then_some(Self(url))
    }

    /// Resolves `reference`, relative or absolute, against this address (RFC 3986 §5). `None` if
    /// the result is not an http address.
    pub fn join(&self, reference: &str) -> Option<Self> {
        if reference.len() > PLACE_BYTES_MAX {
            return None;
        }
        Self::new(self.0.join(reference).ok()?)
    }

    /// The whole address.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether its connections use TLS.
    pub fn is_tls(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The host in lower case, an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        self.0.host_str().expect("checked when it was made")
    }

    /// The port, which is the default of the scheme if the address has none.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().expect("http and https have one")
    }

    /// The value of `Host`: the host, and the port unless it is the default of the scheme (RFC 9110
    /// §7.2).
    pub fn authority(&self) -> &str {
        &self.0[url::Position::BeforeHost..url::Position::AfterPort]
    }

    /// Scheme, host and port, without a slash at the end.
    pub fn origin(&self) -> &str {
        &self.0[..url::Position::AfterPort]
    }

    /// Path and query: the request target, starting with `/`.
    pub fn target(&self) -> &str {
        &self.0[url::Position::BeforePath..]
    }

    /// The path alone.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// The site for cookies.
    pub fn site(&self) -> Site<'_> {
        Site { host: self.host(), path: self.path(), secure: self.is_tls() }
    }

    /// Whether both have the same scheme, host and port.
    pub fn same_origin(&self, other: &Self) -> bool {
        self.is_tls() == other.is_tls() && self.host() == other.host() && self.port() == other.port()
    }
}
