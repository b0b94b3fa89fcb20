//! Values that the parser of their option refused.

use std::error::Error as _;
use std::ffi::OsString;

use clap::Arg;
use clap::error::{ContextKind, ErrorKind};
use wavetank_units::UserError;

use super::clap_text::{name_of, text};
use super::short_help;

/// A wrong value.
pub(super) struct WrongValue {
    /// The error, with the name of the option.
    pub(super) error: UserError,
    /// The command line without the option; `None` if the value has no option.
    pub(super) rest: Option<Vec<OsString>>,
}

/// Returns the wrong value that `error` is about, if it is about one.
pub(super) fn wrong_value(error: &clap::Error, typed: &[OsString]) -> Option<WrongValue> {
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    let own = error.source()?.downcast_ref::<UserError>()?.clone();
    let Some(option) = option(&text(error, ContextKind::InvalidArg), typed) else {
        return Some(WrongValue { error: own, rest: None });
    };
    let rest = without(&option, &text(error, ContextKind::InvalidValue), typed);
    Some(WrongValue { error: with_name(&option, own), rest })
}

/// Finds the option that clap calls `argument`, such as `--rate <RATE>`, in the command of `typed`.
fn option(argument: &str, typed: &[OsString]) -> Option<Arg> {
    let long = name_of(argument).strip_prefix("--")?;
    let mut command = short_help::command();
    for word in typed.iter().skip(1) {
        let Some(inner) = word.to_str().and_then(|word| command.find_subcommand(word)) else { break };
        command = inner.clone();
    }
    command.get_arguments().find(|option| option.get_long() == Some(long)).cloned()
}

/// Puts the option before the message, unless it names the option already.
fn with_name(option: &Arg, error: UserError) -> UserError {
    if error.message.starts_with('-') {
        return error;
    }
    let name = names(option).next_back().unwrap_or_default();
    UserError { message: format!("{name} {}", error.message), ..error }
}

/// Returns the names of an option: the long ones, then the short ones.
fn names(option: &Arg) -> impl DoubleEndedIterator<Item = String> {
    let longs = option.get_long_and_visible_aliases().unwrap_or_default().into_iter().rev();
    let shorts = option.get_short_and_visible_aliases().unwrap_or_default().into_iter().rev();
    longs.map(|long| format!("--{long}")).chain(shorts.map(|short| format!("-{short}")))
}

/// Returns the command line without this option and value: `--rate ten`, `--rate=ten` or `-rten`.
fn without(option: &Arg, value: &str, typed: &[OsString]) -> Option<Vec<OsString>> {
    let names: Vec<String> = names(option).collect();
    let is_joined = |word: &str, name: &str| match word.strip_prefix(name) {
        Some(rest) if name.starts_with("--") => rest.strip_prefix('=') == Some(value),
        Some(rest) => !rest.is_empty() && rest.strip_prefix('=').unwrap_or(rest) == value,
        None => false,
    };
    let found = typed.iter().enumerate().find_map(|(at, word)| {
        let word = word.to_string_lossy();
        if names.iter().any(|name| is_joined(&word, name)) {
            return Some((at, 1));
        }
        let next = typed.get(at + 1)?.to_string_lossy();
        (names.contains(&word.into_owned()) && next == value).then_some((at, 2))
    });
    found.map(|(at, many)| [&typed[..at], &typed[at + many..]].concat())
}
