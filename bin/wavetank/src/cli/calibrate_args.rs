//! [`CalibrateArgs`]: arguments of `wavetank calibrate`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use wavetank_capacity::calibration::CalibrationSchedule;
use wavetank_plan::{EngineChoice, TargetUrl};
use wavetank_units::quantity::parse_duration_positive;
use wavetank_units::{AllowTarget, Code, Nanos, UserError};

use super::output_formats::FileFormat;
use super::value_parsers::ENGINES;

/// `wavetank calibrate`.
#[derive(Args, Clone, Debug, PartialEq)]
#[command(after_help = "\
Measures on loopback against the built-in server in a separate process. Stores the result for `wavetank plan` in
$XDG_STATE_HOME/wavetank/calibration.json, or in ~/.local/state/wavetank. Run nothing else meanwhile.")]
pub(crate) struct CalibrateArgs {
    /// Quick calibration (about 15 s): fewer and shorter rounds
    #[arg(long)]
    quick: bool,
    /// Time limit for the whole calibration [default: 60s]
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    duration: Option<Nanos>,
    /// Socket driver [default: auto, the best one available]
    #[arg(long, value_name = "auto|uring|epoll", value_parser = ENGINES)]
    engine: Option<EngineChoice>,
    /// Server to load instead of the built-in one, without TLS; TLS and memory are still measured
    /// on this host
    #[arg(long, value_name = "URL", value_parser = target)]
    pub(crate) target: Option<TargetUrl>,
    /// Allow a public target that you are permitted to load (repeatable)
    #[arg(long, value_name = "CIDR|NAME", value_parser = AllowTarget::parse)]
    pub(crate) allow_target: Vec<AllowTarget>,
    /// Show the stored calibration and measure nothing
    #[arg(long)]
    pub(crate) show: bool,
    /// File to store the result in [default: the one `plan` reads]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Output format
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
    /// Print nothing on stderr
    #[arg(long)]
    pub(crate) quiet: bool,
    /// The command as typed.
    #[arg(skip)]
    pub(crate) command: String,
}

impl CalibrateArgs {
    /// Refuses options that exclude each other; `command` is the command line as typed.
    pub(super) fn checked(self, command: String) -> Result<Self, UserError> {
        self.check()?;
        Ok(Self { command, ..self })
    }

    fn check(&self) -> Result<(), UserError> {
        let given = [
            ("--quick", self.quick),
            ("--duration", self.duration.is_some()),
            ("--engine", self.engine.is_some()),
            ("--target", self.target.is_some()),
            ("--allow-target", !self.allow_target.is_empty()),
            ("--quiet", self.quiet),
        ];
        if self.show {
            let Some((option, _)) = given.iter().find(|(_, given)| *given) else { return Ok(()) };
            let message = format!("--show and {option} exclude each other: --show measures nothing");
            return Err(UserError::usage(Code::Conflict, message, "use one of the two"));
        }
        if self.quick && self.duration.is_some() {
            let message = "--quick and --duration exclude each other";
            let hint = "use one of the two; --quick is --duration 15s";
            return Err(UserError::usage(Code::Conflict, message, hint));
        }
        if self.target.is_none() && !self.allow_target.is_empty() {
            let hint = "the built-in server is on loopback, which is always allowed";
            return Err(UserError::usage(Code::Conflict, "--allow-target needs --target", hint));
        }
        self.schedule().map(drop)
    }

    /// Returns number and length of the rounds.
    pub(crate) fn schedule(&self) -> Result<CalibrationSchedule, UserError> {
        let whole = if self.quick { CalibrationSchedule::QUICK } else { CalibrationSchedule::WHOLE };
        CalibrationSchedule::with_total(self.duration.unwrap_or(whole))
    }

    /// Returns the socket driver.
    #[cfg(target_os = "linux")]
    pub(crate) fn engine(&self) -> EngineChoice {
        self.engine.unwrap_or(EngineChoice::Auto)
    }
}

/// What a calibration passes to its server process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CalibrationTargetArgs {
    /// The CPUs to run on.
    pub(crate) cpus: Vec<u32>,
    /// Socket driver.
    pub(crate) engine: EngineChoice,
}

/// Parses `calibrate --as-target CPU,… --engine NAME`. The process runs until its standard input
/// ends. Help, completions and the manual do not list these arguments.
pub(super) fn as_target(argv: &[OsString]) -> Option<Result<CalibrationTargetArgs, UserError>> {
    let words: Vec<&str> = argv.iter().skip(1).map(|word| word.to_str()).collect::<Option<_>>()?;
    let ["calibrate", "--as-target", cpus, "--engine", engine] = words[..] else { return None };
    let engine = ENGINES.parse(engine);
    Some(engine.and_then(|engine| Ok(CalibrationTargetArgs { cpus: cpu_list(cpus)?, engine })))
}

/// Parses a URL without TLS, because the cost of TLS is measured separately.
fn target(url: &str) -> Result<TargetUrl, UserError> {
    let url = TargetUrl::parse(url)?;
    if url.tls {
        let message = format!("`{}` uses TLS, which would hide the cost of a plain request", url.url());
        return Err(UserError::usage(
            Code::TargetTls,
            message,
            "use its http:// address; TLS is measured against the built-in server",
        ));
    }
    Ok(url)
}

fn cpu_list(text: &str) -> Result<Vec<u32>, UserError> {
    let one = |word: &str| {
        let message = format!("--as-target `{text}` is not a list of CPUs");
        word.parse().map_err(|_| UserError::usage(Code::BadCpus, message, "for example 2,3"))
    };
    text.split(',').map(one).collect()
}
