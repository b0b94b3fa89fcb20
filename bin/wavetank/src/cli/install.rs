//! Files that an installation contains in addition to the program: shell completions and manual
//! pages. They are generated from the definition of the command line.

use std::collections::BTreeSet;

use clap_complete::Shell;

use super::short_help;

/// Returns the completion script for `shell`.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    // The allowed values are set only here. When parsing, a wrong code gets a message of this
    // program, not clap's list of several hundred values.
    let codes = wavetank_report::explanations().into_iter().map(|one| one.code).collect::<BTreeSet<_>>();
    let explain = |command: clap::Command| {
        command.mut_arg("codes", |codes_of| codes_of.value_parser(codes.into_iter().collect::<Vec<_>>()))
    };
    let mut command = short_help::command().mut_subcommand("explain", explain);
    clap_complete::generate(shell, &mut command, "wavetank", &mut script);
    String::from_utf8(script).expect("made from UTF-8 text")
}

/// Returns file names and texts (roff) of the manual: `wavetank.1`, and `wavetank-COMMAND.1` for
/// each command and subcommand.
pub(crate) fn man_pages() -> Vec<(String, String)> {
    let mut top = short_help::command().disable_help_subcommand(true);
    // Gives subcommands their full names: `wavetank run`, in the file `wavetank-run.1`.
    top.build();
    let commands: Vec<clap::Command> = top.get_subcommands().cloned().collect();
    let nested: Vec<clap::Command> =
        commands.iter().flat_map(|command| command.get_subcommands().cloned()).collect();
    // The subcommand `help` needs no page.
    let nested = nested.into_iter().filter(|command| command.get_name() != "help");
    std::iter::once(top).chain(commands).chain(nested).map(page).collect()
}

fn page(command: clap::Command) -> (String, String) {
    let page = clap_mangen::Man::new(command);
    let file = page.get_filename();
    let mut text = Vec::new();
    page.render(&mut text).expect("a vector takes every write");
    (file, String::from_utf8(text).expect("made from UTF-8 text"))
}
