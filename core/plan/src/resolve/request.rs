//! The request of a plain run: method, headers and body of [`RunOptions`] as one [`RequestPlan`].

use wavetank_units::UserError;

use crate::redact::is_secret_header;
use crate::{AuthPlan, RequestPlan, RunOptions, TargetUrl, Template};

/// The default `User-Agent`.
pub const USER_AGENT: &str = concat!("wavetank/", env!("CARGO_PKG_VERSION"));

/// Composes the request. Fails on text that is not allowed in a request (RFC 9110 §5, RFC 9112 §3).
pub(super) fn request_plan(options: &RunOptions, url: &TargetUrl) -> Result<RequestPlan, UserError> {
    let body = options.body.clone().unwrap_or_default();
    let default = if options.body.is_some() { "POST" } else { "GET" };
    let method = options.method.as_deref().unwrap_or(default);
    check_method(method)?;
    let mut headers = Vec::new();
    for (name, value) in &options.headers {
        check_header(name, value.reveal())?;
        headers.push((name.clone(), value.reveal().to_owned()));
    }
    let hosts = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).count();
    if hosts > 1 {
        let hint = "give one; where to connect is --connect-to";
        return Err(UserError::usage("bad_header", "-H `Host` is given twice", hint));
    }
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("user-agent")) {
        headers.insert(0, ("User-Agent".to_owned(), USER_AGENT.to_owned()));
    }
    let mut secret_headers: Vec<String> = headers
        .iter()
        .map(|(name, _)| name.to_ascii_lowercase())
        .filter(|name| is_secret_header(name))
        .collect();
    secret_headers.sort_unstable();
    secret_headers.dedup();
    Ok(RequestPlan {
        method: method.to_owned(),
        path: Template::from(&url.path),
        headers: headers.into_iter().map(|(name, value)| (name, value.into())).collect(),
        body: Template::fixed(body),
        secret_headers,
    })
}

/// Things about the request that look unintended.
pub(super) fn remarks(options: &RunOptions, request: &RequestPlan, remarks: &mut Vec<String>) {
    if options.body.is_some() && options.method.is_none() {
        remarks.push("method POST, because there is a body (-X changes it)".to_owned());
    }
    let typed = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if !typed && request.body.as_fixed().is_some_and(|body| body.starts_with(b"{")) {
        remarks.push("the body looks like JSON: -H 'Content-Type: application/json'?".to_owned());
    }
}

/// Returns whether a byte is allowed in a token (RFC 9110 §5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Refuses a `-X` that is not a method, or not one that a request of a load can have.
///
/// # Errors
/// Text that is not a token, `CONNECT`, and known methods in lower case.
pub fn check_method(method: &str) -> Result<(), UserError> {
    if method.is_empty() || !method.bytes().all(is_token) {
        let hint = "one word: GET, POST, PUT, DELETE, …";
        return Err(UserError::usage("bad_method", format!("-X `{method}` is not a method"), hint));
    }
    if method == "CONNECT" {
        let hint = "--proxy URL opens tunnels by itself, for https targets; GET, POST, PUT, DELETE, … work";
        return Err(UserError::usage("bad_method", "-X `CONNECT` opens a tunnel and is not a request", hint));
    }
    let upper = method.to_ascii_uppercase();
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];
    if method != upper && known.contains(&upper.as_str()) {
        let hint = format!("methods are case-sensitive: -X {upper}");
        return Err(UserError::usage("bad_method", format!("-X `{method}` is in lower case"), hint));
    }
    Ok(())
}

/// Refuses text that is not allowed in a header of `-H`, and headers that wavetank writes itself
/// (RFC 9110 §5).
///
/// # Errors
/// A name that is not a token, control characters, or a header that users cannot set.
pub fn check_header(name: &str, value: &str) -> Result<(), UserError> {
    let bad = |why: &str, hint: &str| {
        Err(UserError::usage("bad_header", format!("-H `{name}` {why}"), hint.to_owned()))
    };
    if name.is_empty() || !name.bytes().all(is_token) {
        return bad("is not a header name", "-H 'Name: value'");
    }
    if value.bytes().any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f) {
        return bad("has a control character in its value", "one line: -H 'Name: value'");
    }
    match name.to_ascii_lowercase().as_str() {
        "content-length" => {
            bad("is computed from the body", "leave it out; the body is --body or --body-file")
        }
        "transfer-encoding" => bad("is not sent: bodies have a length", "leave it out; the body is --body"),
        "connection" | "keep-alive" | "proxy-connection" => bad(
            "is set by wavetank itself",
            "connections are kept; --no-keepalive closes each after one answer",
        ),
        "upgrade" => bad("would leave HTTP/1", "leave it out"),
        _ => Ok(()),
    }
}

/// Returns the credentials of `--basic`, as `auth: basic` of a file has them.
pub(super) fn auth_plan(options: &RunOptions) -> Result<Option<AuthPlan>, UserError> {
    let Some(basic) = &options.basic else { return Ok(None) };
    let (user, password) = user_and_password(basic.reveal())?;
    Ok(Some(AuthPlan::Basic(user.into(), password.into())))
}

/// Splits the argument of `--basic` into user and password. Neither appears in an error.
///
/// # Errors
/// An argument without a colon, or with control characters.
pub fn user_and_password(words: &str) -> Result<(&str, &str), UserError> {
    let parts = words.split_once(':').ok_or_else(|| {
        let hint = "--basic user:password, or --basic @FILE with that line in it";
        UserError::usage("bad_basic", "--basic needs a user and a password separated by a colon", hint)
    })?;
    if words.bytes().any(|byte| byte.is_ascii_control()) {
        let hint = "one line: user:password";
        return Err(UserError::usage("bad_basic", "--basic has a control character in it", hint));
    }
    Ok(parts)
}
