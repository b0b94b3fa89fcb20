//! Drift: values that change while the number of held connections is constant.
//!
//! Users hold connections for an hour to learn whether the second hour would look the same. Each
//! rule requires a trend that is not due to chance, and a change that matters.

use wavetank_measure::{HeldPhase, HeldSecond, HostSample, Observations, Plateau};
use wavetank_units::quantity::show_size;
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use crate::facts::RuleInput;
use crate::trend::{SECONDS_MIN, Trend};
use crate::{Blame, Finding, FindingCode, format, validity_rules};

/// Requests in flight and p99 are to change by this share of what they were.
const SHARE_MIN: f64 = 0.5;
/// Minimum change of the open requests,
const IN_FLIGHT_MIN: f64 = 20.0;
/// and by this share of the connections held.
const IN_FLIGHT_OF_HELD: f64 = 0.001;
/// Response p99 is to change by this much, in nanoseconds.
const P99_MIN: f64 = 1e6;
/// A second's p99 means something from this many answers on.
const ANSWERS_MIN: u64 = 100;
/// Minimum number of connections for a value per connection. With fewer, most of the memory belongs
/// to the rest of the host.
const MEMORY_HELD_MIN: u64 = 5_000;
/// Memory per connection is to grow by this share of what it was,
const MEMORY_SHARE_MIN: f64 = 0.05;
/// Minimum growth in bytes per connection,
const MEMORY_EACH_MIN: f64 = 256.0;
/// and in bytes in total, because other programs of the host start and end.
const MEMORY_MIN: f64 = 32e6;

/// Returns the values that drifted on each plateau of at least half a minute.
pub(crate) fn findings(case: &RuleInput<'_>) -> Vec<Finding> {
    let plateaus = case.facts.totals.held.plateaus();
    let long = plateaus.filter(|(_, plateau)| plateau.seconds >= SECONDS_MIN as u64);
    let rules = |(held, plateau): (&HeldPhase, &Plateau)| {
        let name = case.facts.plan.phases[usize::from(held.phase)].name.clone();
        let seconds = plateau.kept.as_slice();
        [in_flight(case, &name, seconds), p99(case, &name, seconds), memory(case, &name, seconds)]
    };
    long.flat_map(rules).flatten().collect()
}

fn in_flight(case: &RuleInput<'_>, phase: &str, seconds: &[HeldSecond]) -> Option<Finding> {
    let values: Vec<_> = seconds.iter().map(|second| (at(second.at), second.in_flight as f64)).collect();
    let trend = Trend::fit(&values)?;
    let held = seconds.iter().map(|second| second.held).max().unwrap_or(0) as f64;
    let enough = IN_FLIGHT_MIN.max(held * IN_FLIGHT_OF_HELD);
    let minded = trend.change().abs() >= enough && trend.share().abs() >= SHARE_MIN;
    minded.then(|| {
        let values = [trend.from, trend.to].map(|value| format::count(value.max(0.0).round() as u64));
        drifted(case, FindingCode::DriftInFlight, &phrase!("requests in flight"), phase, &trend, &values)
    })
}

fn p99(case: &RuleInput<'_>, phase: &str, seconds: &[HeldSecond]) -> Option<Finding> {
    let reporting = seconds.iter().filter(|second| second.answered >= ANSWERS_MIN);
    let values: Vec<_> = reporting.map(|second| (at(second.at), second.p99_ns as f64)).collect();
    let trend = Trend::fit(&values)?;
    let minded = trend.change().abs() >= P99_MIN && trend.share().abs() >= SHARE_MIN;
    minded.then(|| {
        let values = [trend.from, trend.to].map(|value| Nanos(value.max(0.0) as i64).to_string());
        drifted(case, FindingCode::DriftP99, &phrase!("response p99"), phase, &trend, &values)
    })
}

/// Returns the finding for a value that changed while the load was constant, whether the target or
/// this side caused it.
fn drifted(
    case: &RuleInput<'_>,
    code: FindingCode,
    what: &Sentence,
    phase: &str,
    trend: &Trend,
    [from, to]: &[String; 2],
) -> Finding {
    let rises = trend.change() > 0.0;
    // A generator in doubt may be what holds answers up.
    let doubted = !validity_rules::doubts(case).is_empty();
    let blame = if rises && !doubted { Blame::Target } else { Blame::Unknown };
    let hint = match (rises, doubted) {
        (true, false) => {
            phrase!(
                "the load was constant: look for growth in the target (queues, memory, tables), and hold for longer"
            )
        }
        (true, true) => phrase!("the generator is in doubt as well: fix that first"),
        (false, _) => {
            phrase!("the target had not settled yet: wait before the plateau, or hold for longer")
        }
    };
    Finding {
        fix: Vec::new(),
        code,
        blame,
        decisive: false,
        message: if rises {
            sentence!("{what} rose from {from} to {to} over {phase}")
        } else {
            sentence!("{what} fell from {from} to {to} over {phase}")
        },
        evidence: evidence(trend),
        hint,
    }
}

fn memory(case: &RuleInput<'_>, phase: &str, seconds: &[HeldSecond]) -> Option<Finding> {
    let observed = case.facts.observed;
    let values = memory_each(observed, seconds);
    let trend = Trend::fit(&values)?;
    let held = seconds.iter().map(|second| second.held).min().unwrap_or(0) as f64;
    let minded = trend.change() >= MEMORY_EACH_MIN
        && trend.change() * held >= MEMORY_MIN
        && trend.share() >= MEMORY_SHARE_MIN;
    if !minded {
        return None;
    }
    let own = own_part(observed, seconds, trend.change() * held);
    let ours = own >= 0.5;
    let [from, to] = [trend.from, trend.to].map(|value| show_size(value.max(0.0) as u64));
    Some(Finding {
        fix: Vec::new(),
        code: FindingCode::DriftMemory,
        blame: if ours { Blame::Generator } else { Blame::Unknown },
        decisive: false,
        message: if case.same_host {
            sentence!(
                "memory per connection rose from {from} to {to} over {phase} (kernel of both ends and wavetank)"
            )
        } else {
            sentence!("memory per connection rose from {from} to {to} over {phase} (kernel and wavetank)")
        },
        evidence: sentence!("{} · {} of it is wavetank's own", evidence(&trend), format::percent(own)),
        hint: if ours {
            phrase!("wavetank itself grew: fewer connections in this process, and please report it")
        } else {
            phrase!("the kernel's part grew: unread responses, or another program of this host")
        },
    })
}

/// Bytes per connection above what was there before the load, at the seconds that have a sample.
fn memory_each(observed: &Observations, seconds: &[HeldSecond]) -> Vec<(f64, f64)> {
    let Some(before) = observed.host_before() else { return Vec::new() };
    let base = taken(before);
    let each = |second: &HeldSecond| {
        let sample = sample_of(observed, second)?;
        let enough = second.held >= MEMORY_HELD_MIN;
        enough.then(|| (at(second.at), (taken(sample) - base) / second.held as f64))
    };
    seconds.iter().filter_map(each).collect()
}

/// The share of `change` bytes that this process grew by from the first to the last of `seconds`.
fn own_part(observed: &Observations, seconds: &[HeldSecond], change: f64) -> f64 {
    let rss = |second: Option<&HeldSecond>| {
        second.and_then(|second| sample_of(observed, second)).map(|sample| sample.rss_bytes as f64)
    };
    match (rss(seconds.first()), rss(seconds.last())) {
        (Some(first), Some(last)) => ((last - first) / change).clamp(0.0, 1.0),
        _ => 0.0,
    }
}

/// The sample taken within half a second of a second's end.
fn sample_of<'a>(observed: &'a Observations, second: &HeldSecond) -> Option<&'a HostSample> {
    let sample = observed.host_at(second.at)?;
    (sample.at.0.abs_diff(second.at.0) <= Nanos::SECOND.0.unsigned_abs() / 2).then_some(sample)
}

/// Bytes that connections are part of.
const fn taken(sample: &HostSample) -> f64 {
    sample.slab_bytes as f64 + sample.rss_bytes as f64
}

fn at(at: Nanos) -> f64 {
    at.as_secs_f64()
}

fn evidence(trend: &Trend) -> Sentence {
    sentence!(
        "{:+.0} % by the median of all slopes between seconds · Mann-Kendall z {:.1}",
        trend.share().clamp(-9.99, 9.99) * 100.0,
        trend.z
    )
}
