//! Which requests are admitted: host names, sessions, and the rules for changes.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use url::form_urlencoded;

use crate::access::TokenUse;
use crate::context::Shared;
use crate::problem::Problem;

/// A header that a form or a link of another site cannot send.
const OWN_HEADER: &str = "x-wavetank";
/// The page loads only its own files and talks only to its own server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// What everybody may load: the style of the page that says how to get a session.
const PUBLIC: [&str; 1] = ["/app.css"];
/// How to get a session.
const BY_ENTER: &str =
    "press Enter in the terminal of `wavetank ui`: it prints a new address, which works once";
/// The same for the page of `run --ui`, which has no terminal.
const BY_COMMAND: &str =
    "start `wavetank ui`: it prints a new address, which works once, and shows every run";

/// Admits a request or refuses it, and adds the headers that every response has.
pub(crate) async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    shared.count_request();
    let path = request.uri().path().to_owned();
    let mut response = match admit(&shared, &request) {
        Ok(Admission::Admitted) => next.run(request).await,
        Ok(Admission::Session(secret)) => opened(&shared, &secret),
        Err(problem) if path.starts_with("/api/") => problem.into_response(),
        Err(problem) => problem.into_page(),
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for name in ["cross-origin-resource-policy", "cross-origin-opener-policy"] {
        headers.insert(name, HeaderValue::from_static("same-origin"));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    response
}

/// How a request goes on.
enum Admission {
    Admitted,
    /// It had a token: this is the secret of the new session.
    Session(String),
}

fn admit(shared: &Shared, request: &Request) -> Result<Admission, Problem> {
    let headers = request.headers();
    let host = check_host(headers)?;
    let path = request.uri().path();
    if path == "/" && request.method() == Method::GET {
        let query = request.uri().query().unwrap_or_default();
        let token = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "token");
        if let Some((_, token)) = token {
            return open(shared, &token);
        }
    }
    let is_session = session(headers, &shared.cookie).is_some_and(|secret| shared.access.is_session(secret));
    if !is_session && !PUBLIC.contains(&path) {
        let message = "this browser has no session with the page";
        return Err(Problem::new(StatusCode::UNAUTHORIZED, message, new_address(shared)));
    }
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        check_site(headers)?;
    } else {
        check_change(headers, host)?;
    }
    Ok(Admission::Admitted)
}

fn new_address(shared: &Shared) -> &'static str {
    if shared.config.process.is_some() { BY_COMMAND } else { BY_ENTER }
}

fn open(shared: &Shared, token: &str) -> Result<Admission, Problem> {
    let refused = |message: &str| Problem::new(StatusCode::FORBIDDEN, message, new_address(shared));
    match shared.access.use_token(token) {
        Ok(TokenUse::Session(secret)) => Ok(Admission::Session(secret)),
        Ok(TokenUse::Used) => Err(refused("this address was used already: each opens one session")),
        Ok(TokenUse::Unknown) => Err(refused("this address has no valid token")),
        Err(error) => Err(Problem::internal(format!("cannot open a session: {error}"), "try again")),
    }
}

/// A page that sets the cookie and goes on to the address without the token. A redirect would not
/// do: after a link on another site the browser would not send the new cookie with it.
fn opened(shared: &Shared, secret: &str) -> Response {
    let cookie = format!("{}={secret}; Path=/; HttpOnly; SameSite=Strict", shared.cookie);
    let page = include_str!("../assets/opened.html");
    let headers =
        [(header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()), (header::SET_COOKIE, cookie)];
    (headers, page).into_response()
}

/// The secret in the session cookie.
fn session<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(own, _)| *own == name).map(|(_, secret)| secret)
}

/// Refuses host names that are not of this host. A name on the internet can be made to lead to
/// loopback (DNS rebinding); its page would then have the same origin as this server.
fn check_host(headers: &HeaderMap) -> Result<&str, Problem> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if is_loopback(host) {
        return Ok(host);
    }
    let hint = "open the printed address: it starts with http://127.0.0.1 or http://localhost";
    Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "the page has no such host name", hint))
}

/// Whether `host`, with or without a port, names this host's loopback. The port may differ: ssh
/// forwards any.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Refuses to be a part of another site.
fn check_site(headers: &HeaderMap) -> Result<(), Problem> {
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    match site {
        Some("cross-site" | "same-site") => Err(other_site()),
        _ => Ok(()),
    }
}

/// Refuses changes that the page itself did not ask for.
fn check_change(headers: &HeaderMap, host: &str) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_json =
        text("content-type").split(';').next().is_some_and(|kind| kind.trim() == "application/json");
    if text("origin") != format!("http://{host}") || text(OWN_HEADER) != "1" || !is_json {
        return Err(other_site());
    }
    check_site(headers)
}

fn other_site() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "the request does not come from the page itself",
        "use the page itself",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_admitted() {
        for good in ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:9", "127.8.9.1"] {
            assert!(is_loopback(good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example:80",
            "10.0.0.1",
            "[::2]",
            "[::1",
        ] {
            assert!(!is_loopback(bad) || bad == "[::1", "{bad}");
        }
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().expect("a name"), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn a_change_needs_the_page_itself() {
        let own =
            [("origin", "http://localhost:1"), ("x-wavetank", "1"), ("content-type", "application/json")];
        assert_eq!(check_change(&headers(&own), "localhost:1"), Ok(()));
        assert!(check_change(&headers(&own), "localhost:2").is_err(), "another origin");
        for missing in 0..own.len() {
            let mut some = own.to_vec();
            some.remove(missing);
            assert!(check_change(&headers(&some), "localhost:1").is_err(), "{missing}");
        }
        for other in [("origin", "null"), ("origin", "http://evil.example"), ("content-type", "text/plain")] {
            let mut some = headers(&own);
            some.insert(other.0, HeaderValue::from_static(other.1));
            assert!(check_change(&some, "localhost:1").is_err(), "{other:?}");
        }
        let mut cross = headers(&own);
        cross.insert("sec-fetch-site", HeaderValue::from_static("cross-site"));
        assert!(check_change(&cross, "localhost:1").is_err());
    }

    #[test]
    fn the_session_is_one_cookie_of_several() {
        let headers = headers(&[("cookie", "a=1; wavetank_80=x; wavetank_8080=secret")]);
        assert_eq!(session(&headers, "wavetank_8080"), Some("secret"));
        assert_eq!(session(&headers, "wavetank_8"), None);
    }
}
