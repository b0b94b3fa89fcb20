//! The supported versions of HTTP.

/// The version of a message; 1.2 to 1.9 are read as 1.1 (RFC 9110 §2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
    /// HTTP/3
    Http3,
}

impl Version {
    /// Parses exactly `HTTP/1.x`.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        match text.strip_prefix(b"HTTP/1.")? {
            b"0" => Some(Self::Http10),
            [b'1'..=b'9'] => Some(Self::Http11),
            _ => None,
        }
    }

    /// Whether this is HTTP/1.0.
    pub const fn is_10(self) -> bool {
        matches!(self, Self::Http10)
    }
}
