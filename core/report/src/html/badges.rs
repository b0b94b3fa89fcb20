//! Verdicts, results and blame as text with a sign: no meaning depends on colour alone.

use maud::{Markup, PreEscaped, html};
use wavetank_record::{Blame, RunRecord, Status, Threshold};

use super::page_context::{PageContext, isolate_untrusted};
use crate::lag_part::has_lag_part;
use crate::threshold_state::{ThresholdState, is_running};

/// The verdict in the page's language.
pub(crate) fn verdict_text(sheet: &PageContext) -> &'static str {
    let words = &sheet.words.verdict;
    match sheet.record().verdict.status {
        _ if is_running(sheet.record()) => words.running,
        Status::Pass => words.pass,
        Status::Fail => words.fail,
        Status::Invalid => words.invalid,
        Status::Incomplete => words.incomplete,
    }
}

/// Explains the verdict to a first-time reader. `None` if a run failed for another reason than a
/// threshold, because its headline says which.
pub(crate) fn verdict_explanation(sheet: &PageContext) -> Option<String> {
    let (record, words) = (sheet.record(), &sheet.words.verdict);
    let broken = record.thresholds.iter().filter(|one| is_broken(record, one)).count();
    match record.verdict.status {
        Status::Pass => Some(words.pass_means.to_owned()),
        Status::Fail => {
            let all = record.thresholds.len().to_string();
            (broken > 0).then(|| (words.broken)(&broken.to_string(), &all))
        }
        Status::Invalid => Some(words.invalid_means.to_owned()),
        Status::Incomplete if is_running(record) => None,
        Status::Incomplete => Some(words.incomplete_means.to_owned()),
    }
}

fn is_broken(record: &RunRecord, threshold: &Threshold) -> bool {
    ThresholdState::for_threshold(record, threshold) == ThresholdState::Broken
}

/// A sign for each verdict, each with its own shape: tick, cross, warning, broken circle.
pub(crate) fn verdict_sign(status: Status) -> Markup {
    let path = match status {
        Status::Pass => r#"<circle cx="12" cy="12" r="10"/><path d="m7 12.5 3.5 3.5 6.5-7.5"/>"#,
        Status::Fail => r#"<path d="M8 2h8l6 6v8l-6 6H8l-6-6V8z"/><path d="m8.5 8.5 7 7m0-7-7 7"/>"#,
        Status::Invalid => r#"<path d="M12 3 1.8 21h20.4z"/><path d="M12 9.5v5.5m0 2.4v.6"/>"#,
        Status::Incomplete => {
            r#"<circle cx="12" cy="12" r="10" stroke-dasharray="4.2 3.6"/><path d="M12 7v5.5l3.5 2"/>"#
        }
    };
    html! {
        svg.sign viewBox="0 0 24 24" aria-hidden="true" focusable="false" { (PreEscaped(path)) }
    }
}

/// Names the bottleneck, as the subject of a sentence.
pub(crate) fn limit_owner(sheet: &PageContext, blame: Blame) -> &'static str {
    let words = &sheet.words.verdict;
    match blame {
        // A run that was stopped has no blame either, but that says nothing about limits.
        Blame::None if sheet.record().verdict.status != Status::Pass => words.by_unknown,
        Blame::None if has_lag_part(sheet.record()) => words.no_limit_lag,
        // In a closed loop, the number of users that wait for responses always limits the rate.
        Blame::None if sheet.record().load.model == "closed" => words.no_limit_closed,
        Blame::None => words.no_limit,
        Blame::Generator => words.by_generator,
        Blame::Network => words.by_network,
        Blame::Balancer => words.by_balancer,
        Blame::Target => words.by_target,
        Blame::Unknown => words.by_unknown,
    }
}

/// The blamed side, in one word.
pub(crate) fn blamed(sheet: &PageContext, blame: Blame) -> &'static str {
    let words = &sheet.words.verdict;
    match blame {
        Blame::None => words.blame_none,
        Blame::Generator => words.blame_generator,
        Blame::Network => words.blame_network,
        Blame::Balancer => words.blame_balancer,
        Blame::Target => words.blame_target,
        Blame::Unknown => words.blame_unknown,
    }
}

/// Names the command that explains the text above, if there is one.
pub(crate) fn explain_link(sheet: &PageContext, command: Option<String>) -> Markup {
    html! {
        @if let Some(command) = command {
            p.aside { (sheet.words.marks.more) (sheet.words.page.colon) code { (isolate_untrusted(&command)) } }
        }
    }
}

/// A word with a sign before it, in the colour of `class`: `good`, `bad` or `doubt`.
pub(crate) fn mark(class: &str, sign: &str, word: &str) -> Markup {
    html! {
        span class={ "mark " (class) } { span aria-hidden="true" { (sign) } " " (word) }
    }
}
