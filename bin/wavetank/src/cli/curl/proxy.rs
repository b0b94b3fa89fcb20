//! [`Proxy`]: `-x`, `-U` and `--noproxy`.

use wavetank_plan::{ProxyUrl, Secret, TargetUrl};
use wavetank_units::UserError;

use super::error::bad;
use crate::cli::connection_args::ProxyArg;
use crate::cli::errors::with_flag;

/// The port of a proxy in curl if none is given.
const PORT: u16 = 1080;

/// The forward proxy.
#[derive(Debug, Default)]
pub(super) struct Proxy {
    /// `-x`; an empty one is no proxy.
    pub(super) url: Option<String>,
    /// `-U`.
    pub(super) user: Option<Secret>,
    /// `--noproxy`: hosts that are reached directly.
    pub(super) direct: Vec<String>,
}

impl Proxy {
    /// Returns the proxy for requests to `target`.
    pub(super) fn for_url(self, target: &TargetUrl) -> Result<Option<ProxyArg>, UserError> {
        let Some(url) = self.url.filter(|url| !url.is_empty()) else {
            if self.user.is_some() {
                return Err(bad(
                    "-U is the user of a proxy, and -x is not given",
                    "-x http://HOST:PORT -U …",
                ));
            }
            return Ok(None);
        };
        if self.direct.iter().any(|entry| is_direct(entry, &target.host)) {
            return Ok(None);
        }
        let (user, plain) = ProxyUrl::split_user(&url);
        let user = self.user.or_else(|| user.and_then(ProxyUrl::decode_user).map(Secret::new));
        let user = user.map(|user| match user.reveal() {
            user if user.contains(':') => Secret::new(user),
            user => Secret::new(format!("{user}:")),
        });
        let rest = plain.split_once("://").map_or(plain.as_str(), |(_, rest)| rest).trim_end_matches('/');
        let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let plain = if has_port { plain } else { format!("{}:{PORT}", plain.trim_end_matches('/')) };
        with_flag("-x", ProxyUrl::from_parts(&plain, user)).map(ProxyArg::Url).map(Some)
    }
}

/// Whether an entry of `--noproxy` is `host`, or a domain above it.
fn is_direct(entry: &str, host: &str) -> bool {
    let entry = entry.trim().trim_start_matches('.').to_ascii_lowercase();
    let host = host.to_ascii_lowercase();
    entry == "*" || host == entry || (!entry.is_empty() && host.ends_with(&format!(".{entry}")))
}
