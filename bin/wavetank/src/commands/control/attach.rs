//! `wavetank attach`: watches a running run.

use std::path::Path;

use wavetank_control::client;
use wavetank_record::{LiveDoc, LiveState};
use wavetank_report::{live_line, text};
use wavetank_units::{ExitCode, Nanos, UserError, sanitize};

use super::selection::{ended, select};
use crate::cli::{AttachArgs, FileFormat};
use crate::run::{Console, output, run_folder};

/// Shows the state of a run at each seal until it is over, and then its report. The exit code is
/// that of the run.
pub(super) fn attach(args: &AttachArgs) -> Result<u8, UserError> {
    let run = select(args.run.as_deref())?;
    let states = client::watch(&run_folder(), &run.id).map_err(|error| ended(&run, &error))?;
    let mut talk = Console::new(args.format == FileFormat::Json);
    talk.info(&format!(
        "attached   {}  {}  (Ctrl-C ends the view, not the run)",
        sanitize(&run.id),
        sanitize(&run.name)
    ));
    let mut last = run;
    for state in states {
        let state = state.map_err(|error| ended(&last, &error))?;
        match args.format {
            FileFormat::Json => output::print(&(state.to_json() + "\n"))?,
            FileFormat::Text => talk.progress_line(&live_line(&state), Nanos((state.at_s.0 * 1e9) as i64)),
        }
        last = state;
    }
    talk.clear_progress();
    if last.state != LiveState::Over {
        let hint = "its sealed seconds are stored: wavetank report latest";
        return Err(UserError::usage("not_running", "the run ended without a result", hint));
    }
    if args.format == FileFormat::Text {
        output::print(&result(&last))?;
    }
    Ok(last.verdict.as_ref().map_or(ExitCode::Incomplete as u8, |verdict| verdict.exit))
}

/// The report of a run that is over, or its verdict if it has no archive.
fn result(state: &LiveDoc) -> String {
    let stored = state.archive.as_deref().map(Path::new);
    let record = stored.and_then(|folder| wavetank_store::open(folder).ok()).and_then(|run| run.record);
    match (record, &state.verdict) {
        (Some(record), _) => text(&record),
        (None, Some(verdict)) => format!("{}: {}\n", verdict.status.name(), sanitize(&verdict.headline)),
        (None, None) => String::new(),
    }
}
