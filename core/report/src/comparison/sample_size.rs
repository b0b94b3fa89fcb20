//! [`more_runs`]: whether a comparison needs more runs.

use wavetank_record::{CompareAnswer, MetricDoc};

use super::headline::{NAMED_MAX, is_single_pair, possible_regressions};
use super::html_page::ComparisonPage;
use super::values::{change_in, format_limit};

/// Number of runs per side that is enough on most machines.
const RUNS_ADVISED: &str = "3";
/// Explains whether more runs would show more, and for which values.
pub(super) fn more_runs(page: &ComparisonPage) -> String {
    let (doc, own) = (page.source.doc, &page.own.page);
    let few = doc.a.runs.len().min(doc.b.runs.len());
    match doc.answer {
        CompareAnswer::Undecided if is_single_pair(doc) => (own.yes_more)(RUNS_ADVISED),
        CompareAnswer::Undecided => own.more_samples.to_owned(),
        CompareAnswer::Difference | CompareAnswer::Regression => {
            let possible =
                possible_regressions(doc, page.own).filter(|_| doc.answer == CompareAnswer::Regression);
            if let Some((names, limit)) = possible.zip(doc.max_regression) {
                return (own.also_possible)(&format_limit(limit.0), &names);
            }
            let little = little_seen(page).map(|little| format!("{}{little}", page.words.page.sentence_gap));
            format!("{}{}", own.no_more, little.unwrap_or_default())
        }
        CompareAnswer::NoRegression => match possible_regressions(doc, page.own) {
            Some(names) => (own.to_exclude)(&names),
            None => own.no_more.to_owned(),
        },
        CompareAnswer::NoDifference => {
            let needed = doc.metrics.iter().filter_map(|metric| Some((metric.runs_needed?, metric)));
            match needed.filter(|(runs, _)| *runs as usize > few).min_by_key(|(runs, _)| *runs) {
                Some((runs, metric)) => {
                    (own.would_take)(&runs.to_string(), &metric.name, &change_in(metric, page.own))
                }
                None => little_seen(page).unwrap_or_else(|| own.far_more.to_owned()),
            }
        }
    }
}

/// Names the values for which a change below a doubling would not have been detected.
fn little_seen(page: &ComparisonPage) -> Option<String> {
    let is_little =
        |metric: &&MetricDoc| metric.judged && metric.smallest_seen.is_some_and(|seen| seen.0 > 1.0);
    let names = page.source.doc.metrics.iter().filter(is_little).map(|metric| metric.name.as_str());
    let names: Vec<&str> = names.take(NAMED_MAX).collect();
    (!names.is_empty()).then(|| (page.own.page.little_seen)(&names.join(page.own.comma)))
}
