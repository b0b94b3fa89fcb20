//! The command line: from the words typed to a [`Command`], and nothing is run here.
//!
//! clap splits the words (`words`, `run_words`); every value is then read by `wavetank-plan`'s own parsers,
//! so that a wrong unit reads the same here and in an experiment file. The only thing touched outside the
//! process are files that options name (`files`).

mod args;
mod calibrate_words;
mod command_text;
mod compare_args;
mod compare_words;
mod convert;
mod convert_report;
mod convert_run;
mod demo_args;
mod exit;
mod explain_words;
mod file_words;
mod files;
mod goal;
mod habits;
mod install;
mod lab_args;
mod lab_words;
mod run_words;
mod runs_words;
mod schema_words;
mod search_args;
mod search_words;
mod serve_tls_words;
mod shorthand;
mod size_args;
mod size_words;
#[cfg(test)]
mod tests;
mod tls_words;
mod try_words;
mod usage;
mod wants;
mod words;

use std::ffi::OsString;

use clap::{CommandFactory, Parser};
use wavetank_plan::UserError;

pub(crate) use args::{
    Asked, CalibrateArgs, Command, FileArgs, FileFormat, Goal, OutFile, Outcome, OutputFormat, ReadArgs,
    ReportArgs, RunArgs, RunRef, RunsArgs, RunsDeed, ServeArgs, TryArgs,
};
#[cfg(target_os = "linux")]
pub(crate) use args::{Calibration, ServeTls};
#[cfg(target_os = "linux")]
pub(crate) use command_text::without_values;
#[cfg(target_os = "linux")]
pub(crate) use compare_args::BaselineArgs;
pub(crate) use compare_args::{CompareArgs, CompareWishes, RUNS_MAX};
pub(crate) use convert_run::RUNS_DIR;
pub(crate) use demo_args::DemoArgs;
pub(crate) use exit::CliExit;
pub(crate) use explain_words::ExplainArgs;
pub(crate) use install::{completions, man_pages};
#[cfg(target_os = "linux")]
pub(crate) use lab_args::{FaultWords, PoolAsk};
pub(crate) use lab_args::{LabArgs, LabDeed};
pub(crate) use schema_words::SchemaOf;
pub(crate) use search_args::SearchArgs;
#[cfg(target_os = "linux")]
pub(crate) use search_args::Sought;
#[cfg(target_os = "linux")]
pub(crate) use search_words::{no_threshold, searchable};
pub(crate) use size_args::SizeArgs;
pub(crate) use wants::Wants;
use words::{CommandWords, Words};

/// Reads `argv`, the program's name first.
pub(crate) fn parse(argv: Vec<OsString>) -> Result<Command, CliExit> {
    let json = wants_json(&argv);
    if argv.len() < 2 {
        return Err(CliExit::Help(Words::command().render_help().to_string()));
    }
    if let Some(target) = calibrate_words::as_target(&argv) {
        let calibrate = |args| Command::Calibrate(Box::new(args));
        return target.map(calibrate).map_err(|error| CliExit::Error { error, json, out: Vec::new() });
    }
    let command_text = command_text::command_text(&argv);
    let typed = shorthand::with_run(argv);
    let words = Words::try_parse_from(&typed).map_err(|error| usage::exit_of(&error, &typed, json))?;
    let out = convert_report::known_files(words.command.out());
    command(words.command, command_text).map_err(|error| CliExit::Error { error, json, out })
}

fn command(words: CommandWords, command_text: String) -> Result<Command, UserError> {
    Ok(match words {
        CommandWords::Run(words) => Command::Run(Box::new(convert_run::run(*words, command_text)?)),
        CommandWords::Search(words) => Command::Search(Box::new(search_words::search(*words, command_text)?)),
        CommandWords::Serve(words) => Command::Serve(Box::new(convert::serve(&words)?)),
        CommandWords::Report(words) => Command::Report(convert_report::report(words)?),
        CommandWords::Runs(words) => Command::Runs(runs_words::runs(*words)?),
        CommandWords::Compare(words) => Command::Compare(Box::new(compare_words::compare(*words)?)),
        CommandWords::Explain(words) => Command::Explain(explain_words::explain(words)?),
        CommandWords::Demo(words) => Command::Demo(convert::demo(words)),
        CommandWords::New(words) => Command::New(words.file),
        CommandWords::Check(words) => Command::Check(Box::new(file_words::file(*words)?)),
        CommandWords::Plan(words) => Command::Plan(Box::new(file_words::file(*words)?)),
        CommandWords::Try(words) => Command::Try(Box::new(try_words::try_file(*words, command_text)?)),
        CommandWords::Calibrate(words) => {
            Command::Calibrate(Box::new(calibrate_words::calibrate(*words, command_text)?))
        }
        CommandWords::Lab(words) => Command::Lab(lab_words::lab(words, command_text)?),
        CommandWords::Size(words) => Command::Size(Box::new(size_words::size(*words)?)),
        CommandWords::Schema(words) => Command::Schema(schema_words::schema(&words)?),
        CommandWords::Completions(words) => Command::Completions(convert::shell(&words.shell)?),
        CommandWords::Man(words) => Command::Man(words.dir),
    })
}

/// Whether `--format json` stands anywhere: then errors are JSON as well, also those about other words.
fn wants_json(argv: &[OsString]) -> bool {
    argv.iter().any(|word| word == "--format=json")
        || argv.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}
