//! The `Cookie` field of a request: the step's own cookies and those of the jar in one line.

use std::ops::Range;

use memchr::memchr;

use crate::cookies::{Jar, Site};
use crate::state::Session;

const NAME: &[u8] = b"Cookie:";

impl Session {
    /// Adds the jar's cookies for `site` to `head`, a request line and whole field lines. If the
    /// step sets a `Cookie` field itself (`own`), they are added to it, since a request has at most
    /// one (RFC 6265 §5.4).
    pub(super) fn add_cookies_to_head(&mut self, own: bool, site: &Site<'_>, now: i64, head: &mut Vec<u8>) {
        let held = self.data_mut();
        let Some(value) = own.then(|| own_value(head)).flatten() else {
            push_cookies(b"", Some(&held.jar), site, now, head);
            held.own_cookies = Some(0);
            return;
        };
        let end = head.len();
        let separator: &[u8] = if value.is_empty() { b"" } else { b"; " };
        head.extend_from_slice(separator);
        if held.jar.render(site, now, head) {
            held.own_cookies = Some(value.len());
            let added = head.len() - end;
            head[value.end..].rotate_right(added);
        } else {
            head.truncate(end);
        }
    }

    /// Discards what is known about the cookies of the previous request.
    pub(super) fn forget_own_cookies(&mut self) {
        if let Some(held) = self.holds_mut() {
            held.own_cookies = None;
        }
    }

    /// Returns the cookies in `sent`, the first message of a request, that the step itself set.
    pub(super) fn own_cookies(&self, sent: &[u8]) -> Vec<u8> {
        let Some(value) = own_value(sent) else { return Vec::new() };
        let own = self.data().and_then(|held| held.own_cookies).unwrap_or(value.len());
        sent[value][..own].to_vec()
    }
}

/// Writes a `Cookie` field with `own` and the jar's cookies for `site`; nothing if there is none.
pub(super) fn push_cookies(own: &[u8], jar: Option<&Jar>, site: &Site<'_>, now: i64, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(NAME);
    out.push(b' ');
    out.extend_from_slice(own);
    let before = out.len();
    if !own.is_empty() {
        out.extend_from_slice(b"; ");
    }
    if !jar.is_some_and(|jar| jar.render(site, now, out)) {
        out.truncate(before);
    }
    if out.len() == start + NAME.len() + 1 {
        out.truncate(start);
    } else {
        out.extend_from_slice(b"\r\n");
    }
}

/// Returns the position of the value of the first `Cookie` field in a request.
fn own_value(request: &[u8]) -> Option<Range<usize>> {
    let mut start = memchr(b'\n', request)? + 1;
    while let Some(length) = memchr(b'\n', &request[start..]) {
        let line = request[start..start + length].trim_ascii_end();
        if line.is_empty() {
            return None;
        }
        if line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)) {
            let value = line[NAME.len()..].trim_ascii_start();
            let end = start + line.len();
            return Some(end - value.len()..end);
        }
        start += length + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_the_cookie_field_is_found() {
        let check = |head: &str, expected: Option<&str>| {
            let found = own_value(head.as_bytes()).map(|value| &head[value]);
            assert_eq!(found, expected, "{head:?}");
        };
        check("GET / HTTP/1.1\r\nHost: a\r\nCookie: a=1; b=2 \r\nX: y\r\n", Some("a=1; b=2"));
        check("GET / HTTP/1.1\r\ncOOKIE:a=1\r\n\r\nbody", Some("a=1"));
        check("GET / HTTP/1.1\r\nCookie: \r\n\r\n", Some(""));
        check("GET / HTTP/1.1\r\nX-Cookie: a=1\r\n\r\nCookie: a=1\r\n", None);
        check("GET / HTTP/1.1", None);
    }
}
