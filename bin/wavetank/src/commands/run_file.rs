//! `wavetank run FILE`: read, lower, guard, load, judge, deliver.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_experiment::{DataContent, Experiment, Lowered, Lowering, Sources, lower, rows_table};
use wavetank_journey::StepWork;
use wavetank_journey::rows::Table;
use wavetank_plan::{
    ConnectionUse, EngineChoice, ExitCode, Guard, Plan, RunOptions, Scenario, SourcesPlan, StatusSet, Step,
    Subject, Tested, UserError,
};
use wavetank_report::load_doc;
use wavetank_store::RunsDir;

use super::baseline::Baseline;
use super::lab_ahead::LabAhead;
use super::run::{Delivery, carry_out, own_addresses_of, say, try_sources_of};
use crate::calibrate::plan_overload;
use crate::cli::{FileArgs, OutFile, OutputFormat, RunArgs, without_values};
use crate::experiment::{Loaded, Names, Rows, with_whole_names};
use crate::run::out_file::open_all;
use crate::run::{Execution, Host, Talk, askable, is_safe, output, tls_client};

/// Everything that can be found wrong is found before anything is sent.
pub(super) fn run_file(
    file: &FileArgs,
    args: RunArgs,
    baseline: Option<Baseline>,
    lab: Option<LabAhead<'_>>,
) -> Result<u8, UserError> {
    let RunArgs { options, source_auto, format, out, language, runs_dir, no_archive, quiet, command, .. } =
        args;
    let options = with_whole_names(options);
    let mut loaded = Loaded::read(file, &options, Rows::Now)?;
    let Some(experiment) = loaded.experiment.take() else { return refused(&loaded, format, &out) };
    let command = without_values(&command, &file.set, &experiment.redact);
    let rehearsal = rehearsal(file, &loaded.name);
    let host = ready_host(&experiment, rehearsal.is_some(), lab)?;
    let own = |targets: &[SocketAddr], name: &str| own_addresses_of(&host, targets, name);
    let names = Names::new(&experiment);
    let tables = std::mem::take(&mut loaded.tables);
    let lowering = Lowering {
        host: &host.facts,
        tables: &tables,
        addresses: &|url| names.addresses(url),
        file: &|name| loaded.file(name),
        secret: &|name| file.secret(name),
        sources: sources(&experiment, &options, source_auto, &names, &own)?,
        threads: options.threads,
        engine: options.engine.unwrap_or(EngineChoice::Auto),
    };
    let Lowered { plan, lacking, mut remarks, engine_why } =
        lower(&experiment, &lowering).map_err(|unfit| unfit.told(&loaded.name))?;
    let guard = Guard::new(options.allow_target);
    names.admit(&guard, &plan, &command)?;
    if let Some(error) = UserError::all(lacking) {
        return Err(error);
    }
    try_sources_of(&host, &plan)?;
    let tls = tls_client(&plan)?;
    let tables = all_tables(&experiment, tables)?;
    truth_can_be_asked(&experiment, &host, &plan)?;
    let probe = experiment.probe.unwrap_or_default().then(|| probed(&plan)).transpose()?;
    baseline.as_ref().map_or(Ok(()), |baseline| baseline.fits(&plan))?;
    let files = open_all(&out)?;
    let mut talk = Talk::new(quiet);
    if !loaded.diagnostics.is_empty() {
        talk.say(loaded.rendered().trim_end());
    }
    let load = load_doc(&plan, !experiment.has_phases());
    remarks.extend(plan_overload(&plan, &host.facts));
    say(&mut talk, &load.text, (&plan, engine_why.as_ref()), &remarks);
    let runs_dir = (!no_archive).then_some(runs_dir);
    let delivery = Delivery { format, files, language, runs_dir, command, baseline };
    let execution = Execution {
        load,
        plan: Arc::new(plan),
        tls,
        host: &host,
        engine_why,
        command: &delivery.command.clone(),
        runs_dir: delivery.runs_dir.as_ref().map(RunsDir::new),
        // What comes next for a plain run is told in its options, and a file has those already.
        repeatable: false,
        probe,
        tables,
        guard,
        truth: experiment.truth,
        rehearsal,
        knee_sought: false,
    };
    carry_out(execution, &mut talk, delivery)
}

/// If the file wants the target's own count, somebody can be asked for it.
fn truth_can_be_asked(experiment: &Experiment, host: &Host, plan: &Plan) -> Result<(), UserError> {
    if experiment.truth != Some(true) {
        return Ok(());
    }
    let servers = host.lab.as_ref().map(|lab| lab.servers(plan));
    askable(plan, servers.as_deref())
}

/// This host, or those of the lab, if they can do what the file asks for.
fn ready_host(
    experiment: &Experiment,
    rehearsal: bool,
    lab: Option<LabAhead<'_>>,
) -> Result<Host, UserError> {
    unready(experiment, rehearsal, lab.as_ref())?;
    Host::look_from(LabAhead::entered(lab)?)
}

/// A plan of the one request that is sent ahead: the first that is the same for everybody and changes nothing.
pub(super) fn probed(plan: &Plan) -> Result<Arc<Plan>, UserError> {
    let fixed = |step: &&Step| {
        is_safe(&step.request.method)
            && StepWork::new(step, plan, false).is_ok_and(|work| work.as_fixed().is_some())
    };
    let step = plan.scenarios.iter().flat_map(|scenario| &scenario.steps).find(fixed).ok_or_else(|| {
        let message =
            "nothing can be probed: no step is a GET, HEAD or OPTIONS that is the same for everybody";
        UserError::usage("nothing_to_probe", message, "leave --probe and probe: true out, or --no-probe")
    })?;
    let mut one = plan.clone();
    one.http.timeout = step.timeout.unwrap_or(plan.http.timeout);
    // What a step says of its own answer is its own affair.
    let asks = step.checks.iter().any(|check| check.subject == Tested::Answer("status".to_owned()));
    if asks {
        one.http.expect = StatusSet::parse("100 to 599")?;
    }
    one.scenarios = vec![Scenario::of_steps(String::new(), ConnectionUse::User, vec![step.clone()])];
    Ok(Arc::new(one))
}

/// Tells what keeps the file from being run, as the result was wanted.
pub(super) fn refused(loaded: &Loaded, format: OutputFormat, out: &[OutFile]) -> Result<u8, UserError> {
    output::deliver_error(&loaded.first_error(), out);
    match format {
        OutputFormat::Json => loaded.tell_errors(crate::cli::FileFormat::Json),
        OutputFormat::Junit => {
            output::print(&output::render_error(&loaded.first_error(), format))?;
            Ok(ExitCode::Usage as u8)
        }
        _ => loaded.tell_errors(crate::cli::FileFormat::Text),
    }
}

/// What a rehearsal is one of; `None`: the run is the real one.
fn rehearsal(file: &FileArgs, name: &str) -> Option<String> {
    let scale = file.scale.map(|factor| format!("--scale {factor}"));
    let speed = file.speed.map(|factor| format!("--speed {factor}"));
    let how: Vec<String> = scale.into_iter().chain(speed).collect();
    (!how.is_empty())
        .then(|| format!("a rehearsal of {name} with {}: not the load that it asks for", how.join(" ")))
}

/// What a file may ask for and a run on one host cannot give.
pub(super) fn unready(
    experiment: &Experiment,
    rehearsal: bool,
    lab: Option<&LabAhead<'_>>,
) -> Result<(), UserError> {
    let refused = |code, message: String, hint: &str| Err(UserError::usage(code, message, hint));
    if let (Some(event), None) = (experiment.events.first(), lab) {
        let message = format!("events: nobody here can run a command on {}", event.host.value);
        return refused(
            "events_alone",
            message,
            "wavetank lab run LAB FILE carries them out in a lab; or leave events out",
        );
    }
    let conditions = experiment.thresholds.iter().chain(&experiment.stop);
    if let Some(lab) = lab {
        return lab.knows(conditions.map(|one| &one.value)).and_then(|()| lab.can_do(experiment));
    }
    let mut unobserved = conditions.filter(|one| matches!(one.value.subject, Subject::Host(..)));
    if let Some(condition) = unobserved.next()
        && !rehearsal
    {
        let message = format!("`{}`: nobody observes that host", condition.value.text);
        let hint = "leave it out; --scale or --speed rehearse without it; in a lab hosts are observed: wavetank lab run LAB FILE";
        return refused("host_unobserved", message, hint);
    }
    Ok(())
}

/// What finds out the addresses that lead to targets of a name.
pub(super) type OwnAddresses<'a> = dyn Fn(&[SocketAddr], &str) -> Result<SourcesPlan, UserError> + 'a;

/// The option's, or the file's.
pub(super) fn sources(
    experiment: &Experiment,
    options: &RunOptions,
    auto: bool,
    names: &Names<'_>,
    own_addresses: &OwnAddresses<'_>,
) -> Result<SourcesPlan, UserError> {
    let own = || {
        let first = experiment.targets.first().and_then(|target| target.urls.first());
        own_addresses(&names.of_targets()?, first.map_or("", |one| one.url.value.host.as_str()))
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

/// One table for each source of data, those that are written out among them.
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
