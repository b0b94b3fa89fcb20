//! [`ResponseView`]: the response from which values are extracted.

use wavetank_units::Nanos;
use wavetank_wire::h1::Headers;

use crate::cookies::{Jar, SetCookie, Site};

/// One response, borrowed. The body is decoded: content codings are removed.
#[derive(Clone, Copy, Debug)]
pub struct ResponseView<'a> {
    /// The status code.
    pub status: u16,
    /// The response time as checks evaluate it.
    pub time: Nanos,
    /// Length of the body as received, in bytes.
    pub size: u64,
    /// The field lines of the head, each as `Name: value` with a line end.
    pub fields: &'a [u8],
    /// The body.
    pub body: &'a [u8],
    /// The user's cookies, the site of the response, and its time in seconds since 1970. A cookie
    /// is looked up in the response first, then in this jar.
    pub jar: Option<(&'a Jar, Site<'a>, i64)>,
}

impl<'a> ResponseView<'a> {
    /// Returns the values of all fields with that name, in order.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        Headers::new(self.fields)
            .filter(move |(found, _)| found.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value)
    }

    /// Returns the value of a cookie: the last one that the response sets under that name, else the
    /// one that a request to the same site would carry.
    pub fn cookie(&self, name: &str) -> Option<&'a [u8]> {
        let now = self.jar.map_or(0, |(_, _, now)| now);
        let set = self.headers("set-cookie").filter_map(|header| SetCookie::parse(header, now));
        let set = set.filter(|cookie| cookie.name == name.as_bytes()).last();
        let kept = || self.jar.and_then(|(jar, site, now)| jar.value(name.as_bytes(), &site, now));
        set.map(|cookie| cookie.value).or_else(kept)
    }
}
