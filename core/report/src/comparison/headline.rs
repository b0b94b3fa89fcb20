//! The answer of a comparison in one line.

use wavetank_record::{CompareAnswer, CompareDoc, MetricDoc};

use super::values::{change, change_interval, percent};

/// Values named in the answer at most.
const NAMED_MAX: usize = 3;

/// The answer's word.
pub(super) const fn word(answer: CompareAnswer) -> &'static str {
    match answer {
        CompareAnswer::Difference => "DIFFERENCE",
        CompareAnswer::NoDifference => "NO DIFFERENCE SHOWN",
        CompareAnswer::Undecided => "UNDECIDED",
        CompareAnswer::Regression => "REGRESSION",
        CompareAnswer::NoRegression => "NO REGRESSION SHOWN",
    }
}

/// What stands beside it.
pub(super) fn headline(doc: &CompareDoc) -> String {
    let limit = doc.max_regression.map_or(0.0, |limit| limit.0);
    let judged = doc.metrics.iter().filter(|metric| metric.judged).count();
    match doc.answer {
        CompareAnswer::Difference => named(doc, |metric| metric.verdict == "difference"),
        CompareAnswer::Regression => {
            let of = named(doc, |metric| metric.regression.as_deref() == Some("shown"));
            format!("{of}: beyond the {} allowed", percent(limit))
        }
        CompareAnswer::NoDifference => {
            let smallest = doc.metrics.iter().filter(|metric| metric.judged && metric.name.starts_with('p'));
            let seen = smallest.filter_map(|metric| {
                Some((metric, metric.smallest_seen?.0)).filter(|(_, seen)| *seen <= 1.0)
            });
            let seen: Vec<String> = seen
                .take(NAMED_MAX)
                .map(|(metric, seen)| format!("{} {}", metric.name, percent(seen)))
                .collect();
            let would = if seen.is_empty() {
                String::new()
            } else {
                format!("; what would have been seen: {}", seen.join(", "))
            };
            format!("in {judged} values{would}")
        }
        CompareAnswer::NoRegression => {
            let possible =
                doc.metrics.iter().filter(|metric| metric.regression.as_deref() == Some("possible"));
            let names: Vec<&str> = possible.map(|metric| metric.name.as_str()).collect();
            if names.is_empty() {
                format!("none beyond {} in {judged} values, and all intervals exclude one", percent(limit))
            } else {
                let more = names.len().saturating_sub(NAMED_MAX);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let some = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
                format!("none beyond {}, but not excluded of {some}{more}", percent(limit))
            }
        }
        CompareAnswer::Undecided if judged == 0 => "there is no value that could be judged".to_owned(),
        CompareAnswer::Undecided => {
            "one run a side: how much two runs of the same thing differ is not known".to_owned()
        }
    }
}

fn named(doc: &CompareDoc, of: impl Fn(&MetricDoc) -> bool) -> String {
    let all: Vec<&MetricDoc> = doc.metrics.iter().filter(|metric| of(metric)).collect();
    let told = all.iter().take(NAMED_MAX);
    let mut told: Vec<String> = told
        .enumerate()
        .map(|(number, metric)| {
            // The first carries its interval; a line of several would be unreadable.
            let interval = if number == 0 { change_interval(metric) } else { String::new() };
            format!("{} {}{interval}", metric.name, change(metric))
        })
        .collect();
    if all.len() > NAMED_MAX {
        told.push(format!("{} more", all.len() - NAMED_MAX));
    }
    told.join(", ")
}
