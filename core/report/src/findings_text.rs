//! Findings as text. Small doubts about the generator are one line.

use wavetank_record::{Blame, Finding, RunRecord};

use crate::explain_command::more_about_findings;
use crate::text_layout::TextLayout;

/// The doubts that often come together and then have the same cause.
const DOUBTS: [&str; 2] = ["late", "lag"];

/// Adds the findings and the command that explains them.
pub(crate) fn add_findings(page: &mut TextLayout, record: &RunRecord) {
    let (doubts, others): (Vec<&Finding>, Vec<&Finding>) =
        record.findings.iter().partition(|finding| is_doubt_without_effect(finding));
    for finding in others {
        let blame = finding.blame.name();
        page.parts(
            "finding",
            &[format!("{blame}: {}", finding.message), finding.evidence.as_str().to_owned()],
        );
        if !finding.hint.is_empty() {
            page.sentence("", &format!("hint: {}", finding.hint));
        }
        for fix in &finding.fix {
            page.sentence("", &format!("fix: {}", fix.text));
        }
    }
    if !doubts.is_empty() {
        page.parts("finding", &doubts_line(&doubts));
    }
    if let Some(command) = more_about_findings(record) {
        page.sentence("", &format!("more: {command}"));
    }
}

/// Whether `note` repeats what the line of the doubts says.
pub(crate) fn is_covered_by_findings(record: &RunRecord, note: &str) -> bool {
    note.starts_with("late in ")
        && note.ends_with(", verdict unchanged")
        && record.findings.iter().any(is_doubt_without_effect)
}

/// Adds the hint of a probe that got no answer. The headline has its message.
pub(crate) fn add_probe_hint(page: &mut TextLayout, record: &RunRecord) {
    for finding in record.findings.iter().filter(|finding| !finding.hint.is_empty()).take(1) {
        page.sentence("hint", &finding.hint);
    }
    if let Some(command) = more_about_findings(record) {
        page.sentence("more", &command);
    }
}

fn is_doubt_without_effect(finding: &Finding) -> bool {
    !finding.decisive && finding.blame == Blame::Generator && DOUBTS.contains(&finding.code.as_str())
}

/// `generator: late 11 of 1,000 (1.1 %) from 7 s on · lag p99 3.00 ms · verdict unchanged`.
fn doubts_line(doubts: &[&Finding]) -> Vec<String> {
    let mut parts: Vec<String> =
        doubts.iter().filter_map(|finding| finding.evidence.split(" · ").next()).map(str::to_owned).collect();
    if let Some(first) = parts.first_mut() {
        first.insert_str(0, "generator: ");
    }
    parts.push("verdict unchanged".to_owned());
    parts
}
