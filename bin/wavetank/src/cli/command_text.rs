//! The command as typed, quoted for a shell and without its secrets.

use std::ffi::OsString;

use wavetank_metrics::redact_output;
use wavetank_plan::ProxyUrl;
use wavetank_plan::redact::{REDACTED, redact_header_line};
use wavetank_units::shell_quoted;

/// Returns `argv` quoted for a shell, with secrets as `***`. The program is named `wavetank`
/// whatever its path is.
pub(super) fn command_text(argv: &[OsString]) -> String {
    let mut words = vec!["wavetank".to_owned()];
    let mut rest = argv.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = rest.next() {
        let word = word.as_ref();
        let (flag, joined) = split(word);
        let Some(redact) = secret(flag) else {
            words.push(shell_quoted(word));
            continue;
        };
        if let Some((between, value)) = joined {
            words.push(shell_quoted(&format!("{flag}{between}{}", redact(value))));
        } else {
            words.push(flag.to_owned());
            words.extend(rest.next().map(|value| shell_quoted(&redact(&value))));
        }
    }
    words.join(" ")
}

/// Returns `command` with the values of `--set NAME=VALUE` as `***` for the `names` that the file
/// redacts.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "runs are Linux's"))]
pub(crate) fn without_values(command: &str, set: &[(String, String)], names: &[String]) -> String {
    let hidden = set.iter().filter(|(name, _)| names.contains(name));
    hidden.fold(command.to_owned(), |text, (name, value)| {
        let shown = format!("{name}={REDACTED}");
        [format!("{name}={value}"), format!("--set={name}={value}")].iter().fold(text, |text, word| {
            let joined = if word.starts_with("--") { format!("--set={shown}") } else { shown.clone() };
            text.replace(&shell_quoted(word), &shell_quoted(&joined))
        })
    })
}

/// Splits `--basic=x` and `-Hx` into the flag, the separator, and the value.
fn split(word: &str) -> (&str, Option<(&str, &str)>) {
    if let Some((flag, value)) = word.split_once('=')
        && word.starts_with("--")
    {
        return (flag, Some(("=", value)));
    }
    match word.strip_prefix("-H") {
        Some(value) if !value.is_empty() => ("-H", Some(("", value.trim_start_matches('=')))),
        _ => (word, None),
    }
}

/// Returns how to show the value of `flag` if it may hold a secret. The name of a file is not
/// secret.
fn secret(flag: &str) -> Option<fn(&str) -> String> {
    match flag {
        "--basic" => {
            Some(|value| if value.starts_with('@') { value.to_owned() } else { REDACTED.to_owned() })
        }
        "--proxy" => Some(redact_proxy),
        "--metrics" => Some(redact_output),
        "-H" | "--header" => Some(redact_header_line),
        _ => None,
    }
}

/// Returns a URL without its user and password.
fn redact_proxy(value: &str) -> String {
    let (user, plain) = ProxyUrl::split_user(value);
    match (value.starts_with('@'), user) {
        (false, Some(_)) => {
            let (scheme, rest) = plain.split_once("://").unwrap_or(("http", &plain));
            format!("{scheme}://{REDACTED}@{rest}")
        }
        _ => value.to_owned(),
    }
}
