//! Runs a planned load and delivers its result: the common part of `run URL` and `run FILE`.

use std::path::PathBuf;

use wavetank_record::CompareDoc;
use wavetank_report::{Language, engine_line};
use wavetank_runner::{Execution, FinishedRun, Host, PreparedRun, RunConsole as _, execute};
use wavetank_units::{ExitCode, UserError};

use super::baseline::{Baseline, combined_exit_code};
use crate::calibrate::plan_overload;
use crate::cli::{OutputFormat, ReportOptions};
use crate::output::OpenFile;
use crate::output::ResultWriter;
use crate::output::{self, Console};

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

/// Prints what the run is going to do; `load` describes its load.
pub(super) fn announce(talk: &mut Console, load: &str, run: &PreparedRun, host: &Host) {
    talk.info(&format!("load       {load}"));
    talk.info(&engine_line(run.plan.engine, run.engine_why.as_ref()));
    for remark in run.remarks.iter().cloned().chain(plan_overload(&run.plan, &host.facts)) {
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
