//! Connections of hold phases that could not be opened or were lost. No request shows the reason.

use wavetank_measure::ErrorClass;

use crate::facts::RuleInput;
use crate::{Blame, Finding, FindingCode, error_class_text, format};

/// Most classes listed; further ones are in the numbers.
const CLASSES_MAX: usize = 3;
/// A class this rare is no finding unless the run failed.
const SHARE_MIN: f64 = 0.001;

/// Returns a finding for each class that matters, the most frequent first. With `all`, rare classes
/// are included because the run failed. In other runs, requests have these classes.
pub(crate) fn findings(case: &RuleInput<'_>, all: bool) -> Vec<Finding> {
    let totals = case.facts.totals;
    if totals.held.phases().is_empty() {
        return Vec::new();
    }
    let conns = &totals.conns;
    let failed = of_counts(&conns.failed_by, conns.offered, all).map(|(class, n)| {
        let message =
            format!("{} not opened: {}", connections(n), error_class_text::description_for_run(case, class));
        finding(case, class, message, share(n, conns.offered, "openings"))
    });
    let lost = of_counts(&conns.lost_by, conns.opened, all).map(|(class, n)| {
        let message = format!("{} lost: {}", connections(n), lost_text(class));
        finding(case, class, message, share(n, conns.opened, "connections"))
    });
    failed.chain(lost).collect()
}

/// Returns the blame for most of the connections that failed or were lost; `None` if they are fewer
/// than `share_min` of all openings.
pub(crate) fn blame(case: &RuleInput<'_>, share_min: f64) -> Option<Blame> {
    let conns = &case.facts.totals.conns;
    let count = |class: ErrorClass| conns.failed_by[class as usize] + conns.lost_by[class as usize];
    let most = ErrorClass::ALL.into_iter().max_by_key(|class| count(*class))?;
    let all = conns.failed + conns.lost;
    (count(most) > 0 && all as f64 >= share_min * conns.offered as f64)
        .then(|| error_class_text::blame_for_run(case, most))
}

/// Returns the classes that matter with their counts.
fn of_counts(counts: &[u64], whole: u64, all: bool) -> impl Iterator<Item = (ErrorClass, u64)> {
    let counts = ErrorClass::ALL.into_iter().zip(counts.iter().copied());
    let matters = |&(_, n): &(ErrorClass, u64)| n > 0 && (all || n as f64 >= SHARE_MIN * whole as f64);
    let mut listed: Vec<_> = counts.filter(matters).collect();
    listed.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    listed.into_iter().take(CLASSES_MAX)
}

fn finding(case: &RuleInput<'_>, class: ErrorClass, message: String, evidence: String) -> Finding {
    let fault = case.fault(class);
    let text = error_class_text::description_for_run(case, class);
    Finding {
        fix: Vec::new(),
        code: FindingCode::Class(class),
        blame: error_class_text::blame_for_run(case, class),
        decisive: false,
        message,
        evidence,
        hint: error_class_text::best_hint(class, fault, text).to_owned(),
    }
}

/// `1 connection was`, `7 connections were`.
fn connections(n: u64) -> String {
    if n == 1 { "1 connection was".to_owned() } else { format!("{} connections were", format::count(n)) }
}

fn share(n: u64, whole: u64, of: &str) -> String {
    format!("{} of {} {of}", format::percent(n as f64 / whole.max(1) as f64), format::count(whole))
}

/// How a connection without an open request ended. The descriptions of classes mention requests.
const fn lost_text(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Reset => "the peer reset them",
        ErrorClass::ClosedEarly => "the peer closed them",
        class => error_class_text::description(class),
    }
}
