//! `wavetank doctor --undo`.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use wavetank_settings::UndoneChange;
use wavetank_units::{ExitCode, UserError, sanitize};

use super::fix::refused;
use crate::cli::FileFormat;
use crate::output;

/// Restores everything that fixes changed. Exit 0 if all is restored, 5 if something is not.
pub(super) fn undo(root: &Path, format: FileFormat) -> Result<u8, UserError> {
    let undone = wavetank_settings::undo(root).map_err(|error| refused(&error))?;
    let failed = undone.iter().any(|change| !change.failure.is_empty());
    output::print(&match format {
        FileFormat::Text => text(&undone),
        FileFormat::Json => {
            let change = |change: &UndoneChange| -> Value {
                json!({
                    "path": change.path, "restored": change.restored,
                    "changed_since": change.changed_since, "failure": change.failure,
                })
            };
            let changes: Vec<Value> = undone.iter().map(change).collect();
            format!("{}\n", json!({ "schema": "wavetank.doctor_undo/1", "ok": !failed, "changes": changes }))
        }
    })?;
    Ok(if failed { ExitCode::Refused } else { ExitCode::Pass } as u8)
}

fn text(undone: &[UndoneChange]) -> String {
    if undone.is_empty() {
        return "nothing to undo\n".to_owned();
    }
    let mut text = String::new();
    for change in undone {
        let value = if change.restored.is_empty() {
            String::new()
        } else {
            format!(" = {}", sanitize(&change.restored))
        };
        let _ = match (change.failure.as_str(), change.changed_since.as_str()) {
            ("", "") => writeln!(text, "restored {}{value}", change.path),
            ("", since) => {
                writeln!(
                    text,
                    "restored {}{value}; it had been changed since: {}",
                    change.path,
                    sanitize(since)
                )
            }
            (failure, _) => writeln!(text, "cannot restore {}: {failure}", change.path),
        };
    }
    let failed = undone.iter().filter(|change| !change.failure.is_empty()).count();
    if failed > 0 {
        let _ = writeln!(text, "{failed} not restored; the journal stays, so --undo can be repeated");
    }
    text
}
