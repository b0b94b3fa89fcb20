//! `wavetank URL` and `wavetank FILE`: inserts the command `run` where it was left out.

use std::ffi::OsString;

use clap::CommandFactory;

use super::clap_text::is_called;
use super::parser::Cli;

/// Inserts `run` as the first argument if `argv` has a URL, a file or an option of `run` in its
/// place.
pub(super) fn insert_run_subcommand(mut argv: Vec<OsString>) -> Vec<OsString> {
    let words: Vec<String> = argv.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if needs_run(&words) {
        argv.insert(1, "run".into());
    }
    argv
}

fn needs_run(words: &[String]) -> bool {
    let Some(first) = words.first() else { return false };
    let command = Cli::command();
    let own = ["-h", "--help", "-V", "--version", "help"];
    if own.contains(&first.as_str()) || command.find_subcommand(first).is_some() {
        return false;
    }
    if first.starts_with('-') {
        let later_command = positional(words).is_some_and(|word| command.find_subcommand(word).is_some());
        return !later_command;
    }
    looks_like_url(first) || std::path::Path::new(first).is_file()
}

/// Returns the first argument that is not an option and not the value of one.
fn positional(words: &[String]) -> Option<&str> {
    let command = Cli::command();
    let run = command.find_subcommand("run").expect("run is a command");
    let takes_value =
        |word: &str| run.get_arguments().any(|own| is_called(own, word) && own.get_action().takes_values());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') || word == "-" {
            return Some(word);
        }
        if takes_value(word) {
            rest.next();
        }
    }
    None
}

/// Whether `word` looks like a URL, a host with a port or path, a dotted host name or `localhost`.
/// A mistyped command does not.
fn looks_like_url(word: &str) -> bool {
    word.contains("://")
        || word.starts_with(':')
        || word.starts_with('[')
        || word.contains(['/', ':', '.'])
        || word.eq_ignore_ascii_case("localhost")
}
