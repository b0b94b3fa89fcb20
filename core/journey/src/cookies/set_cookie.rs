//! [`SetCookie`]: the value of one `Set-Cookie` header.

use super::date::cookie_date;

/// Maximum length of a cookie with its attributes and value (RFC 6265 §6.1 requires at least 4096
/// bytes).
pub(super) const COOKIE_BYTES_MAX: usize = 4096;

/// The contents of one `Set-Cookie` (RFC 6265 §5.2), borrowed from the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetCookie<'a> {
    /// The name, never empty.
    pub name: &'a [u8],
    /// The value. Quotes, which are common, are part of it.
    pub value: &'a [u8],
    /// Expiry in seconds since 1970. `None`: when the user ends.
    pub expires: Option<i64>,
    /// `Domain` without a leading dot; empty: this host only.
    pub domain: &'a [u8],
    /// `Path`, starting with `/`; empty: the folder of the request.
    pub path: &'a [u8],
    /// Whether it is sent over TLS only.
    pub secure: bool,
}

impl<'a> SetCookie<'a> {
    /// Parses the header's value at the time `now`, in seconds since 1970. Returns `None` if user
    /// agents ignore it: no `=`, no name, control characters, or more than 4 KiB.
    pub fn parse(header: &'a [u8], now: i64) -> Option<Self> {
        let is_control = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x0a..=0x1f | 0x7f);
        if header.len() > COOKIE_BYTES_MAX || header.iter().any(is_control) {
            return None;
        }
        let mut parts = header.split(|byte| *byte == b';');
        let (name, value) = pair(parts.next()?);
        let value = value?;
        if name.is_empty() {
            return None;
        }
        let mut new = Self { name, value, expires: None, domain: b"", path: b"", secure: false };
        let mut max_age = None;
        for (name, value) in parts.map(pair) {
            let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
            let value = value.unwrap_or_default();
            if is(b"expires") {
                new.expires = cookie_date(value).or(new.expires);
            } else if is(b"max-age") {
                max_age = seconds(value).or(max_age);
            } else if is(b"domain") {
                new.domain = value.strip_prefix(b".").unwrap_or(value);
            } else if is(b"path") {
                new.path = if value.starts_with(b"/") { value } else { b"" };
            } else if is(b"secure") {
                new.secure = true;
            }
        }
        // Max-Age takes precedence at any position.
        new.expires = max_age
            .map(|seconds: i64| if seconds <= 0 { i64::MIN } else { now.saturating_add(seconds) })
            .or(new.expires);
        Some(new)
    }
}

fn pair(part: &[u8]) -> (&[u8], Option<&[u8]>) {
    match part.iter().position(|byte| *byte == b'=') {
        Some(at) => (part[..at].trim_ascii(), Some(part[at + 1..].trim_ascii())),
        None => (part.trim_ascii(), None),
    }
}

/// Parses `Max-Age`. A number that is too large becomes the largest number.
fn seconds(value: &[u8]) -> Option<i64> {
    let (negative, digits) = match value {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if (digits.is_empty() && !negative) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let amount = digits
        .iter()
        .fold(0_i64, |sum, digit| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    Some(if negative { -amount } else { amount })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000_000;

    type Expected = Option<(&'static str, &'static str, Option<i64>, &'static str, &'static str, bool)>;

    fn check(header: &str, expected: Expected) {
        let found = SetCookie::parse(header.as_bytes(), NOW);
        let wanted = expected.map(|(name, value, expires, domain, path, secure)| SetCookie {
            name: name.as_bytes(),
            value: value.as_bytes(),
            expires,
            domain: domain.as_bytes(),
            path: path.as_bytes(),
            secure,
        });
        assert_eq!(found, wanted, "{header}");
    }

    #[test]
    fn headers_are_read_as_user_agents_read_them() {
        check("a=b", Some(("a", "b", None, "", "", false)));
        check(" a = b c ;x", Some(("a", "b c", None, "", "", false)));
        check("a=\"b\"; Secure; HttpOnly", Some(("a", "\"b\"", None, "", "", true)));
        check("a=b=c", Some(("a", "b=c", None, "", "", false)));
        check("a=", Some(("a", "", None, "", "", false)));
        check("a=b; domain=.X.org; PATH=/p; path=q", Some(("a", "b", None, "X.org", "", false)));
        check("a=b; path=q; path=/p; SECURE=no", Some(("a", "b", None, "", "/p", true)));
        check("a=b; max-age=60; expires=junk", Some(("a", "b", Some(NOW + 60), "", "", false)));
        check("a=b; max-age=60; max-age=x", Some(("a", "b", Some(NOW + 60), "", "", false)));
        check(
            "a=b; expires=Thu, 01 Jan 1970 00:01:00 GMT; expires=?",
            Some(("a", "b", Some(60), "", "", false)),
        );
        check(
            "a=b; max-age=0; expires=Fri, 31 Dec 9999 23:59:59 GMT",
            Some(("a", "b", Some(i64::MIN), "", "", false)),
        );
        check("a=b; max-age=-1", Some(("a", "b", Some(i64::MIN), "", "", false)));
        check("a=b; max-age=99999999999999999999", Some(("a", "b", Some(i64::MAX), "", "", false)));
        for ignored in ["", "a", ";a=b", "=b", " =b", "a; b=c", "a=b\u{1}c", "a=b\r\nc=d"] {
            check(ignored, None);
        }
    }

    #[test]
    fn a_cookie_beyond_the_limit_is_ignored() {
        let header = |length| [b"a=".as_slice(), &vec![b'x'; length - 2]].concat();
        assert!(SetCookie::parse(&header(COOKIE_BYTES_MAX), NOW).is_some());
        assert!(SetCookie::parse(&header(COOKIE_BYTES_MAX + 1), NOW).is_none());
    }
}
