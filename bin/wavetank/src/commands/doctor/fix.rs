//! `wavetank doctor --fix`: shows the difference, asks, writes, reads back.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use serde_json::{Value, json};
use wavetank_settings::{AppliedChange, SettingsError, apply};
use wavetank_store::os_error_text;
use wavetank_tuning::ChangePlan;
use wavetank_units::{Code, ExitCode, UserError, sanitize};

use crate::cli::FileFormat;
use crate::output;

/// Applies the plan after consent. Exit 0 if everything was written, or nothing needed to be; 1 if
/// the user said no.
pub(super) fn fix(plan: &ChangePlan, yes: bool, format: FileFormat, root: &Path) -> Result<u8, UserError> {
    let text_of = |path: &str| std::fs::read_to_string(root.join(path.trim_start_matches('/'))).ok();
    let (written, files): (Vec<_>, Vec<_>) =
        plan.files.iter().cloned().partition(|file| text_of(&file.path).as_ref() == Some(&file.text));
    let plan = &ChangePlan { files, ..plan.clone() };
    if plan.is_empty() {
        let waits = written.iter().filter(|file| !file.then.is_empty());
        let waits: String = waits.map(|file| takes_effect(&file.path, &file.then)).collect();
        output::print(&match format {
            FileFormat::Text => format!("nothing to change\n{waits}"),
            FileFormat::Json => format!("{}\n", document(&[])),
        })?;
        return Ok(ExitCode::Pass as u8);
    }
    if format == FileFormat::Text {
        output::print(&difference(plan, root))?;
    }
    if !yes {
        if format == FileFormat::Json || !std::io::stdin().is_terminal() {
            let message = "--fix changes this host only after consent, and there is no terminal to ask";
            return Err(UserError::usage(Code::DoctorConsent, message, "add --yes"));
        }
        if !consents()? {
            output::print("nothing was changed\n")?;
            return Ok(ExitCode::Fail as u8);
        }
    }
    let applied = apply(plan, root, &mut |_| true).map_err(|error| refused(&error))?;
    output::print(&match format {
        FileFormat::Text => result(&applied),
        FileFormat::Json => format!("{}\n", document(&applied)),
    })?;
    Ok(ExitCode::Pass as u8)
}

/// Describes the difference, one value or line of a file per line.
fn difference(plan: &ChangePlan, root: &Path) -> String {
    let mut text = String::new();
    let width = plan.values.iter().map(|value| value.what.chars().count()).max().unwrap_or_default();
    for value in &plan.values {
        let _ = writeln!(text, "{:width$}  {} → {}", value.what, sanitize(&value.now), value.wanted);
    }
    for file in &plan.files {
        let before =
            std::fs::read_to_string(root.join(file.path.trim_start_matches('/'))).unwrap_or_default();
        let new = if before.is_empty() { " (new)" } else { "" };
        let _ = writeln!(text, "{}{new}", file.path);
        let only_in = |one: &str, other: &str, sign: &str, text: &mut String| {
            for line in one.lines().filter(|line| !other.lines().any(|own| own == *line)) {
                let _ = writeln!(text, "  {sign} {}", sanitize(line));
            }
        };
        only_in(&before, &file.text, "-", &mut text);
        only_in(&file.text, &before, "+", &mut text);
    }
    text
}

/// Asks the user on the terminal.
fn consents() -> Result<bool, UserError> {
    let _ = write!(std::io::stderr(), "apply? [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(|error| {
        let message = format!("cannot read the answer: {}", os_error_text(&error));
        UserError::usage(Code::DoctorConsent, message, "add --yes")
    })?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Lists what was requested and what is in effect.
fn result(applied: &[AppliedChange]) -> String {
    let mut text = String::new();
    for change in applied.iter().filter(|change| change.effective != change.requested) {
        let _ = writeln!(
            text,
            "{}: {} was requested, and {} is in effect",
            change.what, change.requested, change.effective
        );
    }
    for change in applied.iter().filter(|change| !change.changed_since.is_empty()) {
        let _ =
            writeln!(text, "{} had been changed since the last fix: {}", change.what, change.changed_since);
    }
    for change in applied.iter().filter(|change| !change.then.is_empty()) {
        text += &takes_effect(&change.what, &change.then);
    }
    let values = applied.iter().filter(|change| !change.requested.is_empty()).count();
    let files = applied.len() - values;
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let _ = writeln!(
        text,
        "changed {} and {}, all read back; wavetank doctor --undo restores them",
        plural(values, "value"),
        plural(files, "file")
    );
    text
}

fn takes_effect(what: &str, then: &str) -> String {
    format!("{what} takes effect after: {then}\n")
}

fn document(applied: &[AppliedChange]) -> Value {
    let change = |change: &AppliedChange| {
        json!({
            "what": change.what, "before": change.before, "requested": change.requested,
            "effective": change.effective, "then": change.then, "changed_since": change.changed_since,
        })
    };
    json!({ "schema": "wavetank.doctor_fix/1", "changes": applied.iter().map(change).collect::<Vec<_>>() })
}

/// Returns the message about a change that was not made.
pub(super) fn refused(error: &SettingsError) -> UserError {
    match error {
        SettingsError::Rejected { what, value, reason, unrestored } => {
            let reason = os_error_text(reason);
            let state = if unrestored.is_empty() {
                "everything before it was restored".to_owned()
            } else {
                format!("not restored: {}", unrestored.join("; "))
            };
            let (action, hint) = if value.is_empty() {
                (format!("write {what}"), "run it as root; in a container its folder may be read-only")
            } else {
                let hint = "run it as root; in a container set it from outside (docker run --sysctl)";
                (format!("set {what} to `{}`", sanitize(value)), hint)
            };
            let message = format!("cannot {action}: {reason}; {state}");
            UserError::refused(Code::DoctorRejected, message, hint)
        }
        SettingsError::Journal { path, reason } => {
            let message =
                format!("cannot use the journal `{}`: {reason}; nothing was changed", path.display());
            UserError::refused(
                Code::DoctorJournal,
                message,
                "run it as root; a damaged journal needs a look by hand",
            )
        }
        SettingsError::Busy => UserError::refused(
            Code::DoctorBusy,
            "another wavetank doctor is changing this host",
            "wait until it has ended",
        ),
    }
}
