//! Rules for the method, headers and credentials of options.

use wavetank_plan::Secret;
use wavetank_units::{Code, UserError};

/// Returns whether a byte is allowed in a token (RFC 9110 §5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Refuses a `-X` that is not a method, or not one that a request of a load can have.
///
/// # Errors
/// Text that is not a token, `CONNECT`, and known methods in lower case.
pub(crate) fn check_method(method: &str) -> Result<(), UserError> {
    if method.is_empty() || !method.bytes().all(is_token) {
        let hint = "one word: GET, POST, PUT, DELETE, …";
        return Err(UserError::usage(Code::BadMethod, format!("-X `{method}` is not a method"), hint));
    }
    if method == "CONNECT" {
        let hint = "--proxy URL opens tunnels by itself, for https targets; GET, POST, PUT, DELETE, … work";
        return Err(UserError::usage(
            Code::BadMethod,
            "-X `CONNECT` opens a tunnel and is not a request",
            hint,
        ));
    }
    let upper = method.to_ascii_uppercase();
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];
    if method != upper && known.contains(&upper.as_str()) {
        let hint = format!("methods are case-sensitive: -X {upper}");
        return Err(UserError::usage(Code::BadMethod, format!("-X `{method}` is in lower case"), hint));
    }
    Ok(())
}

/// Refuses headers of options that a request cannot have.
///
/// # Errors
/// As [`check_header`], and a second `Host`.
pub(crate) fn check_headers(headers: &[(String, Secret)]) -> Result<(), UserError> {
    headers.iter().try_for_each(|(name, value)| check_header(name, value.reveal()))?;
    if headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).count() > 1 {
        let hint = "give one; where to connect is --connect-to";
        return Err(UserError::usage(Code::BadHeader, "-H `Host` is given twice", hint));
    }
    Ok(())
}

/// Refuses text that is not allowed in a header of `-H`, and headers that wavetank writes itself
/// (RFC 9110 §5).
///
/// # Errors
/// A name that is not a token, control characters, or a header that users cannot set.
pub(crate) fn check_header(name: &str, value: &str) -> Result<(), UserError> {
    let bad = |why: &str, hint: &str| {
        Err(UserError::usage(Code::BadHeader, format!("-H `{name}` {why}"), hint.to_owned()))
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

/// Splits the argument of `--basic` into user and password. Neither appears in an error.
///
/// # Errors
/// An argument without a colon, or with control characters.
pub(crate) fn user_and_password(words: &str) -> Result<(&str, &str), UserError> {
    let parts = words.split_once(':').ok_or_else(|| {
        let hint = "--basic user:password, or --basic @FILE with that line in it";
        UserError::usage(Code::BadBasic, "--basic needs a user and a password separated by a colon", hint)
    })?;
    if words.bytes().any(|byte| byte.is_ascii_control()) {
        let hint = "one line: user:password";
        return Err(UserError::usage(Code::BadBasic, "--basic has a control character in it", hint));
    }
    Ok(parts)
}
