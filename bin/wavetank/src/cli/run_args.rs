//! Arguments of `wavetank run`: [`RunFlags`] as typed, [`RunArgs`] with the named files read.

use std::ffi::OsString;

use clap::Args;
use wavetank_plan::RunOptions;
use wavetank_units::UserError;

use super::baseline_args::{BaselineArgs, BaselineFlags};
use super::curl;
use super::errors::Errors;
use super::experiment_args::ExperimentArgs;
use super::fleet_run_args::FleetRunArgs;
use super::load_source::{LoadSource, parse_load_source};
use super::metrics_args::MetricsArgs;
use super::output_args::{OutputArgs, check_files};
use super::override_args::{OverrideArgs, ResolvedOptions};

/// `wavetank run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Quantities have units: 30s 250ms 1m30s · 500/s 5k/s 7/min · 10k 1M · 1%  (m is minutes, M is million)
Conditions are SUBJECT OP VALUE [in PHASE] [for WINDOW]:
  p99 < 250ms · max(lag) < 5ms · failed < 0.1% · done_rate > 1k/s · errors(reset) = 0
Exit codes: 0 pass · 1 fail · 2 wrong usage · 3 invalid (the generator was in doubt) ·
  4 incomplete · 5 refused · 130 interrupted")]
pub(super) struct RunFlags {
    /// Target URL or experiment file: http://host:port/path, https, ws, wss, host/path, host:port,
    /// :8080/path (this host). Path, query, -H, --body, --json and --form may contain templates:
    /// ${`uuid()`}, ${random(1,100)}
    #[arg(value_name = "URL|FILE", required_unless_present = "curl")]
    goal: Option<OsString>,
    #[command(flatten)]
    experiment: ExperimentArgs,
    #[command(flatten)]
    options: OverrideArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    metrics: MetricsArgs,
    #[command(flatten)]
    baseline: BaselineFlags,
    #[command(flatten)]
    fleet: FleetRunArgs,
    /// Run in the background; `wavetank attach` shows it
    #[arg(long, help_heading = "Result")]
    detach: bool,
    /// Serve a web page of the run, and print its address
    #[arg(long, help_heading = "Result")]
    ui: bool,
}

/// `wavetank run`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunArgs {
    /// The URL or experiment file to load.
    pub(crate) goal: LoadSource,
    /// The load and its settings; with an experiment file, the values that replace those of the
    /// file.
    pub(crate) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(crate) source_auto: bool,
    /// Output and archive.
    pub(crate) output: OutputArgs,
    /// The command as typed, quoted for a shell, with secrets replaced by `***`. The archive stores
    /// it.
    pub(crate) command: String,
    /// Runs to compare the finished run with.
    pub(crate) baseline: Option<BaselineArgs>,
    /// The fleet that sends the load.
    pub(crate) fleet: FleetRunArgs,
    /// The run goes on in the background.
    pub(crate) detach: bool,
    /// A page shows the run.
    pub(crate) ui: bool,
    /// Where metrics go.
    pub(crate) metrics: MetricsArgs,
}

impl RunFlags {
    /// Checks the options and reads the named files; `command` is the redacted command line. Errors
    /// are reported together with those in `errors`.
    pub(super) fn resolve(mut self, command: String, mut errors: Errors) -> Result<RunArgs, UserError> {
        let goal = match curl::url_or(self.goal, &mut self.options) {
            Ok(goal) => goal,
            Err(error) => return errors.finish(Err(error)),
        };
        let file_only = self.options.load.first_file_only_flag();
        let ResolvedOptions { mut options, source_auto, request } = self.options.resolve(&mut errors);
        let goal = parse_load_source(&goal, self.experiment, file_only, request, &mut options);
        let output = self.output;
        errors.keep(output.check_conflicts(options.once));
        errors.keep(check_files(&output.out));
        errors.keep(output.check_archive());
        errors.keep(self.fleet.check(options.once, source_auto));
        errors.keep(self.metrics.check(options.once, output.format()));
        let formats = output.formats();
        errors.keep(output.check_language());
        errors.keep(check_detached(self.detach, &output, options.once));
        errors.keep(check_page(self.ui, self.detach, options.once));
        let kept = !output.no_archive && !options.once;
        let baseline = errors.keep(self.baseline.resolve(&formats, kept));
        let (goal, fleet, metrics) = (errors.finish(goal)?, self.fleet, self.metrics);
        let (detach, ui) = (self.detach, self.ui);
        Ok(RunArgs { goal, options, source_auto, output, command, baseline, fleet, detach, ui, metrics })
    }
}

/// Refuses a run in the background without a result.
fn check_detached(detach: bool, output: &OutputArgs, once: bool) -> Result<(), UserError> {
    let refused = |other: &str, hint: &str| {
        Err(UserError::usage("conflict", format!("--detach and {other} exclude each other"), hint))
    };
    match (detach, once) {
        (true, true) => refused("--once", "leave out --detach: one response is printed when it comes"),
        (true, false) if output.no_archive && output.out.is_empty() => {
            refused("--no-archive", "keep the archive, or add --out FILE for the result")
        }
        _ => Ok(()),
    }
}

/// Refuses a page of a run that it could not show.
fn check_page(ui: bool, detach: bool, once: bool) -> Result<(), UserError> {
    let refused = |other: &str, hint: &str| {
        Err(UserError::usage("conflict", format!("--ui and {other} exclude each other"), hint))
    };
    match (ui, detach, once) {
        (true, true, _) => refused("--detach", "start the run with --detach, then: wavetank ui"),
        (true, false, true) => refused("--once", "leave out --ui: one response is printed when it comes"),
        _ => Ok(()),
    }
}
