//! What an installation brings beside the program, made from the command line's own description: completions for
//! shells and manual pages.

use std::collections::BTreeSet;

use clap::CommandFactory;
use clap_complete::Shell;

use super::parser::Cli;

/// A script that teaches `shell` the words of the command line.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    // Only here: typed wrongly, a code gets our own words and not clap's list of hundreds.
    let codes = wavetank_report::explanations().into_iter().map(|one| one.code).collect::<BTreeSet<_>>();
    let explain = |command: clap::Command| {
        command.mut_arg("codes", |codes_of| codes_of.value_parser(codes.into_iter().collect::<Vec<_>>()))
    };
    let mut command = Cli::command().mut_subcommand("explain", explain);
    clap_complete::generate(shell, &mut command, "wavetank", &mut script);
    String::from_utf8(script).expect("made from UTF-8 text")
}

/// File names and texts (roff) of the manual: `wavetank.1`, and `wavetank-COMMAND.1` for each command, also
/// for commands of commands.
pub(crate) fn man_pages() -> Vec<(String, String)> {
    let mut top = Cli::command().disable_help_subcommand(true);
    // Makes the subcommands' own names those one types: `wavetank run`, in the file `wavetank-run.1`.
    top.build();
    let commands: Vec<clap::Command> = top.get_subcommands().cloned().collect();
    let nested: Vec<clap::Command> =
        commands.iter().flat_map(|command| command.get_subcommands().cloned()).collect();
    // The subcommand that only shows help has nothing to tell.
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
