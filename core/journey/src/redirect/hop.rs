//! [`Hop`]: one redirect that is followed.

use std::fmt::Write;

use wavetank_plan::redact::is_secret_header;

use super::http_url::{HttpUrl, PLACE_BYTES_MAX};

/// The request that a redirect asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Its address.
    pub to: HttpUrl,
    /// Whether it becomes a GET, without a body and the headers that describe one.
    pub becomes_get: bool,
    /// Whether it goes to the origin that redirected. Secrets may be sent there.
    pub same_origin: bool,
}

/// The reason why a redirect cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectFault {
    /// The location cannot be resolved to an http address.
    BadLocation,
    /// The location is longer than 8 KiB.
    TooLong,
}

impl Hop {
    /// Returns the redirect that a response to a request of `method` at `from` asks for. `None` if
    /// `status` is not a redirect or `location` is missing.
    ///
    /// Methods change as in the Fetch Standard (§4.4, HTTP-redirect fetch): 303 turns every method
    /// but HEAD into GET, 301 and 302 turn POST into GET, 307 and 308 keep the method and the body.
    pub fn from_response(
        status: u16,
        method: &str,
        from: &HttpUrl,
        location: Option<&[u8]>,
    ) -> Option<Result<Self, RedirectFault>> {
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = location?;
        if location.len() > PLACE_BYTES_MAX {
            return Some(Err(RedirectFault::TooLong));
        }
        let becomes_get = match status {
            303 => !matches!(method, "GET" | "HEAD"),
            301 | 302 => method == "POST",
            _ => false,
        };
        let to = from.join(&as_text(location)).ok_or(RedirectFault::BadLocation);
        Some(to.map(|to| Self { same_origin: to.same_origin(from), to, becomes_get }))
    }
}

/// Whether a header for the original request may be sent after a redirect. Secrets stay with their
/// origin, and so does an explicit `Host`.
pub fn may_forward_header(header: &str, hop: &Hop) -> bool {
    const OF_THE_BODY: [&str; 6] = [
        "content-type",
        "content-length",
        "content-encoding",
        "content-language",
        "content-location",
        "transfer-encoding",
    ];
    let header = header.trim();
    let describes_body = || OF_THE_BODY.iter().any(|name| header.eq_ignore_ascii_case(name));
    if hop.becomes_get && describes_body() {
        return false;
    }
    hop.same_origin || !(is_secret_header(header) || header.eq_ignore_ascii_case("host"))
}

/// Returns a header's bytes as text. Bytes that are not UTF-8 are percent-encoded one by one, as in
/// browsers.
fn as_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            write!(text, "%{byte:02X}").expect("writing to a String cannot fail");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> HttpUrl {
        HttpUrl::parse("http://Shop.example:8080/a/b/c?d#e").expect("is an address")
    }

    fn hop(status: u16, method: &str, location: &str) -> Hop {
        Hop::from_response(status, method, &base(), Some(location.as_bytes()))
            .expect("redirects")
            .expect("can be followed")
    }

    #[test]
    fn locations_are_resolved() {
        let check = |location: &str, expected: &str, same_origin: bool| {
            let hop = hop(302, "GET", location);
            assert_eq!((hop.to.as_str(), hop.same_origin), (expected, same_origin), "{location}");
        };
        check("/x?y", "http://shop.example:8080/x?y", true);
        check("x", "http://shop.example:8080/a/b/x", true);
        check("../x/./y#frag", "http://shop.example:8080/a/x/y", true);
        check("?q", "http://shop.example:8080/a/b/c?q", true);
        check("", "http://shop.example:8080/a/b/c?d", true);
        check("../../../../x", "http://shop.example:8080/x", true);
        check("//other/x", "http://other/x", false);
        check("https://shop.example:8080/", "https://shop.example:8080/", false);
        check("http://shop.example/", "http://shop.example/", false);
        check("http://u:p@SHOP.example:8080/", "http://shop.example:8080/", true);
        check("http://[::1]:80/a b", "http://[::1]/a%20b", false);
        check("/ä", "http://shop.example:8080/%C3%A4", true);
    }

    #[test]
    fn what_cannot_be_followed_is_said() {
        let check = |status, location: Option<&[u8]>, expected| {
            assert_eq!(
                Hop::from_response(status, "GET", &base(), location).map(|hop| hop.map(drop)),
                expected
            );
        };
        check(200, Some(b"/x"), None);
        check(304, Some(b"/x"), None);
        check(302, None, None);
        check(302, Some(b"ftp://h/x"), Some(Err(RedirectFault::BadLocation)));
        check(302, Some(b"javascript:alert(1)"), Some(Err(RedirectFault::BadLocation)));
        check(302, Some(b"http://[::"), Some(Err(RedirectFault::BadLocation)));
        check(302, Some(&[b'a'; 9000]), Some(Err(RedirectFault::TooLong)));
        check(302, Some(b"/\xff"), Some(Ok(())));
        let raw = Hop::from_response(302, "GET", &base(), Some(b"/\xff"));
        assert_eq!(raw.expect("redirects").expect("resolves").to.target(), "/%FF");
    }

    #[test]
    fn methods_change_as_browsers_change_them() {
        let check = |status, method, expected| {
            assert_eq!(hop(status, method, "/").becomes_get, expected, "{status} {method}");
        };
        for status in [301, 302] {
            check(status, "POST", true);
            check(status, "PUT", false);
            check(status, "HEAD", false);
        }
        check(303, "PUT", true);
        check(303, "HEAD", false);
        check(307, "POST", false);
        check(308, "POST", false);
    }

    #[test]
    fn secrets_stay_with_their_origin() {
        let check =
            |hop: &Hop, header, expected| assert_eq!(may_forward_header(header, hop), expected, "{header}");
        let (home, away) = (hop(307, "POST", "/x"), hop(307, "POST", "http://other/"));
        for secret in ["Authorization", "cookie", "X-Api-Key", "Host"] {
            check(&home, secret, true);
            check(&away, secret, false);
        }
        check(&away, "Content-Type", true);
        check(&hop(303, "POST", "/x"), "Content-Type", false);
        check(&hop(303, "POST", "/x"), "Accept", true);
    }

    #[test]
    fn a_place_is_taken_apart() {
        let place = HttpUrl::parse("https://U:p@Example.org/a/b?c#d").expect("is an address");
        assert_eq!((place.host(), place.port(), place.is_tls()), ("example.org", 443, true));
        assert_eq!((place.path(), place.target()), ("/a/b", "/a/b?c"));
        for wrong in ["", "x", "/x", "mailto:a@b", "http://", "file:///x", "http://a b/"] {
            assert_eq!(HttpUrl::parse(wrong).expect_err(wrong).code, "address");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_location_is_survived(location: Vec<u8>, text: String) {
            for bytes in [location.as_slice(), text.as_bytes()] {
                if let Some(Ok(hop)) = Hop::from_response(302, "GET", &base(), Some(bytes)) {
                    proptest::prop_assert!(hop.to.target().starts_with('/'));
                    proptest::prop_assert!(HttpUrl::parse(hop.to.as_str()).is_ok());
                }
            }
        }
    }
}
