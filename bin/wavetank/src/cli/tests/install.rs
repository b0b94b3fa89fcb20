//! Completions and manual pages contain every command and option.

use clap::CommandFactory;
use clap_complete::Shell;

use wavetank_plan::EngineChoice;

use super::argv;
use crate::cli::parser::Cli;
use crate::cli::{Command, completions, man_pages, parse};

/// Returns all commands and the long options of each.
fn every_word() -> Vec<String> {
    let mut words = Vec::new();
    for command in Cli::command().get_subcommands() {
        words.push(command.get_name().to_owned());
        for command in std::iter::once(command).chain(command.get_subcommands()) {
            words.push(command.get_name().to_owned());
            words.extend(
                command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned),
            );
        }
    }
    words
}

#[test]
fn every_shell_learns_every_word() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let script = completions(shell);
        for word in every_word() {
            assert!(script.contains(&word), "{shell}: {word}");
        }
    }
}

/// The names of each closed set follow the option, and those of an argument its command.
#[test]
fn shells_and_pages_learn_the_values_of_closed_sets() {
    let script = completions(Shell::Bash);
    let check = |option: &str, names: &str| {
        let case = format!("{option})\n                    COMPREPLY=($(compgen -W \"{names}\"");
        assert!(script.contains(&case), "{option}: {names}");
    };
    check("--arrivals", "even poisson");
    check("--http", "1.1 1.0 2 3");
    check("--close", "fin rst");
    check("--engine", "auto epoll uring");
    check("--proxy-protocol", "v1 v2");
    check("--ip", "4 6");
    check("--tls", "1.3 1.2");
    check("--tls-resume", "never user shared");
    check("--format", "text json");
    check("--format", "text json junit csv markdown hgrm hlog html oneline");
    check("--format", "text json junit markdown html");
    check("--lang", "en zh");
    check("--status", "pass fail invalid incomplete running unfinished damaged");
    check("--balancer", "none proxy direct");
    check("--vary", "rate users connections");
    for names in ["bash zsh fish", "experiment lab"] {
        assert!(script.contains(names), "{names}");
    }
    let pages = man_pages();
    let run = pages.iter().find(|(file, _)| file == "wavetank-run.1").expect("run has a page");
    for names in ["even|poisson", "1.0|1.1|2", "\nhgrm\n"] {
        assert!(run.1.contains(names), "{names}: {}", run.1);
    }
}

#[test]
fn every_command_has_a_page_with_all_its_options() {
    let pages = man_pages();
    let page = |name: &str| {
        let found = pages.iter().find(|(file, _)| file == &format!("{name}.1"));
        // roff escapes the hyphen of an option.
        found.unwrap_or_else(|| panic!("no page for {name}")).1.replace("\\-", "-")
    };
    assert!(page("wavetank").contains("wavetank-run(1)"));
    for command in Cli::command().get_subcommands() {
        let text = page(&format!("wavetank-{}", command.get_name()));
        let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
        for long in shown.filter_map(|argument| argument.get_long()) {
            assert!(text.contains(&format!("--{long}")), "{} --{long}: {text}", command.get_name());
        }
    }
    let commands = Cli::command();
    let nested: Vec<_> = commands
        .get_subcommands()
        .flat_map(|command| command.get_subcommands().map(|own| (command.get_name(), own)))
        .collect();
    for (command, own) in &nested {
        let text = page(&format!("wavetank-{command}-{}", own.get_name()));
        for long in own.get_arguments().filter_map(|argument| argument.get_long()) {
            assert!(text.contains(&format!("--{long}")), "{command} {} --{long}: {text}", own.get_name());
        }
    }
    assert_eq!(pages.len(), 1 + commands.get_subcommands().count() + nested.len());
}

#[test]
fn internal_commands_are_not_offered() {
    for word in ["as-target", "as_target"] {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            assert!(!completions(shell).contains(word), "{shell}: {word}");
        }
        assert!(man_pages().iter().all(|(_, text)| !text.replace("\\-", "-").contains(word)), "{word}");
    }
    let Command::CalibrationTarget(target) = super::command("calibrate --as-target 0,3 --engine epoll")
    else {
        panic!("a calibration says so");
    };
    assert_eq!((target.cpus, target.engine), (vec![0, 3], EngineChoice::Epoll));
    assert!(parse(argv("calibrate --as-target x --engine epoll")).is_err());
    assert!(parse(argv("calibrate --as-target 0,3")).is_err(), "no word of the command line");
}
