//! Evaluates the fields of a head that determine the framing and the fate of the connection.

use super::bytes::{is_token, trim};
use super::error::Reason;
use super::version::Version;

/// How the end of a body is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// This many bytes follow; zero when there is no body.
    Length(u64),
    /// Chunks follow.
    Chunked,
    /// Everything until the peer closes.
    UntilClose,
}

/// The result of the `Transfer-Encoding` fields so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Coding {
    #[default]
    Absent,
    /// Nothing but `identity`, which old servers send and which changes nothing.
    Identity,
    /// `chunked` is the last coding.
    Chunked,
    /// The last coding is a known one other than `chunked`, and `chunked` did not come before it.
    Other,
    /// The last coding is a known one, with `chunked` somewhere before it.
    OverChunked,
}

/// Facts collected while the fields of a head are scanned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeadFacts {
    content_length: Option<u64>,
    coding: Coding,
    close: bool,
    keep_alive: bool,
    hosts: u8,
    expect_continue: bool,
}

impl HeadFacts {
    /// Evaluates one field. It compares the lengths of names first, so most fields need no
    /// comparison of text.
    #[inline]
    pub(crate) fn observe_field(&mut self, name: &[u8], value: &[u8]) -> Result<(), Reason> {
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"host") => self.hosts = self.hosts.saturating_add(1),
            6 if name.eq_ignore_ascii_case(b"expect") => {
                self.expect_continue |= value.eq_ignore_ascii_case(b"100-continue");
            }
            10 if name.eq_ignore_ascii_case(b"connection") => self.note_connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => self.note_length(value)?,
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.note_coding(value)?,
            _ => {}
        }
        Ok(())
    }

    fn note_connection(&mut self, value: &[u8]) {
        for option in value.split(|&byte| byte == b',').map(trim) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// A list of equal lengths counts as one length (RFC 9112 §6.3 rule 5), because proxies join
    /// repeated fields like this.
    fn note_length(&mut self, value: &[u8]) -> Result<(), Reason> {
        for element in value.split(|&byte| byte == b',').map(trim) {
            let length = decimal(element).ok_or(Reason::BadContentLength)?;
            if *self.content_length.get_or_insert(length) != length {
                return Err(Reason::DifferingContentLengths);
            }
        }
        Ok(())
    }

    /// Empty elements of the list are skipped (RFC 9110 §5.6.1); a list of nothing else is a fault.
    fn note_coding(&mut self, value: &[u8]) -> Result<(), Reason> {
        let mut found = false;
        for element in value.split(|&byte| byte == b',').map(trim) {
            if element.is_empty() {
                continue;
            }
            found = true;
            self.coding = self.coding_with(element)?;
        }
        if found { Ok(()) } else { Err(Reason::BadCoding) }
    }

    /// Returns the state of the codings after the next coding `name`.
    fn coding_with(&self, name: &[u8]) -> Result<Coding, Reason> {
        if !name.iter().copied().all(is_token) {
            return Err(Reason::BadCoding);
        }
        let over_chunked = matches!(self.coding, Coding::Chunked | Coding::OverChunked);
        if name.eq_ignore_ascii_case(b"chunked") {
            return if over_chunked { Err(Reason::BadCoding) } else { Ok(Coding::Chunked) };
        }
        if !KNOWN_CODINGS.iter().any(|known| name.eq_ignore_ascii_case(known)) {
            return Err(Reason::UnknownCoding);
        }
        let is_identity = matches!(self.coding, Coding::Absent | Coding::Identity)
            && name.eq_ignore_ascii_case(b"identity");
        Ok(if over_chunked {
            Coding::OverChunked
        } else if is_identity {
            Coding::Identity
        } else {
            Coding::Other
        })
    }

    /// Returns how a response's body ends (RFC 9112 §6.3). `bodiless`: a response to HEAD, 1xx,
    /// 204, 304. A coding overrides a length, as it does for curl, Go and browsers.
    #[inline]
    pub(crate) const fn response_framing(&self, bodiless: bool) -> Framing {
        if bodiless {
            return Framing::Length(0);
        }
        match (self.coding, self.content_length) {
            (Coding::Absent | Coding::Identity, Some(length)) => Framing::Length(length),
            (Coding::Chunked, _) => Framing::Chunked,
            _ => Framing::UntilClose,
        }
    }

    /// Returns how a request's body ends. A request without framing fields has no body.
    pub(crate) fn request_framing(&self, version: Version) -> Result<Framing, Reason> {
        if self.coding != Coding::Absent && version == Version::Http10 {
            return Err(Reason::CodingIn10);
        }
        if self.coding != Coding::Absent && self.content_length.is_some() {
            return Err(Reason::LengthAndCoding);
        }
        match self.coding {
            Coding::Absent => Ok(Framing::Length(self.content_length.unwrap_or(0))),
            Coding::Chunked => Ok(Framing::Chunked),
            Coding::Identity | Coding::Other | Coding::OverChunked => Err(Reason::UnframedRequest),
        }
    }

    /// Whether the connection persists after this message (RFC 9112 §9.3), apart from framing. A
    /// coding in a message of HTTP/1.0 may be an error of an old proxy (§6.1).
    #[inline]
    pub(crate) const fn persists(&self, version: Version) -> bool {
        match version {
            Version::Http10 => !self.close && self.keep_alive && matches!(self.coding, Coding::Absent),
            _ => !self.close,
        }
    }

    /// Checks `Host`: HTTP/1.1 requires exactly one, HTTP/1.0 at most one (RFC 9112 §3.2).
    pub(crate) const fn check_host(&self, version: Version) -> Result<(), Reason> {
        match (self.hosts, version) {
            (1, _) | (0, Version::Http10) => Ok(()),
            (0, Version::Http11) => Err(Reason::MissingHost),
            _ => Err(Reason::SeveralHosts),
        }
    }

    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(crate) const fn expects_continue(&self) -> bool {
        self.expect_continue
    }
}

/// The codings of the IANA registry other than `chunked`, and `identity`, which old servers still
/// send.
const KNOWN_CODINGS: [&[u8]; 6] = [b"gzip", b"x-gzip", b"deflate", b"compress", b"x-compress", b"identity"];

/// Parses digits and nothing else, within 64 bits.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
