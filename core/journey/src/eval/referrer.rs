//! The `Referer` of embedded resources.

use crate::redirect::HttpUrl;

/// Returns the `Referer` of a request for a resource that `page` embeds
/// (`strict-origin-when-cross-origin`, the default of Referrer Policy §8.4).
pub(super) fn referrer(page: &HttpUrl, to: &HttpUrl) -> Option<String> {
    if page.same_origin(to) {
        return Some(page.as_str().to_owned());
    }
    (to.is_tls() || !page.is_tls()).then(|| format!("{}/", page.origin()))
}
