//! [`CalibrateWords`]: the words of `wavetank calibrate`.

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
Measured on loopback against a server of our own, in a process of its own; kept for `wavetank plan` in
$XDG_STATE_HOME/wavetank/calibration.json, else ~/.local/state. Nothing else should run meanwhile.")]
pub(super) struct CalibrateWords {
    /// In about 15 s: fewer and shorter rounds
    #[arg(long)]
    pub(super) quick: bool,
    /// How long it may take in all [default: 60s]
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) duration: Option<String>,
    /// Which driver runs the sockets [default: auto, the best this host allows]
    #[arg(long, value_name = "auto|uring|epoll")]
    pub(super) engine: Option<String>,
    /// A server elsewhere to load instead of our own, in the clear; TLS and memory are measured here all the same
    #[arg(long, value_name = "URL")]
    pub(super) target: Option<String>,
    /// A target beside loopback and private addresses that is yours to load (repeatable)
    #[arg(long, value_name = "CIDR|NAME")]
    pub(super) allow_target: Vec<String>,
    /// Show what is stored, and measure nothing
    #[arg(long)]
    pub(super) show: bool,
    /// Where it is stored, instead of the place where `plan` looks
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Shape of the answer
    #[arg(long, value_name = "text|json", default_value = "text")]
    pub(super) format: String,
    /// No talk on stderr
    #[arg(long)]
    pub(super) quiet: bool,
}

/// Reads every word. `command` is what was typed.
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
            let message = format!("--show measures nothing, and {option} is about measuring");
            return Err(UserError::usage("conflict", message, "one of the two"));
        }
        return Ok(CalibrateArgs { what: CalibrateCommand::Show, format, out: words.out });
    }
    let total = parse_optional("--duration", words.duration.as_ref(), parse_duration_positive)?;
    if words.quick && total.is_some() {
        let message = "--quick and --duration both say how long it takes";
        return Err(UserError::usage("conflict", message, "one of the two; --quick is --duration 15s"));
    }
    let whole = if words.quick { CalibrationSchedule::QUICK } else { CalibrationSchedule::WHOLE };
    let target = words.target.as_deref().map(|url| with_flag("--target", target(url))).transpose()?;
    let allow = |word: &String| AllowTarget::parse(word);
    let allow_target = words.allow_target.iter().map(allow).collect::<Result<Vec<_>, _>>()?;
    if target.is_none() && !allow_target.is_empty() {
        let message = "--allow-target means nothing without --target";
        return Err(UserError::usage(
            "conflict",
            message,
            "our own server is on loopback, which is always allowed",
        ));
    }
    let course = CalibrationSchedule::with_total(total.unwrap_or(whole))?;
    let what =
        CalibrateCommand::Measure { course, engine, target, allow_target, quiet: words.quiet, command };
    Ok(CalibrateArgs { what, format, out: words.out })
}

/// What a calibration says to the process that is to be its server: `calibrate --as-target CPU,… --engine NAME`, to the end
/// of standard input. No words of the command line: help, completions and manual do not know them.
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

/// In the clear only: what TLS costs is measured apart.
fn target(url: &str) -> Result<TargetUrl, UserError> {
    let url = TargetUrl::parse(url)?;
    if url.tls {
        let message = format!("`{}` is in TLS, which would hide what a plain request takes", url.url());
        return Err(UserError::usage(
            "target_tls",
            message,
            "its http:// address; TLS is measured against a server of our own",
        ));
    }
    Ok(url)
}

fn cpu_list(text: &str) -> Result<Vec<u32>, UserError> {
    let one = |word: &str| {
        let message = format!("--as-target `{text}` is no list of CPUs");
        word.parse().map_err(|_| UserError::usage("bad_cpus", message, "for example 2,3"))
    };
    text.split(',').map(one).collect()
}
