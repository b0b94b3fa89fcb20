//! The answer of a search in English.

use wavetank_record::Blame;

use super::failed_runs::FailureKind;
use super::observed_levels::LevelRole;
use super::sentences::{AnswerStrings, Requirement, RunEvidence};

pub(super) static ENGLISH: AnswerStrings = AnswerStrings {
    level: str::to_owned,
    found: |asked, knee, interval, seen| {
        format!("knee estimated at {knee} ({interval}) for {}: {}", joined(asked), showed(seen))
    },
    above: |asked, most| format!("no knee up to {most}: {} at the highest allowed level (--to)", hold(asked)),
    below: |asked, lowest| {
        let does = if asked.conditions.len() == 1 { "does" } else { "do" };
        format!("no knee: {} {does} not pass at the lowest level, {lowest}", joined(asked))
    },
    generator: |asked, held, full| {
        format!(
            "at least {held}: {} there, and at {full} the generator was the bottleneck, not the target",
            hold(asked)
        )
    },
    generator_at_once: |lowest| {
        format!("no answer: the generator was the bottleneck even at the lowest level, {lowest}")
    },
    silent: |answered, so_far| {
        let runs = if answered == 1 { "run" } else { "runs" };
        format!("no answer: the target stopped answering after {answered} {runs}: {so_far}")
    },
    stopped: |end, so_far| format!("{}: {so_far}", stopped(end)),
    interval: |[low, high], confidence, proven| {
        let ends = format!("{low} to {high}");
        match (proven.low, proven.high) {
            (true, true) => format!("{ends}, {confidence}"),
            (true, false) => format!("{ends}; the upper end is not proven"),
            (false, true) => format!("{ends}; the lower end is not proven"),
            (false, false) => format!("{ends}; neither end is proven"),
        }
    },
    quick: "quick estimate, about ± 10 %: ",
    not_proven: " (not proven)",
    open_interval: "one end is open",
    between: |low, high| format!("so far the knee is between {low} and {high}"),
    up_to: |low| format!("so far all levels up to {low} pass"),
    not_at: |high| format!("so far {high} does not pass"),
    held: |level, passed, all| {
        let runs = if all == 1 { "run" } else { "runs" };
        format!("so far {level} passed in {passed} of {all} {runs}")
    },
    nothing: "nothing is known yet",
    owner: |blame| match blame {
        Blame::Target => "target",
        Blame::Generator => "generator",
        Blame::Network => "network",
        Blame::Balancer => "balancer",
        Blame::None | Blame::Unknown => "target, or a device in front of it",
    },
    broke_at: |level| format!(" (in a run at {level})"),
    place: |place| match place {
        LevelRole::Lower => "lower end of the interval",
        LevelRole::LowerQueued => "lower end of the interval, before subtracting what may have queued",
        LevelRole::AllHeld => "every run passed, and most runs at each lower level",
        LevelRole::NoneHeld => "no run passed from here up",
        LevelRole::Upper => "upper end of the interval",
    },
    and: "; ",
    fate: |fate, runs, counted| {
        let plural = if runs == 1 { "run" } else { "runs" };
        match fate {
            FailureKind::Failed => format!("{runs} of {counted} failed"),
            FailureKind::Spoiled => format!("{runs} {plural} not counted, invalidated by the generator"),
            FailureKind::Undecided => format!("{runs} {plural} not counted, without a result"),
        }
    },
    more: |more| format!("{more} more"),
};

/// `p99 < 50ms, failed < 1%`.
fn joined(asked: &Requirement) -> String {
    asked.conditions.join(", ")
}

/// `p99 < 50ms passes`: one threshold or several.
fn hold(asked: &Requirement) -> String {
    let holds = if asked.conditions.len() == 1 { "passes" } else { "pass" };
    format!("{} {holds}", joined(asked))
}

/// `3 of 3 runs passed at 500/s, 0 of 16 passed from 504/s up`. A run passes if all of its
/// thresholds do, including the implicit ones.
fn showed(seen: &RunEvidence) -> String {
    let plural = |runs: u32| if runs == 1 { "run" } else { "runs" };
    match (&seen.all, &seen.none) {
        (Some((level, runs)), Some((from, failed))) => {
            format!("{runs} of {runs} {} passed at {level}, 0 of {failed} from {from} up", plural(*runs))
        }
        (Some((level, runs)), None) => format!("{runs} of {runs} {} passed at {level}", plural(*runs)),
        (None, Some((from, runs))) => format!("0 of {runs} {} passed from {from} up", plural(*runs)),
        (None, None) => format!("{} of {} {} passed", seen.runs.0, seen.runs.1, plural(seen.runs.1)),
    }
}

/// Why the search ended early.
fn stopped(end: &str) -> &'static str {
    match end {
        "signal" => "interrupted by a signal",
        "stopped" => "stopped by its user",
        "time" => "no time for another run (--max-time)",
        "runs" => "no answer after very many runs",
        "undecided" => "the levels are too short to decide (-d)",
        "under_way" => "not finished",
        "unsteady" => "no answer: the target changes with time, not only with the load",
        _ => "a run was interrupted",
    }
}
