//! Converts clap's errors to [`UserError`]s: one line and a hint.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use wavetank_units::{Code, UserError, did_you_mean};

use super::clap_text::{example, is_called, name_of, text};
use super::foreign_flags::{
    hint_for_foreign_command, hint_for_foreign_flag, hint_for_unsupported_command, unsupported,
};
use super::parser::Cli;

/// Converts an error of `typed`, other than a wrong value.
pub(super) fn user_error(error: &clap::Error, typed: &[OsString]) -> UserError {
    let argument = text(error, ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_option(error, &argument, typed),
        ErrorKind::InvalidSubcommand => {
            unknown_command(&text(error, ContextKind::InvalidSubcommand), &command_of(error))
        }
        ErrorKind::MissingSubcommand => no_command(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => no_verb(error),
        ErrorKind::MissingRequiredArgument => missing(&argument, &command_of(error)),
        ErrorKind::ArgumentConflict => conflict(error, name_of(&argument)),
        ErrorKind::InvalidValue | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            let name = name_of(&argument);
            let hint = example(name).map_or_else(
                || format!("allowed values: {argument}"),
                |example| format!("for example {name} {example}"),
            );
            UserError::usage(Code::ValueMissing, format!("{name} needs a value"), hint)
        }
        ErrorKind::TooManyValues if !argument.starts_with('-') => {
            let message = format!("unexpected argument `{}`", text(error, ContextKind::InvalidValue));
            let hint = match command_of(error).as_str() {
                "set" => "wavetank set rate=2k/s, or wavetank set RUN users=40".to_owned(),
                command => format!("see wavetank {command} --help"),
            };
            UserError::usage(Code::WordSurplus, message, hint)
        }
        ErrorKind::TooManyValues => {
            let name = name_of(&argument);
            let value = text(error, ContextKind::InvalidValue);
            UserError::usage(
                Code::ValueSurplus,
                format!("{name} takes no value, but got `{value}`"),
                format!("{name} alone"),
            )
        }
        ErrorKind::InvalidUtf8 => UserError::usage(
            Code::NotUtf8,
            "an argument is not UTF-8",
            "only file names may contain other bytes",
        ),
        _ => {
            let first = error.render().to_string();
            let first = first.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            UserError::usage(Code::Usage, first, "wavetank --help shows all commands")
        }
    }
}

fn conflict(error: &clap::Error, name: &str) -> UserError {
    let prior = text(error, ContextKind::PriorArg);
    let prior = name_of(&prior);
    let subcommand = text(error, ContextKind::InvalidSubcommand);
    let (message, hint) = if !subcommand.is_empty() {
        (format!("{prior} is before the subcommand `{subcommand}`"), "options follow their subcommand")
    } else if prior.is_empty() || prior == name {
        (format!("{name} is given twice"), "give it once")
    } else {
        (format!("{prior} and {name} exclude each other"), "use one of the two")
    };
    UserError::usage(Code::Conflict, message, hint)
}

fn unknown_option(error: &clap::Error, argument: &str, typed: &[OsString]) -> UserError {
    let message = || format!("there is no option `{argument}`");
    if !argument.starts_with('-') {
        let message = format!("unexpected argument `{argument}`");
        return UserError::usage(
            Code::WordSurplus,
            message,
            words_of(&command_of(error), &word_of_usage(error, 3)),
        );
    }
    // Other tools have `-1`, but none has `-1%`.
    let longer = typed.iter().any(|word| {
        let word = word.to_string_lossy();
        word.len() > argument.len() && word.starts_with(argument)
    });
    let is_number = argument[1..].starts_with(|c: char| c.is_ascii_digit());
    let of = command_of(error);
    // A user who typed a subcommand of `lab` other than `run` is not thinking of another load
    // generator.
    let is_lab_verb = is_lab_verb(error);
    let next = typed.iter().position(|word| *word == *argument).and_then(|at| typed.get(at + 1));
    let value = joined_value(argument, typed).or_else(|| next.map(|word| word.to_string_lossy()));
    let habit = hint_for_foreign_flag(argument, value.as_deref()).filter(|_| !is_lab_verb);
    if let Some(error) = unsupported_option(argument).filter(|_| !is_lab_verb) {
        return error;
    }
    if is_number && (longer || habit.is_none()) {
        return negative(argument, typed);
    }
    if let Some(hint) = habit.filter(|hint| is_for(&of, hint)) {
        return UserError::usage(Code::OptionUnknown, message(), hint);
    }
    let bare = argument.split('=').next().unwrap_or(argument);
    if bare == "--json" && long_options(&of).iter().any(|own| own == "format") {
        return UserError::usage(Code::OptionUnknown, message(), "--format json");
    }
    if of == "size" && is_of_run(bare) {
        let message = format!("`size` does not support {bare}");
        let hint = "it is an option of run: leave it out; wavetank size --help shows what counts";
        return UserError::usage(Code::OptionUnknown, message, hint);
    }
    // clap's own guesses share little more than the dashes: `--out` for `--quiet`.
    let mut longs = long_options(&of);
    // Of two that are as near, the longer one: a letter is left out more often than added.
    longs.sort_by_key(|long| std::cmp::Reverse(long.len()));
    let name = bare.trim_start_matches('-');
    let hint = match did_you_mean(name, longs.iter().map(String::as_str)) {
        // A subcommand has the option: `wavetank runs --keep 3`.
        Some(near) if near == name => {
            format!("it belongs after a subcommand: wavetank {of} --help")
        }
        Some(near) => format!("did you mean --{near}?"),
        None if is_lab_verb => {
            format!("wavetank lab {} --help shows its options", word_of_usage(error, 3))
        }
        None if of != "run" && is_of_run(bare) => {
            format!("it is an option of run: wavetank {of} --help shows its own")
        }
        None if Cli::command().find_subcommand(&of).is_some() => {
            format!("wavetank {of} --help shows its options")
        }
        None => "wavetank run --help shows all options".to_owned(),
    };
    UserError::usage(Code::OptionUnknown, message(), hint)
}

/// Returns the error for an option of another tool that asks for what is not supported.
pub(super) fn unsupported_option(argument: &str) -> Option<UserError> {
    let what = unsupported(argument)?;
    let hint = "docs/limitations.md lists what is not supported, and workarounds";
    Some(UserError::usage(Code::OptionUnknown, format!("{argument}: {what} not supported"), hint))
}

/// Returns the value of an unknown option in the same argument: `--vus=10` or `-t4`.
fn joined_value<'t>(argument: &str, typed: &'t [OsString]) -> Option<std::borrow::Cow<'t, str>> {
    let behind = typed.iter().find_map(|word| {
        let behind = word.to_str()?.strip_prefix(argument)?;
        let is_short = argument.len() == 2 && !behind.is_empty();
        behind.strip_prefix('=').or_else(|| is_short.then_some(behind))
    });
    behind.map(Into::into)
}

/// Returns the error for a negative number. `argument` is the part that clap took for an option,
/// such as `-1` of `-1%`. The message names the whole argument and its option.
fn negative(argument: &str, typed: &[OsString]) -> UserError {
    let typed: Vec<_> = typed.iter().map(|word| word.to_string_lossy()).collect();
    let at = typed.iter().position(|word| word.starts_with(argument));
    let word = at.map_or(argument, |at| &typed[at]);
    let before = at.and_then(|at| typed.get(at.checked_sub(1)?)).filter(|word| word.starts_with('-'));
    let option = before.map(|option| format!("{option}: ")).unwrap_or_default();
    let hint = match before.and_then(|option| example(option)) {
        Some(example) => format!("numbers and quantities cannot be negative, for example {example}"),
        None => "numbers and quantities cannot be negative".to_owned(),
    };
    UserError::usage(Code::Negative, format!("{option}`{word}` is negative"), hint)
}

fn unknown_command(word: &str, of: &str) -> UserError {
    let command = Cli::command();
    if let Some(group) = command.find_subcommand(of) {
        let known: Vec<&str> = group.get_subcommands().map(clap::Command::get_name).collect();
        let hint = match did_you_mean(word, known.iter().copied()) {
            Some(near) => format!("did you mean wavetank {of} {near}?"),
            None => format!("use one of: {}; wavetank {of} --help", known.join(", ")),
        };
        return UserError::usage(Code::CommandUnknown, format!("{of} has no command `{word}`"), hint);
    }
    if let Some(hint) = hint_for_unsupported_command(word) {
        return UserError::usage(
            Code::CommandUnknown,
            format!("`{word}` is not supported in this version"),
            hint,
        );
    }
    let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let near = did_you_mean(word, known.iter().copied());
    let hint = match (hint_for_foreign_command(word), near) {
        (Some(hint), _) => hint.to_owned(),
        (None, Some(near)) => format!("did you mean wavetank {near}?"),
        (None, None) => format!("use one of: {}; or a URL: wavetank localhost:8080/", known.join(", ")),
    };
    UserError::usage(Code::CommandUnknown, format!("there is no command `{word}`"), hint)
}

fn no_command() -> UserError {
    let hint = "wavetank run localhost:8080/, or wavetank --help";
    UserError::usage(Code::CommandMissing, "no command and no URL", hint)
}

/// Returns the error for a command that was called without its subcommand. clap would print its
/// whole help.
fn no_verb(error: &clap::Error) -> UserError {
    // clap renders its help here, in which the command follows after "Usage:".
    let help = error.render().to_string();
    let mut words = help.split_whitespace().skip_while(|word| *word != "Usage:").skip(2);
    let of = words.next().unwrap_or_default();
    let command = Cli::command();
    let Some(group) = command.find_subcommand(of) else { return no_command() };
    let known: Vec<&str> = group.get_subcommands().map(clap::Command::get_name).collect();
    let hint = format!("use one of: {}; wavetank {of} --help", known.join(", "));
    UserError::usage(Code::CommandMissing, format!("`{of}` needs a subcommand"), hint)
}

/// Returns the error for a missing argument of `wavetank fleet manifest`.
fn missing_of_manifest(word: &str) -> UserError {
    if word == "--kubernetes" {
        let hint = "name the form of the manifest: --kubernetes";
        return UserError::usage(Code::BadManifest, "no form of the manifest is named", hint);
    }
    let hint = "put them after two dashes: wavetank fleet manifest --kubernetes -- URL -r 1k/s -d 60s";
    UserError::usage(Code::BadManifest, "no arguments of `wavetank run` are given", hint)
}

/// Of a group, clap names all options.
fn missing_fleet(options: &str) -> UserError {
    if options.contains("--agents") {
        let hint = "add --agents: an agent on each load host of the lab sends the load";
        return UserError::usage(Code::NoFleet, "this option needs `--agents`", hint);
    }
    let hint = "give the hosts that send the load: --fleet FILE";
    UserError::usage(Code::NoFleet, "this option needs `--fleet`", hint)
}

fn missing(argument: &str, command: &str) -> UserError {
    // Arguments are distinguished by their value names in the clap definitions. If several are
    // missing, the first one says most.
    match argument.split_inclusive('>').next().unwrap_or_default() {
        "<bash|zsh|fish>" => {
            UserError::usage(Code::NoShell, "no shell is named", "wavetank completions bash")
        }
        "<DIR>" => {
            UserError::usage(Code::NoFolder, "no folder is named", "wavetank man ~/.local/share/man/man1")
        }
        "<FILE>" if command == "lab" => {
            let hint = "wavetank lab up FILE; examples/labs/ has some, docs/lab-file.md the grammar";
            UserError::usage(Code::NoFile, "no topology file is named", hint)
        }
        "<FILE>" if command == "runs" => {
            let hint = "wavetank runs unpack FILE.wtrun; wavetank runs pack RUN makes one";
            UserError::usage(Code::NoFile, "no packed run is named", hint)
        }
        "<FILE>" => UserError::usage(Code::NoFile, "no file is named", "wavetank new first.yaml writes one"),
        "<RUN|latest>" => {
            let hint = "wavetank report latest, or the name of a folder in the runs directory";
            UserError::usage(Code::NoRun, "no run is named", hint)
        }
        word if word.starts_with("<RUN,") => {
            let hint = "wavetank compare A B, or several per side: wavetank compare A1 A2 --with B1 B2";
            UserError::usage(Code::NoRun, "no runs are named", hint)
        }
        word if word.starts_with("--baseline") => {
            let hint = "give the run to compare with: --baseline RUN";
            UserError::usage(Code::NoBaseline, "this option needs `--baseline`", hint)
        }
        word if word.contains("--fleet") => missing_fleet(word),
        "<HOST>" => UserError::usage(Code::NoHost, "no host is named", "wavetank lab status shows the hosts"),
        "<LAB>" => {
            let hint = "wavetank lab run LAB EXPERIMENT: the file of the lab, then that of the load";
            UserError::usage(Code::NoFile, "no topology file is named", hint)
        }
        "<FAULT>" => {
            let hint = "wavetank lab fault app1 kill nginx; wavetank lab fault --help shows all faults";
            UserError::usage(Code::LabFaultWords, "no fault is named", hint)
        }
        word @ ("--kubernetes" | "<RUN_ARGS>") => missing_of_manifest(word),
        "<CMD>" => {
            let hint = "use two dashes: wavetank lab exec HOST -- ip address";
            UserError::usage(Code::LabCommand, "there is no command to run in the host", hint)
        }
        _ if command == "lab" => {
            let hint = "wavetank lab run LAB EXPERIMENT: an experiment file, or a URL in the lab";
            UserError::usage(Code::NoUrl, "there is nothing to run in the lab", hint)
        }
        _ if command == "net" => no_host_to_measure(),
        _ if command == "set" => no_load_to_set(),
        "<TEXT>" => UserError::usage(Code::ValueMissing, "no text is given", "wavetank event 'deploy 4711'"),
        _ if command == "search" => {
            let hint = "wavetank search localhost:8080/path --threshold 'p99 < 50ms', or search FILE";
            UserError::usage(Code::NoUrl, "no URL is given", hint)
        }
        _ => {
            let hint = "wavetank run localhost:8080/path -c 50 -d 10s, or run FILE";
            UserError::usage(Code::NoUrl, "no URL is given", hint)
        }
    }
}

fn no_load_to_set() -> UserError {
    UserError::usage(Code::ValueMissing, "no load is given", "wavetank set rate=2k/s, or users=40")
}

fn no_host_to_measure() -> UserError {
    UserError::usage(
        Code::NoHost,
        "no host is named",
        "wavetank net HOST, with wavetank net serve on that host",
    )
}

/// Returns the command that was called.
fn command_of(error: &clap::Error) -> String {
    word_of_usage(error, 2)
}

/// Whether the command is `lab` with a subcommand that sends no load, or without one.
fn is_lab_verb(error: &clap::Error) -> bool {
    command_of(error) == "lab" && word_of_usage(error, 3) != "run"
}

/// Returns the word with index `at` of clap's line `Usage: wavetank COMMAND …`.
fn word_of_usage(error: &clap::Error, at: usize) -> String {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return String::new() };
    usage.to_string().split_whitespace().nth(at).unwrap_or_default().to_owned()
}

/// Describes the arguments that a command takes in addition to its options. `verb` is the
/// subcommand, if the command has any.
fn words_of(command: &str, verb: &str) -> String {
    match command {
        "runs" => words_of_runs(verb).to_owned(),
        "completions" => "one shell: wavetank completions bash".to_owned(),
        "man" => "one folder: wavetank man ~/.local/share/man/man1".to_owned(),
        "report" => "one run: wavetank report latest".to_owned(),
        "lab" => "see wavetank lab --help; a command for a host follows after --".to_owned(),
        "new" | "check" | "plan" | "try" => format!("one file: wavetank {command} first.yaml"),
        "doctor" => "one URL or file at most; files to judge follow --lint".to_owned(),
        "size" => "one URL or file at most: wavetank size -r 1M/s -c 1M".to_owned(),
        "calibrate" | "serve" | "demo" | "schema" => {
            format!("options only: wavetank {command} --help shows them")
        }
        _ => "give one URL or file; an option's value follows its option, in quotes if it has spaces"
            .to_owned(),
    }
}

fn words_of_runs(verb: &str) -> &'static str {
    match verb {
        "show" => "one run: wavetank runs show latest",
        "prune" => {
            "options select the runs: wavetank runs prune --failed; to remove one run, delete its folder: rm -r runs/NAME"
        }
        "pack" => "one run: wavetank runs pack latest",
        "unpack" => "one packed run: wavetank runs unpack FILE.wtrun",
        _ => "options select the runs: wavetank runs list -n 10; for one run: wavetank runs show latest",
    }
}

/// Whether `run` has this option, by its long or its short name.
fn is_of_run(option: &str) -> bool {
    let command = Cli::command();
    let Some(run) = command.find_subcommand("run") else { return false };
    run.get_arguments().any(|own| is_called(own, option))
}

/// Whether a hint for users of other tools helps with the command `of`. With a command that sends
/// no load, the hint must name an option of that command.
fn is_for(of: &str, hint: &str) -> bool {
    let all = Cli::command();
    let Some(command) = all.find_subcommand(of).filter(|_| !matches!(of, "run" | "search" | "lab")) else {
        return true;
    };
    let words: Vec<&str> = hint.split_whitespace().collect();
    // The other tool's name for the option follows the name of the tool: `(ab's -X)`.
    let ours = words.iter().enumerate().filter(|(at, _)| *at == 0 || !words[at - 1].ends_with("'s"));
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    ours.map(|(_, word)| word.trim_matches(|letter| !is_of_name(letter)))
        .any(|word| command.get_arguments().any(|own| is_called(own, word)))
}

/// Returns the long options of the command `of` and of its subcommands, without dashes. If there is
/// no such command, returns those of all commands.
fn long_options(of: &str) -> Vec<String> {
    let all = Cli::command();
    let command = all.find_subcommand(of).unwrap_or(&all);
    let nested = command.get_subcommands().flat_map(clap::Command::get_subcommands);
    let commands = std::iter::once(command).chain(command.get_subcommands()).chain(nested);
    let options = commands.flat_map(clap::Command::get_arguments);
    options.filter_map(clap::Arg::get_long).map(str::to_owned).collect()
}
