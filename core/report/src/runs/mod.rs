//! The content of a runs directory as text: a table of many runs, or a single archive.

mod archive;
mod table;

pub use archive::archive_text;
pub use table::{run_lines, runs_text};

use wavetank_record::{RunLine, RunState, Status};

/// The result of a run in one word: its verdict, or the state of its archive.
pub(crate) fn outcome(run: &RunLine) -> &'static str {
    match (run.state, run.verdict) {
        (RunState::Finished, Some(Status::Pass)) => "PASS",
        (RunState::Finished, Some(Status::Fail)) => "FAIL",
        (RunState::Finished, Some(Status::Invalid)) => "INVALID",
        (RunState::Finished, Some(Status::Incomplete) | None) => "INCOMPLETE",
        (RunState::Running, _) => "RUNNING",
        (RunState::Unfinished, _) => "UNFINISHED",
        (RunState::Damaged, _) => "DAMAGED",
        (RunState::Newer, _) => "NEWER",
    }
}

/// `2026-11-21 19:00:00` of `2026-11-21T19:00:00Z`.
pub(crate) fn started_text(started_at: &str) -> String {
    started_at.trim_end_matches('Z').replacen('T', " ", 1)
}
