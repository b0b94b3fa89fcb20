//! [`ReceivedRequest`]: a request as the scripted target read it, and its parser.
//!
//! Deliberately naive: it splits at blank lines and trusts nothing else. It rejects no client; a
//! request that it cannot read is counted as malformed.

use crate::Stamp;

/// A request the scripted target has read whole.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// The first word of the request line.
    pub method: String,
    /// The request target as sent.
    pub path: String,
    /// The version as sent, e.g. `HTTP/1.1`.
    pub version: String,
    /// Header fields in order, names as sent.
    pub fields: Vec<(String, String)>,
    /// The body, by `Content-Length`.
    pub body: Vec<u8>,
    /// 1 for the target's first request.
    pub number: u64,
    /// 1 for the first request of its connection.
    pub on_connection: u64,
    /// 1 for the target's first connection.
    pub connection: u64,
    /// When the last byte of its head was read.
    pub arrived: Stamp,
    /// When the target's first request arrived: zero of every script's schedule.
    pub first: Stamp,
}

impl ReceivedRequest {
    /// The value of a header field, if sent; the name in any case.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Whether the client asks to keep the connection open.
    pub fn keeps_alive(&self) -> bool {
        let wish = self.field("connection").unwrap_or("").to_ascii_lowercase();
        if self.version == "HTTP/1.0" { wish.contains("keep-alive") } else { !wish.contains("close") }
    }
}

/// The parts of a head.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) version: String,
    pub(crate) fields: Vec<(String, String)>,
    /// Bytes up to and with the blank line.
    pub(crate) len: usize,
}

/// The received bytes are not a request head.
#[derive(Debug)]
pub(crate) struct Unreadable;

impl Head {
    /// Reads a head at the start of `bytes`: `Ok(None)` while it is incomplete.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, Unreadable> {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
        Self::parse(&bytes[..end], end + 4).map(Some).ok_or(Unreadable)
    }

    fn parse(head: &[u8], len: usize) -> Option<Self> {
        let text = std::str::from_utf8(head).ok()?;
        let mut lines = text.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, path, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        let fields = lines
            .map(|line| line.split_once(':').map(|(n, v)| (n.to_owned(), v.trim().to_owned())))
            .collect::<Option<Vec<_>>>()?;
        Some(Self { method: method.into(), path: path.into(), version: version.into(), fields, len })
    }

    /// The length of the body that follows.
    pub(crate) fn body_len(&self) -> usize {
        let length = self.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    }
}
