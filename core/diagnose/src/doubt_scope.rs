//! Where a doubt matters (`docs/measuring.md` §5): it makes the run invalid only there.

use wavetank_measure::ThresholdResult;
use wavetank_plan::constants::INVALID_GENERATOR_SHARE;
use wavetank_plan::{Condition, Op, RequestCounter, Subject, Value};
use wavetank_units::{Sentence, phrase, sentence};

use crate::facts::RuleInput;
use crate::validity_rules::{generator_drops_text, is_limited, lag_is_doubtful};
use crate::{Blame, Finding, FindingCode, format};

/// Rule (a): in the open loop, over the whole run or any ten seconds, too many of the offered
/// requests were dropped or failed for reasons of the generator.
pub(crate) fn generator_share(case: &RuleInput<'_>) -> Option<Finding> {
    let validity = &case.facts.validity;
    let (whole, worst) = (validity.generator_open_model, validity.generator_worst);
    let (share, span) = if whole.fraction() > INVALID_GENERATOR_SHARE {
        (whole, phrase!("over the run"))
    } else if worst.share.fraction() > INVALID_GENERATOR_SHARE {
        (worst.share, sentence!("in the {} from {:.0} s on", worst.len, worst.from.as_secs_f64()))
    } else {
        return None;
    };
    Some(Finding {
        fix: Vec::new(),
        code: FindingCode::Generator,
        blame: Blame::Generator,
        decisive: true,
        message: sentence!(
            "the load was not as requested: {} of it was dropped or failed on this side {span}",
            format::percent(share.fraction())
        ),
        evidence: sentence!("{} · {}", format::share(share), lost_in_words(case)),
        hint: phrase!("a lower rate, or a stronger load host; the findings below name what ran out"),
    })
}

/// Describes the requests that failed or were dropped for reasons of the generator. One reason can
/// occur in both lists.
fn lost_in_words(case: &RuleInput<'_>) -> Sentence {
    let classes = case.classes().into_iter().filter(|(class, _)| class.is_generator());
    let failed: Vec<_> =
        classes.map(|(class, n)| sentence!("{} {}", class.name(), format::count(n))).collect();
    let (failed, dropped) = (Sentence::join(failed, " · "), generator_drops_text(case));
    let failed = (!failed.is_empty()).then(|| sentence!("failed: {failed}"));
    let dropped = (!dropped.is_empty()).then(|| sentence!("dropped: {dropped}"));
    Sentence::join(failed.into_iter().chain(dropped), " · ")
}

/// Rules (b) and (c): returns why a failed condition proves nothing against the target, if that is
/// the case. `broke` is the text that reports the failure.
pub(crate) fn generator_excuse(
    case: &RuleInput<'_>,
    result: &ThresholdResult,
    broke: &str,
    doubted: bool,
) -> Option<Finding> {
    let finding = |code, message, evidence| Finding {
        fix: Vec::new(),
        code,
        blame: Blame::Generator,
        decisive: true,
        message,
        evidence,
        hint: phrase!("the target is not proven at fault: repeat with a lower load or a stronger load host"),
    };
    if result.holds_without_generator == Some(true) {
        let message = sentence!(
            "{broke}, but it would pass without the requests that failed or were dropped on this side"
        );
        return Some(finding(FindingCode::GeneratorFailures, message, lost_in_words(case)));
    }
    if result.holds_without_lag == Some(true) {
        let lag = result.lag_ns.unwrap_or(0);
        if doubted || lag_is_doubtful(lag, result.value.unwrap_or(0.0)) {
            let message = sentence!("{broke}, but it would pass without the generator's own lag");
            return Some(finding(
                FindingCode::GeneratorLag,
                message,
                sentence!("lag {}", wavetank_units::Nanos(lag as i64)),
            ));
        }
    }
    if is_capacity(&result.condition, result.implicit) && is_limited(case.facts) {
        let message = sentence!("{broke}, while the generator itself was full");
        return Some(finding(FindingCode::GeneratorFull, message, Sentence::empty()));
    }
    None
}

/// A knee that was sought with a full generator is the generator's.
pub(crate) fn knee(case: &RuleInput<'_>) -> Option<Finding> {
    (case.facts.circumstances.knee_sought && is_limited(case.facts)).then(|| Finding {
        fix: Vec::new(),
        code: FindingCode::GeneratorFull,
        blame: Blame::Generator,
        decisive: true,
        message: phrase!("a knee was sought, but the generator itself was full"),
        evidence: Sentence::empty(),
        hint: phrase!("more load threads (--threads) or more load hosts"),
    })
}

/// Returns whether a failed condition proves a fault of the target, whatever the generator did. A
/// full load thread reads responses late and increases every time it measures, so times that failed
/// under it prove nothing.
pub(crate) fn proves_target_fault(case: &RuleInput<'_>, result: &ThresholdResult) -> bool {
    !(is_latency(&result.condition.subject) && is_limited(case.facts))
}

pub(crate) const fn is_latency(subject: &Subject) -> bool {
    matches!(subject, Subject::Percentile(..) | Subject::Mean(..) | Subject::Min(..) | Subject::Max(..))
}

/// Returns whether the condition requires a rate or a capacity. `done > 0` only requires a sign of
/// life, not capacity.
fn is_capacity(condition: &Condition, implicit: bool) -> bool {
    let reaches = matches!(condition.op, Op::Greater | Op::GreaterEqual | Op::Equal);
    let of_requests = matches!(
        condition.subject,
        Subject::Requests(RequestCounter::Offered | RequestCounter::Sent | RequestCounter::Done, _)
    );
    let gauge =
        matches!(condition.subject, Subject::Held | Subject::InFlight | Subject::Users | Subject::Opened);
    let amount = matches!(condition.value, Value::PerSecond(x) | Value::Count(x) if x > 0.0);
    let of_planned = gauge && matches!(condition.value, Value::Share(_));
    !implicit && reaches && ((gauge || of_requests) && amount || of_planned)
}
