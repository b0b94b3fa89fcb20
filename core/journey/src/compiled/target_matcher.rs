//! [`TargetMatcher`]: finds the plan's target for an address.

use std::sync::Arc;

use wavetank_plan::{Plan, Secret, Target, TargetUrl};

use crate::redirect::HttpUrl;

/// The plan's targets as addresses. Cloned with every step.
#[derive(Clone, Debug)]
pub(crate) struct TargetMatcher {
    homes: Arc<[TargetOrigin]>,
    /// The credentials for the proxy, if it needs them.
    authorization: Option<Secret>,
}

/// One target.
#[derive(Debug)]
struct TargetOrigin {
    /// The address with the `Host` of its requests.
    named: Option<HttpUrl>,
    /// The URL in the plan's file.
    url: Option<HttpUrl>,
    /// Host and port of each of its addresses.
    addresses: Vec<(String, u16)>,
    tls: bool,
    /// Whether a proxy reads its requests.
    by_proxy: bool,
}

impl TargetMatcher {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            homes: plan.targets.iter().map(|target| TargetOrigin::of(target, plan)).collect(),
            authorization: plan.http.proxy.as_ref().and_then(|proxy| proxy.authorization.clone()),
        }
    }

    /// Returns the request target for `place`, which belongs to `target`.
    pub(crate) fn line(&self, target: u16, place: &HttpUrl) -> String {
        let by_proxy = self.homes.get(usize::from(target)).is_some_and(|home| home.by_proxy);
        let origin = if by_proxy { place.origin() } else { "" };
        format!("{origin}{}", place.target())
    }

    /// Whether a proxy gets credentials. A request derived from another one then has them written
    /// again or removed.
    pub(crate) const fn authorizes(&self) -> bool {
        self.authorization.is_some()
    }

    /// Writes the `Proxy-Authorization` field, if a proxy reads the requests of `target` and needs
    /// credentials.
    pub(crate) fn authorize(&self, target: u16, out: &mut Vec<u8>) {
        let by_proxy = self.homes.get(usize::from(target)).is_some_and(|home| home.by_proxy);
        if let Some(authorization) = self.authorization.as_ref().filter(|_| by_proxy) {
            out.extend_from_slice(format!("Proxy-Authorization: {}\r\n", authorization.reveal()).as_bytes());
        }
    }

    /// Returns the target that `place` belongs to: by its URL, by the `Host` of its requests, or by
    /// one of its addresses. If several match, `near` is preferred.
    pub(crate) fn target_for(&self, place: &HttpUrl, near: u16) -> Option<u16> {
        let is = |target: u16| self.homes.get(usize::from(target)).is_some_and(|home| home.is(place));
        let all = 0..u16::try_from(self.homes.len()).expect("the plan limits targets");
        std::iter::once(near).chain(all).find(|&target| is(target))
    }

    /// Returns the address of a request to `target` with this `Host` and request target.
    pub(crate) fn place(&self, target: u16, host: &[u8], path: &[u8]) -> Option<HttpUrl> {
        let home = self.homes.get(usize::from(target))?;
        let (host, path) = (str::from_utf8(host).ok(), str::from_utf8(path).ok()?);
        let scheme = if home.tls { "https" } else { "http" };
        let named = host.and_then(|host| HttpUrl::parse(&format!("{scheme}://{host}/")).ok());
        named.or_else(|| home.named.clone()).or_else(|| home.url.clone())?.join(path)
    }
}

impl TargetOrigin {
    fn of(target: &Target, plan: &Plan) -> Self {
        let tls = target.server_name.is_some();
        let scheme = if tls { "https" } else { "http" };
        let host = |ip: std::net::IpAddr| if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() };
        Self {
            named: HttpUrl::parse(&format!("{scheme}://{}/", target.host)).ok(),
            url: HttpUrl::parse(&target.url).ok(),
            addresses: target.addresses.iter().map(|one| (host(one.ip()), one.port())).collect(),
            tls,
            by_proxy: plan.origin_at_proxy(target).is_some(),
        }
    }

    fn is(&self, place: &HttpUrl) -> bool {
        let named = || [&self.named, &self.url].into_iter().flatten().any(|one| one.same_origin(place));
        let address = |(host, port): &(String, u16)| host == place.host() && *port == place.port();
        place.is_tls() == self.tls
            && (named() || self.addresses.iter().any(address) || self.is_by_loopback(place))
    }

    /// Whether `place` is this host by another of its names: `localhost` for a target at a loopback
    /// address, or the loopback address for the target `localhost`. Other addresses, such as
    /// 127.0.0.2, may belong to other servers.
    fn is_by_loopback(&self, place: &HttpUrl) -> bool {
        let is_address = |host: &str| matches!(host, "127.0.0.1" | "[::1]");
        let is_name = |url: &HttpUrl| TargetUrl::is_localhost(url.host());
        let here = |(host, port): &(String, u16)| is_address(host) && *port == place.port();
        let by_name = is_name(place) || (is_address(place.host()) && self.url.as_ref().is_some_and(is_name));
        by_name && self.addresses.iter().any(here)
    }
}
