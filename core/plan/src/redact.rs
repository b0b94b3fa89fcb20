//! Detects secrets (`docs/measuring.md` §7): they are sent, but shown as `***` in the plan,
//! archive, report, logs and hash.

/// Headers with secret values, in lower case.
const SECRET_HEADERS: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token"];

/// The text that replaces a secret.
pub const REDACTED: &str = "***";

/// Whether the value of header `name` must never be written anywhere.
pub fn is_secret_header(name: &str) -> bool {
    SECRET_HEADERS.iter().any(|secret| secret.eq_ignore_ascii_case(name.trim()))
}

/// A header line as it may be shown: `Authorization: ***`.
pub fn redact_header_line(line: &str) -> String {
    match line.split_once(':') {
        Some((name, _)) if is_secret_header(name) => format!("{name}: {REDACTED}"),
        _ => line.to_owned(),
    }
}
