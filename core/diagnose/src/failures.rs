//! How requests failed: the classes that matter, and failures that share one age.

use wavetank_measure::{ErrorClass, FailureTime, Histogram};
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use crate::facts::RuleInput;
use crate::{Blame, Finding, FindingCode, error_class_text, format};

/// Most classes listed; further ones are in the numbers.
const CLASSES_MAX: usize = 3;
/// A class this rare is no finding unless the run failed.
const SHARE_MIN: f64 = 0.001;
/// An unexpected status is rare if fewer than one in this number of requests has it. It is then not
/// the target's usual response to this request.
const STATUS_RARE: u64 = 10;
/// The hint for rare statuses.
const STATUS_RARE_HINT: Sentence =
    phrase!("most responses were as expected: for the others, check the log of the target or of a balancer");
/// Minimum number of failures that share an age, and their minimum share of all failures with an
/// age.
const SAME_AGE_MIN: u64 = 10;
const SAME_AGE_SHARE: f64 = 0.5;
/// Ages nearer than this are one age (two buckets of the histogram are up to 1.6 % wide).
const SAME_AGE_WIDTH: f64 = 1.02;
/// Younger failures share their age by nature (a refused connection always takes as long).
const SAME_AGE_NS_MIN: u64 = 50_000_000;
/// Failures as old as the usual response are no timeout. Above this age no response is usual.
const USUAL_NS_MAX: u64 = 500_000_000;

/// Returns a finding for each class that matters, the most frequent first. With `all`, rare classes
/// are included because the run failed.
pub(crate) fn findings(case: &RuleInput<'_>, all: bool) -> Vec<Finding> {
    let offered = case.judged.counters.offered.max(1) as f64;
    let matters = |&(_, n): &(ErrorClass, u64)| all || n as f64 >= SHARE_MIN * offered;
    let listed = case.classes().into_iter().filter(matters).take(CLASSES_MAX);
    listed.map(|(class, n)| of_class(case, class, n)).chain(same_age(case)).collect()
}

/// Returns the blame for most of the failures; unknown if there are none.
pub(crate) fn blame(case: &RuleInput<'_>) -> Blame {
    let dominant = case.classes().first().map(|&(class, _)| class);
    dominant.map_or(Blame::Unknown, |class| error_class_text::blame_for_run(case, class))
}

fn of_class(case: &RuleInput<'_>, class: ErrorClass, n: u64) -> Finding {
    let counters = &case.judged.counters;
    let timeout = match class {
        ErrorClass::RequestTimeout => Some(case.facts.plan.http.timeout),
        ErrorClass::ConnectTimeout => Some(case.facts.plan.http.connect_timeout),
        _ => None,
    };
    let reported = error_class_text::description_for_run(case, class);
    let message = match timeout {
        // All of them by nature: the timeout is what ended them.
        Some(age) => sentence!("{} ended at exactly {age}: raise the timeout", format::requests(n)),
        None => sentence!("{} failed: {}", format::requests(n), reported),
    };
    let mut evidence =
        vec![sentence!("{} of offered", format::percent(n as f64 / counters.offered.max(1) as f64))];
    if class == ErrorClass::Status {
        evidence.extend(error_class_text::unexpected_statuses(case));
    }
    let fault = case.fault(class);
    evidence.extend(fault.cloned());
    let evidence = Sentence::join(evidence, " · ");
    let blame = error_class_text::blame_for_run(case, class);
    let is_rare = class == ErrorClass::Status && n.saturating_mul(STATUS_RARE) < counters.offered;
    let hint = if is_rare { STATUS_RARE_HINT } else { error_class_text::best_hint(class, fault, &reported) };
    Finding {
        fix: Vec::new(),
        code: FindingCode::Class(class),
        blame,
        decisive: false,
        message,
        evidence,
        hint,
    }
}

/// Returns when requests failed with each of the most frequent classes.
pub(crate) fn times(case: &RuleInput<'_>) -> impl Iterator<Item = Sentence> {
    case.classes().into_iter().take(CLASSES_MAX).filter_map(|(class, _)| when(case, class))
}

/// Returns when requests failed with `class`, unless they did in most of the time. A closed load
/// fails much more often in an outage than it succeeds otherwise, so that counts do not show how
/// long the outage was.
fn when(case: &RuleInput<'_>, class: ErrorClass) -> Option<Sentence> {
    let times = case.facts.failure_times;
    let time = times.of(class)?;
    let rare = time.length.0.saturating_mul(2) <= times.measured().0;
    rare.then(|| {
        let FailureTime { from, until, length } = time;
        let what = error_class_text::description_for_run(case, class);
        let measured = times.measured();
        sentence!("requests failed in {length} of {measured}, between {from} and {until}: {what}")
    })
}

/// Returns the age that most failures share and their number, if they do.
pub(crate) fn shared_age(case: &RuleInput<'_>) -> Option<(Nanos, u64)> {
    let failed = &case.judged.failed;
    let (age_ns, n) = densest(failed)?;
    let enough = n >= SAME_AGE_MIN && n as f64 >= SAME_AGE_SHARE * failed.count() as f64;
    (enough && age_ns >= SAME_AGE_NS_MIN).then_some((Nanos(age_ns as i64), n))
}

/// Reports failures that share one age although no timeout of wavetank ended them. They are due to
/// a timeout elsewhere.
fn same_age(case: &RuleInput<'_>) -> Option<Finding> {
    let (age, n) = shared_age(case)?;
    (!is_usual(case, age.0.unsigned_abs())).then(|| Finding {
        fix: Vec::new(),
        code: FindingCode::SameAge,
        blame: Blame::Unknown,
        decisive: false,
        message: sentence!("{} failed at the same age, {age}", format::requests(n)),
        evidence: sentence!(
            "{} of {} failures that are not timeouts of wavetank",
            format::count(n),
            format::count(case.judged.failed.count())
        ),
        hint: phrase!(
            "something on the way ends them at that age: look for such a timeout in balancer and server"
        ),
    })
}

/// Whether responses that did not fail take about as long. The same holds if there is none to
/// compare with.
fn is_usual(case: &RuleInput<'_>, age_ns: u64) -> bool {
    let service = &case.judged.service;
    let bounds = service.percentile(5.0).zip(service.percentile(95.0));
    let near = |(low, high): (u64, u64)| (low as f64 * 0.9..high as f64 * 1.1).contains(&(age_ns as f64));
    age_ns < USUAL_NS_MAX && bounds.is_none_or(near)
}

/// The age around which most values lie, and how many.
fn densest(times: &Histogram) -> Option<(u64, u64)> {
    let buckets: Vec<(u64, u64)> =
        times.iter().map(|(index, n)| (Histogram::lowest_equivalent(index), n)).collect();
    let mut best = None;
    let (mut first, mut sum) = (0, 0);
    for &(age, n) in &buckets {
        sum += n;
        while buckets[first].0 as f64 * SAME_AGE_WIDTH < age as f64 {
            sum -= buckets[first].1;
            first += 1;
        }
        if best.is_none_or(|(_, most)| sum > most) {
            best = Some((buckets[first].0, sum));
        }
    }
    best
}
