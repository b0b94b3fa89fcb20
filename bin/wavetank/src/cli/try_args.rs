//! Arguments of `wavetank try`: [`TryFlags`] as typed, [`TryArgs`] with the named files read.

use std::path::PathBuf;

use clap::Args;
use wavetank_plan::{ConnectTo, EngineChoice, RunOptions};
use wavetank_units::quantity::{parse_count_positive, parse_duration_positive};
use wavetank_units::{AllowTarget, Code, Nanos, UserError};

use super::experiment_args::{
    ExperimentArgs, ExperimentSource, FileArgs, SecretFile, assignment, secret_file,
};
use super::output_formats::FileFormat;
use super::tls_args::TlsArgs;
use super::value_parsers::ENGINES;

/// `wavetank try`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank try shop.yaml --scenario buyer --target http://localhost:8080
Order: the run's `before`; each scenario's `before`, steps and `after`; the run's `after`.
Exit codes: 0 all as expected · 1 a step or check failed · 2 wrong usage or file · 5 refused · 130 interrupted")]
pub(super) struct TryFlags {
    /// The experiment file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Run only this scenario, and the run's before and after steps (repeatable) [default: each
    /// scenario once]
    #[arg(long, value_name = "NAME")]
    scenario: Vec<String>,
    /// Wait for think times instead of skipping them
    #[arg(long)]
    think: bool,
    /// Maximum number of requests per scenario, because a journey may repeat millions
    #[arg(long, value_name = "N", default_value = "100", allow_negative_numbers = true, value_parser = parse_count_positive)]
    requests: u64,
    /// Set a variable of the file (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Replace the file's target, or its target NAME (repeatable)
    #[arg(long, value_name = "URL|NAME=URL")]
    target: Vec<String>,
    /// Value of ${secret:NAME} from a file [default: `$WAVETANK_SECRET_NAME`] (repeatable)
    #[arg(long, value_name = "NAME=@FILE", value_parser = secret_file)]
    secret: Vec<SecretFile>,
    /// Request timeout, including connect and the full response [default: the file's]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    timeout: Option<Nanos>,
    /// Connect to another address, keeping the Host header and TLS name: HOST:PORT, or
    /// FROM:PORT:HOST:PORT
    #[arg(long, value_name = "HOST:PORT", value_parser = ConnectTo::parse)]
    connect_to: Option<ConnectTo>,
    /// Socket driver [default: auto, the best one available]
    #[arg(long, value_name = "auto|uring|epoll", value_parser = ENGINES)]
    engine: Option<EngineChoice>,
    /// Allow a public target that you are permitted to use (repeatable)
    #[arg(long, value_name = "CIDR|NAME", value_parser = AllowTarget::parse)]
    allow_target: Vec<AllowTarget>,
    /// Output format
    #[arg(long, default_value = "text")]
    format: FileFormat,
    #[command(flatten)]
    tls: TlsArgs,
}

/// `wavetank try`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TryArgs {
    /// The file.
    pub(crate) file: FileArgs,
    /// Values that replace those of the file.
    pub(crate) options: RunOptions,
    /// Names of the scenarios to run; empty: all.
    pub(crate) scenarios: Vec<String>,
    /// Whether think times are waited for.
    pub(crate) think: bool,
    /// Maximum number of requests of one scenario.
    pub(crate) requests: u64,
    /// The command as typed, with secrets replaced by `***`.
    pub(crate) command: String,
}

impl TryFlags {
    /// Checks the options and reads the named files; `command` is the redacted command line.
    pub(super) fn resolve(self, command: String) -> Result<TryArgs, UserError> {
        if is_url(&self.file) {
            let url = self.file.display();
            let message = format!("`{url}` is a URL, and try needs an experiment file");
            let hint = format!(
                "wavetank run {url} --once shows one request and its response; wavetank new FILE writes a file"
            );
            return Err(UserError::usage(Code::NoFile, message, hint));
        }
        let experiment = ExperimentArgs {
            set: self.set,
            target: self.target,
            scale: None,
            speed: None,
            secret: self.secret,
        };
        let options = RunOptions {
            timeout: self.timeout,
            connect_to: self.connect_to.into_iter().collect(),
            engine: self.engine,
            allow_target: self.allow_target,
            tls: self.tls.read()?,
            ..RunOptions::default()
        };
        Ok(TryArgs {
            file: experiment.resolve(ExperimentSource::File(self.file), self.format)?,
            options,
            scenarios: self.scenario,
            think: self.think,
            requests: self.requests,
            command,
        })
    }
}

/// Whether `word` is a URL, with or without a scheme, and not the name of a file.
fn is_url(word: &std::path::Path) -> bool {
    let text = word.to_string_lossy();
    let named = [".yaml", ".yml"].iter().any(|end| text.ends_with(end)) && !text.contains("://");
    let shaped = text.contains(':') || text.starts_with("localhost") || text.starts_with('[');
    shaped && !named && !word.exists() && wavetank_plan::TargetUrl::parse(&text).is_ok()
}
