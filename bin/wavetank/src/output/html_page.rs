//! [`html_page`]: all that an archive has for the page.

use std::io::{self, Write};

use wavetank_plan::Plan;
use wavetank_record::RunRecord;
use wavetank_report::{HtmlSource, Language, html};
use wavetank_store::{ArchiveGaps, OpenedRun};
use wavetank_units::UserError;

use super::gap_warning::warn_of_gaps;

/// Columns of time in the page: as many as a chart can show on a wide screen.
const COLUMNS_MAX: usize = 360;
/// The host that sent the load.
const LOCAL: &str = "local";

/// Returns the run as a page. Missing or unreadable parts of the archive are left out; the record
/// alone is enough for a page.
pub(super) fn html_page(record: &RunRecord, opened: Option<&OpenedRun>, language: Language) -> String {
    let plan = opened.and_then(|opened| planned(opened.plan()));
    let course = opened.zip(plan.as_ref()).and_then(|(opened, plan)| {
        let (course, read) = readable(opened.time_series(plan, COLUMNS_MAX))?;
        let dir = format!("{}/intervals", opened.display_path());
        let in_intervals = course.counters.done + course.counters.failed();
        warn_of_gaps(&ArchiveGaps { dir, read, in_intervals }, record);
        Some(course)
    });
    let hosts = opened.and_then(|opened| readable(opened.hosts())).unwrap_or_default();
    let (local, others): (Vec<_>, Vec<_>) = hosts.into_iter().partition(|host| host.name == LOCAL);
    let local = local.into_iter().next().unwrap_or_default();
    let others: Vec<_> = others.into_iter().map(|host| (host.name, host.samples)).collect();
    let target = opened.and_then(|opened| readable(opened.truth())).unwrap_or_default();
    let source = HtmlSource {
        record,
        plan: plan.as_ref(),
        environment: opened.and_then(|opened| opened.environment.as_ref()),
        course: course.as_ref(),
        hosts: &local.samples,
        others: &others,
        target: &target,
    };
    html(source, language)
}

/// Returns the plan, if it can be read. Without it the numbers of intervals have no meaning.
fn planned(read: Result<Plan, UserError>) -> Option<Plan> {
    read.map_err(|error| warn(&format!("{}; the page has no charts over time", error.message))).ok()
}

/// Returns what was read, or prints why it cannot be read.
fn readable<T>(read: Result<T, UserError>) -> Option<T> {
    read.map_err(|error| warn(&error.message)).ok()
}

/// If stderr is closed, the warning is dropped.
fn warn(what: &str) {
    let _ = writeln!(io::stderr(), "warning: {what}");
}
