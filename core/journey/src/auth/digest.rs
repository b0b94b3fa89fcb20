//! [`Digest`]: answers to a server's digest challenge, one for each request.

use std::fmt::Write;

use super::challenge::{Challenge, DigestAlgorithm};
use super::hash::{Hex, push_hex};
use crate::body::query_text;

/// A user's answer to one challenge. It is kept between requests, so that only the count changes
/// (RFC 7616 §3.4).
///
/// The password is hashed once and not stored.
#[derive(Clone, Debug)]
pub struct Digest {
    challenge: Challenge,
    /// ` username="…"` and all other fixed parts, up to the value of `nonce`.
    head: Box<[u8]>,
    /// The fixed parts after the nonce, up to `uri`.
    tail: Box<[u8]>,
    /// The client's nonce.
    cnonce: Box<str>,
    /// H(A1).
    secret: Box<[u8]>,
    count: u32,
}

impl Digest {
    /// Prepares the answer to `challenge` for a user. `random` becomes the client's nonce.
    pub fn new(challenge: Challenge, user: &str, password: &str, random: [u64; 2]) -> Self {
        let mut cnonce = String::with_capacity(32);
        write!(cnonce, "{:016x}{:016x}", random[0], random[1]).expect("writing to a String cannot fail");
        Self::with_cnonce(challenge, user, password, cnonce)
    }

    fn with_cnonce(challenge: Challenge, user: &str, password: &str, cnonce: String) -> Self {
        let hash = |parts: &[&[u8]]| Hex::digest(challenge.algorithm, parts);
        let mut secret = hash(&[user.as_bytes(), &challenge.realm, password.as_bytes()]);
        if challenge.session {
            secret = hash(&[secret.as_bytes(), &challenge.nonce, cnonce.as_bytes()]);
        }
        Self {
            head: head(&challenge, user).into(),
            tail: tail(&challenge).into(),
            secret: secret.as_bytes().into(),
            cnonce: cnonce.into(),
            challenge,
            count: 0,
        }
    }

    /// Uses `nonce` for the next requests. The server gives it in Authentication-Info (RFC 7616
    /// §3.5).
    ///
    /// The session hash keeps the first nonces.
    pub fn renew(&mut self, nonce: Vec<u8>) {
        if self.challenge.nonce != nonce {
            (self.challenge.nonce, self.count) = (nonce, 0);
        }
    }

    /// Appends the value of `Authorization` for the next request. `method` and `target` are those
    /// of the request line.
    pub fn answer(&mut self, out: &mut Vec<u8>, method: &str, target: &str) {
        // The server changes its nonce long before 2^32 - 1 requests.
        self.count = self.count.wrapping_add(1);
        let count = self.count.to_be_bytes();
        let mut digits = Vec::with_capacity(8);
        push_hex(&mut digits, &count);
        let hash = |parts: &[&[u8]]| Hex::digest(self.challenge.algorithm, parts);
        let asked = hash(&[method.as_bytes(), target.as_bytes()]);
        let nonce = self.challenge.nonce.as_slice();
        let response = if self.challenge.qop {
            let cnonce = self.cnonce.as_bytes();
            hash(&[&self.secret, nonce, &digits, cnonce, b"auth", asked.as_bytes()])
        } else {
            hash(&[&self.secret, nonce, asked.as_bytes()])
        };
        out.extend_from_slice(&self.head);
        push_quoted(out, &self.challenge.nonce);
        out.extend_from_slice(&self.tail);
        out.extend_from_slice(b", uri=");
        push_quoted(out, target.as_bytes());
        out.extend_from_slice(b", response=\"");
        out.extend_from_slice(response.as_bytes());
        out.push(b'"');
        if self.challenge.qop {
            out.extend_from_slice(b", qop=auth, nc=");
            out.extend_from_slice(&digits);
            out.extend_from_slice(b", cnonce=\"");
            out.extend_from_slice(self.cnonce.as_bytes());
            out.push(b'"');
        }
    }
}

fn head(challenge: &Challenge, user: &str) -> Vec<u8> {
    let mut out = b"Digest username".to_vec();
    if challenge.hash_user {
        out.extend_from_slice(b"=\"");
        out.extend_from_slice(
            Hex::digest(challenge.algorithm, &[user.as_bytes(), &challenge.realm]).as_bytes(),
        );
        out.extend_from_slice(b"\", userhash=true");
    } else if user.is_ascii() && !user.bytes().any(|byte| byte.is_ascii_control()) {
        out.push(b'=');
        push_quoted(&mut out, user.as_bytes());
    } else {
        out.extend_from_slice(b"*=UTF-8''");
        query_text(&mut out, user.as_bytes());
    }
    out.extend_from_slice(b", realm=");
    push_quoted(&mut out, &challenge.realm);
    out.extend_from_slice(b", nonce=");
    out
}

fn tail(challenge: &Challenge) -> Vec<u8> {
    let mut out = b", algorithm=".to_vec();
    out.extend_from_slice(match challenge.algorithm {
        DigestAlgorithm::Md5 => b"MD5",
        DigestAlgorithm::Sha256 => b"SHA-256",
        DigestAlgorithm::Sha512Slash256 => b"SHA-512-256",
    });
    if challenge.session {
        out.extend_from_slice(b"-sess");
    }
    if let Some(opaque) = &challenge.opaque {
        out.extend_from_slice(b", opaque=");
        push_quoted(&mut out, opaque);
    }
    out
}

/// Appends a quoted string (RFC 9110 §5.6.4). Text from a server contains no line ends, but text
/// from a user may.
fn push_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for &byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(if byte.is_ascii_control() { b' ' } else { byte });
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(challenge: &str, user: [&str; 2], cnonce: &str, target: &str) -> String {
        let challenge = Challenge::parse(challenge.as_bytes()).expect("is a challenge");
        let mut digest = Digest::with_cnonce(challenge, user[0], user[1], cnonce.to_owned());
        let mut out = Vec::new();
        digest.answer(&mut out, "GET", target);
        String::from_utf8(out).expect("is text")
    }

    /// The examples printed in RFC 7616 §3.9.1 and RFC 2617 §3.5.
    #[test]
    fn the_published_examples_come_out() {
        let mufasa = ["Mufasa", "Circle of Life"];
        let challenge = |more| {
            format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", {more}, \
                 nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            )
        };
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        let check = |more, response: &str| {
            let found = answer(&challenge(more), mufasa, cnonce, "/dir/index.html");
            assert!(found.contains(&format!("response=\"{response}\", qop=auth, nc=00000001")), "{found}");
        };
        check("algorithm=MD5", "8ca523f5e9506fed4657c9700eebdbec");
        check("algorithm=SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
        let found = answer(
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"",
            ["Mufasa", "CircleOfLife"],
            "",
            "/dir/index.html",
        );
        assert!(found.ends_with("response=\"1949323746fe6a43ef61f9606e7febea\""), "{found}");
    }

    #[test]
    fn an_answer_says_all_it_must() {
        let header = "Digest realm=\"r \\\"q\\\"\", nonce=n, opaque=o, qop=auth, algorithm=SHA-512-256-sess";
        let challenge = Challenge::parse(header.as_bytes()).expect("is a challenge");
        let mut digest = Digest::new(challenge, "anna", "x", [1, 0xabc]);
        let mut out = Vec::new();
        digest.answer(&mut out, "GET", "/a");
        let first = out.len();
        digest.answer(&mut out, "GET", "/a");
        let text = String::from_utf8(out).expect("is text");
        let (first, second) = text.split_at(first);
        assert!(first.starts_with(
            "Digest username=\"anna\", realm=\"r \\\"q\\\"\", nonce=\"n\", algorithm=SHA-512-256-sess, opaque=\"o\", uri=\"/a\""
        ), "{first}");
        assert!(first.ends_with("nc=00000001, cnonce=\"00000000000000010000000000000abc\""), "{first}");
        assert!(second.contains("nc=00000002"), "{second}");
        let response = |text: &str| text.split_once("response=").expect("has one").1[..66].to_owned();
        assert_ne!(response(first), response(second));
    }

    #[test]
    fn users_are_named_as_they_can_be() {
        let check = |more: &str, user, expected: &str| {
            let challenge =
                format!("Digest realm=api@example.org, nonce=n, qop=auth, algorithm=SHA-512-256{more}");
            let found = answer(&challenge, [user, "x"], "c", "/");
            assert!(found.starts_with(expected), "{found}");
        };
        check("", "a\"b", "Digest username=\"a\\\"b\", realm");
        check("", "Jäsøn Doe", "Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm");
        check("", "a\r\nX: y", "Digest username*=UTF-8''a%0D%0AX%3A%20y, realm");
        // H("anna:api@example.org") with SHA-512/256, computed by another implementation.
        check(
            ", userhash=true",
            "anna",
            "Digest username=\"c821caf3233e67b7c7f2a2822eeca91a207184c52ce36a3d9aa9b7e5e02a17ec\", userhash=true",
        );
    }
}
