//! The answer of a comparison in one line.

use wavetank_record::{CompareAnswer, CompareDoc, MetricDoc};

use super::values::{change_in, change_interval_in, limit_told, percent};
use super::words::{CompareWords, EN};

/// Values named in the answer at most.
pub(super) const NAMED_MAX: usize = 3;

/// The answer's word.
pub(super) fn word(answer: CompareAnswer) -> &'static str {
    answer_in(answer, &EN).0
}

/// The answer's word, and what it means.
pub(super) fn answer_in(answer: CompareAnswer, words: &CompareWords) -> (&'static str, &'static str) {
    let [difference, no_difference, undecided, regression, no_regression] = words.answers;
    match answer {
        CompareAnswer::Difference => difference,
        CompareAnswer::NoDifference => no_difference,
        CompareAnswer::Undecided => undecided,
        CompareAnswer::Regression => regression,
        CompareAnswer::NoRegression => no_regression,
    }
}

/// What stands beside it.
pub(super) fn headline(doc: &CompareDoc) -> String {
    headline_in(doc, &EN)
}

/// The same in another language.
pub(super) fn headline_in(doc: &CompareDoc, words: &CompareWords) -> String {
    let limit = limit_told(doc.max_regression.map_or(0.0, |limit| limit.0));
    let judged = || doc.metrics.iter().filter(|metric| metric.judged);
    match doc.answer {
        CompareAnswer::Difference => named(doc, words, |metric| metric.verdict == "difference"),
        CompareAnswer::Regression => {
            let of = named(doc, words, |metric| metric.regression.as_deref() == Some("shown"));
            (words.beyond)(&of, &limit)
        }
        CompareAnswer::NoDifference => (words.in_values)(&judged().count().to_string()) + &seen(doc, words),
        CompareAnswer::NoRegression => match possible(doc, words) {
            Some(names) => (words.not_excluded)(&limit, &names),
            None => (words.all_exclude)(&limit, &judged().count().to_string()),
        },
        CompareAnswer::Undecided => match () {
            () if judged().count() > 0 && is_one_each(doc) => words.one_run,
            () if judged().any(|metric| metric.ratio.is_some()) => words.no_spread,
            () if judged().count() > 0 => words.no_ratio,
            // Others might be judged, had they been asked for.
            () if doc.metrics.iter().any(|metric| metric.why == MetricDoc::NOT_ASKED) => words.none_asked,
            () => words.nothing_judged,
        }
        .to_owned(),
    }
}

/// Whether each side is one run, so that nothing tells how much runs of a side differ.
pub(super) fn is_one_each(doc: &CompareDoc) -> bool {
    doc.a.runs.len().max(doc.b.runs.len()) <= 1
}

/// The differences of percentiles that would have been seen.
fn seen(doc: &CompareDoc, words: &CompareWords) -> String {
    let judged = doc.metrics.iter().filter(|metric| metric.judged && metric.name.starts_with('p'));
    let seen =
        judged.filter_map(|metric| Some((metric, metric.smallest_seen?.0)).filter(|(_, seen)| *seen <= 1.0));
    let seen: Vec<String> = seen
        .take(NAMED_MAX)
        .map(|(metric, seen)| format!("{} {}", metric.name, percent(seen, words)))
        .collect();
    if seen.is_empty() { String::new() } else { (words.would_be_seen)(&seen.join(words.comma)) }
}

/// Names of the values of which a regression is possible; `None` if there are none.
pub(super) fn possible(doc: &CompareDoc, words: &CompareWords) -> Option<String> {
    let possible = doc.metrics.iter().filter(|metric| metric.regression.as_deref() == Some("possible"));
    let names: Vec<&str> = possible.map(|metric| metric.name.as_str()).collect();
    let more = names.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { (words.and_more)(&more.to_string()) } else { String::new() };
    let some = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(words.comma);
    (!names.is_empty()).then(|| some + &more)
}

fn named(doc: &CompareDoc, words: &CompareWords, of: impl Fn(&MetricDoc) -> bool) -> String {
    let all: Vec<&MetricDoc> = doc.metrics.iter().filter(|metric| of(metric)).collect();
    let told = all.iter().take(NAMED_MAX);
    let mut told: Vec<String> = told
        .enumerate()
        .map(|(number, metric)| {
            // The first carries its interval; a line of several would be unreadable.
            let interval = if number == 0 { change_interval_in(metric, words) } else { String::new() };
            format!("{} {}{interval}", metric.name, change_in(metric, words))
        })
        .collect();
    if all.len() > NAMED_MAX {
        told.push(
            (words.and_more)(&(all.len() - NAMED_MAX).to_string())
                .trim_start_matches(" and ")
                .trim_start()
                .to_owned(),
        );
    }
    told.join(words.comma)
}
