//! `-b FILE`: the cookies of a file that belong to a URL.

use std::net::IpAddr;

use wavetank_plan::TargetUrl;

/// Returns the cookies in `text` for `url` as a Cookie header has them, those with the longest path
/// first (RFC 6265 §5.4). The file is in the format of Netscape, with seven fields in each line, or
/// has the Set-Cookie headers of a response. Expiry dates are not considered.
pub(super) fn for_url(text: &str, url: &TargetUrl) -> Vec<String> {
    let mut found: Vec<(usize, String)> =
        text.lines().filter_map(|line| netscape(line, url).or_else(|| header(line))).collect();
    found.sort_by_key(|(path_length, _)| std::cmp::Reverse(*path_length));
    found.into_iter().map(|(_, cookie)| cookie).collect()
}

/// Reads `DOMAIN, WITH-SUBDOMAINS, PATH, SECURE, EXPIRY, NAME, VALUE`, separated by tabs.
fn netscape(line: &str, url: &TargetUrl) -> Option<(usize, String)> {
    let line = match line.strip_prefix('#') {
        Some(rest) => rest.strip_prefix("HttpOnly_")?,
        None => line,
    };
    let fields: Vec<&str> = line.split('\t').collect();
    let [domain, below, path, secure, _, name, value] = *fields.as_slice() else {
        // A cookie without a value has no last field.
        return netscape_of_six(&fields).and_then(|line| netscape(&line, url));
    };
    let domain = domain.trim_start_matches('.').to_ascii_lowercase();
    let host = url.host.to_ascii_lowercase();
    let is_below = below == "TRUE" && host.strip_suffix(&domain).is_some_and(|start| start.ends_with('.'));
    let is_local = TargetUrl::is_localhost(&host) || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let fits = (host == domain || is_below)
        && path_fits(path, &url.path)
        && (secure != "TRUE" || url.tls || is_local);
    fits.then(|| (path.len(), format!("{name}={value}")))
}

fn netscape_of_six(fields: &[&str]) -> Option<String> {
    (fields.len() == 6).then(|| format!("{}\t", fields.join("\t")))
}

/// Whether a cookie for `path` is sent with a request for `target` (RFC 6265 §5.1.4).
fn path_fits(path: &str, target: &str) -> bool {
    let target = target.split('?').next().unwrap_or_default();
    target
        .strip_prefix(path)
        .is_some_and(|rest| path.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
}

/// Reads a line `Set-Cookie: NAME=VALUE; …`.
fn header(line: &str) -> Option<(usize, String)> {
    let (name, value) = line.split_once(':')?;
    let cookie = value.split(';').next().unwrap_or_default().trim();
    (name.eq_ignore_ascii_case("set-cookie") && cookie.contains('=')).then(|| (0, cookie.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, url: &str, expected: &[&str]) {
        assert_eq!(for_url(text, &TargetUrl::parse(url).expect("a URL")), expected, "{url}: {text}");
    }

    #[test]
    fn cookies_belong_to_host_path_and_scheme() {
        let jar = "# Netscape HTTP Cookie File\n\nshop.example\tFALSE\t/\tFALSE\t0\tsid\tabc\n\
                   #HttpOnly_.example\tTRUE\t/\tFALSE\t0\tho\t1\nother.org\tTRUE\t/\tFALSE\t0\tx\ty\n\
                   shop.example\tFALSE\t/deep\tFALSE\t0\tdeep\t1\nshop.example\tFALSE\t/\tTRUE\t0\tsec\t\n";
        check(jar, "http://shop.example/", &["sid=abc", "ho=1"]);
        check(jar, "https://SHOP.example/deep/x?a", &["deep=1", "sid=abc", "ho=1", "sec="]);
        check(jar, "http://shop.example/deeper", &["sid=abc", "ho=1"]);
        check(jar, "http://myexample/", &[]);
        check("localhost\tFALSE\t/\tTRUE\t0\tsec\t1", "http://localhost:8080/", &["sec=1"]);
        check(
            "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\n",
            "http://x/",
            &["a=1", "b=2"],
        );
    }
}
