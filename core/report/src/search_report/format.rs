//! Texts that several views of a search share.

use wavetank_record::{Blame, Number, SearchDoc, SearchRunDoc};
use wavetank_units::quantity::{format_grouped, trimmed};

use super::en::ENGLISH;
use super::observed_levels::limit_level;

/// Most decimals of a rate; no plan has more.
const DECIMALS_MAX: i32 = 6;

/// A level in its unit with all of its digits: `2,480/s`, `133.3/s`, `1,200 users`, `1 connection`.
pub fn level_text(of: &str, level: Number) -> String {
    let whole = || format_grouped(level.0.max(0.0).round() as u64);
    match of {
        "rate" if level.0 >= 1_000.0 => format!("{}/s", whole()),
        "rate" => format!("{}/s", trimmed(&format!("{:.*}", decimals(level.0), level.0))),
        many if level.0 < 1.5 => format!("{} {}", whole(), many.trim_end_matches('s')),
        many => format!("{} {many}", whole()),
    }
}

/// Decimals with which a rate below 1,000 has four digits, as levels do.
fn decimals(level: f64) -> usize {
    if level > 0.0 { (3 - level.log10().floor() as i32).clamp(0, DECIMALS_MAX) as usize } else { 0 }
}

/// Describes the bottleneck and the level at which it was reached; `None` if none was reached.
pub(super) fn limit(doc: &SearchDoc) -> Option<String> {
    let level = limit_level(doc).map(|level| (ENGLISH.broke_at)(&level_text(&doc.of, level)));
    let level = level.unwrap_or_default();
    limited(doc).map(|blame| format!("{}: {}{level}", (ENGLISH.owner)(blame), doc.answer.limit))
}

/// The bottleneck; `None` if no limit was reached.
pub(super) fn limited(doc: &SearchDoc) -> Option<Blame> {
    // If the highest level passed, no limit was reached, even if a threshold failed in a single
    // run.
    let met = !doc.answer.limit.is_empty() && doc.answer.end != "above";
    met.then_some(doc.answer.blame)
}

/// Number of runs before the last ones, which had no response.
pub(super) fn answered_runs(doc: &SearchDoc) -> usize {
    let is_silent = |run: &&SearchRunDoc| run.result != "pass" && run.requests.done == 0;
    doc.runs.len() - doc.runs.iter().rev().take_while(is_silent).count()
}
