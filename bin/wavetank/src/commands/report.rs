//! `wavetank report RUN`.

use wavetank_diagnose::{RunContext, RunEnd};
use wavetank_record::{PlanDoc, RunRecord};
use wavetank_report::{Examples, RunFacts, build_record, requests_outside_load};
use wavetank_store::{NetFolder, OpenedRun, RunsDir, SearchFolder};
use wavetank_units::{Code, ExitCode, UserError, phrase, sentence};

use crate::cli::{OutputFormat, ReportArgs, ReportOptions};
use crate::output;
use crate::output::ResultWriter;
use crate::output::open_all;

/// Prints a stored run again. Exit 0 if that succeeds, whatever the verdict.
pub(crate) fn report(args: &ReportArgs) -> Result<u8, UserError> {
    let runs = RunsDir::new(&args.runs_dir);
    let found = runs.find(&args.run)?;
    if let Some(folder) = SearchFolder::open(&found) {
        return report_search(&folder, args);
    }
    if let Some(folder) = NetFolder::open(&found) {
        return report_net(&folder, args);
    }
    let opened = wavetank_store::open(&found)?;
    let record = match &opened.record {
        Some(record) => record.clone(),
        None => unfinished(&opened)?,
    };
    let formats = args.out.iter().map(|out| out.format).chain([args.format]);
    let outcome = ResultWriter::new(&record, Some(&opened), &args.wants, formats)?;
    output::deliver(&outcome, args.format, open_all(&args.out)?)?;
    Ok(ExitCode::Pass as u8)
}

/// Prints stored measurements of a network again.
fn report_net(folder: &NetFolder, args: &ReportArgs) -> Result<u8, UserError> {
    if args.wants != ReportOptions::default() {
        let message = "--of, --step, --by-step, --by-host and --lang do not apply to a network measurement";
        return Err(UserError::usage(Code::Conflict, message, "leave them out"));
    }
    let formats = args.out.iter().map(|out| out.format).chain([args.format]);
    let has = |format: &OutputFormat| {
        matches!(format, OutputFormat::Text | OutputFormat::Json | OutputFormat::Html)
    };
    if formats.into_iter().any(|format| !has(&format)) {
        return Err(output::unsupported_for_net());
    }
    output::deliver_net(&folder.read()?, args.format, open_all(&args.out)?)?;
    Ok(ExitCode::Pass as u8)
}

/// Prints a stored search again.
fn report_search(folder: &SearchFolder, args: &ReportArgs) -> Result<u8, UserError> {
    if args.wants != (ReportOptions { language: args.wants.language, ..ReportOptions::default() }) {
        let hint = "its runs have steps and histograms: wavetank report FOLDER/runs/NAME";
        return Err(UserError::usage(
            Code::Conflict,
            "--of, --step, --by-step and --by-host do not apply to a search",
            hint,
        ));
    }
    if args.out.iter().map(|out| out.format).chain([args.format]).any(OutputFormat::is_single_run) {
        return Err(output::unsupported_for_search());
    }
    let doc = folder.read()?;
    output::deliver_search(&doc, args.format, open_all(&args.out)?, args.wants.language.unwrap_or_default())?;
    Ok(ExitCode::Pass as u8)
}

/// Returns the record of a killed run: all sealed intervals, status incomplete.
fn unfinished(opened: &OpenedRun) -> Result<RunRecord, UserError> {
    let plan = opened.plan()?;
    let (ledger, read) = opened.ledger(&plan)?;
    let environment = opened.environment.as_ref().ok_or_else(|| {
        UserError::usage(
            Code::ArchiveDamaged,
            format!("`{}` has no `run.json` and no readable `environment.json`", opened.display_path()),
            "the sealed seconds are in `intervals/`, one line each; `wavetank runs show` lists the rest",
        )
    })?;
    let running = opened.is_written();
    let mut lost = Vec::new();
    if !running {
        lost.push(phrase!("wavetank was stopped before the run was over"));
    }
    if read.missing > 0 {
        lost.push(match read.missing {
            1 => phrase!("an interval is missing from the archive"),
            missing => sentence!("{missing} intervals are missing from the archive"),
        });
    }
    if read.damaged > 0 {
        lost.push(read.unread_text());
    }
    Ok(build_record(RunFacts {
        plan: &plan,
        plan_hash: &PlanDoc::hash(&opened.plan_yaml),
        environment,
        ledger: &ledger,
        ending: &RunEnd::Finished,
        circumstances: &RunContext {
            running,
            lost,
            cpus: environment.host.cpus.len() as u32,
            rehearsal: environment.rehearsal.is_some(),
            ..RunContext::default()
        },
        cpu_s: (0.0, 0.0),
        peak_rss_bytes: 0,
        connection_memory: None,
        setup: requests_outside_load(environment.probe.is_some(), &opened.events),
        events: &opened.events,
        samples: &Examples::select(&plan, &opened.samples),
    }))
}
