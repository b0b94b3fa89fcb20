//! [`TryWords`]: the words of `wavetank try`.

use std::path::PathBuf;

use clap::Args;
use wavetank_plan::quantity::{parse_count_positive, parse_duration_positive};
use wavetank_plan::{AllowTarget, ConnectTo, RunOptions, UserError};

use super::args::{FileArgs, FileFormat, TryArgs};
use super::experiment_args::{ExperimentArgs, experiment_args};
use super::tls_args::{TlsArgs, tls};
use super::value_parsers::{engine, parse_choice, parse_optional, with_flag};

/// Requests of a scenario that are shown unless told otherwise.
const REQUESTS: u64 = 100;

/// `wavetank try`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank try shop.yaml --scenario buyer --target http://localhost:8080
Done in this order: before of the run, each scenario's before, steps and after, after of the run.
Exit codes: 0 all as wanted · 1 a step or check failed · 2 wrong usage or file · 5 refused · 130 interrupted")]
pub(super) struct TryWords {
    /// The experiment file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only this scenario, and before and after of the run (repeatable) [default: each of them once]
    #[arg(long, value_name = "NAME")]
    scenario: Vec<String>,
    /// Wait through pauses instead of leaving them out
    #[arg(long)]
    think: bool,
    /// Requests of one scenario at most: a journey may repeat millions [default: 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    requests: Option<String>,
    /// Give a variable of the file another value (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Go elsewhere than the file's target, or its target of that name, says (repeatable)
    #[arg(long, value_name = "URL|NAME=URL")]
    target: Vec<String>,
    /// What ${secret:NAME} stands for; else it is the environment's `WAVETANK_SECRET_NAME` (repeatable)
    #[arg(long, value_name = "NAME=@FILE")]
    secret: Vec<String>,
    /// Of a request, from its begin, instead of the file's: covers connecting and the whole answer
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    timeout: Option<String>,
    /// Connect there instead; Host header and name in TLS stay: HOST:PORT, or FROM:PORT:HOST:PORT
    #[arg(long, value_name = "HOST:PORT")]
    connect_to: Option<String>,
    /// Which driver runs the sockets [default: auto, the best this host allows]
    #[arg(long, value_name = "auto|uring|epoll")]
    engine: Option<String>,
    /// A target beside loopback and private addresses that is yours (repeatable)
    #[arg(long, value_name = "CIDR|NAME")]
    allow_target: Vec<String>,
    /// Shape of what is shown
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
    #[command(flatten)]
    tls: TlsArgs,
}

/// Reads every word; `command` is what was typed, without secrets.
pub(super) fn try_file(words: TryWords, command: String) -> Result<TryArgs, UserError> {
    if words.file.to_string_lossy().contains("://") && !words.file.exists() {
        let message = format!("`{}` is a URL, and try is given an experiment file", words.file.display());
        let hint =
            "wavetank run URL --once shows one request and its answer; wavetank new FILE writes a file";
        return Err(UserError::usage("no_file", message, hint));
    }
    let format = with_flag(
        "--format",
        parse_choice(&words.format, &[("text", FileFormat::Text), ("json", FileFormat::Json)], &[]),
    )?;
    let variation = ExperimentArgs {
        set: words.set,
        target: words.target,
        scale: None,
        speed: None,
        secret: words.secret,
    };
    let allowed = words.allow_target.iter().map(|word| with_flag("--allow-target", AllowTarget::parse(word)));
    let options = RunOptions {
        timeout: parse_optional("--timeout", words.timeout.as_ref(), parse_duration_positive)?,
        connect_to: parse_optional("--connect-to", words.connect_to.as_ref(), ConnectTo::parse)?
            .into_iter()
            .collect(),
        engine: parse_optional("--engine", words.engine.as_ref(), engine)?,
        allow_target: allowed.collect::<Result<_, _>>()?,
        tls: tls(&words.tls)?,
        ..RunOptions::default()
    };
    Ok(TryArgs {
        file: FileArgs { format, ..experiment_args(words.file, variation)? },
        options,
        scenarios: words.scenario,
        think: words.think,
        requests: parse_optional("--requests", words.requests.as_ref(), parse_count_positive)?
            .unwrap_or(REQUESTS),
        command,
    })
}
