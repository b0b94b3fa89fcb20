//! `wavetank run FILE`: reads and lowers the file, checks permissions, probes, runs the load,
//! judges it and writes the result.

use wavetank_runner::{
    Execution, ExperimentSource, FleetLoad, Host, MetricsOutputs, PlannedLab, PreparedRun, RunConsole as _,
    TargetAddresses, check_supported,
};
use wavetank_store::RunsDir;
use wavetank_units::{ExitCode, Sentence, UserError, sentence};

use super::fleet::connect_fleet;
use super::planned_load::{OutputPlan, announce, execute_and_report};
use super::run_surroundings::RunSurroundings;
use crate::cli::{FileArgs, OutFile, OutputArgs, OutputFormat, RunArgs, without_values};
use crate::experiment::{DataLoading, ExperimentFile, with_absolute_paths};
use crate::output::{self, Console, open_all};

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
    check_supported(&experiment, rehearsal.is_some(), lab.as_ref(), &observe)?;
    let host = Host::inspect_lab(PlannedLab::enter(lab)?)?.observing(observe).with_fleet(fleet.as_ref());
    let tables = std::mem::take(&mut loaded.tables);
    let source = ExperimentSource {
        experiment: &experiment,
        name: &loaded.name,
        addresses: &TargetAddresses::new(&experiment),
        file: &|name| loaded.file(name),
        secret: &|name| file.secret(name),
        options: &options,
        source_auto,
        command: &command,
    };
    let prepared = PreparedRun::from_experiment(&source, tables, &host)?;
    let probe = options.probe.or(experiment.probe);
    let fleet = FleetLoad::plan(fleet, &host, &prepared.plan, &options, probe)?;
    baseline.as_ref().map_or(Ok(()), |baseline| baseline.check_comparable(&prepared.plan))?;
    let files = open_all(out)?;
    let mut talk = console(&output, &loaded);
    announce(&mut talk, &prepared.load.text, &prepared, &host);
    let delivery = OutputPlan { format, files, language: output.language(), runs_dir, command, baseline };
    let execution = Execution {
        prepared,
        host: &host,
        command: &delivery.command.clone(),
        runs_dir: delivery.runs_dir.as_ref().map(RunsDir::new),
        // The suggested next command uses options of a URL run, which the file already sets.
        repeatable: false,
        fleet,
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
fn rehearsal(file: &FileArgs, name: &str) -> Option<Sentence> {
    let scale = file.scale.filter(|factor| !factor.is_one()).map(|factor| format!("--scale {factor}"));
    let speed = file.speed.filter(|factor| !factor.is_one()).map(|factor| format!("--speed {factor}"));
    let how: Vec<String> = scale.into_iter().chain(speed).collect();
    (!how.is_empty())
        .then(|| sentence!("a rehearsal of {name} with {}: not the load that it asks for", how.join(" ")))
}
