//! Circumstances worth knowing, which never change a verdict.

use wavetank_measure::{DropReason, ThresholdResult};
use wavetank_plan::MaxOpenLimit;
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use crate::facts::RuleInput;
use crate::{Finding, FindingCode, failures, fleet, format};

/// Steal from this share of CPU time on is more than a circumstance.
const STEAL_MAX: f64 = 0.05;

/// Less is not worth a line.
const STEAL_MIN: f64 = 0.01;

/// Maximum number of incomplete rendezvous that are reported separately.
const APART_SHOWN_MAX: usize = 3;

/// Loop turns from this many nanoseconds on are reported if they could have caused the longest
/// times.
const STOOD_STILL_MIN: u64 = 10_000_000;

/// All notes. `doubts` did not change the verdict if `unchanged`.
pub(crate) fn notes(case: &RuleInput<'_>, doubts: &[Finding], unchanged: bool) -> Vec<Sentence> {
    let mut notes = Vec::new();
    notes.extend(same_machine(case));
    notes.extend(steal(case));
    if unchanged {
        notes.extend(doubted(case, doubts));
    }
    notes.extend(stood_still(case, doubts));
    notes.extend(unanswered(case));
    notes.extend(failures::times(case));
    notes.extend(lowered(case));
    notes.extend(at_max_open(case));
    notes.extend(apart(case));
    if case.facts.circumstances.rehearsal {
        let undecided = case.facts.results.iter().filter(|result| result.ok.is_none());
        notes.extend(undecided.map(|result| sentence!("rehearsal: {}", undecided_text(result))));
    }
    notes
}

/// `` `p99.9 < 1s` is undecided: fewer than … ``.
pub(crate) fn undecided_text(result: &ThresholdResult) -> Sentence {
    let why = result.why.clone().unwrap_or_else(|| phrase!("no sample"));
    sentence!("`{}` is undecided: {why}", result.expr)
}

fn same_machine(case: &RuleInput<'_>) -> Option<Sentence> {
    let cpus = match case.facts.circumstances.cpus {
        0 => phrase!("its CPUs"),
        1 => phrase!("one CPU"),
        n => sentence!("{n} CPUs"),
    };
    let sent = case.judged.counters.sent > 0;
    (case.same_host && sent).then(|| {
        if case.judged.counters.done > 0 {
            sentence!(
                "same machine: server and wavetank shared {cpus}, so the server alone can do this or more"
            )
        } else {
            sentence!("same machine: server and wavetank shared {cpus}")
        }
    })
}

fn steal(case: &RuleInput<'_>) -> Option<Sentence> {
    let steal = case.facts.circumstances.steal.filter(|steal| (STEAL_MIN..STEAL_MAX).contains(steal))?;
    Some(sentence!("the hypervisor took {} of CPU time", format::percent(steal)))
}

/// Reports steal that is too large for a note.
pub(crate) fn steal_finding(case: &RuleInput<'_>) -> Option<Finding> {
    let steal = case.facts.circumstances.steal.filter(|&steal| steal >= STEAL_MAX)?;
    Some(Finding {
        fix: Vec::new(),
        code: FindingCode::Steal,
        blame: crate::Blame::Generator,
        decisive: false,
        message: sentence!("the hypervisor took {} of CPU time", format::percent(steal)),
        evidence: phrase!("steal of /proc/stat"),
        hint: phrase!("a larger or dedicated machine; times measured here contain the pauses"),
    })
}

fn doubted(case: &RuleInput<'_>, doubts: &[Finding]) -> Option<Sentence> {
    let codes: Vec<_> = doubts.iter().map(|doubt| doubt.code).collect();
    // In the closed loop the rate is set by a full thread or by the requests it had to drop. The
    // first line reports that.
    if codes.is_empty()
        || case.is_closed()
            && codes.iter().all(|code| matches!(*code, FindingCode::Full | FindingCode::Dropped))
    {
        return None;
    }
    let seconds = case.facts.validity.late_seconds;
    Some(if codes.contains(&FindingCode::Late) {
        sentence!(
            "late in {} of {} s, verdict unchanged",
            format::count(seconds.count),
            format::count(seconds.of)
        )
    } else {
        sentence!(
            "the generator was in doubt ({}), verdict unchanged",
            codes.iter().map(|code| code.as_str()).collect::<Vec<_>>().join(", ")
        )
    })
}

/// One long turn is too rare to be a doubt. Readers of the longest times must still know that the
/// generator may have caused them.
fn stood_still(case: &RuleInput<'_>, doubts: &[Finding]) -> Option<Sentence> {
    let longest = case.facts.totals.threads.iter().map(|health| health.turn_ns_max).max().unwrap_or(0);
    let reported = doubts.iter().any(|doubt| doubt.code == FindingCode::Stalled);
    let alongside = case.judged.response.max().max(case.judged.failed.max());
    (!reported && longest >= STOOD_STILL_MIN && longest >= alongside / 2).then(|| {
        sentence!(
            "a load thread stalled for {} without a break: it may have caused the longest times",
            Nanos(longest as i64)
        )
    })
}

fn unanswered(case: &RuleInput<'_>) -> Option<Sentence> {
    let open = case.judged.open;
    // After a kill no process could record how long they had waited; also not on a lost agent.
    let fate = if case.facts.circumstances.lost.is_empty() && fleet::gaps(case).is_none() {
        phrase!("at the end and count in the response time as long as they waited")
    } else {
        phrase!("when the last interval was sealed and are in no response time")
    };
    let requests = format::requests(open);
    match open {
        0 => None,
        1 => Some(sentence!("{requests} was unanswered {fate}")),
        _ => Some(sentence!("{requests} were unanswered {fate}")),
    }
}

/// Drops at the plan's own limit are not a doubt about the generator. However, the reader must know
/// that the requested rate was not sent.
fn at_max_open(case: &RuleInput<'_>) -> Option<Sentence> {
    let at_limit = case.judged.counters.dropped_by[DropReason::MaxOpen as usize];
    let dropped = at_limit.saturating_sub(case.facts.validity.max_open_while_full);
    let limits = case.facts.plan.phases.iter().filter(|phase| !phase.warmup).map(|phase| phase.max_open);
    let (requests, limit) = (format::requests(dropped), format::count(limits.min().unwrap_or_default()));
    let share = format::percent(dropped as f64 / case.judged.counters.offered.max(1) as f64);
    match dropped {
        0 => None,
        1 => Some(sentence!(
            "{requests} ({share}) was never sent, as max_open {limit} was reached: the target saw less than the rate asked for"
        )),
        _ => Some(sentence!(
            "{requests} ({share}) were never sent, as max_open {limit} was reached: the target saw less than the rate asked for"
        )),
    }
}

/// Reports rendezvous at which users did not arrive in time, so that the present users continued
/// without them.
fn apart(case: &RuleInput<'_>) -> Vec<Sentence> {
    let spans = case.facts.totals.spans();
    let meetings = case.facts.totals.journeys.meetings.iter();
    let apart: Vec<_> = meetings.filter(|it| it.by_wait && !spans.is_warmup(it.phase)).collect();
    let mut notes: Vec<_> = apart
        .iter()
        .take(APART_SHOWN_MAX)
        .map(|meeting| {
            let name = case.facts.plan.shared.rendezvous.get(usize::from(meeting.place));
            sentence!(
                "at {} the wait ended with {} of {} users present: they continued without the others",
                name.map_or("?", String::as_str),
                format::count(meeting.present),
                format::count(meeting.of)
            )
        })
        .collect();
    if apart.len() > APART_SHOWN_MAX {
        notes.push(sentence!(
            "the same happened {} more times",
            format::count((apart.len() - APART_SHOWN_MAX) as u64)
        ));
    }
    notes
}

fn lowered(case: &RuleInput<'_>) -> Option<Sentence> {
    // A limit that caused no drops is reported with the plan, not with the result.
    let dropped = |reason: DropReason| case.judged.counters.dropped_by[reason as usize] > 0;
    let mut phases = case.facts.plan.phases.iter();
    let (lowered, what) = phases.find_map(|phase| match phase.max_open_by {
        MaxOpenLimit::Files if dropped(DropReason::NoFiles) => Some((phase, phrase!("file limit"))),
        MaxOpenLimit::Memory if dropped(DropReason::NoMemory) => Some((phase, phrase!("memory"))),
        MaxOpenLimit::Sources if dropped(DropReason::NoSourceAddress) => {
            Some((phase, phrase!("source addresses and ports")))
        }
        _ => None,
    })?;
    Some(sentence!(
        "at most {} simultaneous requests: this host's {what} allowed no more",
        format::count(lowered.max_open)
    ))
}
