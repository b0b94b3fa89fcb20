//! [`SearchWords`]: arguments of `wavetank search`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use wavetank_plan::quantity::{
    parse_count_positive, parse_duration, parse_duration_positive, parse_rate_positive, parse_share,
};
use wavetank_plan::{Condition, Nanos, Op, RequestCounter, RunOptions, Subject, UserError, Value};
use wavetank_search::{Granularity, Setup};

use super::args::LoadSource;
use super::experiment_args::ExperimentArgs;
use super::load_source::parse_load_source;
use super::output_args::{all_formats, format, language, out_files};
use super::run_args::{OutputArgs, OverrideArgs};
use super::run_options::{RUNS_DIR, check_output_conflicts, options};
use super::search_args::{SearchArgs, SearchTiming, SearchVariable};
use super::value_parsers::{parse_choice, parse_optional, parse_u32, with_flag};

/// Default length of a level.
const LENGTH: Nanos = Nanos::from_secs(10);
/// Default pause after a level.
const SETTLE: Nanos = Nanos::SECOND;
/// Both of them with `--quick`.
const QUICK: (Nanos, Nanos) = (Nanos::from_secs(2), Nanos::from_millis(250));
/// Shortest and longest default warm-up, in nanoseconds: a tenth of the level.
const WARMUP: (i64, i64) = (500_000_000, 2_000_000_000);

/// `wavetank search`.
#[derive(Args, Debug)]
#[command(after_help = "\
The search starts at --from and doubles the level until one fails. It halves that bracket until it is narrow, then tries
5 levels inside it, 3 times each, in random order. Every level is a run like those of `wavetank run`.
Exit codes: 0 answer found · 1 the lowest level fails · 2 wrong usage ·
  3 the generator was the limit before the target (a lower bound is reported) · 4 incomplete · 5 refused · 130 interrupted")]
pub(super) struct SearchWords {
    /// Target URL or experiment file, as for `wavetank run`; one phase of a file is varied
    #[arg(value_name = "URL|FILE")]
    pub(super) goal: OsString,
    #[command(flatten)]
    pub(super) sought: SearchSpaceArgs,
    #[command(flatten)]
    pub(super) variation: ExperimentArgs,
    #[command(flatten)]
    pub(super) options: OverrideArgs,
    #[command(flatten)]
    pub(super) result: OutputArgs,
}

/// Options of the search.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
pub(super) struct SearchSpaceArgs {
    /// Quantity to vary [default: rate]
    #[arg(long, visible_alias = "vary", value_name = "rate|users|connections")]
    pub(super) of: Option<String>,
    /// Lowest level, at which the search starts [default: 100/s, or 1]
    #[arg(long, value_name = "RATE|N", allow_negative_numbers = true)]
    pub(super) from: Option<String>,
    /// Highest level to try [default: 1M/s, or 1M]
    #[arg(long, value_name = "RATE|N", allow_negative_numbers = true)]
    pub(super) to: Option<String>,
    /// Number of levels inside the bracket, at least 5 [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) levels: Option<String>,
    /// Runs of each of these levels, at least 3 [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) repeats: Option<String>,
    /// Minimum distance between two levels [default: 1%]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(super) step: Option<String>,
    /// Estimate the knee within about 10 % in about a minute: short runs, coarse steps, no proof
    #[arg(long, conflicts_with_all = ["levels", "repeats", "step"])]
    pub(super) quick: bool,
    /// Pause after each run [default: 1s]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) settle: Option<String>,
    /// Time limit for the whole search; the result so far is reported [default: none]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) max_time: Option<String>,
    /// With an experiment file: phase to vary [default: the only one of its kind]
    #[arg(long, value_name = "NAME")]
    pub(super) phase: Option<String>,
}

/// Converts all arguments; `command` is the redacted command line.
pub(super) fn search(words: SearchWords, command: String) -> Result<SearchArgs, UserError> {
    let goal = parse_load_source(&words.goal, words.variation, words.options.load.first_file_only_flag())?;
    let (mut options, source_auto) = options(words.options)?;
    let sought = sought(words.sought.of.as_deref())?;
    meaningless(&goal, sought, &options, words.sought.phase.is_some())?;
    let setup = setup(sought, &words.sought, options.seed.unwrap_or(1))?;
    check_searchable(&options.thresholds)?;
    if matches!(goal, LoadSource::Url(_)) && options.thresholds.is_empty() {
        return Err(no_threshold("the search has no threshold"));
    }
    let quick = words.sought.quick;
    let (usual_length, usual_settle) = if quick { QUICK } else { (LENGTH, SETTLE) };
    let length = options.duration.take().unwrap_or(usual_length);
    let warmup = options.warmup.take().unwrap_or(Nanos((length.0 / 10).clamp(WARMUP.0, WARMUP.1)));
    check_output_conflicts(&words.result, false)?;
    let result = words.result;
    let format = result.format.as_deref().map(format).transpose()?.unwrap_or_default();
    let out = out_files(result.out)?;
    let language = language(result.lang.as_deref(), &all_formats(format, &out))?.unwrap_or_default();
    Ok(SearchArgs {
        goal,
        options,
        source_auto,
        sought,
        setup,
        limits: SearchTiming {
            length,
            warmup,
            settle: parse_optional("--settle", words.sought.settle.as_ref(), parse_duration)?
                .unwrap_or(usual_settle),
            max_time: parse_optional("--max-time", words.sought.max_time.as_ref(), parse_duration_positive)?,
        },
        phase: words.sought.phase,
        format,
        out,
        language,
        runs_dir: result.runs_dir.unwrap_or_else(|| PathBuf::from(RUNS_DIR)),
        no_archive: result.no_archive,
        quiet: result.quiet,
        command,
    })
}

/// The error that no threshold defines the knee.
pub(crate) fn no_threshold(message: &str) -> UserError {
    let hint = "a search finds the highest load that meets its thresholds: --threshold 'p99 < 50ms'";
    UserError::usage("threshold_missing", message, hint)
}

fn sought(word: Option<&str>) -> Result<SearchVariable, UserError> {
    let known = [
        ("rate", SearchVariable::Rate),
        ("users", SearchVariable::Users),
        ("connections", SearchVariable::Connections),
    ];
    word.map_or(Ok(SearchVariable::Rate), |word| {
        with_flag("--of", parse_choice(word, &known, &["bandwidth", "bytes"]))
    })
}

fn setup(sought: SearchVariable, words: &SearchSpaceArgs, seed: u64) -> Result<Setup, UserError> {
    let level = |option: &str, word: &Option<String>| match sought {
        SearchVariable::Rate => {
            parse_optional(option, word.as_ref(), |text| Ok(parse_rate_positive(text)?.as_per_second()))
        }
        _ => parse_optional(option, word.as_ref(), |text| Ok(parse_count_positive(text)? as f64)),
    };
    let (grain, from) = match sought {
        SearchVariable::Rate => (Granularity::Rate, 100.0),
        SearchVariable::Users | SearchVariable::Connections => (Granularity::Whole, 1.0),
    };
    let usual = Setup::new(
        grain,
        level("--from", &words.from)?.unwrap_or(from),
        level("--to", &words.to)?.unwrap_or(1e6),
    );
    let usual = if words.quick { usual.quickly() } else { usual };
    let setup = Setup {
        levels: parse_optional("--levels", words.levels.as_ref(), parse_u32)?.unwrap_or(usual.levels),
        repeats: parse_optional("--repeats", words.repeats.as_ref(), parse_u32)?.unwrap_or(usual.repeats),
        step: parse_optional("--step", words.step.as_ref(), parse_share)?.unwrap_or(usual.step),
        seed,
        ..usual
    };
    setup.check()?;
    Ok(setup)
}

/// Options of `run` that the search decides itself, or that do not apply to it.
fn meaningless(
    goal: &LoadSource,
    sought: SearchVariable,
    options: &RunOptions,
    phase: bool,
) -> Result<(), UserError> {
    let (file, scale, speed) = match goal {
        LoadSource::File(file) => (true, file.scale.is_some(), file.speed.is_some()),
        LoadSource::Url(_) => (false, false, false),
    };
    let given = [
        ("-r", options.rate.is_some(), "the search varies the rate: --from 100/s --to 10k/s"),
        ("-n", options.requests.is_some(), "-d is the length of a level"),
        ("--scale", scale, "the search sets the load: --from 10/s --to 1k/s"),
        ("--speed", speed, "-d is the length of a level; the file's phases have no influence"),
        ("--once", options.once, "a search is many runs: wavetank run URL --once"),
        (
            "-c",
            options.connections.is_some() && (file || sought != SearchVariable::Rate),
            "the search varies connections: --from 1 --to 1k; a file sets its own",
        ),
        (
            "--arrivals",
            options.arrivals.is_some() && (file || sought != SearchVariable::Rate),
            "only a rate has arrivals; in a file, set arrivals: poisson in the phase",
        ),
        (
            "--pipeline",
            options.pipeline.is_some_and(|depth| depth > 1) && sought == SearchVariable::Users,
            "--of connections varies connections that are pipelined",
        ),
        ("--phase", phase && !file, "only a file has phases"),
        (
            "--max-open",
            options.max_open.is_some() && sought != SearchVariable::Rate,
            "in a closed run every user waits for its response",
        ),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        Some((name, _, hint)) => {
            Err(UserError::usage("conflict", format!("{name} does not apply to this search"), hint))
        }
        None => Ok(()),
    }
}

/// Refuses conditions that require much load. They fail at low levels, so no level would be the
/// highest one that passes.
pub(crate) fn check_searchable(conditions: &[Condition]) -> Result<(), UserError> {
    let asks_for_load = |condition: &&Condition| {
        let reaches = matches!(condition.op, Op::Greater | Op::GreaterEqual | Op::Equal);
        let of_load = matches!(
            condition.subject,
            Subject::Requests(RequestCounter::Offered | RequestCounter::Sent | RequestCounter::Done, _)
                | Subject::Opened
                | Subject::Users
                | Subject::InFlight
                | Subject::Held
        );
        reaches && of_load && matches!(condition.value, Value::PerSecond(x) | Value::Count(x) if x > 0.0)
    };
    match conditions.iter().find(asks_for_load) {
        Some(condition) => Err(UserError::usage(
            "threshold_unsearchable",
            format!(
                "`{}` requires load, and a search varies the load: low levels would fail it",
                condition.text
            ),
            "leave it out; use conditions that pass at low levels, such as p99 < 50ms or failed < 0.1%",
        )),
        None => Ok(()),
    }
}
