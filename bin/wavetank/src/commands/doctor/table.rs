//! The table of a host: what, now, wanted, why.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wavetank_tuning::{Finding, Fix, Row, Severity};
use wavetank_units::sanitize;

use super::lint::finding_json;
use crate::commands::terminal_width::terminal_width;

/// Widest column before the reasons.
const CELL_MAX: usize = 26;
/// Least columns of the reasons; with fewer they are on lines of their own.
const WHY_MIN: usize = 32;

/// The result of one host.
pub(super) struct HostReport {
    /// Its name.
    pub(super) name: String,
    /// Its rows, worst first.
    pub(super) rows: Vec<Row>,
    /// Findings in its own configuration files.
    pub(super) findings: Vec<Finding>,
    /// Why it could not be checked; empty if it was.
    pub(super) failure: String,
}

impl HostReport {
    /// Whether there is anything more than a note.
    pub(super) fn has_warnings(&self) -> bool {
        !self.failure.is_empty()
            || self.rows.iter().any(|row| row.severity != Severity::Note)
            || super::lint::has_warnings(&self.findings)
    }

    /// Returns the table as text.
    pub(super) fn text(&self, all: bool) -> String {
        let name = sanitize(&self.name);
        if !self.failure.is_empty() {
            return format!("{name}: {}\n", sanitize(&self.failure));
        }
        let shown: Vec<&Row> = self.rows.iter().filter(|row| all || row.severity != Severity::Note).collect();
        let count = |severity| self.rows.iter().filter(|row| row.severity == severity).count();
        let notes = count(Severity::Note);
        let more = if notes > 0 && !all { "; --all shows them" } else { "" };
        let plural =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let mut text = format!(
            "{name}: {}, {}, {}{more}\n",
            plural(count(Severity::Error), "error"),
            plural(count(Severity::Warning), "warning"),
            plural(notes, "note")
        );
        if !shown.is_empty() {
            table(&mut text, &shown);
        }
        let has_findings = self.findings.iter().any(|own| all || own.verdict.severity() != Severity::Note);
        if has_findings {
            text.push('\n');
            text.push_str(&super::lint::text(&self.findings, all));
        }
        text
    }

    /// Returns the result for programs.
    pub(super) fn json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "what": row.what, "now": row.now, "wanted": row.wanted, "why": row.why,
                "source": row.source, "severity": row.severity.name(), "fixable": row.fix.is_some(),
            })
        };
        json!({
            "host": self.name,
            "ok": !self.has_warnings(),
            "failure": self.failure,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "findings": self.findings.iter().map(finding_json).collect::<Vec<_>>(),
        })
    }
}

/// Writes the rows in columns, with reasons wrapped in what is left of the line.
fn table(text: &mut String, rows: &[&Row]) {
    let cells = |row: &Row| [row.what.clone(), row.now.clone(), row.wanted.clone()];
    let heads = ["what".to_owned(), "now".to_owned(), "wanted".to_owned()];
    let widths: Vec<usize> = (0..3)
        .map(|column| {
            let own = rows.iter().map(|row| cells(row)[column].chars().count());
            own.chain([heads[column].len()])
                .max()
                .unwrap_or_default()
                .min(CELL_MAX + if column == 0 { 10 } else { 0 })
        })
        .collect();
    let indent = 9 + widths.iter().map(|width| width + 2).sum::<usize>();
    let room = terminal_width().saturating_sub(indent);
    line(text, "", &heads, &widths, if room >= WHY_MIN { "why" } else { "" });
    for row in rows {
        let reasons =
            wrapped(&row.why, if room >= WHY_MIN { room } else { terminal_width().saturating_sub(11) });
        let mut rest = reasons.iter();
        let first = if room >= WHY_MIN { rest.next().map_or("", String::as_str) } else { "" };
        line(text, row.severity.name(), &cells(row), &widths, first);
        let blank = if room >= WHY_MIN { indent } else { 11 };
        for reason in rest {
            let _ = writeln!(text, "{:blank$}{reason}", "");
        }
    }
}

fn line(text: &mut String, severity: &str, cells: &[String; 3], widths: &[usize], why: &str) {
    let _ = write!(text, "{severity:<9}");
    for (cell, width) in cells.iter().zip(widths) {
        let _ = write!(text, "{:<width$}  ", sanitize(cell));
    }
    text.push_str(&sanitize(why));
    text.truncate(text.trim_end().len());
    text.push('\n');
}

/// Breaks a sentence into lines.
fn wrapped(sentence: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in sentence.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= columns {
            let _ = write!(last, " {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Returns whether this program can change what the row is about.
pub(super) fn is_fixable(row: &Row) -> bool {
    row.severity != Severity::Note
        && matches!(row.fix, Some(Fix::Setting { .. } | Fix::OpenFiles(_) | Fix::Governor(_)))
}
