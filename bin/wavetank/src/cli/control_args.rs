//! Arguments of the commands for running runs: `status`, `attach`, `stop`, `set` and `event`.

use clap::Args;
use wavetank_plan::LoadChange;
use wavetank_units::quantity::{parse_count, parse_rate};
use wavetank_units::{Code, UserError};

use super::output_formats::FileFormat;

/// A command for running runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ControlCommand {
    /// `wavetank status`.
    Status(StatusArgs),
    /// `wavetank attach`.
    Attach(AttachArgs),
    /// `wavetank stop`.
    Stop(StopArgs),
    /// `wavetank set`.
    Set(SetArgs),
    /// `wavetank event`.
    Event(EventArgs),
}

impl ControlCommand {
    /// Whether the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::Status(args) => args.format == FileFormat::Json,
            Self::Attach(args) => args.format == FileFormat::Json,
            Self::Stop(_) | Self::Set(_) | Self::Event(_) => false,
        }
    }
}

/// `wavetank status`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank status
             wavetank status --format json
Exit codes: 0 printed · 2 no such run")]
pub(crate) struct StatusArgs {
    /// Id of the run or its first characters, or its name [default: all of this user]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Output format; json prints an object for each run, one in each line
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
}

/// `wavetank attach`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank attach
             wavetank attach 3f81 --format json
Ctrl-C ends the view; the run goes on. When the run is over, its report is printed.
Exit codes: that of the run; 0 after Ctrl-C · 2 no such run")]
pub(crate) struct AttachArgs {
    /// Id of the run or its first characters, or its name [default: the only one]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Output format; json prints the state at each seal, about once a second
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
    /// Print progress as lines, also on a large terminal
    #[arg(long)]
    pub(crate) plain: bool,
}

/// `wavetank stop`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank stop 3f81
The run reports as after Ctrl-C, with the verdict INCOMPLETE. Open requests have at most 10 s to end.")]
pub(crate) struct StopArgs {
    /// Id of the run or its first characters, or its name [default: the only one]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Cut open requests
    #[arg(long)]
    pub(crate) now: bool,
}

/// `wavetank set`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank set rate=2k/s
             wavetank set 3f81 users=40
             wavetank set connections=500 --phase idle
The change applies to the rest of the phase that is active a second later, and the report shows it. Of several active
phases with such a load, --phase names one.")]
pub(crate) struct SetArgs {
    /// The run, if there are several, and its new load: rate=RATE, users=COUNT or connections=COUNT
    #[arg(value_name = "[RUN] LOAD", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Name of the active phase to change [default: the only one with such a load]
    #[arg(long, value_name = "NAME")]
    pub(crate) phase: Option<String>,
}

impl SetArgs {
    /// Returns the run, if one was named, and its new load.
    pub(crate) fn resolve(&self) -> Result<(Option<&str>, LoadChange), UserError> {
        let (load, run) = self.words.split_last().ok_or_else(|| no_load(""))?;
        Ok((run.first().map(String::as_str), parse_load(load)?))
    }
}

/// `wavetank event`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank event 'deploy 4711'")]
pub(crate) struct EventArgs {
    /// Text of the event, one line
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// Id of the run or its first characters, or its name [default: the only one]
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
}

fn parse_load(text: &str) -> Result<LoadChange, UserError> {
    match text.split_once('=') {
        Some(("rate", rate)) => parse_rate(rate).map(LoadChange::Rate),
        Some(("users", users)) => parse_count(users).map(LoadChange::Users),
        Some(("connections", count)) => parse_count(count).map(LoadChange::Connections),
        _ => Err(no_load(text)),
    }
}

fn no_load(text: &str) -> UserError {
    let message = format!("`{}` is not a load", wavetank_units::sanitize(text));
    UserError::usage(Code::BadChange, message, "rate=2k/s, users=40 or connections=500")
}
