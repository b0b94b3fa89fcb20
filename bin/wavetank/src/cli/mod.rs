//! The command line: parses arguments to a [`Command`] and runs nothing.
//!
//! clap splits the arguments (`parser`, `run_args`). The parsers of `wavetank-plan` then convert
//! every value, so that a wrong unit gets the same message here and in an experiment file. Outside
//! the process, only files that options name are read (`files`).

mod args;
mod calibrate_args;
mod clap_errors;
mod clap_text;
mod command_text;
mod compare_args;
mod compare_words;
mod curl;
mod demo_args;
mod errors;
mod exit;
mod experiment_args;
mod explain_args;
mod files;
mod foreign_flags;
mod install;
mod lab_args;
mod lab_words;
mod load_source;
mod output_args;
mod output_formats;
mod parser;
mod report_options;
mod request_options;
mod run_args;
mod run_options;
mod runs_args;
mod schema_args;
mod search_args;
mod search_words;
mod serve_tls_args;
mod short_help;
mod shorthand;
mod size_args;
mod size_words;
#[cfg(test)]
mod tests;
mod tls_args;
mod try_args;
mod value_parsers;

use std::ffi::OsString;

use wavetank_plan::UserError;

pub(crate) use args::{
    CalibrateArgs, CheckArgs, Command, ExperimentSource, FileArgs, FileFormat, LoadSource, OutFile,
    OutputFormat, ReportArgs, RunArgs, RunFilter, RunRef, RunStatus, RunsArgs, RunsCommand, ServeArgs,
    TryArgs,
};
#[cfg(target_os = "linux")]
pub(crate) use args::{CalibrateCommand, ServeTls};
#[cfg(target_os = "linux")]
pub(crate) use command_text::without_values;
#[cfg(target_os = "linux")]
pub(crate) use compare_args::BaselineArgs;
pub(crate) use compare_args::{CompareArgs, CompareSettings, RUNS_MAX};
pub(crate) use demo_args::DemoArgs;
pub(crate) use exit::ParseExit;
pub(crate) use explain_args::ExplainArgs;
pub(crate) use install::{completions, man_pages};
#[cfg(target_os = "linux")]
pub(crate) use lab_args::{FaultCommand, PoolCommand};
pub(crate) use lab_args::{LabArgs, LabCommand};
use parser::CliCommand;
pub(crate) use report_options::ReportOptions;
pub(crate) use run_options::default_runs_dir;
pub(crate) use schema_args::SchemaKind;
pub(crate) use search_args::SearchArgs;
#[cfg(target_os = "linux")]
pub(crate) use search_args::SearchVariable;
#[cfg(target_os = "linux")]
pub(crate) use search_words::{check_searchable, no_threshold};
pub(crate) use size_args::SizeArgs;

/// Parses `argv`, which starts with the program's name.
pub(crate) fn parse(argv: Vec<OsString>) -> Result<Command, ParseExit> {
    let json = wants_json(&argv);
    if argv.len() < 2 {
        return Err(ParseExit::Help(short_help::command().render_help().to_string()));
    }
    if let Some(target) = calibrate_args::as_target(&argv) {
        let calibrate = |args| Command::Calibrate(Box::new(args));
        return target.map(calibrate).map_err(|error| ParseExit::Error { error, json, out: Vec::new() });
    }
    let command_text = command_text::command_text(&argv);
    let typed = shorthand::insert_run_subcommand(argv);
    let out = output_args::outputs_with_known_suffix(&clap_errors::outs(&typed));
    let (words, mut errors) = clap_errors::parse_all(typed).map_err(ParseExit::Help)?;
    let parsed = words.map(|words| command(words.command, command_text));
    match parsed {
        Some(Ok(command)) if errors.is_empty() => return Ok(command),
        Some(Err(error)) => errors.push(error),
        _ => {}
    }
    let error = UserError::combine(errors).expect("without a command there is an error");
    Err(ParseExit::Error { error, json, out })
}

fn command(words: CliCommand, command_text: String) -> Result<Command, UserError> {
    Ok(match words {
        CliCommand::Run(words) => Command::Run(Box::new(run_options::run(*words, command_text)?)),
        CliCommand::Search(words) => Command::Search(Box::new(search_words::search(*words, command_text)?)),
        CliCommand::Serve(words) => Command::Serve(Box::new(value_parsers::serve(&words)?)),
        CliCommand::Report(words) => Command::Report(output_args::report(words)?),
        CliCommand::Runs(words) => Command::Runs(runs_args::runs(*words)?),
        CliCommand::Compare(words) => Command::Compare(Box::new(compare_words::compare(*words)?)),
        CliCommand::Explain(words) => Command::Explain(explain_args::explain(words)?),
        CliCommand::Demo(words) => Command::Demo(value_parsers::demo(words)),
        CliCommand::New(words) => Command::New(words.file),
        CliCommand::Check(words) => Command::Check(Box::new(experiment_args::file(*words)?)),
        CliCommand::Plan(words) => Command::Plan(Box::new(experiment_args::file(*words)?)),
        CliCommand::Try(words) => Command::Try(Box::new(try_args::try_file(*words, command_text)?)),
        CliCommand::Calibrate(words) => {
            Command::Calibrate(Box::new(calibrate_args::calibrate(*words, command_text)?))
        }
        CliCommand::Lab(words) => Command::Lab(lab_words::lab(words, command_text)?),
        CliCommand::Size(words) => Command::Size(Box::new(size_words::size(*words)?)),
        CliCommand::Schema(words) => Command::Schema(schema_args::schema(&words)?),
        CliCommand::Completions(words) => Command::Completions(value_parsers::shell(&words.shell)?),
        CliCommand::Man(words) => Command::Man(words.dir),
    })
}

/// Whether `--format json` appears anywhere. Then all errors are JSON as well, including errors in
/// other arguments.
fn wants_json(argv: &[OsString]) -> bool {
    argv.iter().any(|word| word == "--format=json")
        || argv.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}
