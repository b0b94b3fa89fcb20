//! [`ExperimentArgs`]: options of every command that reads an experiment file, and [`FileArgs`],
//! the file with them.

use std::path::PathBuf;

use clap::Args;
use wavetank_experiment::{Factor, UrlRequest};
use wavetank_plan::{PemFile, Secret};
use wavetank_units::{Code, UserError};

use super::files::InputFiles;
use super::output_formats::FileFormat;
use super::value_parsers::parse_pair;

/// Where an experiment comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExperimentSource {
    /// A file.
    File(PathBuf),
    /// The request of a URL on the command line.
    Url {
        /// The request.
        request: Box<UrlRequest>,
        /// Files that options name, read already.
        files: Vec<PemFile>,
    },
}

/// An experiment with the options that change how it is read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileArgs {
    /// The file, or the request that takes its place.
    pub(crate) source: ExperimentSource,
    /// `--set`, in order.
    pub(crate) set: Vec<(String, String)>,
    /// `--target`, in order, not yet parsed: only the file knows the names of its targets.
    pub(crate) target: Vec<String>,
    /// `--scale`.
    pub(crate) scale: Option<Factor>,
    /// `--speed`.
    pub(crate) speed: Option<Factor>,
    /// `--secret`, in order.
    pub(crate) secrets: Vec<(String, Secret)>,
    /// Output format on stdout.
    pub(crate) format: FileFormat,
}

/// Options of every command that reads an experiment file.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "With an experiment file")]
pub(super) struct ExperimentArgs {
    /// Set a variable of the file (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub(super) set: Vec<(String, String)>,
    /// Replace the file's target, or its target NAME (repeatable)
    #[arg(long, value_name = "URL|NAME=URL")]
    pub(super) target: Vec<String>,
    /// Scale every rate and count by this factor
    #[arg(long, value_name = "1/1000", allow_negative_numbers = true, value_parser = |text: &str| Factor::parse("--scale", text))]
    pub(super) scale: Option<Factor>,
    /// Speed up: divide the length of every phase by this factor
    #[arg(long, value_name = "20x", allow_negative_numbers = true, value_parser = |text: &str| Factor::parse("--speed", text))]
    pub(super) speed: Option<Factor>,
    /// Value of ${secret:NAME} from a file [default: `$WAVETANK_SECRET_NAME`] (repeatable)
    #[arg(long, value_name = "NAME=@FILE", value_parser = secret_file)]
    pub(super) secret: Vec<SecretFile>,
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

    /// Describes the file to read. The files of `--secret` are read.
    pub(super) fn resolve(self, source: ExperimentSource, format: FileFormat) -> Result<FileArgs, UserError> {
        let mut files = InputFiles::default();
        let secret = |SecretFile { name, path }| Ok((name, files.secret("--secret", &path)?));
        Ok(FileArgs {
            source,
            set: self.set,
            target: self.target,
            scale: self.scale,
            speed: self.speed,
            secrets: self.secret.into_iter().map(secret).collect::<Result<_, UserError>>()?,
            format,
        })
    }
}

/// `--secret NAME=@FILE`.
#[derive(Clone, Debug)]
pub(super) struct SecretFile {
    name: String,
    path: String,
}

/// Parses `--set`.
pub(super) fn assignment(text: &str) -> Result<(String, String), UserError> {
    parse_pair(text)
        .ok_or_else(|| UserError::usage(Code::BadPair, "has no name and value", "--set users=200"))
}

/// Parses `--secret`. Every process of the host can read a command line, so only files are
/// accepted. Errors leave the text out, because it may be a secret.
pub(super) fn secret_file(text: &str) -> Result<SecretFile, UserError> {
    let (name, value) = parse_pair(text)
        .ok_or_else(|| UserError::usage(Code::BadPair, "has no name and value", "--secret KEY=@FILE"))?;
    let Some(path) = value.strip_prefix('@') else {
        let message = "needs a file: other processes can read command-line arguments";
        return Err(UserError::usage(Code::BadSecret, message, "--secret NAME=@FILE"));
    };
    Ok(SecretFile { name, path: path.to_owned() })
}
