//! [`knee_csv`]: latency against load as a table for other programs.

use std::fmt::Write;

use wavetank_record::{Number, SearchDoc};

/// A row for each level, lowest first; times in microseconds, empty if unknown.
pub fn knee_csv(doc: &SearchDoc) -> String {
    let mut text =
        "level,unit,runs,passed,generator,chance,done_per_s,p50_us,p95_us,p99_us,p99_9_us\n".to_owned();
    let cell = |value: Option<Number>| value.map_or_else(String::new, |value| value.0.to_string());
    // The file may have been edited by hand: keep a plain word, or nothing that a spreadsheet would
    // take for more.
    let unit: String =
        doc.unit.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
    for point in &doc.curve {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{}",
            point.level.0,
            unit,
            point.runs,
            point.passed,
            point.generator,
            cell(point.chance),
            point.done_per_s.0,
            cell(point.p50_us),
            cell(point.p95_us),
            cell(point.p99_us),
            cell(point.p99_9_us)
        );
    }
    text
}
