//! What services of a lab wrote, kept in the run's archive.

use wavetank_lab::LogParts;
use wavetank_plan::Plan;
use wavetank_plan::quantity::format_grouped;
use wavetank_store::ArchiveWriter;

use super::Console;
use super::redaction::Redaction;

/// Keep `logs`, without the secrets that the run sent: a server may write down what it is asked.
pub(super) fn archive_service_logs(
    logs: &LogParts,
    plan: &Plan,
    archive: &mut ArchiveWriter,
    talk: &mut Console,
) {
    let redaction = Redaction::new(plan);
    for part in &logs.parts {
        if let Some(problem) = archive.service_log(&part.host, &part.name, &redaction.redact(&part.text)) {
            talk.warn(&format!("{problem}; the archive lacks what services wrote\nhint: {}", problem.hint()));
        }
    }
    if logs.untold > 0 {
        let count = format_grouped(logs.untold as u64);
        talk.warn(&format!("{count} more logs of services are not kept: there are too many"));
    }
}
