//! Writing a request.

use super::bytes::{is_field_name, is_field_value};
use super::response_writer::push_decimal;
use super::version::Version;

/// The parts of a request. They are written as they are: the caller has checked that no part breaks
/// a line ([`super::is_field_name`], [`super::is_field_value`]).
#[derive(Clone, Copy, Debug)]
pub struct RequestParts<'a> {
    /// The method as it is sent.
    pub method: &'a str,
    /// Path and query, or another form of target.
    pub target: &'a str,
    /// The version in the request line. A request for HTTP/2 is converted when it is sent
    /// ([`h2::Client`](crate::h2::Client)).
    pub version: Version,
    /// The value of `Host`, unless `headers` has one.
    pub host: &'a str,
    /// The connection will be used again.
    pub keep_alive: bool,
    /// All further fields in their order, including `User-Agent`. A `Host`, `Connection`,
    /// `Content-Length` or `Transfer-Encoding` given here replaces the default field.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body. Sent as one chunk if `headers` says that the last transfer coding is `chunked`.
    pub body: &'a [u8],
}

/// Returns the bytes of a whole request, which can be sent any number of times.
///
/// `Host` comes first, either the user's or the default. `Content-Length` is written when there is
/// a body. For POST, PUT and PATCH it is also written when the body is empty (RFC 9110 §8.6),
/// unless the user framed the body.
pub fn render_request(parts: &RequestParts<'_>) -> Vec<u8> {
    debug_assert!(
        parts.headers.iter().all(|(name, value)| is_field_name(name) && is_field_value(value)),
        "the caller lets no field break a line"
    );
    let mut out = Vec::with_capacity(256 + parts.target.len() + parts.body.len());
    let version = match parts.version {
        Version::Http10 => " HTTP/1.0\r\n",
        Version::Http11 => " HTTP/1.1\r\n",
        Version::Http2 => " HTTP/2\r\n",
        Version::Http3 => " HTTP/3\r\n",
    };
    for piece in [parts.method, " ", parts.target, version] {
        out.extend_from_slice(piece.as_bytes());
    }
    push_field(&mut out, "Host", given(parts, "Host").unwrap_or(parts.host));
    let mut host_written = false;
    for (name, value) in parts.headers {
        // The first Host is at the top already. A second one is sent because the user asked for
        // two.
        if name.eq_ignore_ascii_case("Host") && !std::mem::replace(&mut host_written, true) {
            continue;
        }
        push_field(&mut out, name, value);
    }
    if given(parts, "Connection").is_none() {
        match (parts.version, parts.keep_alive) {
            (Version::Http11, false) => push_field(&mut out, "Connection", "close"),
            (Version::Http10, true) => push_field(&mut out, "Connection", "keep-alive"),
            _ => {}
        }
    }
    let coding = given(parts, "Transfer-Encoding");
    if coding.is_none() && given(parts, "Content-Length").is_none() && wants_length(parts) {
        out.extend_from_slice(b"Content-Length: ");
        push_decimal(&mut out, parts.body.len() as u64);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    if coding.is_some_and(ends_chunked) {
        push_chunked(&mut out, parts.body);
    } else {
        out.extend_from_slice(parts.body);
    }
    out
}

fn given<'a>(parts: &RequestParts<'a>, wanted: &str) -> Option<&'a str> {
    parts.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| *value)
}

fn wants_length(parts: &RequestParts<'_>) -> bool {
    !parts.body.is_empty() || matches!(parts.method, "POST" | "PUT" | "PATCH")
}

fn ends_chunked(coding: &str) -> bool {
    coding.rsplit(',').next().is_some_and(|last| last.trim().eq_ignore_ascii_case("chunked"))
}

fn push_field(out: &mut Vec<u8>, name: &str, value: &str) {
    for piece in [name, ": ", value, "\r\n"] {
        out.extend_from_slice(piece.as_bytes());
    }
}

fn push_chunked(out: &mut Vec<u8>, body: &[u8]) {
    if !body.is_empty() {
        out.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
        out.extend_from_slice(body);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
}
