//! `wavetank run FILE`: reads and lowers the file, checks permissions, probes, runs the load,
//! judges it and writes the result.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_experiment::{DataContent, Experiment, LowerContext, LoweredPlan, Sources, lower, rows_table};
use wavetank_journey::CompiledStep;
use wavetank_journey::data::Table;
use wavetank_plan::{
    CheckSubject, ConnectionOwner, EngineChoice, Guard, Plan, RunOptions, Scenario, SourcesPlan, StatusSet,
    Step, Subject, THIS_HOST, matches_host,
};
use wavetank_report::load_doc;
use wavetank_runner::{Execution, Host, MetricsOutputs, RunConsole as _, is_safe, tls_client};
use wavetank_store::RunsDir;
use wavetank_units::{ExitCode, UserError};

use super::fleet::{connect_fleet, fleet_load};
use super::planned_lab::PlannedLab;
use super::planned_load::{OutputPlan, announce, execute_and_report};
use super::run_surroundings::RunSurroundings;
use super::source_addresses::{check_sources, source_addresses};
use crate::calibrate::plan_overload;
use crate::cli::{FileArgs, OutFile, OutputArgs, OutputFormat, RunArgs, without_values};
use crate::experiment::{DataLoading, ExperimentFile, TargetAddresses, with_absolute_paths};
use crate::output::open_all;
use crate::output::{self, Console};

/// Runs an experiment file. All errors that can be found before anything is sent are found first.
pub(super) fn run_file(file: &FileArgs, args: RunArgs, around: RunSurroundings<'_>) -> Result<u8, UserError> {
    let RunSurroundings { baseline, lab, metrics } = around;
    let RunArgs { options, source_auto, output, command, fleet, observe, .. } = args;
    let (format, out, runs_dir) = (output.format(), &output.out, output.archive_dir());
    let options = with_absolute_paths(options);
    let mut loaded = ExperimentFile::read(file, &options, DataLoading::Now)?;
    let Some(experiment) = loaded.experiment.take() else { return report_load_errors(&loaded, format, out) };
    let command = without_values(&command, &file.set, &experiment.redact);
    let rehearsal = rehearsal(file, &loaded.name);
    let fleet = connect_fleet(&fleet)?;
    let host = ready_host(&experiment, rehearsal.is_some(), lab, observe)?.with_fleet(fleet.as_ref());
    let own = |targets: &[SocketAddr], name: &str| source_addresses(&host, targets, name);
    let names = TargetAddresses::new(&experiment);
    let tables = std::mem::take(&mut loaded.tables);
    let lowering = LowerContext {
        host: &host.facts,
        tables: &tables,
        addresses: &|url| names.addresses(url),
        file: &|name| loaded.file(name),
        secret: &|name| file.secret(name),
        sources: sources(&experiment, &options, source_auto, &names, &own)?,
        threads: options.threads,
        engine: options.engine.unwrap_or(EngineChoice::Auto),
    };
    let LoweredPlan { plan, lacking, mut remarks, engine_why } =
        lower(&experiment, &lowering).map_err(|unfit| unfit.into_user_error(&loaded.name))?;
    let guard = Guard::new(options.allow_target.clone());
    names.admit(&guard, &plan, &command)?;
    if let Some(error) = UserError::combine(lacking) {
        return Err(error);
    }
    check_sources(&host, &plan)?;
    let fleet = fleet_load(fleet, &host, &plan, &options, options.probe.or(experiment.probe))?;
    let tls = tls_client(&plan)?;
    let tables = all_tables(&experiment, tables)?;
    truth_can_be_asked(&experiment, &host, &plan)?;
    let probes = !host.facts.is_fleet() && experiment.probe.unwrap_or_default();
    let probe = probes.then(|| probe_plan(&plan)).transpose()?;
    baseline.as_ref().map_or(Ok(()), |baseline| baseline.check_comparable(&plan))?;
    let files = open_all(out)?;
    let mut talk = console(&output, &loaded);
    let load = load_doc(&plan, !experiment.has_phases());
    remarks.extend(plan_overload(&plan, &host.facts));
    announce(&mut talk, &load.text, (&plan, engine_why.as_ref()), &remarks);
    let delivery = OutputPlan { format, files, language: output.language(), runs_dir, command, baseline };
    let execution = Execution {
        load,
        plan: Arc::new(plan),
        tls,
        host: &host,
        engine_why,
        command: &delivery.command.clone(),
        runs_dir: delivery.runs_dir.as_ref().map(RunsDir::new),
        // The suggested next command uses options of a URL run, which the file already sets.
        repeatable: false,
        probe,
        tables,
        fleet,
        guard,
        truth: experiment.truth,
        rehearsal,
        search: None,
        known_latency: None,
        samples_host: true,
        metrics: Some(MetricsOutputs::Own(metrics)),
    };
    execute_and_report(execution, &mut talk, delivery)
}

/// Prints the remarks about the file.
fn console(output: &OutputArgs, loaded: &ExperimentFile) -> Console {
    let mut talk = Console::new(output.quiet).with_views(output.plain);
    if !loaded.diagnostics.is_empty() {
        talk.info(loaded.rendered().trim_end());
    }
    talk
}

/// Checks that a target can be asked for its own count if the file requires it.
fn truth_can_be_asked(experiment: &Experiment, host: &Host, plan: &Plan) -> Result<(), UserError> {
    if experiment.truth != Some(true) {
        return Ok(());
    }
    host.check_target_counts_available(plan)
}

/// Returns this host, or the hosts of the lab, if they support the file's features.
fn ready_host(
    experiment: &Experiment,
    rehearsal: bool,
    lab: Option<PlannedLab<'_>>,
    observed: Vec<String>,
) -> Result<Host, UserError> {
    check_supported(experiment, rehearsal, lab.as_ref(), &observed)?;
    Ok(Host::inspect_lab(PlannedLab::enter(lab)?)?.observing(observed))
}

/// Returns a plan with only the probe request: the first step that is the same for all users and
/// changes nothing.
pub(super) fn probe_plan(plan: &Plan) -> Result<Arc<Plan>, UserError> {
    let fixed = |step: &&Step| {
        is_safe(&step.request.method)
            && CompiledStep::new(step, plan, false).is_ok_and(|work| work.as_fixed().is_some())
    };
    let step = plan.scenarios.iter().flat_map(|scenario| &scenario.steps).find(fixed).ok_or_else(|| {
        let message =
            "nothing can be probed: no step is a GET, HEAD or OPTIONS that is the same for all users";
        UserError::usage("nothing_to_probe", message, "leave out --probe and probe: true, or use --no-probe")
    })?;
    let mut one = plan.clone();
    one.http.timeout = step.timeout.unwrap_or(plan.http.timeout);
    // The step checks the status itself, so the probe accepts every status.
    let asks = step.checks.iter().any(|check| check.subject == CheckSubject::Answer("status".to_owned()));
    if asks {
        one.http.expect = StatusSet::parse("100 to 599")?;
    }
    one.scenarios = vec![Scenario::from_steps(String::new(), ConnectionOwner::User, vec![step.clone()])];
    Ok(Arc::new(one))
}

/// Reports the errors in the file in the output formats and files of the run.
pub(super) fn report_load_errors(
    loaded: &ExperimentFile,
    format: OutputFormat,
    out: &[OutFile],
) -> Result<u8, UserError> {
    output::deliver_error(&loaded.first_error(), out);
    match format {
        OutputFormat::Json => loaded.print_errors(crate::cli::FileFormat::Json),
        OutputFormat::Junit => {
            output::print(&output::render_error(&loaded.first_error(), format))?;
            Ok(ExitCode::Usage as u8)
        }
        _ => loaded.print_errors(crate::cli::FileFormat::Text),
    }
}

/// Describes a rehearsal; `None` if the run has the file's full load.
fn rehearsal(file: &FileArgs, name: &str) -> Option<String> {
    let scale = file.scale.filter(|factor| !factor.is_one()).map(|factor| format!("--scale {factor}"));
    let speed = file.speed.filter(|factor| !factor.is_one()).map(|factor| format!("--speed {factor}"));
    let how: Vec<String> = scale.into_iter().chain(speed).collect();
    (!how.is_empty())
        .then(|| format!("a rehearsal of {name} with {}: not the load that it asks for", how.join(" ")))
}

/// Refuses features of a file that a run on one host does not support.
pub(super) fn check_supported(
    experiment: &Experiment,
    rehearsal: bool,
    lab: Option<&PlannedLab<'_>>,
    observed: &[String],
) -> Result<(), UserError> {
    let refused = |code, message: String, hint: &str| Err(UserError::usage(code, message, hint));
    if let (Some(event), None) = (experiment.events.first(), lab) {
        let message = format!("events: cannot run a command on {}", event.host.value);
        return refused(
            "events_alone",
            message,
            "wavetank lab run LAB FILE runs them in a lab; or leave events out",
        );
    }
    let conditions = experiment.thresholds.iter().chain(&experiment.stop);
    if let Some(lab) = lab {
        return lab
            .check_hosts_exist(conditions.map(|one| &one.value))
            .and_then(|()| lab.check_events(experiment));
    }
    let is_unobserved = |subject: &Subject| {
        let Subject::Host(_, pattern) = subject else { return false };
        let mut sampled = observed.iter().map(String::as_str).chain([THIS_HOST]);
        !sampled.any(|name| matches_host(pattern, name))
    };
    let mut unobserved = conditions.filter(|one| is_unobserved(&one.value.subject));
    if let Some(condition) = unobserved.next()
        && !rehearsal
    {
        let message = format!("`{}`: that host is not sampled", condition.value.text);
        let hint = "`local` is this host: cpu(local) < 90%; --observe HOST samples another one; --scale or --speed rehearse without it; in a lab hosts are observed: wavetank lab run LAB FILE";
        return refused("host_unobserved", message, hint);
    }
    Ok(())
}

/// Finds the source addresses that lead to the targets with a name.
pub(super) type SourceResolver<'a> = dyn Fn(&[SocketAddr], &str) -> Result<SourcesPlan, UserError> + 'a;

/// Returns the source addresses of the options or, without those, of the file.
pub(super) fn sources(
    experiment: &Experiment,
    options: &RunOptions,
    auto: bool,
    names: &TargetAddresses<'_>,
    own_addresses: &SourceResolver<'_>,
) -> Result<SourcesPlan, UserError> {
    let own = || {
        let first = experiment.targets.first().and_then(|target| target.urls.first());
        own_addresses(&names.target_addresses()?, first.map_or("", |one| one.url.value.host.as_str()))
    };
    if auto {
        return own();
    }
    if !options.sources.is_empty() {
        return Ok(options.sources.clone());
    }
    match experiment.sources.as_ref().map(|sources| &sources.value) {
        Some(Sources::Auto) => own(),
        Some(Sources::These(these)) => Ok(these.clone()),
        None => Ok(SourcesPlan::default()),
    }
}

/// Returns one table for each data source, including inline ones.
pub(super) fn all_tables(
    experiment: &Experiment,
    tables: Vec<Option<Table>>,
) -> Result<Vec<Table>, UserError> {
    let one = |(source, table): (&wavetank_experiment::DataSource, Option<Table>)| {
        let table = match (&source.content, table) {
            (_, Some(table)) => Some(table),
            (DataContent::Rows { .. }, None) => rows_table(source)?,
            (DataContent::File(_), None) => None,
        };
        table.ok_or_else(|| {
            let message = format!("{} has no rows", source.name);
            UserError::usage("data_missing", message, "a file of rows, or rows: in the experiment")
        })
    };
    experiment.data.iter().zip(tables).map(one).collect()
}
