//! Numbers of the record as people read them.

use std::borrow::Cow;

use wavetank_record::{Number, RunRecord, Spread, Status, Threshold};
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_link, show_rate, show_share, show_size};

use crate::threshold_state::is_running;

/// Shown instead of a percentile that dropped requests reach into.
pub(crate) const DROPPED: &str = "> dropped";

/// Headings of tables that show all of [`Spread::PERCENTILES`], in the same order.
pub(crate) const PERCENTILE_HEADINGS: [&str; Spread::PERCENTILES.len()] =
    ["p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99"];

/// Microseconds with a fitting unit.
pub(crate) fn time(us: Number) -> String {
    Nanos(us.as_nanos().round() as i64).to_string()
}

/// Seconds with a fitting unit; whole ones without a fraction: `10 s`.
pub(crate) fn seconds(s: Number) -> String {
    let length = Nanos((s.0 * 1e9).round() as i64);
    if length.0 % Nanos::SECOND.0 == 0 && length < Nanos::from_secs(120) {
        format!("{} s", length.0 / Nanos::SECOND.0)
    } else {
        length.to_string()
    }
}

/// Formats a percentile of `spread` by its field name. `~` before the value means that fewer than
/// ten samples are above it; `> dropped` means that dropped requests reach into it.
pub(crate) fn percentile(spread: &Spread, name: &str) -> String {
    let Some(value) = spread.percentile(name) else { return String::new() };
    if spread.is_unknown(name) {
        DROPPED.to_owned()
    } else if spread.is_uncertain(name) {
        format!("~{}", time(value))
    } else {
        time(value)
    }
}

/// `12 (0.31 %)`.
pub(crate) fn count_with_share(count: u64, of: u64) -> String {
    let share = if of == 0 { 0.0 } else { count as f64 / of as f64 };
    format!("{} ({})", format_grouped(count), show_share(share))
}

/// Most letters of a name in a table. A file may have names of any length, a page may not.
const NAME_CHARS_MAX: usize = 160;
/// Letters kept of the end of such a name, where paths differ.
const NAME_END_CHARS: usize = 40;

/// Shortens a name for a table: a very long one is cut to its start and its end.
pub(crate) fn cut(name: &str) -> Cow<'_, str> {
    // A letter has one or more bytes.
    let letters = if name.len() <= NAME_CHARS_MAX { 0 } else { name.chars().count() };
    if letters <= NAME_CHARS_MAX {
        return Cow::Borrowed(name);
    }
    let begin = name.chars().take(NAME_CHARS_MAX - NAME_END_CHARS - 1);
    Cow::Owned(begin.chain(['…']).chain(name.chars().skip(letters - NAME_END_CHARS)).collect())
}

/// A threshold's value in its unit; empty without one.
pub(crate) fn threshold_value(threshold: &Threshold) -> String {
    let Some(value) = threshold.value else { return String::new() };
    match threshold.unit.as_str() {
        "us" => time(value),
        "per_s" => show_rate(value.0),
        "share" => show_share(value.0),
        "bytes" => show_size(value.0 as u64),
        "bits_per_s" => show_link(value.0),
        _ => format_grouped(value.0.max(0.0).round() as u64),
    }
}

/// The verdict in capitals; a run that has not ended has none.
pub(crate) fn verdict_name(record: &RunRecord) -> String {
    if is_running(record) { "RUNNING".to_owned() } else { record.verdict.status.name().to_uppercase() }
}

/// Returns the text next to the verdict. Never empty unless the run passed: INVALID without its
/// reason is useless.
pub(crate) fn headline(record: &RunRecord) -> String {
    let verdict = &record.verdict;
    if !verdict.headline.is_empty() {
        return verdict.headline.as_str().to_owned();
    }
    if !verdict.reasons.is_empty() {
        return verdict.reasons.join(", ");
    }
    let asked = record.thresholds.iter().filter(|threshold| !threshold.implicit);
    let (all, held) =
        asked.fold((0, 0), |(all, held), one| (all + 1, held + u32::from(one.ok == Some(true))));
    match (verdict.status, all) {
        (Status::Pass, 0) => String::new(),
        // In a rehearsal undecided thresholds are only a note.
        (Status::Pass, all) if held < all => {
            format!("{held} of {all} thresholds passed, the others are undecided")
        }
        (Status::Pass, 1) => "the threshold passed".to_owned(),
        (Status::Pass, all) => format!("all {all} thresholds passed"),
        (status, _) => format!("{} for a reason that was not recorded", status.name()),
    }
}

/// Returns the seconds over which the generator's CPU time was measured. Older records have the
/// measured window only.
pub(crate) fn cpu_over_s(record: &RunRecord) -> f64 {
    record.generator.cpu_over_s.unwrap_or(record.duration_s).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_called_by_their_fields() {
        let fields = Spread::PERCENTILES.map(|(field, _)| field.replace('_', "."));
        assert_eq!(PERCENTILE_HEADINGS.map(str::to_owned), fields);
    }

    #[test]
    fn long_names_keep_both_ends() {
        let check = |name: &str, reported: &str| assert_eq!(cut(name), reported);
        check("", "");
        check("GET /", "GET /");
        let whole = "é".repeat(NAME_CHARS_MAX);
        check(&whole, &whole);
        let long = format!("{}{}z", "a".repeat(10_000), "é".repeat(NAME_END_CHARS - 1));
        check(&long, &format!("{}…{}z", "a".repeat(119), "é".repeat(39)));
    }
}
