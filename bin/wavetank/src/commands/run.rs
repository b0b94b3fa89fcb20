//! `wavetank run URL|FILE`: the parts common to both. [`run_file`](super::run_file) has those of
//! files.

use wavetank_experiment::{check_conflicts, connect_addresses, plan_url};
use wavetank_metrics::OpenOutputs;
use wavetank_plan::{RunOptions, TargetUrl};
use wavetank_runner::{
    Execution, FleetLoad, Host, MetricsOutputs, PlannedLab, PreparedRun, RunConsole as _, check_allowed,
    check_sources, lookup_url, source_addresses,
};
use wavetank_store::RunsDir;
use wavetank_units::UserError;

use super::baseline::Baseline;
use super::control::{detach, leave_terminal};
use super::fleet::connect_fleet;
use super::once::once;
use super::planned_load::{OutputPlan, announce, execute_and_report};
use super::run_file::run_file;
use super::run_surroundings::RunSurroundings;
use super::try_file::try_file;
use super::ui::start_page;
use crate::cli::{ExperimentSource, FileArgs, LoadSource, RunArgs, TryArgs};
use crate::output::Console;
use crate::output::open_all;

/// Resolves options, checks permissions, probes, runs the load, judges it and writes the result.
pub(crate) fn run(args: RunArgs) -> Result<u8, UserError> {
    if args.detach {
        return detach();
    }
    leave_terminal();
    if args.ui {
        let url = start_page(args.output.archive_dir().as_deref())?;
        Console::new(args.output.quiet).info(&format!("page       {url}"));
    }
    run_from(args, None)
}

/// Runs from the hosts of `lab`, if given. The lab is entered after all checks that do not need it.
pub(super) fn run_from(args: RunArgs, lab: Option<PlannedLab<'_>>) -> Result<u8, UserError> {
    let baseline =
        args.baseline.as_ref().map(|words| Baseline::load(words, &args.output.runs_dir())).transpose()?;
    // This process is still in its own network.
    let metrics = OpenOutputs::open(&args.metrics.outputs, lab.is_some())?;
    let around = RunSurroundings { baseline, lab, metrics };
    match &args.goal {
        LoadSource::Url(url) => run_url(&url.clone(), args, around),
        LoadSource::File(file) if args.options.once && is_url(file) => try_url(file.clone(), args),
        LoadSource::File(file) => run_file(&file.clone(), args, around),
    }
}

const fn is_url(file: &FileArgs) -> bool {
    matches!(file.source, ExperimentSource::Url { .. })
}

/// `--once` of a request with templates: one user sends it once.
fn try_url(file: FileArgs, args: RunArgs) -> Result<u8, UserError> {
    check_conflicts(&args.options)?;
    let options = RunOptions { once: false, ..args.options };
    try_file(TryArgs {
        file,
        options,
        scenarios: Vec::new(),
        think: false,
        requests: 1,
        command: args.command,
    })
}

fn run_url(url: &TargetUrl, args: RunArgs, around: RunSurroundings<'_>) -> Result<u8, UserError> {
    let RunSurroundings { baseline, lab, metrics } = around;
    let RunArgs { mut options, source_auto, output, command, fleet, observe, .. } = args;
    if let Some(lab) = &lab {
        lab.check_hosts_exist(options.thresholds.iter().chain(&options.stop))?;
    }
    options.connect_point(url)?;
    let fleet = connect_fleet(&fleet)?;
    let host = Host::inspect_lab(PlannedLab::enter(lab)?)?.with_fleet(fleet.as_ref()).observing(observe);
    let addresses = lookup_url(&mut options, url)?;
    if source_auto {
        let first = options.proxy.as_ref().map_or(&url.host, |proxy| &proxy.url.at.host).clone();
        options.sources = source_addresses(&host, &connect_addresses(&options, url, &addresses)?, &first)?;
    }
    let resolved = plan_url(&options, url, &addresses, &host.facts)?;
    check_allowed(&resolved, &options, url, &command)?;
    check_sources(&host, &resolved.plan)?;
    let fleet = FleetLoad::plan(fleet, &host, &resolved.plan, &options, options.probe)?;
    baseline.as_ref().map_or(Ok(()), |baseline| baseline.check_comparable(&resolved.plan))?;
    let defaults = options.connections.is_none()
        && options.rate.is_none()
        && options.duration.is_none()
        && options.requests.is_none();
    let probes = !host.facts.is_fleet() && options.probe != Some(false);
    let load = resolved.load.clone();
    let prepared = PreparedRun::from_url(resolved, defaults, probes)?;
    let files = open_all(&output.out)?;
    if options.once {
        return once(&prepared.plan, &host, prepared.tls);
    }
    let mut talk = Console::new(output.quiet).with_views(output.plain);
    announce(&mut talk, &load, &prepared, &host);
    let (format, runs_dir) = (output.format(), output.archive_dir());
    let delivery = OutputPlan { format, files, language: output.language(), runs_dir, command, baseline };
    let execution = Execution {
        prepared,
        host: &host,
        command: &delivery.command.clone(),
        runs_dir: delivery.runs_dir.as_ref().map(RunsDir::new),
        repeatable: true,
        fleet,
        rehearsal: None,
        search: None,
        known_latency: None,
        samples_host: true,
        metrics: Some(MetricsOutputs::Own(metrics)),
    };
    execute_and_report(execution, &mut talk, delivery)
}
