//! [`knee_text`]: a search for people.

use std::fmt::Write;

use wavetank_record::{Number, SearchDoc, SearchPointDoc};
use wavetank_units::sanitize_lines;

use super::en::ENGLISH;
use super::failed_runs::{FailedRuns, unheld};
use super::format::{level_text, limit};
use super::observed_levels::{ObservedLevels, places};
use crate::format;
use crate::text_layout::width;

/// Headings of the table, the level's own before them.
pub(super) const HEADINGS: [&str; 7] = ["passed", "done/s", "p50", "p95", "p99", "p99.9", ""];

/// The answer, the bottleneck, and the levels.
pub fn knee_text(doc: &SearchDoc) -> String {
    let mut text = format!("{}\n\n", doc.answer.headline);
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {value}");
    };
    if let Some(limit) = limit(doc) {
        line("limit", &limit);
    }
    line("target", &doc.target);
    line("search", &search_cost_text(doc));
    for note in &doc.notes {
        line("note", note);
    }
    text.push('\n');
    text.push_str(&table(doc));
    let lines = unheld(doc);
    if !lines.is_empty() {
        text.push_str("\nruns that contradict others or do not count\n");
        for one in &lines {
            let _ = writeln!(text, "  {}", unheld_line(doc, one));
        }
    }
    // Names, targets and thresholds come from outside, or from a file that may have been edited by
    // hand.
    sanitize_lines(&text).into_owned()
}

/// `31 runs of 2 s in 1 m 42 s, seed 1`; `31 runs of 2 to 55 s in …` if some were longer.
pub(super) fn search_cost_text(doc: &SearchDoc) -> String {
    let runs = doc.runs.len();
    let length = lengths(doc, " to ");
    let took = format::seconds(doc.took_s);
    let plural = if runs == 1 { "run" } else { "runs" };
    format!("{runs} {plural} of {length} in {took}, seed {}", doc.seed)
}

/// Returns the length of the runs: one length if all are equal, else the shortest and the longest
/// with `between` them.
pub(super) fn lengths(doc: &SearchDoc, between: &str) -> String {
    let lengths = doc.runs.iter().map(|run| run.duration_s.0).filter(|&length| length > 0.0);
    let (shortest, longest) =
        lengths.fold((f64::INFINITY, 0.0_f64), |(low, high), length| (low.min(length), high.max(length)));
    let asked = doc.setup.level_s;
    // Small differences of the clock are ignored.
    let reported = |length: f64| {
        let digits = if length < 1.0 { 1_000.0 } else { 10.0 };
        let same = (length / asked.0 - 1.0).abs() < 0.01;
        format::seconds(if same || length <= 0.0 {
            asked
        } else {
            Number((length * digits).round() / digits)
        })
    };
    let lengths = [shortest.min(longest), longest];
    range(lengths, &lengths.map(reported), between)
}

/// Joins two lengths, given as values and as text, by `between`. Two lengths in seconds share the
/// unit and the larger number of decimals, which are those that were measured.
fn range([low, high]: [f64; 2], [shortest, longest]: &[String; 2], between: &str) -> String {
    if shortest == longest {
        return longest.clone();
    }
    let decimals = |reported: &str| {
        let number = reported.strip_suffix(" s")?;
        // Minutes have a unit of their own before the seconds.
        number.parse::<f64>().ok()?;
        Some(number.split_once('.').map_or(0, |(_, decimals)| decimals.len()))
    };
    match (decimals(shortest), decimals(longest)) {
        (Some(one), Some(other)) => {
            let decimals = one.max(other);
            format!("{low:.decimals$}{between}{high:.decimals$} s")
        }
        _ => format!("{shortest}{between}{longest}"),
    }
}

/// The cells of a level, its own first.
pub(super) fn cells(doc: &SearchDoc, showed: &ObservedLevels, point: &SearchPointDoc) -> Vec<String> {
    let time = |name: &str, value: Option<Number>| match value {
        Some(value) => format::time(value),
        None if point.unknown.iter().any(|one| one == name) => format::DROPPED.to_owned(),
        None => "-".to_owned(),
    };
    let held = match (point.runs, point.generator) {
        (0, 0) => "0 of 0".to_owned(),
        (0, spoiled) => format!("no valid run, {spoiled} discarded"),
        (runs, 0) => format!("{} of {runs}", point.passed),
        (runs, spoiled) => format!("{} of {runs}, {spoiled} discarded", point.passed),
    };
    let rate = wavetank_units::quantity::format_grouped(point.done_per_s.0.max(0.0).round() as u64);
    vec![
        level_text(&doc.of, point.level),
        held,
        rate,
        time("p50", point.p50_us),
        time("p95", point.p95_us),
        time("p99", point.p99_us),
        time("p99_9", point.p99_9_us),
        places(doc, showed, point).into_iter().map(ENGLISH.place).collect::<Vec<_>>().join(ENGLISH.and),
    ]
}

/// `100/s: 2 of 5 failed: ` with the reasons, such as a failed threshold and its value.
pub(super) fn unheld_line(doc: &SearchDoc, one: &FailedRuns) -> String {
    let more = (one.more > 0).then(|| (ENGLISH.more)(one.more));
    let whys: Vec<_> = one.whys.iter().copied().chain(more.as_deref()).collect();
    let colon = if whys.is_empty() { "" } else { ": " };
    let (level, fate) = (level_text(&doc.of, one.level), (ENGLISH.fate)(one.fate, one.runs, one.counted));
    format!("{level}: {fate}{colon}{}", whys.join(ENGLISH.and))
}

fn table(doc: &SearchDoc) -> String {
    let mut rows =
        vec![std::iter::once(doc.of.as_str()).chain(HEADINGS).map(str::to_owned).collect::<Vec<_>>()];
    let showed = ObservedLevels::from_search(doc);
    rows.extend(doc.curve.iter().map(|point| cells(doc, &showed, point)));
    let columns = HEADINGS.len() + 1;
    let widest = |at: usize| rows.iter().map(|row| width(&row[at])).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(widest).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let gap = widths[at] - width(cell);
            // Text is left-aligned, numbers are right-aligned.
            let (before, after) = if at + 1 == columns { (0, 0) } else { (gap, 0) };
            let _ = write!(line, "{}{cell}{}  ", " ".repeat(before), " ".repeat(after));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
