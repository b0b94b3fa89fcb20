//! The sentences of a search.

use wavetank_plan::quantity::{show_share, show_whole};
use wavetank_record::{Blame, Number, SearchDoc, SearchRunDoc};

/// A level in its unit, all digits that it has: `2,480/s`, `133.3/s`, `1,200 users`, `1 connection`.
pub fn level_text(of: &str, level: Number) -> String {
    let whole = || show_whole(level.0.max(0.0).round() as u64);
    match of {
        "rate" if level.0 >= 1_000.0 => format!("{}/s", whole()),
        "rate" => {
            let text = format!("{:.*}", if level.0 < 1.0 { 4 } else { 1 }, level.0);
            format!(
                "{}/s",
                if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text }
            )
        }
        many if level.0 < 1.5 => format!("{} {}", whole(), many.trim_end_matches('s')),
        many => format!("{} {many}", whole()),
    }
}

/// The thresholds that were asked for, joined: `p99 < 50ms, failed < 1%`.
pub(super) fn asked(doc: &SearchDoc) -> String {
    doc.thresholds.join(", ")
}

/// Holds or hold: one threshold or several.
fn holds(doc: &SearchDoc) -> &'static str {
    if doc.thresholds.len() == 1 { "holds" } else { "hold" }
}

/// The first line of every view: the answer, whatever it is. Made of all of `doc` but its headline.
pub fn knee_headline(doc: &SearchDoc) -> String {
    let answer = &doc.answer;
    let level = |value: Number| level_text(&doc.of, value);
    let (asked, holds) = (asked(doc), holds(doc));
    let lowest = || level(doc.setup.from);
    match (answer.end.as_str(), answer.knee) {
        ("found", Some(knee)) => {
            format!("knee {} ({}): {asked} {holds} up to there", level(knee), interval(doc))
        }
        ("above", Some(knee)) => {
            format!(
                "no knee up to {}: {asked} {holds} at the highest level that may be tried (--to)",
                level(knee)
            )
        }
        ("below", _) => format!("no knee: {asked} {} not hold at the lowest level, {}", does(doc), lowest()),
        ("generator", Some(knee)) => format!(
            "at least {}: {asked} {holds} there, and at {} the generator was the limit, not the target",
            level(knee),
            level(answer.generator_at.unwrap_or(doc.setup.to))
        ),
        ("generator", None) => format!(
            "no answer: the generator was the limit at the lowest level already, {}",
            level(answer.generator_at.unwrap_or(doc.setup.from))
        ),
        ("target", _) => {
            let answered = answered_runs(doc);
            let runs = if answered == 1 { "run" } else { "runs" };
            format!("no answer: the target stopped answering after {answered} {runs}: {}", so_far(doc))
        }
        (end, _) => format!("{}: {}", stopped(end), so_far(doc)),
    }
}

fn does(doc: &SearchDoc) -> &'static str {
    if doc.thresholds.len() == 1 { "does" } else { "do" }
}

/// `2,450 to 2,510, 95 %`, and which end is not proven.
fn interval(doc: &SearchDoc) -> String {
    let answer = &doc.answer;
    let (Some(low), Some(high)) = (answer.low, answer.high) else { return "one end is open".to_owned() };
    // The unit stands at the knee.
    let bare = |value: Number| {
        let text = level_text(&doc.of, value);
        text.split(['/', ' ']).next().unwrap_or_default().to_owned()
    };
    let ends = format!("{} to {}", bare(low), bare(high));
    match (answer.low_proven, answer.high_proven) {
        (true, true) => format!("{ends}, {}", show_share(answer.confidence.0)),
        (true, false) => format!("{ends}; the upper end is not proven"),
        (false, true) => format!("{ends}; the lower end is not proven"),
        (false, false) => format!("{ends}; neither end is proven"),
    }
}

/// Why it ended before its time.
fn stopped(end: &str) -> &'static str {
    match end {
        "signal" => "interrupted by a signal",
        "time" => "no time for another run (--max-time)",
        "runs" => "no answer after very many runs",
        "undecided" => "the levels are too short to decide (-d)",
        "under_way" => "not finished",
        "unsteady" => "no answer: the target changes with time, not only with the load",
        _ => "a run broke off",
    }
}

fn so_far(doc: &SearchDoc) -> String {
    let level = |value: Number| level_text(&doc.of, value);
    match (doc.answer.low, doc.answer.high) {
        (Some(low), Some(high)) => format!("so far the knee is between {} and {}", level(low), level(high)),
        (Some(low), None) => format!("so far all levels up to {} hold", level(low)),
        (None, Some(high)) => format!("so far {} does not hold", level(high)),
        (None, None) => match doc.curve.iter().find(|point| point.runs > 0) {
            Some(point) => {
                let runs = if point.runs == 1 { "run" } else { "runs" };
                format!("so far {} held in {} of {} {runs}", level(point.level), point.passed, point.runs)
            }
            None => "nothing is known yet".to_owned(),
        },
    }
}

/// Whose limit it was, in words; `None` where none was met.
pub(super) fn limit(doc: &SearchDoc) -> Option<String> {
    limited(doc).map(|blame| format!("{}: {}", whose(blame), doc.answer.limit))
}

/// Who set the limit; `None` where none was met.
pub(super) fn limited(doc: &SearchDoc) -> Option<Blame> {
    // Up to the highest level none was met, whatever broke in one run among others.
    let met = !doc.answer.limit.is_empty() && doc.answer.end != "above";
    met.then_some(doc.answer.blame)
}

/// Whose limit it was.
pub(super) const fn whose(blame: Blame) -> &'static str {
    match blame {
        Blame::Target => "the target's",
        Blame::Generator => "the generator's",
        Blame::Network => "the network's",
        Blame::Balancer => "the balancer's",
        Blame::None | Blame::Unknown => "the target's, or of what lies before it",
    }
}

/// How many runs there were before the last ones, in which nothing was answered.
pub(super) fn answered_runs(doc: &SearchDoc) -> usize {
    let is_silent = |run: &&SearchRunDoc| run.result != "pass" && run.requests.done == 0;
    doc.runs.len() - doc.runs.iter().rev().take_while(is_silent).count()
}
