//! Findings about periods in which no request ended.

use wavetank_measure::Stalls;
use wavetank_units::quantity::trimmed;
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use crate::facts::RuleInput;
use crate::{Blame, Finding, FindingCode, format};

/// Instants and durations are reported in tenths of a second. This is one, in nanoseconds.
const TENTH: i64 = Nanos::from_millis(100).0;

/// Returns one finding for all periods. A client sees that no response came, and cannot know
/// whether the target sent none or the network delivered none. If no network and no proxy is
/// between them, the target caused it.
pub(crate) fn finding(case: &RuleInput<'_>) -> Option<Finding> {
    let found = &case.facts.standstills;
    let longest = found.longest;
    // The hosts of a lab share a machine, and have networks between them. Hosts that are only
    // observed may be on the way as well.
    let has_other_hosts = !case.facts.observed.other_hosts().is_empty();
    let by_proxy = case.facts.plan.http.proxy.is_some();
    let (blame, cause, hint) = if case.same_host && !has_other_hosts && !by_proxy {
        (
            Blame::Target,
            phrase!("the target sent no response"),
            phrase!(
                "check what the target did at that time: garbage collection, a lock, a failover, a full accept queue"
            ),
        )
    } else {
        (
            Blame::Unknown,
            phrase!("the target sent no response, or the network delivered none"),
            phrase!(
                "check what the target and the network did at that time: garbage collection, a lock, a failover, a full accept queue, \
                 lost packets"
            ),
        )
    };
    // Whole tenths within what was seen.
    let from = longest.from.0.saturating_add(TENTH - 1).div_euclid(TENTH);
    let until = longest.from.after(longest.len).0.div_euclid(TENTH);
    (found.count > 0).then(|| Finding {
        fix: Vec::new(),
        code: FindingCode::Standstill,
        blame,
        decisive: false,
        message: sentence!(
            "no request ended for at least {} s, from {} s on, though {} were open at {} s: {cause}",
            tenths(until - from),
            tenths(from),
            format::count(longest.open),
            tenths(longest.open_at.0.saturating_add(TENTH / 2).div_euclid(TENTH))
        ),
        evidence: evidence(found, case.is_closed()),
        hint,
    })
}

/// In the closed loop, users that wait send nothing: times of requests that would have come
/// meanwhile are missing (coordinated omission).
fn omitted(found: &Stalls) -> Option<Sentence> {
    let omitted = found.usual_per_s() * found.total.as_secs_f64() - found.longest.open as f64;
    (omitted >= 1.0).then(|| {
        sentence!(
            "waiting users sent about {} requests fewer (coordinated omission), which are in no percentile: an open loop (--rate) sends them",
            format::count(omitted.round() as u64)
        )
    })
}

fn evidence(found: &Stalls, is_closed: bool) -> Sentence {
    let periods = match found.count {
        1 => phrase!("one such period"),
        n => {
            let total = tenths(found.total.0.div_euclid(TENTH));
            sentence!("the longest of {} such periods, {total} s in all", format::count(n))
        }
    };
    let usual = match found.usual_per_s() {
        few if few < 10.0 => trimmed(&format!("{few:.1}")).to_owned(),
        many => format::count(many.round() as u64),
    };
    let omitted = if is_closed { omitted(found) } else { None };
    let known = sentence!("{periods} · at other times {usual} requests ended per second on average");
    Sentence::join([Some(known), omitted].into_iter().flatten(), " · ")
}

/// Formats a number of tenths in seconds.
fn tenths(tenths: i64) -> String {
    trimmed(&format!("{:.1}", tenths as f64 / 10.0)).to_owned()
}
