//! [`TryWords`]: arguments of `wavetank try`.

use std::path::PathBuf;

use clap::Args;
use wavetank_plan::quantity::{parse_count_positive, parse_duration_positive};
use wavetank_plan::{AllowTarget, ConnectTo, RunOptions, UserError};

use super::args::{FileArgs, FileFormat, TryArgs};
use super::experiment_args::{ExperimentArgs, experiment_args};
use super::tls_args::{TlsArgs, tls};
use super::value_parsers::{engine, parse_choice, parse_optional, with_flag};

/// Default number of requests shown per scenario.
const REQUESTS: u64 = 100;

/// `wavetank try`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank try shop.yaml --scenario buyer --target http://localhost:8080
Order: the run's `before`; each scenario's `before`, steps and `after`; the run's `after`.
Exit codes: 0 all as expected · 1 a step or check failed · 2 wrong usage or file · 5 refused · 130 interrupted")]
pub(super) struct TryWords {
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
    /// Maximum number of requests per scenario, because a journey may repeat millions [default:
    /// 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    requests: Option<String>,
    /// Set a variable of the file (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Replace the file's target, or its target NAME (repeatable)
    #[arg(long, value_name = "URL|NAME=URL")]
    target: Vec<String>,
    /// Value of ${secret:NAME} from a file [default: `$WAVETANK_SECRET_NAME`] (repeatable)
    #[arg(long, value_name = "NAME=@FILE")]
    secret: Vec<String>,
    /// Request timeout, including connect and the full response [default: the file's]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    timeout: Option<String>,
    /// Connect to another address, keeping the Host header and TLS name: HOST:PORT, or
    /// FROM:PORT:HOST:PORT
    #[arg(long, value_name = "HOST:PORT")]
    connect_to: Option<String>,
    /// Socket driver [default: auto, the best one available]
    #[arg(long, value_name = "auto|uring|epoll")]
    engine: Option<String>,
    /// Allow a public target that you are permitted to use (repeatable)
    #[arg(long, value_name = "CIDR|NAME")]
    allow_target: Vec<String>,
    /// Output format
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
    #[command(flatten)]
    tls: TlsArgs,
}

/// Converts all arguments; `command` is the command line without secrets.
pub(super) fn try_file(words: TryWords, command: String) -> Result<TryArgs, UserError> {
    if is_url(&words.file) {
        let url = words.file.display();
        let message = format!("`{url}` is a URL, and try needs an experiment file");
        let hint = format!(
            "wavetank run {url} --once shows one request and its response; wavetank new FILE writes a file"
        );
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

/// Whether `word` is a URL, with or without a scheme, and not the name of a file.
fn is_url(word: &std::path::Path) -> bool {
    let text = word.to_string_lossy();
    let named = [".yaml", ".yml"].iter().any(|end| text.ends_with(end)) && !text.contains("://");
    let shaped = text.contains(':') || text.starts_with("localhost") || text.starts_with('[');
    shaped && !named && !word.exists() && wavetank_plan::TargetUrl::parse(&text).is_ok()
}
