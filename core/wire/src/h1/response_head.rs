//! The head of a response.

use super::bytes::text_end;
use super::error::Reason;
use super::headers::Headers;
use super::scan::StartLine;
use super::version::Version;

/// A response's head, borrowed from the bytes it was read from.
#[derive(Clone, Copy, Debug)]
pub struct ResponseHead<'a> {
    /// The status code, 100 to 999.
    pub status: u16,
    /// The version in the status line.
    pub version: Version,
    /// The reason phrase, often empty.
    pub reason: &'a [u8],
    /// The whole head as received, with the empty line.
    pub raw: &'a [u8],
    /// The offset of the field lines in `raw`.
    pub(crate) fields_at: usize,
}

impl<'a> ResponseHead<'a> {
    /// Creates the head of a response of HTTP/2 or HTTP/3 from a status line and field lines.
    pub(crate) fn of_fields(version: Version, status: u16, raw: &'a [u8]) -> Self {
        let fields_at = memchr::memchr(b'\n', raw).map_or(raw.len(), |end| end + 1);
        Self { status, version, reason: b"", raw, fields_at }
    }

    /// Returns the field lines, with the empty one after them.
    pub fn fields(&self) -> &'a [u8] {
        &self.raw[self.fields_at..]
    }

    /// All fields in order of arrival.
    pub fn headers(&self) -> Headers<'a> {
        Headers::new(self.fields())
    }

    /// Returns the value of the first field of that name, ignoring case.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers().find(name)
    }
}

/// The contents of a status line. The reason phrase is extracted from the head again on request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatusLine {
    pub(crate) version: Version,
    pub(crate) status: u16,
}

/// `HTTP/1.1 ` and three digits.
const REASON_AT: usize = 12;

/// Returns the reason phrase of a head with a status line that was read.
pub(crate) fn reason_phrase_in(raw: &[u8]) -> &[u8] {
    let rest = &raw[REASON_AT..text_end(raw, REASON_AT)];
    rest.strip_prefix(b" ").unwrap_or(rest)
}

/// Distinguishes servers of HTTP/2 and TLS from other protocols. More bytes are awaited while they
/// may be either: a prefix of such a start has no line feed except in its last byte, so the result
/// does not depend on a line.
#[cold]
fn not_http1(begun: &[u8]) -> Result<(), Reason> {
    let starts = [(frame_fits as fn(usize, u8) -> bool, 9, Reason::Http2), (record_fits, 3, Reason::Tls)];
    for (fits, length, reason) in starts {
        if begun.iter().enumerate().take(length).all(|(at, &byte)| fits(at, byte)) {
            return if begun.len() >= length { Err(reason) } else { Ok(()) };
        }
    }
    Err(Reason::NotHttp)
}

/// The header of a first frame of HTTP/2 (RFC 9113 §4.1): a length, type 4 (SETTINGS) or 7
/// (GOAWAY), no flags, stream 0.
const fn frame_fits(at: usize, byte: u8) -> bool {
    match at {
        // A line feed in the length would end a line.
        2 => byte != b'\n',
        3 => matches!(byte, 4 | 7),
        _ => byte == 0,
    }
}

/// A record of TLS: its type (alert or handshake), version 3.
const fn record_fits(at: usize, byte: u8) -> bool {
    match at {
        0 => matches!(byte, 0x15 | 0x16),
        1 => byte == 3,
        _ => byte <= 4,
    }
}

impl StartLine for StatusLine {
    const LENIENT: bool = true;

    #[inline]
    fn check_begun(begun: &[u8]) -> Result<(), Reason> {
        const START: &[u8; 7] = b"HTTP/1.";
        if begun.starts_with(START) {
            return Ok(());
        }
        match begun.iter().zip(START).position(|(got, wanted)| got != wanted) {
            None => Ok(()),
            // Another version of HTTP is distinguished from something that is not HTTP at all.
            Some(5 | 6) if begun[5].is_ascii_digit() => Err(Reason::Version),
            Some(_) => not_http1(begun),
        }
    }

    #[inline]
    fn parse(line: &[u8]) -> Result<Self, Reason> {
        let version = match line.get(7) {
            Some(b'0') => Version::Http10,
            Some(b'1'..=b'9') => Version::Http11,
            _ => return Err(Reason::Version),
        };
        let Some(&[b' ', hundreds, tens, ones]) = line.get(8..REASON_AT) else {
            // `HTTP/1.10`, `HTTP/1.1x`: no such version; `HTTP/1.1` alone: no status.
            let odd = line.get(8).is_some_and(|&byte| byte != b' ' && byte != b'\t');
            return Err(if odd { Reason::Version } else { Reason::BadStatus });
        };
        let digits = [hundreds, tens, ones];
        if !digits.iter().all(u8::is_ascii_digit) || hundreds == b'0' {
            return Err(Reason::BadStatus);
        }
        match line.get(REASON_AT) {
            None | Some(b' ') => {}
            Some(_) => return Err(Reason::BadStatus),
        }
        let end = text_end(line, REASON_AT);
        match line.get(end) {
            None => {}
            Some(b'\r') => return Err(Reason::BareCr),
            Some(_) => return Err(Reason::ControlByte),
        }
        let status = digits.iter().fold(0, |status, digit| status * 10 + u16::from(digit - b'0'));
        Ok(Self { version, status })
    }
}
