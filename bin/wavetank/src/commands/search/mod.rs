//! `wavetank search URL|FILE`: makes runs until the highest load that meets the thresholds is
//! known.

mod subject;

use wavetank_metrics::OpenOutputs;
use wavetank_record::SearchDoc;
use wavetank_runner::{Host, RunConsole as _, SearchSettings, SharedOutputs, TargetAddresses, run_search};
use wavetank_units::{ExitCode, UserError};

use super::fleet::connect_fleet;
use super::run_file::report_load_errors;
use crate::cli::{LoadSource, OutputFormat, SearchArgs, without_values};
use crate::experiment::{DataLoading, ExperimentFile, with_absolute_paths};
use crate::output::{self, Console, open_all};
use subject::{SearchSubject, from_experiment, from_url};

/// Searches and reports the result. Mistakes that can be found before anything is sent are errors.
pub(crate) fn search(mut args: SearchArgs) -> Result<u8, UserError> {
    // Each level connects again, so that a long search does not depend on one connection.
    let host = Host::inspect()?.with_fleet(connect_fleet(&args.fleet)?.as_ref());
    let mut talk = Console::new(args.output.quiet);
    match args.goal.clone() {
        LoadSource::Url(url) => {
            let aim = from_url(&url, &args, &host)?;
            search_and_report(&aim, &args, &host, &mut talk)
        }
        LoadSource::File(file) => {
            let options = with_absolute_paths(args.options.clone());
            let mut loaded = ExperimentFile::read(&file, &options, DataLoading::Now)?;
            let Some(experiment) = loaded.experiment.take() else {
                return report_load_errors(&loaded, args.output.format(), &args.output.out);
            };
            // This diagnostic is about the length of the file's own load. Levels are as long as
            // percentiles need.
            loaded.diagnostics.forget("percentile_undecided");
            args.command = without_values(&args.command, &file.set, &experiment.redact);
            let names = TargetAddresses::new(&experiment);
            let aim = from_experiment(&file, &loaded, &experiment, &names, (&args, &host))?;
            if !loaded.diagnostics.is_empty() {
                talk.info(loaded.rendered().trim_end());
            }
            search_and_report(&aim, &args, &host, &mut talk)
        }
    }
}

/// Searches `aim` and writes the result in every requested format.
fn search_and_report(
    aim: &SearchSubject<'_>,
    args: &SearchArgs,
    host: &Host,
    talk: &mut Console,
) -> Result<u8, UserError> {
    if args.output.formats().into_iter().any(OutputFormat::is_single_run) {
        return Err(output::unsupported_for_search());
    }
    let files = open_all(&args.output.out)?;
    let metrics = SharedOutputs::start(OpenOutputs::open(&args.metrics.outputs, false)?)?;
    let (doc, folder) = run_search(aim, &settings(args), (host, metrics.as_ref()), talk)?;
    if let Some(metrics) = metrics {
        metrics.finish(talk);
    }
    let delivered = output::deliver_search(&doc, args.output.format(), files, args.output.language());
    if let Some(kept) = folder {
        talk.info(&kept);
    }
    end(&doc, delivered, talk)
}

/// Returns what the search needs of `args` apart from its load.
fn settings(args: &SearchArgs) -> SearchSettings {
    SearchSettings {
        sought: args.sought,
        setup: args.setup,
        limits: args.limits,
        command: args.command.clone(),
        runs_dir: (!args.output.no_archive).then(|| args.output.runs_dir()),
    }
}

/// Returns the exit code. If the search found nothing, its exit code takes precedence, and output
/// that failed is still reported.
fn end(doc: &SearchDoc, delivered: Result<(), UserError>, talk: &mut Console) -> Result<u8, UserError> {
    match delivered {
        Err(error) if doc.answer.exit != ExitCode::Pass as u8 => {
            talk.warn_of(&error);
            Ok(doc.answer.exit)
        }
        delivered => delivered.map(|()| doc.answer.exit).map_err(output::sent_but_unwritten),
    }
}
