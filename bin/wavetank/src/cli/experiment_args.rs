//! Arguments of `check`, `plan`, `new` and `run FILE` for an experiment file.

use std::path::PathBuf;

use clap::Args;
use wavetank_experiment::Factor;
use wavetank_plan::{Secret, UserError};

use super::args::{CheckArgs, ExperimentSource, FileArgs, FileFormat};
use super::errors::Errors;
use super::files::InputFiles;
use super::run_args::OverrideArgs;
use super::run_options::{ParsedOptions, options};
use super::value_parsers::{parse_choice, with_flag};

/// `wavetank check`, `wavetank plan`.
#[derive(Args, Debug)]
pub(super) struct FileWords {
    /// Experiment file
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) variation: ExperimentArgs,
    #[command(flatten)]
    pub(super) options: OverrideArgs,
    /// Output format
    #[arg(long, value_name = "text|json", default_value = "text")]
    pub(super) format: String,
}

/// Options of every command that reads an experiment file.
#[derive(Args, Debug)]
#[command(next_help_heading = "With an experiment file")]
pub(super) struct ExperimentArgs {
    /// Set a variable of the file (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) set: Vec<String>,
    /// Replace the file's target, or its target NAME (repeatable)
    #[arg(long, value_name = "URL|NAME=URL")]
    pub(super) target: Vec<String>,
    /// Scale every rate and count by this factor
    #[arg(long, value_name = "1/1000", allow_negative_numbers = true)]
    pub(super) scale: Option<String>,
    /// Speed up: divide the length of every phase by this factor
    #[arg(long, value_name = "20x", allow_negative_numbers = true)]
    pub(super) speed: Option<String>,
    /// Value of ${secret:NAME} from a file [default: `$WAVETANK_SECRET_NAME`] (repeatable)
    #[arg(long, value_name = "NAME=@FILE")]
    pub(super) secret: Vec<String>,
}

impl ExperimentArgs {
    /// Returns the first given option other than `--secret`.
    pub(super) fn first_given_but_secret(&self) -> Option<&'static str> {
        self.first_given_flag().filter(|option| *option != "--secret")
    }

    /// Returns the first given option; `--secret` is the last.
    pub(super) fn first_given_flag(&self) -> Option<&'static str> {
        let given = [
            ("--set", !self.set.is_empty()),
            ("--target", !self.target.is_empty()),
            ("--scale", self.scale.is_some()),
            ("--speed", self.speed.is_some()),
            ("--secret", !self.secret.is_empty()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// `wavetank new`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank new shop.yaml; wavetank check shop.yaml; wavetank plan shop.yaml")]
pub(super) struct NewArgs {
    /// Output file; an existing file is not overwritten
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
}

/// Converts all arguments.
pub(super) fn file(words: FileWords) -> Result<CheckArgs, UserError> {
    let format = with_flag(
        "--format",
        parse_choice(&words.format, &[("text", FileFormat::Text), ("json", FileFormat::Json)], &[]),
    )?;
    if words.options.request.curl.is_some() {
        let hint = "wavetank run --curl FILE runs it";
        return Err(UserError::usage("conflict", "--curl applies only to run and search", hint));
    }
    let mut errors = Errors::default();
    let ParsedOptions { options, source_auto, request } = options(words.options, &mut errors);
    errors.keep(request.check_unused());
    let file = errors.finish(experiment_args(words.file, words.variation))?;
    Ok(CheckArgs { file: FileArgs { format, ..file }, options, source_auto })
}

/// Describes the file to read and how it is reported.
pub(super) fn experiment_args(file: PathBuf, words: ExperimentArgs) -> Result<FileArgs, UserError> {
    let mut files = InputFiles::default();
    let factor = |option: &str, word: &Option<String>| {
        word.as_ref().map(|word| Factor::parse(option, word)).transpose()
    };
    Ok(FileArgs {
        source: ExperimentSource::File(file),
        set: pairs("--set", &words.set, "--set users=200")?,
        target: words.target,
        scale: factor("--scale", &words.scale)?,
        speed: factor("--speed", &words.speed)?,
        secrets: pairs("--secret", &words.secret, "--secret KEY=@FILE")?
            .into_iter()
            .map(|(name, word)| Ok((name, secret(&word, &mut files)?)))
            .collect::<Result<_, UserError>>()?,
        format: FileFormat::Text,
    })
}

/// Parses a secret. Every process of the host can read a command line, so only files are accepted.
fn secret(word: &str, files: &mut InputFiles) -> Result<Secret, UserError> {
    let Some(path) = word.strip_prefix('@') else {
        let message = "--secret needs a file: other processes can read command-line arguments";
        return Err(UserError::usage("bad_secret", message, "--secret NAME=@FILE"));
    };
    Ok(Secret::new(files.text("--secret", path)?.trim_end_matches(['\r', '\n'])))
}

/// Parses arguments of the form `NAME=VALUE`.
fn pairs(option: &str, words: &[String], example: &str) -> Result<Vec<(String, String)>, UserError> {
    let pair = |word: &String| {
        let pair = word.split_once('=').filter(|(name, _)| !name.trim().is_empty());
        pair.map(|(name, value)| (name.trim().to_owned(), value.to_owned())).ok_or_else(|| {
            // The text may be a secret without its name, so it is not printed.
            let message = format!("{option} has no name and value");
            UserError::usage("bad_pair", message, example)
        })
    };
    words.iter().map(pair).collect()
}
