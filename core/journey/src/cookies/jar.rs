//! [`Jar`]: the cookies of one user.

use std::cmp::Reverse;

use super::set_cookie::SetCookie;

/// Maximum number of cookies of a jar. A further one replaces the oldest.
const COOKIES_MAX: usize = 150;
/// Maximum total length of the names, values, domains and paths of a jar.
const JAR_BYTES_MAX: usize = 64 << 10;

/// The destination of a request, or the source of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site<'a> {
    /// The host in lower case, without port.
    pub host: &'a str,
    /// The path of the request, without query.
    pub path: &'a str,
    /// Whether TLS is used.
    pub secure: bool,
}

/// The result of a `Set-Cookie`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CookieOutcome {
    /// The cookie is stored.
    Kept,
    /// The cookie has already expired, and a stored one with its name is removed.
    Removed,
    /// The cookie is ignored for this reason.
    Ignored(&'static str),
}

/// The cookies of one user. An empty jar is a single pointer.
///
/// There is no list of public suffixes. Instead, a `Domain` without an inner dot is accepted only
/// from the host with exactly this name. This is enough separation for a load test of one's own
/// servers.
#[derive(Clone, Debug, Default)]
pub struct Jar(Option<Box<Kept>>);

#[derive(Clone, Debug, Default)]
struct Kept {
    /// Longest path first, then in the order of their creation (RFC 6265 §5.4).
    cookies: Vec<Cookie>,
    births: u64,
}

#[derive(Clone, Debug)]
struct Cookie {
    /// Name, value, domain (in lower case) and path, concatenated.
    text: Box<[u8]>,
    name_end: u16,
    value_end: u16,
    domain_end: u16,
    /// Whether it is sent only to the host that set it, and not to subdomains.
    host_only: bool,
    secure: bool,
    expires: i64,
    birth: u64,
}

impl Cookie {
    fn name(&self) -> &[u8] {
        &self.text[..self.name_end.into()]
    }
    fn value(&self) -> &[u8] {
        &self.text[self.name_end.into()..self.value_end.into()]
    }
    fn domain(&self) -> &[u8] {
        &self.text[self.value_end.into()..self.domain_end.into()]
    }
    fn path(&self) -> &[u8] {
        &self.text[self.domain_end.into()..]
    }

    fn goes_to(&self, site: &Site<'_>, now: i64) -> bool {
        let host = if self.host_only {
            self.domain() == site.host.as_bytes()
        } else {
            domain_matches(site.host, self.domain())
        };
        host && (site.secure || !self.secure) && self.expires > now && path_matches(site.path, self.path())
    }
}

impl Jar {
    /// Handles the value of a `Set-Cookie` from `site` at `now` (seconds since 1970).
    pub fn store(&mut self, header: &[u8], site: &Site<'_>, now: i64) -> CookieOutcome {
        let Some(set) = SetCookie::parse(header, now) else {
            return CookieOutcome::Ignored("it has no name, no `=`, control characters, or more than 4 KiB");
        };
        let own = set.domain.eq_ignore_ascii_case(site.host.as_bytes());
        if !own && !set.domain.is_empty() {
            if !set.domain.contains(&b'.') {
                return CookieOutcome::Ignored("its domain is a top-level domain");
            }
            if !domain_matches(site.host, set.domain) {
                return CookieOutcome::Ignored("its domain does not match the host");
            }
        }
        let host_only = set.domain.is_empty() || (own && !set.domain.contains(&b'.'));
        let domain = if set.domain.is_empty() { site.host.as_bytes() } else { set.domain };
        let path = if set.path.is_empty() { default_path(site.path).as_bytes() } else { set.path };
        if set.name.len() + set.value.len() + domain.len() + path.len() > usize::from(u16::MAX) {
            return CookieOutcome::Ignored("its host or path is too long");
        }
        let ended = set.expires.is_some_and(|expires| expires <= now);
        let same = |cookie: &Cookie| {
            cookie.name() == set.name && cookie.domain().eq_ignore_ascii_case(domain) && cookie.path() == path
        };
        let old = self.0.as_ref().and_then(|kept| kept.cookies.iter().position(same));
        match (old, &mut self.0) {
            (Some(at), Some(kept)) if ended => {
                kept.cookies.remove(at);
                if kept.cookies.is_empty() {
                    self.0 = None;
                }
                return CookieOutcome::Removed;
            }
            (Some(at), Some(kept)) => kept.cookies[at].renew(&set, host_only),
            _ if ended => return CookieOutcome::Removed,
            (_, kept) => kept.get_or_insert_default().add(Cookie::new(&set, domain, path, host_only), now),
        }
        CookieOutcome::Kept
    }

    /// Appends the value of the `Cookie` header for a request to `site`. Returns false and appends
    /// nothing if no cookie matches. It allocates only if `out` must grow.
    pub fn render(&self, site: &Site<'_>, now: i64, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        for cookie in self.cookies().iter().filter(|cookie| cookie.goes_to(site, now)) {
            if out.len() > start {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(cookie.name());
            out.push(b'=');
            out.extend_from_slice(cookie.value());
        }
        out.len() > start
    }

    /// Returns the value of the cookie `name` in a request to `site`, or the first one if there are
    /// several.
    pub fn value(&self, name: &[u8], site: &Site<'_>, now: i64) -> Option<&[u8]> {
        let mut all = self.cookies().iter();
        all.find(|cookie| cookie.name() == name && cookie.goes_to(site, now)).map(Cookie::value)
    }

    /// Returns the number of stored cookies. It includes expired ones that are not removed yet.
    pub fn len(&self) -> usize {
        self.cookies().len()
    }

    /// Whether no cookie is stored.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Removes all cookies, for a new user.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    fn cookies(&self) -> &[Cookie] {
        self.0.as_deref().map_or(&[], |kept| &kept.cookies)
    }
}

impl Kept {
    fn add(&mut self, mut new: Cookie, now: i64) {
        let bytes = |cookies: &[Cookie]| cookies.iter().map(|cookie| cookie.text.len()).sum::<usize>();
        let is_full = |cookies: &[Cookie], more: usize| {
            cookies.len() >= COOKIES_MAX || bytes(cookies) + more > JAR_BYTES_MAX
        };
        if is_full(&self.cookies, new.text.len()) {
            self.cookies.retain(|cookie| cookie.expires > now);
        }
        while is_full(&self.cookies, new.text.len())
            && let Some(oldest) = (0..self.cookies.len()).min_by_key(|at| self.cookies[*at].birth)
        {
            self.cookies.remove(oldest);
        }
        self.births += 1;
        new.birth = self.births;
        let rank = |cookie: &Cookie| (Reverse(cookie.path().len()), cookie.birth);
        let at = self.cookies.partition_point(|cookie| rank(cookie) < rank(&new));
        self.cookies.insert(at, new);
    }
}

impl Cookie {
    fn new(set: &SetCookie<'_>, domain: &[u8], path: &[u8], host_only: bool) -> Self {
        let mut text = [set.name, set.value, domain, path].concat().into_boxed_slice();
        let (name_end, value_end) = (set.name.len(), set.name.len() + set.value.len());
        let domain_end = value_end + domain.len();
        text[value_end..domain_end].make_ascii_lowercase();
        Self {
            text,
            name_end: name_end as u16,
            value_end: value_end as u16,
            domain_end: domain_end as u16,
            host_only,
            secure: set.secure,
            expires: set.expires.unwrap_or(i64::MAX),
            birth: 0,
        }
    }

    /// Replaces the value and attributes and keeps the position in the order (RFC 6265 §5.3, 11). A
    /// value of the same length, such as a renewed session, needs no allocation.
    fn renew(&mut self, set: &SetCookie<'_>, host_only: bool) {
        if self.value().len() == set.value.len() {
            self.text[self.name_end.into()..self.value_end.into()].copy_from_slice(set.value);
            (self.host_only, self.secure) = (host_only, set.secure);
            self.expires = set.expires.unwrap_or(i64::MAX);
        } else {
            *self = Self { birth: self.birth, ..Self::new(set, self.domain(), self.path(), host_only) };
        }
    }
}

/// Whether `host` is `domain` or a subdomain of it (RFC 6265 §5.1.3). Addresses have no subdomains.
fn domain_matches(host: &str, domain: &[u8]) -> bool {
    let host = host.as_bytes();
    let Some(above) = host.len().checked_sub(domain.len()) else { return false };
    if !host[above..].eq_ignore_ascii_case(domain) {
        return false;
    }
    above == 0 || (host[above - 1] == b'.' && !is_address(host))
}

fn is_address(host: &[u8]) -> bool {
    host.starts_with(b"[") || host.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// Whether the path of a request matches the path of a cookie (RFC 6265 §5.1.4).
fn path_matches(path: &str, cookie: &[u8]) -> bool {
    match path.as_bytes().strip_prefix(cookie) {
        Some(rest) => rest.is_empty() || rest[0] == b'/' || cookie.ends_with(b"/"),
        None => false,
    }
}

/// Returns the folder of the request (RFC 6265 §5.1.4).
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(at) if at > 0 && path.starts_with('/') => &path[..at],
        _ => "/",
    }
}
