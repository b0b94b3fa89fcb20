//! Faults and pool changes as text: for the text report and for Markdown.

use wavetank_record::{ClientWindowDoc, ImpactDoc, ImpactOutcome, Number, RecoveryDoc, RunRecord};
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_request_rate, show_share};

use crate::format;
use crate::text_layout::TextLayout;

/// Most events with a line of their own.
const SHOWN_MAX: usize = 12;

/// Adds the `events` lines of the text report; nothing without planned events.
pub(crate) fn add_impacts(page: &mut TextLayout, record: &RunRecord) {
    for (number, impact) in record.impacts.iter().take(SHOWN_MAX).enumerate() {
        let label = if number == 0 { "events" } else { "" };
        page.parts(label, &[event_text(impact), duration_text(impact)]);
        page.parts("", std::slice::from_ref(&impact.why));
        let mut clients = client_change_text(impact);
        clients.push(recovery_text(impact));
        page.parts("", &clients);
    }
    let more = record.impacts.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        page.sentence("", &format!("{more} more in `impacts` of --format json"));
    }
}

/// Instant, action and host: `at 10 s: kill serve on app1`.
pub(crate) fn event_text(impact: &ImpactDoc) -> String {
    format!("at {}: {} on {}", format::seconds(impact.from_s), impact.what, impact.host)
}

/// The result of an event: `reverted after 5.01 s`.
pub(crate) fn duration_text(impact: &ImpactDoc) -> String {
    match (impact.outcome, impact.until_s) {
        (ImpactOutcome::NotReached, _) => "not executed: the run ended first".to_owned(),
        (ImpactOutcome::Failed, _) => "could not be executed".to_owned(),
        (ImpactOutcome::Done, _) => "not reverted".to_owned(),
        (ImpactOutcome::Stuck, _) => "could not be reverted".to_owned(),
        (ImpactOutcome::Undone, until) => {
            let length = until.map_or(0.0, |until| until.0 - impact.from_s.0);
            format!("reverted after {}", seconds_text(length))
        }
    }
}

/// The effect on clients, as values before and during the event; empty if no effect can be shown.
pub(crate) fn client_change_text(impact: &ImpactDoc) -> Vec<String> {
    let Some(during) = &impact.during else { return Vec::new() };
    let before = impact.before.as_ref();
    let pair = |name: &str, of: &dyn Fn(&ClientWindowDoc) -> Option<String>| {
        let now = of(during)?;
        let then = before.and_then(of);
        Some(match then {
            Some(then) if then != now => format!("{name} {then} → {now}"),
            _ => format!("{name} {now}"),
        })
    };
    let mut parts: Vec<String> = [
        pair("done", &|seen| Some(show_request_rate(seen.done_per_s.0))),
        pair("failed", &|seen| Some(show_share(seen.failed_share.0))),
        pair("p99", &|seen| seen.p99_us.map(format::time)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let lost = during.lost + impact.after.map_or(0, |after| after.lost);
    if lost > 0 {
        parts.push(format!("connections lost {}", format_grouped(lost)));
    }
    parts
}

/// How it ended for clients; empty if nothing is known.
pub(crate) fn recovery_text(impact: &ImpactDoc) -> String {
    let took = seconds_text(impact.recovery_s.map_or(0.0, |took| took.0));
    match impact.recovery {
        RecoveryDoc::Unknown => String::new(),
        RecoveryDoc::Unhurt => "no second was worse than before".to_owned(),
        RecoveryDoc::During => format!("recovered {took} after its start, while it was still active"),
        RecoveryDoc::After => format!("recovered {took} after it was reverted"),
        RecoveryDoc::Never => "not recovered before the load ended".to_owned(),
    }
}

/// A length in seconds with a fitting unit.
pub(crate) fn seconds_text(seconds: f64) -> String {
    let length = Number((seconds * 1e3).round() / 1e3);
    if length.0 < 1.0 { Nanos((length.0 * 1e9) as i64).to_string() } else { format::seconds(length) }
}
