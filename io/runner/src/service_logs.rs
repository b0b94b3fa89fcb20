//! Stores the logs of a lab's services in the run's archive.

use wavetank_lab::LogParts;
use wavetank_plan::Plan;
use wavetank_store::ArchiveWriter;
use wavetank_units::quantity::format_grouped;

use super::RunConsole;
use super::redaction::Redaction;

/// Stores `logs` without the secrets that the run sent, because a server may log its requests.
pub(super) fn archive_service_logs(
    logs: &LogParts,
    plan: &Plan,
    archive: &mut ArchiveWriter,
    console: &mut dyn RunConsole,
) {
    let redaction = Redaction::new(plan);
    for part in &logs.parts {
        if let Some(problem) = archive.service_log(&part.host, &part.name, &redaction.redact(&part.text)) {
            console
                .warn(&format!("{problem}; the archive lacks the services' logs\nhint: {}", problem.hint()));
        }
    }
    if logs.untold > 0 {
        let count = format_grouped(logs.untold as u64);
        console.warn(&format!("{count} more logs of services are not stored: there are too many"));
    }
}
