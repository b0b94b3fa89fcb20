//! Completions and manual pages know what the command line knows.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::words::Words;
use crate::cli::{completions, man_pages};

/// The long options of every command, and the commands.
fn every_word() -> Vec<String> {
    let mut words = Vec::new();
    for command in Words::command().get_subcommands() {
        words.push(command.get_name().to_owned());
        words.extend(command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned));
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

#[test]
fn every_command_has_a_page_with_all_its_options() {
    let pages = man_pages();
    let page = |name: &str| {
        let found = pages.iter().find(|(file, _)| file == &format!("{name}.1"));
        // roff wants the hyphen of an option written so.
        found.unwrap_or_else(|| panic!("no page for {name}")).1.replace("\\-", "-")
    };
    assert!(page("wavetank").contains("wavetank-run(1)"));
    for command in Words::command().get_subcommands() {
        let text = page(&format!("wavetank-{}", command.get_name()));
        // What only the program itself says to itself is nobody's affair.
        let told = command.get_arguments().filter(|argument| !argument.is_hide_set());
        for long in told.filter_map(|argument| argument.get_long()) {
            assert!(text.contains(&format!("--{long}")), "{} --{long}: {text}", command.get_name());
        }
    }
    assert_eq!(pages.len(), 1 + Words::command().get_subcommands().count());
}
