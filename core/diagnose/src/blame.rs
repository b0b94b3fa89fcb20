//! Determines the blame from the evidence.

use wavetank_measure::{DropReason, ErrorClass, ThresholdResult};
use wavetank_plan::{LatencyPart, RequestCounter, Subject, Value};

use crate::facts::RuleInput;
use crate::{Blame, error_class_text, failures, openings};

/// Failures or drops above this share of offered requests explain other failed conditions.
const EXPLAINS_MIN: f64 = 0.01;

/// Returns the blame for a failed condition that nothing excuses, by what clients saw.
pub(crate) fn blame_for_threshold(case: &RuleInput<'_>, result: &ThresholdResult) -> Blame {
    match &result.condition.subject {
        Subject::Errors(name) => ErrorClass::parse(name)
            .map_or(Blame::Generator, |class| error_class_text::blame_for_run(case, class)),
        Subject::Status(_) | Subject::Check(_) => Blame::Target,
        // No rule identifies the late side of a rendezvous, or the reason for a busy host.
        Subject::Skew(_) | Subject::Host(..) => Blame::Unknown,
        Subject::Requests(RequestCounter::Late, _) => Blame::Generator,
        Subject::Requests(RequestCounter::Dropped, _) => of_drops(case),
        Subject::Requests(RequestCounter::Failed, _) => failures::blame(case),
        Subject::Percentile(_, part, _)
        | Subject::Mean(part, _)
        | Subject::Min(part, _)
        | Subject::Max(part, _) => of_time(case, result, *part),
        Subject::Opened | Subject::ConnectionsFailed | Subject::Held | Subject::Lost => {
            openings::blame(case, EXPLAINS_MIN).unwrap_or_else(|| of_shortfall(case))
        }
        Subject::Requests(..)
        | Subject::Users
        | Subject::InFlight
        | Subject::MessagesIn
        | Subject::MessagesOut
        | Subject::PingsLost
        | Subject::Count(_) => of_shortfall(case),
    }
}

/// Too little came: failures or drops explain it, if there are enough.
fn of_shortfall(case: &RuleInput<'_>) -> Blame {
    let counters = &case.judged.counters;
    let (failed, dropped) = (counters.failed(), counters.dropped());
    if (failed.max(dropped) as f64) < EXPLAINS_MIN * counters.offered.max(1) as f64 {
        return Blame::Unknown;
    }
    if failed >= dropped { failures::blame(case) } else { of_drops(case) }
}

fn of_drops(case: &RuleInput<'_>) -> Blame {
    let at_max_open = case.judged.counters.dropped_by[DropReason::MaxOpen as usize];
    let of_target = at_max_open - case.facts.validity.max_open_while_full.min(at_max_open);
    if of_target * 2 >= case.judged.counters.dropped() { Blame::Target } else { Blame::Generator }
}

/// Returns the side where the time was spent. Time after the first sent byte is the target's if
/// there is no network between. Otherwise the client cannot distinguish network and target.
fn of_time(case: &RuleInput<'_>, result: &ThresholdResult, part: LatencyPart) -> Blame {
    let behind = if case.same_host { Blame::Target } else { Blame::Unknown };
    match part {
        LatencyPart::Lag => Blame::Generator,
        // Waiting for a pooled connection is a matter of the pool's size as much as of the target.
        LatencyPart::Wait => Blame::Unknown,
        LatencyPart::Failed => failures::blame(case),
        LatencyPart::Service
        | LatencyPart::Connect
        | LatencyPart::Tls
        | LatencyPart::Hello
        | LatencyPart::Ping
        | LatencyPart::Ttfb
        | LatencyPart::Transfer => behind,
        LatencyPart::Response if result.value.is_none() && result.ok == Some(false) => of_drops(case),
        LatencyPart::Response => {
            let q = match result.condition.subject {
                Subject::Percentile(q, ..) => q,
                _ => 100.0,
            };
            let limit = match result.condition.value {
                Value::Time(limit) => limit.0.unsigned_abs(),
                _ => 0,
            };
            let (service, wait) = (case.judged.service.percentile(q), case.judged.wait.percentile(q));
            // Timed-out requests are in the response time but not in the service time. In that
            // case, too, the response was missing.
            let censored = case.judged.censored() > 0;
            if service >= wait && service.is_some_and(|ns| ns >= limit) || censored {
                behind
            } else {
                Blame::Unknown
            }
        }
    }
}
