//! [`CalibrateWords`]: arguments of `wavetank calibrate`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use wavetank_plan::calibration::CalibrationSchedule;
use wavetank_plan::quantity::parse_duration_positive;
use wavetank_plan::{AllowTarget, EngineChoice, TargetUrl, UserError};

use super::args::{CalibrateArgs, CalibrateCommand, FileFormat};
use super::value_parsers::{engine, parse_choice, parse_optional, with_flag};

/// `wavetank calibrate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Measures on loopback against the built-in server in a separate process. Stores the result for `wavetank plan` in
$XDG_STATE_HOME/wavetank/calibration.json, or in ~/.local/state/wavetank. Run nothing else meanwhile.")]
pub(super) struct CalibrateWords {
    /// Quick calibration (about 15 s): fewer and shorter rounds
    #[arg(long)]
    pub(super) quick: bool,
    /// Time limit for the whole calibration [default: 60s]
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) duration: Option<String>,
    /// Socket driver [default: auto, the best one available]
    #[arg(long, value_name = "auto|uring|epoll")]
    pub(super) engine: Option<String>,
    /// Server to load instead of the built-in one, without TLS; TLS and memory are still measured
    /// on this host
    #[arg(long, value_name = "URL")]
    pub(super) target: Option<String>,
    /// Allow a public target that you are permitted to load (repeatable)
    #[arg(long, value_name = "CIDR|NAME")]
    pub(super) allow_target: Vec<String>,
    /// Show the stored calibration and measure nothing
    #[arg(long)]
    pub(super) show: bool,
    /// File to store the result in [default: the one `plan` reads]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Output format
    #[arg(long, value_name = "text|json", default_value = "text")]
    pub(super) format: String,
    /// Print nothing on stderr
    #[arg(long)]
    pub(super) quiet: bool,
}

/// Converts all arguments; `command` is the command line as typed.
pub(super) fn calibrate(words: CalibrateWords, command: String) -> Result<CalibrateArgs, UserError> {
    let format = with_flag(
        "--format",
        parse_choice(&words.format, &[("text", FileFormat::Text), ("json", FileFormat::Json)], &[]),
    )?;
    let asked = [
        ("--quick", words.quick),
        ("--duration", words.duration.is_some()),
        ("--engine", words.engine.is_some()),
        ("--target", words.target.is_some()),
        ("--allow-target", !words.allow_target.is_empty()),
        ("--quiet", words.quiet),
    ];
    let engine = parse_optional("--engine", words.engine.as_ref(), engine)?.unwrap_or(EngineChoice::Auto);
    if words.show {
        if let Some((option, _)) = asked.iter().find(|(_, given)| *given) {
            let message = format!("--show and {option} exclude each other: --show measures nothing");
            return Err(UserError::usage("conflict", message, "use one of the two"));
        }
        return Ok(CalibrateArgs { what: CalibrateCommand::Show, format, out: words.out });
    }
    let total = parse_optional("--duration", words.duration.as_ref(), parse_duration_positive)?;
    if words.quick && total.is_some() {
        let message = "--quick and --duration exclude each other";
        return Err(UserError::usage("conflict", message, "use one of the two; --quick is --duration 15s"));
    }
    let whole = if words.quick { CalibrationSchedule::QUICK } else { CalibrationSchedule::WHOLE };
    let target = words.target.as_deref().map(|url| with_flag("--target", target(url))).transpose()?;
    let allow = |word: &String| AllowTarget::parse(word);
    let allow_target = words.allow_target.iter().map(allow).collect::<Result<Vec<_>, _>>()?;
    if target.is_none() && !allow_target.is_empty() {
        let message = "--allow-target needs --target";
        return Err(UserError::usage(
            "conflict",
            message,
            "the built-in server is on loopback, which is always allowed",
        ));
    }
    let course = CalibrationSchedule::with_total(total.unwrap_or(whole))?;
    let what =
        CalibrateCommand::Measure { course, engine, target, allow_target, quiet: words.quiet, command };
    Ok(CalibrateArgs { what, format, out: words.out })
}

/// Parses what a calibration passes to its server process: `calibrate --as-target CPU,… --engine
/// NAME`. The process runs until its standard input ends. Help, completions and the manual do not
/// list these arguments.
pub(super) fn as_target(argv: &[OsString]) -> Option<Result<CalibrateArgs, UserError>> {
    let words: Vec<&str> = argv.iter().skip(1).map(|word| word.to_str()).collect::<Option<_>>()?;
    let ["calibrate", "--as-target", cpus, "--engine", name] = words[..] else { return None };
    let args = || {
        let what =
            CalibrateCommand::Target { cpus: cpu_list(cpus)?, engine: with_flag("--engine", engine(name))? };
        Ok(CalibrateArgs { what, format: FileFormat::Text, out: None })
    };
    Some(args())
}

/// Parses a URL without TLS, because the cost of TLS is measured separately.
fn target(url: &str) -> Result<TargetUrl, UserError> {
    let url = TargetUrl::parse(url)?;
    if url.tls {
        let message = format!("`{}` uses TLS, which would hide the cost of a plain request", url.url());
        return Err(UserError::usage(
            "target_tls",
            message,
            "use its http:// address; TLS is measured against the built-in server",
        ));
    }
    Ok(url)
}

fn cpu_list(text: &str) -> Result<Vec<u32>, UserError> {
    let one = |word: &str| {
        let message = format!("--as-target `{text}` is not a list of CPUs");
        word.parse().map_err(|_| UserError::usage("bad_cpus", message, "for example 2,3"))
    };
    text.split(',').map(one).collect()
}
