//! Arguments of `wavetank search`: [`SearchFlags`] as typed, [`SearchArgs`] with the named files
//! read.

use std::ffi::OsString;

use clap::Args;
use wavetank_plan::RunOptions;
use wavetank_search::{Granularity, SearchTiming, SearchVariable, Setup};
use wavetank_units::quantity::{
    parse_count_positive, parse_duration, parse_duration_positive, parse_rate_positive, parse_share,
};
use wavetank_units::{Code, Nanos, UserError};

use super::choice::Choice;
use super::curl;
use super::errors::{Errors, with_flag};
use super::experiment_args::ExperimentArgs;
use super::fleet_run_args::FleetRunArgs;
use super::load_source::{LoadSource, parse_load_source};
use super::metrics_args::MetricsArgs;
use super::output_args::{OutputArgs, check_files};
use super::override_args::{OverrideArgs, ResolvedOptions};
use super::search_checks::{check_searchable, no_threshold};
use super::value_parsers::{SEED, parse_u32};

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
pub(super) struct SearchFlags {
    /// Target URL or experiment file, as for `wavetank run`; one phase of a file is varied
    #[arg(value_name = "URL|FILE", required_unless_present = "curl")]
    goal: Option<OsString>,
    #[command(flatten)]
    space: SearchSpaceArgs,
    #[command(flatten)]
    experiment: ExperimentArgs,
    #[command(flatten)]
    options: OverrideArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    metrics: MetricsArgs,
    #[command(flatten)]
    fleet: FleetRunArgs,
}

/// Options of the search.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
struct SearchSpaceArgs {
    /// Quantity to vary [default: rate]
    #[arg(long, visible_alias = "vary", default_value = "rate", hide_default_value = true, value_parser = variables())]
    of: SearchVariable,
    /// Lowest level, at which the search starts [default: 100/s, or 1]
    #[arg(long, value_name = "RATE|N", allow_negative_numbers = true)]
    from: Option<String>,
    /// Highest level to try [default: 1M/s, or 1M]
    #[arg(long, value_name = "RATE|N", allow_negative_numbers = true)]
    to: Option<String>,
    /// Number of levels inside the bracket, at least 5 [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_u32)]
    levels: Option<u32>,
    /// Runs of each of these levels, at least 3 [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_u32)]
    repeats: Option<u32>,
    /// Minimum distance between two levels [default: 1%]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = parse_share)]
    step: Option<f64>,
    /// Estimate the knee within about 10 % in about a minute: short runs, coarse steps, no proof
    #[arg(long, conflicts_with_all = ["levels", "repeats", "step"])]
    quick: bool,
    /// Pause after each run [default: 1s]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration)]
    settle: Option<Nanos>,
    /// Time limit for the whole search; the result so far is reported [default: none]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    max_time: Option<Nanos>,
    /// With an experiment file: phase to vary [default: the only one of its kind]
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
}

/// `wavetank search`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchArgs {
    /// The URL or experiment file to load.
    pub(crate) goal: LoadSource,
    /// All options except the load and its length.
    pub(crate) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(crate) source_auto: bool,
    /// The quantity to vary.
    pub(crate) sought: SearchVariable,
    /// Range, precision and number of levels.
    pub(crate) setup: Setup,
    /// Durations of the parts of a search.
    pub(crate) limits: SearchTiming,
    /// The phase of an experiment file to vary.
    pub(crate) phase: Option<String>,
    /// Output and archive.
    pub(crate) output: OutputArgs,
    /// The fleet that sends the load.
    pub(crate) fleet: FleetRunArgs,
    /// Where metrics go.
    pub(crate) metrics: MetricsArgs,
    /// The command as typed, quoted for a shell, with secrets replaced by `***`.
    pub(crate) command: String,
}

/// The quantities that a search can vary.
const fn variables() -> Choice<SearchVariable> {
    use SearchVariable::{Connections, Rate, Users};
    Choice::new(&[("rate", Rate), ("users", Users), ("connections", Connections)])
        .later(&["bandwidth", "bytes"])
}

impl SearchFlags {
    /// Checks the options and reads the named files; `command` is the redacted command line. Errors
    /// are reported together with those in `errors`.
    pub(super) fn resolve(mut self, command: String, mut errors: Errors) -> Result<SearchArgs, UserError> {
        let goal = match curl::url_or(self.goal, &mut self.options) {
            Ok(goal) => goal,
            Err(error) => return errors.finish(Err(error)),
        };
        let file_only = self.options.load.first_file_only_flag();
        let ResolvedOptions { mut options, source_auto, request } = self.options.resolve(&mut errors);
        let goal = parse_load_source(&goal, self.experiment, file_only, request, &mut options);
        let goal = errors.finish(goal)?;
        let space = self.space;
        check_meaningful(&goal, space.of, &options, space.phase.is_some())?;
        let setup = space.setup(options.seed.unwrap_or(SEED))?;
        check_searchable(&options.thresholds)?;
        if matches!(goal, LoadSource::Url(_)) && options.thresholds.is_empty() {
            return Err(no_threshold("the search has no threshold"));
        }
        let (usual_length, usual_settle) = if space.quick { QUICK } else { (LENGTH, SETTLE) };
        let length = options.duration.take().unwrap_or(usual_length);
        let warmup = options.warmup.take().unwrap_or(Nanos((length.0 / 10).clamp(WARMUP.0, WARMUP.1)));
        let output = self.output;
        output.check_conflicts(false)?;
        check_files(&output.out)?;
        output.check_language()?;
        self.fleet.check(false, source_auto)?;
        self.metrics.check(false, output.format())?;
        Ok(SearchArgs {
            goal,
            options,
            source_auto,
            sought: space.of,
            setup,
            limits: SearchTiming {
                length,
                warmup,
                settle: space.settle.unwrap_or(usual_settle),
                max_time: space.max_time,
            },
            phase: space.phase,
            output,
            fleet: self.fleet,
            metrics: self.metrics,
            command,
        })
    }
}

impl SearchSpaceArgs {
    fn setup(&self, seed: u64) -> Result<Setup, UserError> {
        let (grain, from) = match self.of {
            SearchVariable::Rate => (Granularity::Rate, 100.0),
            SearchVariable::Users | SearchVariable::Connections => (Granularity::Whole, 1.0),
        };
        let usual = Setup::new(
            grain,
            self.level("--from", self.from.as_deref())?.unwrap_or(from),
            self.level("--to", self.to.as_deref())?.unwrap_or(1e6),
        );
        let usual = if self.quick { usual.quickly() } else { usual };
        let setup = Setup {
            levels: self.levels.unwrap_or(usual.levels),
            repeats: self.repeats.unwrap_or(usual.repeats),
            step: self.step.unwrap_or(usual.step),
            seed,
            ..usual
        };
        setup.check()?;
        Ok(setup)
    }

    /// Parses a level. What it is depends on `--of`, which may follow it.
    fn level(&self, option: &str, text: Option<&str>) -> Result<Option<f64>, UserError> {
        let level = text.map(|text| match self.of {
            SearchVariable::Rate => Ok(parse_rate_positive(text)?.as_per_second()),
            SearchVariable::Users | SearchVariable::Connections => Ok(parse_count_positive(text)? as f64),
        });
        with_flag(option, level.transpose())
    }
}

/// Refuses options of `run` that the search decides itself, or that do not apply to it.
fn check_meaningful(
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
        (
            "--streams",
            options.streams.is_some_and(|streams| streams > 1) && sought == SearchVariable::Users,
            "--of connections varies connections that carry several streams",
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
            Err(UserError::usage(Code::Conflict, format!("{name} does not apply to this search"), hint))
        }
        None => Ok(()),
    }
}
