//! The doubts of `docs/measuring.md` §5: reasons not to believe the generator, each a finding.

use wavetank_measure::{DropReason, GeneratorHealth};
use wavetank_plan::constants::{
    BEHIND_MAX, DOUBT_DROPPED_SHARE, DOUBT_LAG_P99, DOUBT_LATE_SHARE, DOUBT_STALLED_SHARE,
    THREAD_FULL_INTERVALS,
};
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use crate::facts::{Facts, RuleInput};
use crate::{Blame, Finding, FindingCode, Throttling, error_class_text, format};

/// A part of the response time that lag may take before it is a doubt.
pub(crate) const LAG_SHARE_MAX: f64 = 0.1;

/// All doubts of a run, none of them decisive yet.
pub(crate) fn doubts(case: &RuleInput<'_>) -> Vec<Finding> {
    let own = [late(case), lag(case), dropped(case), starved(case), stalled(case), full_threads(case)];
    own.into_iter().flatten().collect()
}

/// Whether a load thread was full for more than a tenth of the measured window.
pub(crate) fn is_full(validity: &GeneratorHealth) -> bool {
    validity.threads.iter().any(|load| load.full as f64 > THREAD_FULL_INTERVALS * load.intervals as f64)
}

/// Whether this side limited the load: a load thread was full, or a CPU quota was used up in more
/// than a tenth of its periods.
pub(crate) fn is_limited(facts: &Facts<'_>) -> bool {
    let is_stopped = |throttling: &Throttling| {
        throttling.throttled_periods as f64 > THREAD_FULL_INTERVALS * throttling.periods as f64
    };
    is_full(&facts.validity) || facts.circumstances.throttling.as_ref().is_some_and(is_stopped)
}

/// Reports a CPU quota that stopped this process in more than one period of a hundred.
pub(crate) fn throttled(case: &RuleInput<'_>) -> Option<Finding> {
    let Throttling { quota_cpus, periods, throttled_periods, stopped } =
        case.facts.circumstances.throttling?;
    (throttled_periods as f64 > DOUBT_STALLED_SHARE * periods as f64).then(|| Finding {
        fix: Vec::new(),
        code: FindingCode::Throttled,
        blame: Blame::Generator,
        decisive: false,
        message: sentence!(
            "the kernel stopped wavetank in {} of {} periods: its CPU quota was used up",
            format::count(throttled_periods),
            format::count(periods)
        ),
        evidence: sentence!("quota {quota_cpus:.2} CPUs · stopped for {stopped}"),
        hint: phrase!(
            "raise the CPU quota of this container or cgroup (cpu.max, cpu.cfs_quota_us), or lower the load"
        ),
    })
}

/// Returns whether a lag is a doubt, compared with a value of the same kind.
pub(crate) fn lag_is_doubtful(lag_ns: u64, value_ns: f64) -> bool {
    lag_ns as f64 > (DOUBT_LAG_P99.0 as f64).max(LAG_SHARE_MAX * value_ns)
}

/// Dropped by reason, of those that are the generator's.
pub(crate) fn generator_drops_text(case: &RuleInput<'_>) -> Sentence {
    let listed: Vec<_> = generator_drops(case)
        .iter()
        .map(|(reason, n)| sentence!("{} {}", reason.name(), format::count(*n)))
        .collect();
    Sentence::join(listed, " · ")
}

fn late(case: &RuleInput<'_>) -> Option<Finding> {
    let worst = case.facts.validity.late_worst;
    let seconds = case.facts.validity.late_seconds;
    let (share, tolerance) = (format::percent(worst.share.fraction()), case.facts.plan.late_tolerance);
    // If nothing else was measured, it is not the worst of several.
    let message = if worst.len < case.judged.duration {
        sentence!(
            "the generator was late: {share} of the requests due or completed in the worst {} started more than {tolerance} after their intended start",
            worst.len
        )
    } else {
        sentence!(
            "the generator was late: {share} of the requests due or completed in the {} measured started more than {tolerance} after their intended start",
            worst.len
        )
    };
    (worst.share.fraction() > DOUBT_LATE_SHARE).then(|| Finding {
        fix: Vec::new(),
        code: FindingCode::Late,
        blame: Blame::Generator,
        decisive: false,
        message,
        evidence: sentence!(
            "late {} from {:.0} s on · late requests completed in {} of {} s",
            format::share(worst.share),
            worst.from.as_secs_f64(),
            format::count(seconds.count),
            format::count(seconds.of)
        ),
        hint: relief(case),
    })
}

fn lag(case: &RuleInput<'_>) -> Option<Finding> {
    let lag = case.judged.lag.percentile(99.0)?;
    let response = case.judged.response.percentile(99.0);
    let answered = match response {
        Some(response) => sentence!("response p99 {}", Nanos(response as i64)),
        None => phrase!("nothing was answered"),
    };
    lag_is_doubtful(lag, response.unwrap_or(0) as f64).then(|| Finding {
        fix: Vec::new(),
        code: FindingCode::Lag,
        blame: Blame::Generator,
        decisive: false,
        message: sentence!(
            "lag p99 is {}: the generator itself started requests that late, and response times include it",
            Nanos(lag as i64)
        ),
        evidence: sentence!("lag p99 {} · {answered}", Nanos(lag as i64)),
        hint: relief(case),
    })
}

/// The hint where checks and extraction take most of this side's time.
const EVALUATE_LESS: Sentence = phrase!(
    "check or extract less of each response (a regex costs less than css or xpath), or use more load threads (--threads): evaluating responses took most of their time"
);

/// Whether the load threads spent more than half of their work on evaluating responses.
fn is_evaluating(case: &RuleInput<'_>) -> bool {
    let threads = case.facts.totals.threads.iter();
    let (evaluate, busy) =
        threads.fold((0, 0), |(evaluate, busy), own| (evaluate + own.evaluate_ns, busy + own.busy_ns));
    evaluate > busy / 2
}

/// Returns the hint that reduces the load on this side. A closed run has no rate that could be
/// lowered, and more threads do not help if the existing ones had time.
fn relief(case: &RuleInput<'_>) -> Sentence {
    if is_evaluating(case) {
        return EVALUATE_LESS;
    }
    let threads = &case.facts.validity.threads;
    let had_time = !threads.is_empty() && threads.iter().all(|load| load.full == 0);
    match (case.is_closed(), had_time) {
        (true, true) => {
            phrase!(
                "stop other processes on these CPUs, or use fewer connections (-c, in a file users and hold); more load threads would not help, as none was full"
            )
        }
        (true, false) => {
            phrase!(
                "fewer connections (-c, in a file users and hold), more load threads (--threads), or nothing else on these CPUs"
            )
        }
        (false, true) => {
            phrase!(
                "stop other processes on these CPUs, or lower the rate; more load threads would not help, as none was full"
            )
        }
        (false, false) => {
            phrase!("a lower rate, more load threads (--threads), or nothing else on these CPUs")
        }
    }
}

fn dropped(case: &RuleInput<'_>) -> Option<Finding> {
    let share = case.facts.validity.generator_dropped;
    let dominant = generator_drops(case).first().map(|&(reason, _)| reason);
    (share.fraction() > DOUBT_DROPPED_SHARE).then(|| Finding {
        fix: Vec::new(),
        code: FindingCode::Dropped,
        blame: Blame::Generator,
        decisive: false,
        message: sentence!(
            "{} of offered requests were never sent, for reasons of the generator",
            format::percent(share.fraction())
        ),
        evidence: sentence!("{} · {}", format::share(share), generator_drops_text(case)),
        hint: dominant.map_or_else(Sentence::empty, |reason| drop_cure(case, reason)),
    })
}

/// Returns the hint for drops that were mostly for `reason`.
fn drop_cure(case: &RuleInput<'_>, reason: DropReason) -> Sentence {
    match reason {
        DropReason::Behind => scattering(case).unwrap_or_else(|| relief(case)),
        other => error_class_text::drop_hint(other),
    }
}

/// Returns how to spread the users that leave a rendezvous, if their simultaneous requests explain
/// most of the drops. No generator can start that many at one instant. The suggested time follows
/// from the number that did start in time, with 50 % headroom.
fn scattering(case: &RuleInput<'_>) -> Option<Sentence> {
    let behind = case.judged.counters.dropped_by[DropReason::Behind as usize];
    let spans = case.facts.totals.spans();
    let meetings = case.facts.totals.journeys.meetings.iter();
    let crowded =
        meetings.filter(|meeting| meeting.sent < meeting.present && !spans.is_warmup(meeting.phase));
    let unsent: u64 = crowded.clone().map(|meeting| meeting.present - meeting.sent).sum();
    let worst =
        crowded.max_by_key(|meeting| meeting.present - meeting.sent).filter(|worst| worst.sent > 0)?;
    let name = case.facts.plan.shared.rendezvous.get(usize::from(worst.place)).map_or("", String::as_str);
    let seconds = BEHIND_MAX.as_secs_f64() * 1.5 * worst.present as f64 / worst.sent as f64;
    (2 * unsent >= behind).then(|| {
        sentence!(
            "{} left the rendezvous {name} at one instant, and {} of them could begin within {BEHIND_MAX}: spread the rest by \
             `think: 0s to {}s` after it",
            format::count(worst.present),
            format::count(worst.sent),
            seconds.ceil()
        )
    })
}

fn starved(case: &RuleInput<'_>) -> Option<Finding> {
    let share = case.facts.validity.starved_turns;
    (share.fraction() > DOUBT_STALLED_SHARE).then(|| Finding {
        fix: Vec::new(),
        code: FindingCode::Starved,
        blame: Blame::Generator,
        decisive: false,
        message: sentence!(
            "{} of loop turns found no buffer or submission slot",
            format::percent(share.fraction())
        ),
        evidence: sentence!("turns {}", format::share(share)),
        hint: phrase!("fewer open requests on each load thread: more threads, or less load on this host"),
    })
}

fn stalled(case: &RuleInput<'_>) -> Option<Finding> {
    let share = case.facts.validity.stalled_turns;
    let longest = case.facts.totals.threads.iter().map(|health| health.turn_ns_max).max().unwrap_or(0);
    (share.fraction() > DOUBT_STALLED_SHARE).then(|| Finding {
        fix: Vec::new(),
        code: FindingCode::Stalled,
        blame: Blame::Generator,
        decisive: false,
        message: sentence!(
            "{} of loop turns worked longer than {}",
            format::percent(share.fraction()),
            case.facts.plan.late_tolerance
        ),
        evidence: sentence!("turns {} · longest {}", format::share(share), Nanos(longest as i64)),
        hint: if is_evaluating(case) {
            EVALUATE_LESS
        } else {
            phrase!("stop other processes on these CPUs: another process, or the hypervisor, took the time")
        },
    })
}

fn full_threads(case: &RuleInput<'_>) -> Option<Finding> {
    let validity = &case.facts.validity;
    is_full(validity).then(|| {
        let worst = validity.threads.iter().max_by_key(|load| load.full).copied().unwrap_or_default();
        let full = validity.threads.iter().filter(|load| load.full > 0).count();
        Finding {
            fix: Vec::new(),
            code: FindingCode::Full,
            blame: Blame::Generator,
            decisive: false,
            message: sentence!(
                "load threads that were busy to 95 % or more: {full} of {}, the busiest in {} of {} intervals",
                validity.threads.len(),
                format::count(worst.full),
                format::count(worst.intervals)
            ),
            evidence: sentence!(
                "thread {} at 95 % or more in {} of {} intervals",
                worst.thread,
                format::count(worst.full),
                format::count(worst.intervals)
            ),
            hint: if is_evaluating(case) {
                EVALUATE_LESS
            } else {
                phrase!("more load threads (--threads) or more load hosts")
            },
        }
    })
}

/// Drops that are the generator's, the most frequent first.
fn generator_drops(case: &RuleInput<'_>) -> Vec<(DropReason, u64)> {
    let at_max_open = case.facts.validity.max_open_while_full;
    let count = |reason| match reason {
        DropReason::MaxOpen => (reason, at_max_open),
        _ => (reason, case.judged.counters.dropped_by[reason as usize]),
    };
    let mut listed: Vec<_> = DropReason::ALL.into_iter().map(count).filter(|&(_, n)| n > 0).collect();
    listed.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    listed
}
