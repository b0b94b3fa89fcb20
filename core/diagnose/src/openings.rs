//! Connections of hold phases that could not be opened or were lost. No request shows the reason.

use wavetank_measure::ErrorClass;
use wavetank_units::{Sentence, phrase, sentence};

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
        let why = error_class_text::description_for_run(case, class);
        let message = match n {
            1 => sentence!("1 connection was not opened: {why}"),
            n => sentence!("{} connections were not opened: {why}", format::count(n)),
        };
        let evidence = sentence!("{} of {} openings", share(n, conns.offered), format::count(conns.offered));
        finding(case, class, message, evidence)
    });
    let lost = of_counts(&conns.lost_by, conns.opened, all).map(|(class, n)| {
        let why = lost_text(class);
        let message = match n {
            1 => sentence!("1 connection was lost: {why}"),
            n => sentence!("{} connections were lost: {why}", format::count(n)),
        };
        let evidence = sentence!("{} of {} connections", share(n, conns.opened), format::count(conns.opened));
        finding(case, class, message, evidence)
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

fn finding(case: &RuleInput<'_>, class: ErrorClass, message: Sentence, evidence: Sentence) -> Finding {
    let fault = case.fault(class);
    let text = error_class_text::description_for_run(case, class);
    Finding {
        fix: Vec::new(),
        code: FindingCode::Class(class),
        blame: error_class_text::blame_for_run(case, class),
        decisive: false,
        message,
        evidence,
        hint: error_class_text::best_hint(class, fault, &text),
    }
}

fn share(n: u64, whole: u64) -> String {
    format::percent(n as f64 / whole.max(1) as f64)
}

/// How a connection without an open request ended. The descriptions of classes mention requests.
const fn lost_text(class: ErrorClass) -> Sentence {
    match class {
        ErrorClass::Reset => phrase!("the peer reset them"),
        ErrorClass::ClosedEarly => phrase!("the peer closed them"),
        class => error_class_text::description(class),
    }
}
