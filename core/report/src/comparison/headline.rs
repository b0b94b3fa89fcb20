//! The answer of a comparison in one line.

use wavetank_record::{CompareAnswer, CompareDoc, MetricDoc};

use super::strings::{CompareStrings, EN};
use super::values::{change_in, change_interval_in, format_limit, percent};

/// Most values named in the answer.
pub(super) const NAMED_MAX: usize = 3;

/// The answer's word.
pub(super) fn word(answer: CompareAnswer) -> &'static str {
    answer_in(answer, &EN).0
}

/// The answer's word, and what it means.
pub(super) fn answer_in(answer: CompareAnswer, words: &CompareStrings) -> (&'static str, &'static str) {
    let [difference, no_difference, undecided, regression, no_regression] = words.answers;
    match answer {
        CompareAnswer::Difference => difference,
        CompareAnswer::NoDifference => no_difference,
        CompareAnswer::Undecided => undecided,
        CompareAnswer::Regression => regression,
        CompareAnswer::NoRegression => no_regression,
    }
}

/// Returns the sentence next to the answer.
pub(super) fn headline(doc: &CompareDoc) -> String {
    headline_in(doc, &EN)
}

/// The same in another language.
pub(super) fn headline_in(doc: &CompareDoc, words: &CompareStrings) -> String {
    let limit = format_limit(doc.max_regression.map_or(0.0, |limit| limit.0));
    let judged = || doc.metrics.iter().filter(|metric| metric.judged);
    match doc.answer {
        CompareAnswer::Difference => named(doc, words, |metric| metric.verdict == "difference"),
        CompareAnswer::Regression => {
            let of = named(doc, words, |metric| metric.regression.as_deref() == Some("shown"));
            (words.beyond)(&of, &limit)
        }
        CompareAnswer::NoDifference => (words.in_values)(&judged().count().to_string()) + &seen(doc, words),
        CompareAnswer::NoRegression => match possible_regressions(doc, words) {
            Some(names) => (words.not_excluded)(&limit, &names),
            None => (words.all_exclude)(&limit, &judged().count().to_string()),
        },
        CompareAnswer::Undecided => match () {
            () if judged().count() > 0 && is_single_pair(doc) => words.one_run,
            () if judged().any(|metric| metric.ratio.is_some()) => words.no_spread,
            () if judged().count() > 0 => words.no_ratio,
            // Other values could be judged if they were requested.
            () if doc.metrics.iter().any(|metric| metric.why == MetricDoc::NOT_ASKED) => words.none_asked,
            () => words.nothing_judged,
        }
        .to_owned(),
    }
}

/// Whether each side is one run, so that nothing shows how much runs of a side differ.
pub(super) fn is_single_pair(doc: &CompareDoc) -> bool {
    doc.a.runs.len().max(doc.b.runs.len()) <= 1
}

/// The differences of percentiles that would have been detected.
fn seen(doc: &CompareDoc, words: &CompareStrings) -> String {
    let judged = doc.metrics.iter().filter(|metric| metric.judged && metric.name.starts_with('p'));
    let seen =
        judged.filter_map(|metric| Some((metric, metric.smallest_seen?.0)).filter(|(_, seen)| *seen <= 1.0));
    let seen: Vec<String> = seen
        .take(NAMED_MAX)
        .map(|(metric, seen)| format!("{} {}", metric.name, percent(seen, words)))
        .collect();
    if seen.is_empty() { String::new() } else { (words.would_be_seen)(&seen.join(words.comma)) }
}

/// Names the values with a possible or undecidable regression; `None` if there are no such values.
pub(super) fn possible_regressions(doc: &CompareDoc, words: &CompareStrings) -> Option<String> {
    let is_open =
        |metric: &&MetricDoc| matches!(metric.regression.as_deref(), Some("possible" | "undecided"));
    let possible = doc.metrics.iter().filter(is_open);
    let names: Vec<&str> = possible.map(|metric| metric.name.as_str()).collect();
    let some = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(words.comma);
    (!names.is_empty()).then(|| some + &and_more(names.len(), words))
}

/// The number of `all` that are not named; empty if all are.
fn and_more(all: usize, words: &CompareStrings) -> String {
    let more = all.saturating_sub(NAMED_MAX);
    if more > 0 { (words.and_more)(&more.to_string()) } else { String::new() }
}

fn named(doc: &CompareDoc, words: &CompareStrings, of: impl Fn(&MetricDoc) -> bool) -> String {
    let all: Vec<&MetricDoc> = doc.metrics.iter().filter(|metric| of(metric)).collect();
    let reported = all.iter().take(NAMED_MAX);
    let reported: Vec<String> = reported
        .enumerate()
        .map(|(number, metric)| {
            // Only the first value has its interval; a line with several would be unreadable.
            let interval = if number == 0 { change_interval_in(metric, words) } else { String::new() };
            format!("{} {}{interval}", metric.name, change_in(metric, words))
        })
        .collect();
    reported.join(words.comma) + &and_more(all.len(), words)
}

#[cfg(test)]
mod tests {
    use super::super::strings::ZH;
    use super::*;

    /// Three are named, and the others are counted.
    #[test]
    fn what_is_not_named_is_counted() {
        let reported = |many: usize, words: &CompareStrings| {
            let metric = |number| MetricDoc { name: format!("p{number}"), ..MetricDoc::default() };
            let doc = CompareDoc { metrics: (1..=many).map(metric).collect(), ..CompareDoc::default() };
            named(&doc, words, |_| true)
        };
        assert!(reported(3, &EN).ends_with("p3 not known"), "{}", reported(3, &EN));
        assert!(reported(4, &EN).ends_with("p3 not known, and 1 other value"), "{}", reported(4, &EN));
        assert!(reported(5, &EN).ends_with("p3 not known, and 2 other values"), "{}", reported(5, &EN));
        assert!(reported(5, &ZH).ends_with("p3 未知，另有 2 项"), "{}", reported(5, &ZH));
    }
}
