//! [`Rewrite`]: a request derived from the previous one, as a browser derives it after a redirect.
//!
//! It is made from the bytes and not from the step: drawn values do not change, and the body stays
//! identical.

use memchr::memmem;
use wavetank_wire::h1::Headers;

use crate::redirect::{Hop, may_forward_header};

/// The changes from one request to the next.
#[derive(Debug)]
pub(super) struct Rewrite<'a> {
    pub(super) method: &'a str,
    /// Path and query for the request line, preceded by scheme and host if a proxy reads it.
    pub(super) target: &'a [u8],
    /// The new value of `Host`, if it changes.
    pub(super) host: Option<String>,
    /// The redirect; `None` for the same place.
    pub(super) hop: Option<&'a Hop>,
    /// Names of headers (lower case) that are secrets of this plan.
    pub(super) secrets: &'a [String],
    /// Names (lower case) of fields that are written again, in addition to `Cookie`.
    pub(super) drops: &'a [&'a str],
    /// Whole field lines to add.
    pub(super) fields: &'a [u8],
}

impl Rewrite<'_> {
    /// Writes the request derived from `sent`, a whole request, into `out`.
    pub(super) fn write(&self, sent: &[u8], out: &mut Vec<u8>) {
        let head_end = memmem::find(sent, b"\r\n\r\n").map_or(sent.len(), |end| end + 2);
        let line_end = memmem::find(sent, b"\r\n").map_or(sent.len(), |end| end + 2);
        let version = sent[..line_end].rsplit(|byte| *byte == b' ').next().unwrap_or(b"HTTP/1.1\r\n");
        for piece in [self.method.as_bytes(), b" ", self.target, b" ", version] {
            out.extend_from_slice(piece);
        }
        if let Some(host) = &self.host {
            push_field(out, b"Host", host.as_bytes());
        }
        for (name, value) in Headers::new(&sent[line_end..head_end]) {
            if !name.eq_ignore_ascii_case(b"cookie") && self.carries(name) {
                push_field(out, name, value);
            }
        }
        out.extend_from_slice(self.fields);
        out.extend_from_slice(b"\r\n");
        if self.hop.is_none_or(|hop| !hop.becomes_get) {
            out.extend_from_slice(sent.get(head_end + 2..).unwrap_or_default());
        }
    }

    fn carries(&self, name: &[u8]) -> bool {
        if self.host.is_some() && name.eq_ignore_ascii_case(b"host") {
            return false;
        }
        if self.drops.iter().any(|dropped| name.eq_ignore_ascii_case(dropped.as_bytes())) {
            return false;
        }
        // A name that is not text matches no known field, so the field is kept.
        let (Some(hop), Ok(name)) = (self.hop, str::from_utf8(name)) else { return true };
        let secret = || self.secrets.iter().any(|secret| name.eq_ignore_ascii_case(secret));
        (may_forward_header(name, hop) || name.eq_ignore_ascii_case("host")) && (hop.same_origin || !secret())
    }
}

/// Path and query in the request line of a whole request. For a proxy, scheme and host precede
/// them.
pub(crate) fn target_of(sent: &[u8]) -> &[u8] {
    let target = line_target_of(sent);
    let Some(rest) = target.strip_prefix(b"http://") else { return target };
    rest.iter().position(|byte| *byte == b'/').map_or(b"/", |at| &rest[at..])
}

/// The request target in the request line of a whole request.
pub(super) fn line_target_of(sent: &[u8]) -> &[u8] {
    let line = sent.split(|byte| *byte == b'\r').next().unwrap_or_default();
    line.split(|byte| *byte == b' ').nth(1).unwrap_or_default()
}

/// The method of a whole request.
pub(super) fn method_of(sent: &[u8]) -> &str {
    let word = sent.split(|byte| *byte == b' ').next().unwrap_or_default();
    str::from_utf8(word).unwrap_or_default()
}

/// The value of `Host` in a whole request.
pub(super) fn host_of(sent: &[u8]) -> &[u8] {
    let line_end = memmem::find(sent, b"\r\n").map_or(sent.len(), |end| end + 2);
    let mut fields = Headers::new(&sent[line_end..]);
    fields.find_map(|(name, value)| name.eq_ignore_ascii_case(b"host").then_some(value)).unwrap_or_default()
}

fn push_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    for piece in [name, b": ", value, b"\r\n"] {
        out.extend_from_slice(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redirect::HttpUrl;

    const SENT: &[u8] =
        b"POST /a?b HTTP/1.1\r\nHost: a.org\r\nUser-Agent: w\r\nX-Own: 1\r\nCookie: own=1; jar=1\r\n\
        Content-Type: text/plain\r\nContent-Length: 2\r\nAuthorization: Basic x\r\n\r\nhi";

    fn check(rewrite: &Rewrite<'_>, expected: &str) {
        let mut out = Vec::new();
        rewrite.write(SENT, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    fn plain() -> Rewrite<'static> {
        Rewrite {
            method: "POST",
            target: b"/a?b",
            host: None,
            hop: None,
            secrets: &[],
            drops: &[],
            fields: b"Cookie: own=1; jar=2\r\n",
        }
    }

    #[test]
    fn the_same_goes_out_again() {
        check(
            &Rewrite { drops: &["authorization"], ..plain() },
            "POST /a?b HTTP/1.1\r\nHost: a.org\r\nUser-Agent: w\r\nX-Own: 1\r\n\
             Content-Type: text/plain\r\nContent-Length: 2\r\nCookie: own=1; jar=2\r\n\r\nhi",
        );
    }

    #[test]
    fn secrets_and_bodies_stay_where_they_belong() {
        let hop = |becomes_get, same_origin| Hop {
            to: HttpUrl::parse("http://b.org:81/x").expect("an address"),
            becomes_get,
            same_origin,
        };
        let rewrite = Rewrite { method: "GET", target: b"/x", ..plain() };
        check(
            &Rewrite { hop: Some(&hop(true, true)), ..rewrite },
            "GET /x HTTP/1.1\r\nHost: a.org\r\nUser-Agent: w\r\nX-Own: 1\r\n\
             Authorization: Basic x\r\nCookie: own=1; jar=2\r\n\r\n",
        );
        let secrets = ["x-own".to_owned()];
        let away = Rewrite {
            target: b"/x",
            hop: Some(&hop(false, false)),
            host: Some("b.org:81".to_owned()),
            secrets: &secrets,
            fields: b"",
            ..plain()
        };
        check(
            &away,
            "POST /x HTTP/1.1\r\nHost: b.org:81\r\nUser-Agent: w\r\nContent-Type: text/plain\r\n\
             Content-Length: 2\r\n\r\nhi",
        );
    }

    #[test]
    fn a_request_is_taken_apart() {
        let to_a_proxy = b"GET http://a.org:81/a?b HTTP/1.1\r\nHost: a.org:81\r\n\r\n";
        assert_eq!(target_of(to_a_proxy), b"/a?b");
        assert_eq!(target_of(b"GET http://a.org HTTP/1.1\r\n\r\n"), b"/");
        assert_eq!(line_target_of(to_a_proxy), b"http://a.org:81/a?b");
        assert_eq!((target_of(SENT), method_of(SENT), host_of(SENT)), (&b"/a?b"[..], "POST", &b"a.org"[..]));
        for odd in [&b""[..], b"GET", b"GET /", b"\r\n\r\n"] {
            let mut out = Vec::new();
            plain().write(odd, &mut out);
            assert!(out.ends_with(b"\r\n\r\n"), "{}", odd.escape_ascii());
            let _ = (target_of(odd), method_of(odd), host_of(odd));
        }
    }
}
