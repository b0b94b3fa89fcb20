//! The head of a request.

use super::bytes::is_token;
use super::error::Reason;
use super::headers::Headers;
use super::scan::StartLine;
use super::version::Version;

/// A request's head, borrowed from the bytes it was read from.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// The method as received; methods are case-sensitive.
    pub method: &'a [u8],
    /// The target as received: usually a path with query, but also a whole URL, `*` or an
    /// authority.
    pub target: &'a [u8],
    /// The version in the request line.
    pub version: Version,
    /// The client waits for `100 Continue` before it sends the body.
    pub expect_continue: bool,
    /// The whole head as received, with the empty line.
    pub raw: &'a [u8],
    /// The offset of the field lines in `raw`.
    pub(crate) fields_at: usize,
}

impl<'a> RequestHead<'a> {
    /// Creates the head of a request of HTTP/2 or HTTP/3 from its text and the offset of the field
    /// lines in it.
    pub(crate) const fn of_text(
        version: Version,
        method: &'a [u8],
        target: &'a [u8],
        expect_continue: bool,
        (raw, fields_at): (&'a [u8], usize),
    ) -> Self {
        Self { method, target, version, expect_continue, raw, fields_at }
    }

    /// All fields in order of arrival.
    pub fn headers(&self) -> Headers<'a> {
        Headers::new(&self.raw[self.fields_at..])
    }

    /// Returns the value of the first field of that name, ignoring case.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers().find(name)
    }
}

/// The positions of the parts of a request line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestLine {
    pub(crate) version: Version,
    pub(crate) method_end: usize,
    pub(crate) target_end: usize,
}

impl StartLine for RequestLine {
    const LENIENT: bool = false;

    fn check_begun(begun: &[u8]) -> Result<(), Reason> {
        if is_token(begun[0]) { Ok(()) } else { Err(Reason::BadMethod) }
    }

    fn parse(line: &[u8]) -> Result<Self, Reason> {
        let mut parts = line.split(|&byte| byte == b' ');
        let (Some(method), Some(target), Some(version), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Reason::BadRequestLine);
        };
        if !method.iter().copied().all(is_token) {
            return Err(Reason::BadMethod);
        }
        if target.is_empty() {
            return Err(Reason::BadRequestLine);
        }
        if !target.iter().all(u8::is_ascii_graphic) {
            return Err(Reason::BadTarget);
        }
        let Some(version) = Version::parse(version) else {
            let other = version.starts_with(b"HTTP/") && !version.contains(&b'\r');
            return Err(if other { Reason::Version } else { Reason::BadRequestLine });
        };
        let method_end = method.len();
        Ok(Self { version, method_end, target_end: method_end + 1 + target.len() })
    }
}
