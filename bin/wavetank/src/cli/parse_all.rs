//! [`parse_all`]: parses a command line, and finds all of its errors.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::FromArgMatches as _;
use clap::error::{ContextKind, ErrorKind};
use wavetank_units::{Code, UserError};

use super::clap_errors::{unsupported_option, user_error};
use super::clap_text::{is_called, text};
use super::errors::Errors;
use super::foreign_flags::{hint_for_foreign_flag, is_long_with_one_dash, takes_text};
use super::output_formats::OutFile;
use super::parser::Cli;
use super::short_help;
use super::wrong_value::wrong_value;

/// A command line with its errors.
pub(super) struct Parsed {
    /// The command; `None` if it cannot be known, and then there is at least one error.
    pub(super) cli: Option<Cli>,
    /// Unknown options, and errors after which clap does not go on.
    pub(super) errors: Vec<UserError>,
    /// Values that their option does not take.
    pub(super) wrong_values: Errors,
}

/// Parses `typed` with clap, which stops at the first error. An unknown option, or one with a wrong
/// value, is reported and left out, so that all of them are reported together, and whatever else is
/// wrong. `Err` is the text of the help.
pub(super) fn parse_all(mut typed: Vec<OsString>) -> Result<Parsed, String> {
    let mut parsed = Parsed { cli: None, errors: Vec::new(), wrong_values: Errors::default() };
    without_long_with_one_dash(&mut typed, &mut parsed.errors);
    loop {
        let error = match parse(&typed) {
            Ok(cli) => return Ok(Parsed { cli: Some(cli), ..parsed }),
            Err(error) => error,
        };
        let errors = &mut parsed.errors;
        if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
            // Help does not hide an error.
            return if errors.is_empty() { Err(error.render().to_string()) } else { Ok(parsed) };
        }
        let rest = if let Some(wrong) = wrong_value(&error, &typed) {
            parsed.wrong_values.push(wrong.error);
            wrong.rest
        } else {
            let rest = without_unknown(&error, &typed);
            // What is missing may have been the value of an option that is not known.
            if errors.is_empty() || error.kind() != ErrorKind::MissingRequiredArgument {
                errors.push(user_error(&error, &typed));
            }
            // A negative number is the value of an option, which would have none without it.
            rest.filter(|_| errors.last().is_none_or(|error| error.code != Code::Negative))
        };
        match rest {
            Some(rest) => typed = rest,
            None => return Ok(parsed),
        }
    }
}

fn parse(typed: &[OsString]) -> Result<Cli, clap::Error> {
    let short = typed.iter().any(|word| word == "-h");
    let command = if short { short_help::short_command() } else { short_help::command() };
    let matches = command.try_get_matches_from(typed)?;
    Cli::from_arg_matches(&matches)
}

/// Reports and leaves out options such as `-rate=50/s`, which clap takes for `-r` with a value.
fn without_long_with_one_dash(typed: &mut Vec<OsString>, errors: &mut Vec<UserError>) {
    let mut at = 1;
    while let Some(word) = typed.get(at).map(|word| word.to_string_lossy().into_owned()) {
        // The rest is for a command on hosts.
        if word == "--" || takes_all(typed) {
            return;
        }
        if !is_long_with_one_dash(&word) {
            at += 1;
            continue;
        }
        let next = typed.get(at + 1).map(|next| next.to_string_lossy().into_owned());
        let takes_text = takes_text(&word);
        let is_value = |next: &String| {
            next.starts_with(|one: char| one.is_ascii_digit())
                || (takes_text && !next.starts_with('-') && !next.contains("://"))
        };
        let next = next.filter(|next| !word.contains('=') && is_value(next));
        let (name, value) = word
            .split_once('=')
            .map_or((word.as_str(), next.as_deref()), |(name, value)| (name, Some(value)));
        errors.push(unsupported_option(name).unwrap_or_else(|| {
            let hint = hint_for_foreign_flag(name, value).unwrap_or_default();
            UserError::usage(Code::OptionUnknown, format!("there is no option `{name}`"), hint)
        }));
        typed.drain(at..=at + usize::from(next.is_some()));
    }
}

/// Whether the arguments are those of a command on other hosts.
fn takes_all(typed: &[OsString]) -> bool {
    typed.iter().skip(1).take(2).any(|word| word == "exec" || word == "lab" || word == "fleet")
}

/// Returns the command line without the unknown option of `error`, and without its value.
fn without_unknown(error: &clap::Error, typed: &[OsString]) -> Option<Vec<OsString>> {
    let argument = text(error, ContextKind::InvalidArg);
    if error.kind() != ErrorKind::UnknownArgument || !argument.starts_with('-') {
        return None;
    }
    let at = typed.iter().position(|word| word.to_string_lossy().starts_with(&argument))?;
    let left_out = |many: usize| [&typed[..at], &typed[at + many..]].concat();
    let has_value = typed.get(at + 1).is_some_and(|next| !next.to_string_lossy().starts_with('-'));
    let alone = left_out(1);
    // With its value left, the command line has an argument or a command too many.
    let surplus = error_after_values(alone.clone()).is_some_and(|error| match error.kind() {
        ErrorKind::UnknownArgument => !text(&error, ContextKind::InvalidArg).starts_with('-'),
        kind => kind == ErrorKind::InvalidSubcommand,
    });
    Some(if has_value && (surplus || takes_value(&argument)) { left_out(2) } else { alone })
}

/// Returns the first error that is not about the value of an option.
fn error_after_values(mut typed: Vec<OsString>) -> Option<clap::Error> {
    loop {
        let error = parse(&typed).err()?;
        match wrong_value(&error, &typed).and_then(|wrong| wrong.rest) {
            Some(rest) => typed = rest,
            None => return Some(error),
        }
    }
}

/// Whether `option` takes a value in another command.
fn takes_value(option: &str) -> bool {
    let takes = |arg: &clap::Arg| is_called(arg, option) && arg.get_action().takes_values();
    short_help::command().get_subcommands().any(|command| command.get_arguments().any(takes))
}

/// Returns the files of `--out` with a known suffix, of a command line that may have an error
/// elsewhere.
pub(super) fn outputs_with_known_suffix(typed: &[OsString]) -> Vec<OutFile> {
    let words: Vec<_> = typed.iter().map(|word| word.to_string_lossy()).collect();
    let joined = words.iter().filter_map(|word| word.strip_prefix("--out="));
    let apart = words.windows(2).filter(|two| two[0] == "--out").map(|two| two[1].as_ref());
    apart.chain(joined).filter_map(|path| OutFile::new(PathBuf::from(path)).ok()).collect()
}
