//! What curl makes of a URL: the query of `-G` and `--url-query`, the user before the `@`, and the
//! schemes and patterns that a run cannot load.

use wavetank_plan::ProxyUrl;
use wavetank_units::UserError;

use super::error::bad;

/// Adds `query` to the query of `url`, before its fragment, which is never sent.
pub(super) fn with_query(url: &str, query: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let joint = match url.find('?') {
        Some(at) if at + 1 == url.len() => "",
        Some(_) => "&",
        None => "?",
    };
    format!("{url}{joint}{query}")
}

/// Takes the user and password off a URL.
pub(super) fn without_user(url: &str) -> (String, Option<String>) {
    let (user, plain) = ProxyUrl::split_user(url);
    match user.and_then(ProxyUrl::decode_user) {
        Some(user) => (plain, Some(user)),
        None => (url.to_owned(), None),
    }
}

/// Refuses a URL that curl expands to several, or for which it does not use HTTP.
pub(super) fn check(url: &str, literal: bool) -> Result<(), UserError> {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if let Some(other) = scheme.filter(|scheme| !matches!(scheme.as_str(), "http" | "https")) {
        let hint = "a URL of http:// or https://; without --curl: wavetank run ws://…, and other schemes";
        return Err(bad(format!("curl does not use HTTP for `{other}://`"), hint));
    }
    let path_at = url.find("://").map_or(0, |at| at + 3);
    let path = url[path_at..].find(['/', '?']).map_or("", |at| &url[path_at + at..]);
    let pattern = |open: char, close: char, between: &[char]| {
        let mut parts = path.match_indices(open).filter(|(at, _)| !path[..*at].ends_with('$'));
        parts.any(|(at, _)| {
            let inside = path[at + 1..].split(close).next().unwrap_or_default();
            path[at + 1..].contains(close) && inside.contains(between)
        })
    };
    if !literal && (pattern('{', '}', &[',']) || pattern('[', ']', &['-'])) {
        let hint = "one URL, or -g in the command if the braces and brackets are part of it; several are steps of \
                    an experiment file";
        return Err(bad(format!("curl makes several URLs of `{url}`"), hint));
    }
    Ok(())
}
