//! `wavetank run URL|FILE`: the parts common to both. [`run_file`](super::run_file) has those of
//! files.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use wavetank_driver::bind_probe;
use wavetank_plan::resolve::{check_conflicts, connect_addresses};
use wavetank_plan::{
    ExitCode, Plan, RunOptions, SourceOrder, SourcesPlan, TargetUrl, Unsupported, UserError, resolve,
};
use wavetank_record::CompareDoc;
use wavetank_report::{Language, load_doc};
use wavetank_store::RunsDir;

use super::baseline::{Baseline, combined_exit_code};
use super::once::once;
use super::planned_lab::PlannedLab;
use super::run_file::run_file;
use super::try_file::try_file;
use crate::calibrate::plan_overload;
use crate::cli::{ExperimentSource, FileArgs, LoadSource, OutputFormat, ReportOptions, RunArgs, TryArgs};
use crate::run::out_file::{OpenFile, open_all};
use crate::run::result_writer::ResultWriter;
use crate::run::{
    Console, Execution, FinishedRun, Host, check_allowed, engine_line, execute, is_safe, lookup, output,
    tls_client,
};

/// Outputs of a run: messages, results and archive.
pub(super) struct OutputPlan {
    pub(super) format: OutputFormat,
    pub(super) files: Vec<OpenFile>,
    /// Language of an HTML page.
    pub(super) language: Language,
    /// Directory of the archive; `None`: no archive is kept.
    pub(super) runs_dir: Option<PathBuf>,
    pub(super) command: String,
    /// Runs to compare the finished run with.
    pub(super) baseline: Option<Baseline>,
}

/// Resolves options, checks permissions, probes, runs the load, judges it and writes the result.
pub(crate) fn run(args: RunArgs) -> Result<u8, UserError> {
    run_from(args, None)
}

/// Runs from the hosts of `lab`, if given. The lab is entered after all checks that do not need it.
pub(super) fn run_from(args: RunArgs, lab: Option<PlannedLab<'_>>) -> Result<u8, UserError> {
    let baseline =
        args.baseline.as_ref().map(|words| Baseline::load(words, &args.output.runs_dir())).transpose()?;
    match &args.goal {
        LoadSource::Url(url) => run_url(&url.clone(), args, baseline, lab),
        LoadSource::File(file) if args.options.once && is_url(file) => try_url(file.clone(), args),
        LoadSource::File(file) => run_file(&file.clone(), args, baseline, lab),
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

fn run_url(
    url: &TargetUrl,
    args: RunArgs,
    baseline: Option<Baseline>,
    lab: Option<PlannedLab<'_>>,
) -> Result<u8, UserError> {
    let RunArgs { mut options, source_auto, output, command, .. } = args;
    if let Some(lab) = &lab {
        lab.check_hosts_exist(options.thresholds.iter().chain(&options.stop))?;
    }
    let (name, port) = options.connect_point(url)?;
    let host = Host::inspect_lab(PlannedLab::enter(lab)?)?;
    let addresses = lookup((&name, port))?;
    if let Some(proxy) = &mut options.proxy {
        proxy.addresses = lookup((&proxy.url.at.host, proxy.url.at.port))?;
    }
    if source_auto {
        let first = options.proxy.as_ref().map_or(&url.host, |proxy| &proxy.url.at.host).clone();
        options.sources = source_addresses(&host, &connect_addresses(&options, url, &addresses)?, &first)?;
    }
    let resolved = resolve(&options, url, &addresses, &host.facts)?;
    check_allowed(&resolved, &options, url, &command)?;
    check_sources(&host, &resolved.plan)?;
    let tls = tls_client(&resolved.plan)?;
    baseline.as_ref().map_or(Ok(()), |baseline| baseline.check_comparable(&resolved.plan))?;
    let files = open_all(&output.out)?;
    if options.once {
        return once(&resolved.plan, &host, tls);
    }
    let mut talk = Console::new(output.quiet);
    let mut remarks = resolved.remarks;
    remarks.extend(plan_overload(&resolved.plan, &host.facts));
    announce(&mut talk, &resolved.load, (&resolved.plan, resolved.engine_why.as_ref()), &remarks);
    let plan = Arc::new(resolved.plan);
    let defaults = options.connections.is_none()
        && options.rate.is_none()
        && options.duration.is_none()
        && options.requests.is_none();
    let (format, runs_dir) = (output.format(), output.archive_dir());
    let delivery = OutputPlan { format, files, language: output.language(), runs_dir, command, baseline };
    let execution = Execution {
        load: load_doc(&plan, defaults),
        plan: Arc::clone(&plan),
        tls,
        host: &host,
        engine_why: resolved.engine_why,
        command: &delivery.command.clone(),
        runs_dir: delivery.runs_dir.as_ref().map(RunsDir::new),
        repeatable: true,
        probe: (options.probe != Some(false) && is_safe(&plan.scenarios[0].steps[0].request.method))
            .then(|| Arc::clone(&plan)),
        tables: Vec::new(),
        guard: resolved.guard,
        truth: None,
        rehearsal: None,
        knee_sought: false,
        known_latency: None,
    };
    execute_and_report(execution, &mut talk, delivery)
}

/// Prints what the run is going to do.
pub(super) fn announce(
    talk: &mut Console,
    load: &str,
    (plan, why): (&Plan, Option<&Unsupported>),
    remarks: &[String],
) {
    talk.info(&format!("load       {load}"));
    talk.info(&engine_line(plan.engine, why));
    for remark in remarks {
        talk.info(&format!("note       {remark}"));
    }
}

/// Runs the load, judges it and writes the result.
pub(super) fn execute_and_report(
    execution: Execution<'_>,
    talk: &mut Console,
    delivery: OutputPlan,
) -> Result<u8, UserError> {
    let executed = execute(execution, talk)?;
    let archive = executed.archive.as_deref();
    let compared = delivery.baseline.as_ref().map(|baseline| baseline.compared(archive));
    let comparison = compared.as_ref().and_then(|compared| compared.as_ref().ok());
    let wants = ReportOptions { language: Some(delivery.language), ..ReportOptions::default() };
    let delivered = deliver(&executed, comparison, &wants, delivery.format, delivery.files);
    if let Some(folder) = archive {
        talk.info(&format!("archive    {}", folder.display()));
    }
    let exit = executed.record.verdict.exit;
    match delivered {
        // The exit code of a run that did not pass takes precedence. The output that failed is
        // still reported.
        Err(error) if exit != ExitCode::Pass as u8 => {
            talk.warn_of(&error);
            Ok(exit)
        }
        Err(error) => Err(output::sent_but_unwritten(error)),
        Ok(()) => Ok(combined_exit_code(compared, exit, talk)),
    }
}

/// Writes the result in all formats. Formats made of intervals are read back from the archive.
fn deliver(
    executed: &FinishedRun,
    comparison: Option<&CompareDoc>,
    wants: &ReportOptions,
    format: OutputFormat,
    files: Vec<OpenFile>,
) -> Result<(), UserError> {
    let formats = || files.iter().map(|file| file.format).chain([format]);
    let reads_archive = |format: OutputFormat| format.needs_intervals() || format == OutputFormat::Html;
    let opened = match &executed.archive {
        Some(folder) if formats().any(reads_archive) => Some(wavetank_store::open(folder)?),
        _ => None,
    };
    let outcome =
        ResultWriter::new(&executed.record, opened.as_ref(), wants, formats())?.with_comparison(comparison);
    output::deliver(&outcome, format, files)
}

/// Returns the addresses for `--source auto`: all addresses of the interface towards `targets`,
/// filled one after another. `name` is the targets' name.
pub(super) fn local_source_addresses(targets: &[SocketAddr], name: &str) -> Result<SourcesPlan, UserError> {
    let ranges = wavetank_observe::route_sources(targets).map_err(|error| {
        UserError::refused(
            "no_source_address",
            format!("--source auto: this host has no route to `{name}`: {error}"),
            "check the routes (ip route get ADDRESS), or name the addresses: --source CIDR",
        )
    })?;
    Ok(SourcesPlan { ranges, order: SourceOrder::FillFirst })
}

/// Returns the addresses for `--source auto` of all hosts that send the load.
pub(super) fn source_addresses(
    host: &Host,
    targets: &[SocketAddr],
    name: &str,
) -> Result<SourcesPlan, UserError> {
    match &host.lab {
        Some(lab) => lab.source_addresses(targets, name),
        None => local_source_addresses(targets, name),
    }
}

/// Checks before anything is sent that the load hosts can bind the source addresses.
pub(super) fn check_sources(host: &Host, plan: &Plan) -> Result<(), UserError> {
    match &host.lab {
        Some(lab) => lab.try_sources(plan),
        None => check_sources_bindable(plan),
    }
}

/// Checks before anything is sent that this host can bind the first address of every source range.
pub(super) fn check_sources_bindable(plan: &Plan) -> Result<(), UserError> {
    for range in &plan.sources.ranges {
        bind_probe(SocketAddr::new(range.first, 0)).map_err(|errno| {
            UserError::refused(
                "no_source_address",
                format!("this host cannot bind the source address {}: {errno}", range.first),
                format!("give it to an interface: ip address add {} dev INTERFACE", range.first),
            )
        })?;
    }
    Ok(())
}
