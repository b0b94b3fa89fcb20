//! Parts of options and errors of the command-line library.

use clap::error::{ContextKind, ContextValue};

/// `--basic <USER:PASSWORD|@FILE>` → `--basic`.
pub(super) fn name_of(argument: &str) -> &str {
    argument.split([' ', '<']).next().unwrap_or(argument)
}

pub(super) fn example(name: &str) -> Option<&'static str> {
    Some(match name {
        "--connections" | "-c" => "50",
        "--rate" | "-r" => "500/s",
        "--duration" | "-d" | "--warmup" | "--drain" => "10s",
        "--requests" | "-n" => "10k",
        "--timeout" | "--connect-timeout" => "5s",
        "--header" | "-H" => "'Name: value'",
        "--threshold" => "'p99 < 250ms'",
        "--stop" => "'failed > 50% for 10s'",
        "--max-regression" => "10%",
        "--older-than" => "30d",
        "--out" => "result.json",
        "--metrics" => "prometheus=:9464",
        "--format" => "json",
        _ => return None,
    })
}

pub(super) fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" "),
        _ => String::new(),
    }
}

/// Whether `word` is this option, by its long or its short name.
pub(super) fn is_called(own: &clap::Arg, word: &str) -> bool {
    let long = own.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long));
    long || own.get_short().is_some_and(|short| word == format!("-{short}"))
}
