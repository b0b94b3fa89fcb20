//! Arguments of `wavetank run`: [`RunFlags`] as typed, [`RunArgs`] with the named files read.

use std::ffi::OsString;

use clap::Args;
use wavetank_plan::{RunOptions, THIS_HOST};
use wavetank_units::{Code, UserError};

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
Exit codes: 0 pass · 1 fail · 2 usage error · 3 invalid (the generator may have affected the result) ·
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
    /// Hosts under test to sample over ssh during the run, joined by commas: findings name them
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', help_heading = "Result")]
    observe: Vec<String>,
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
    /// Hosts under test that are sampled over ssh.
    pub(crate) observe: Vec<String>,
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
        errors.keep(check_observed(&self.observe, options.once));
        let kept = !output.no_archive && !options.once;
        let baseline = errors.keep(self.baseline.resolve(&formats, kept));
        let (goal, fleet, metrics) = (errors.finish(goal)?, self.fleet, self.metrics);
        let Self { detach, ui, observe, .. } = self;
        Ok(RunArgs {
            goal,
            options,
            source_auto,
            output,
            command,
            baseline,
            fleet,
            detach,
            ui,
            metrics,
            observe,
        })
    }
}

/// Longest name of such a host, in letters.
const NAME_MAX: usize = 32;
/// Most hosts that are sampled over ssh.
const OBSERVED_MAX: usize = 64;

/// Refuses hosts that cannot have a file in the archive, and too many of them.
fn check_observed(hosts: &[String], once: bool) -> Result<(), UserError> {
    let refused = |message: String, hint: &str| Err(UserError::usage(Code::ObservedHost, message, hint));
    if once && !hosts.is_empty() {
        let message = "--observe and --once exclude each other".to_owned();
        return Err(UserError::usage(
            Code::Conflict,
            message,
            "leave out --observe: one response is printed",
        ));
    }
    if hosts.len() > OBSERVED_MAX {
        return refused(
            format!("--observe: {} hosts, and at most {OBSERVED_MAX} are sampled", hosts.len()),
            "name the hosts that take the load",
        );
    }
    let is_file_name = |host: &str| {
        let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        !host.is_empty() && !host.starts_with('-') && host.len() <= NAME_MAX && host.chars().all(fits)
    };
    for (number, host) in hosts.iter().enumerate() {
        if !is_file_name(host) || host == THIS_HOST {
            return refused(
                format!("--observe: `{host}` cannot name a file of the archive"),
                "use an alias of ssh's configuration with letters in lower case, digits and `-`: --observe web1,web2",
            );
        }
        if hosts[..number].contains(host) {
            return refused(format!("--observe: `{host}` is named twice"), "name each host once");
        }
    }
    Ok(())
}

/// Refuses a run in the background without a result.
fn check_detached(detach: bool, output: &OutputArgs, once: bool) -> Result<(), UserError> {
    let refused = |other: &str, hint: &str| {
        Err(UserError::usage(Code::Conflict, format!("--detach and {other} exclude each other"), hint))
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
        Err(UserError::usage(Code::Conflict, format!("--ui and {other} exclude each other"), hint))
    };
    match (ui, detach, once) {
        (true, true, _) => refused("--detach", "start the run with --detach, then: wavetank ui"),
        (true, false, true) => refused("--once", "leave out --ui: one response is printed when it comes"),
        _ => Ok(()),
    }
}
