//! A comparison in English.

use super::{CompareStrings, PageStrings};

pub(in crate::comparison) static WORDS: CompareStrings = CompareStrings {
    kind: "Comparison of load tests",
    answers: [
        ("DIFFERENCE", "At least one value differs by more than chance explains."),
        (
            "NO DIFFERENCE SHOWN",
            "No value differs by more than chance explains. This does not prove that they are equal.",
        ),
        (
            "UNDECIDED",
            "Inconclusive: these runs cannot distinguish a difference from chance for any value to be judged.",
        ),
        ("REGRESSION", "At least one value is worse by more than the allowed limit."),
        ("NO REGRESSION SHOWN", "No value is significantly worse by more than the allowed limit."),
    ],
    comma: ", ",
    times: |many| format!("{many} times"),
    more: |share| format!("{share} higher"),
    less: |share| format!("{share} lower"),
    same: "the same",
    tiny: "< 0.01 %",
    tiny_less: "> −0.01 %",
    none_before: |now| format!("none before, {now} now"),
    none_now: |before| format!("{before} before, none now"),
    not_known: "not known",
    interval: |from, to| format!(" ({from} to {to})"),
    between: |from, to| format!("{from} to {to}"),
    beyond: |of, limit| format!("{of}: over the {limit} allowed"),
    in_values: |many| {
        if many == "1" { "in the one value judged".to_owned() } else { format!("in {many} values") }
    },
    would_be_seen: |list| format!("; detectable changes: {list}"),
    all_exclude: |limit, many| match many {
        "1" => format!("none over {limit} in the one value judged, and its interval excludes one"),
        _ => format!("none over {limit} in {many} values, and all intervals exclude one"),
    },
    not_excluded: |limit, names| format!("none over {limit}, but inconclusive for {names}"),
    and_more: |more| {
        if more == "1" { ", and 1 other value".to_owned() } else { format!(", and {more} other values") }
    },
    nothing_judged: "there is no value that could be judged",
    none_asked: "none of the values asked for can be judged",
    one_run: "one run per side: the variation between runs is unknown",
    no_spread: "the runs do not show the variation within a side",
    no_ratio: "no value to be judged has a ratio: each is 0 or unknown in a run",
    not_shown: "no difference shown",
    would_be: |share| format!("; a change of {share} could be detected"),
    show_little: "; only a large change could be detected",
    undecided: "undecided",
    for_no_ratio: ": 0 or unknown in a run",
    regression: |said| format!("REGRESSION: {said}"),
    possible: |said| format!("{said}; a regression is possible"),
    page: PageStrings {
        runs: |many| if many == "1" { "1 run".to_owned() } else { format!("{many} runs") },
        warnings: "Warnings",
        how_sure: "How sure is that?",
        sure: |level| format!("In at least {level} of such comparisons, all reported differences are real."),
        sure_of_none: |chance| {
            format!(
                "If all values were equal, the probability of reporting any difference would be {chance} at most. \
                 Real differences may have been missed. The smallest detectable change is shown next to each value if it is known."
            )
        },
        by_chance: |name, chance| {
            format!(
                "The most certain one is {name}: the probability of such a difference by chance alone is {chance}."
            )
        },
        unsure: "Not at all: runs of the same test also vary, and only several runs per side show how much.",
        unsure_of_all: "Not at all: the reason is shown above, and next to each value that has its own reason.",
        from_seconds: "The intervals below are computed from the seconds within the runs.",
        more_runs: "Are more runs needed?",
        yes_more: |runs| format!("Yes: at least {runs} per side, run alternately (A B A B …)."),
        more_samples: "If a value has too few samples, more or longer runs provide them; otherwise they do not help.",
        no_more: "No, not for the result above: more runs would only narrow its intervals.",
        better: "better",
        worse: "worse",
        to_exclude: |names| {
            format!("Only if a regression must be excluded. It is not yet excluded for: {names}.")
        },
        also_possible: |limit, names| {
            format!(
                "Not for the values that are significantly worse. Yes, if you need to know whether these are over the {limit} as well: {names}."
            )
        },
        would_take: |runs, name, change| {
            format!(
                "Yes, if a difference such as the one in {name} ({change}) matters: about {runs} runs per side would show it."
            )
        },
        little_seen: |names| {
            format!("Yes, if less than a doubling of {names} matters: these runs can hardly detect that.")
        },
        far_more: "Only if differences smaller than the detectable ones matter.",
        forest: "Change from A to B, with 95 % intervals",
        key_worse: "Difference for the worse",
        key_better: "Difference for the better",
        key_none: "No difference shown",
        key_undecided: "Undecided",
        allowed: |limit| format!("Regression allowed: {limit}"),
        forest_lead: "Right of centre: B is higher. An interval that touches the centre shows no difference. \
            Other intervals may differ by chance when there are many values; the table says which differences survive the correction.",
        values: "All values",
        values_lead: "Each value combines all runs of a side. A difference is reported if it survives the correction for all judged \
            values.",
        own_intervals: "Intervals are not corrected for the number of judged values; the column next to them is.",
        few_above: "~ fewer than 10 samples lie above this percentile, on one side at least.",
        value: "Value",
        ratio: "B/A",
        interval: "95 % interval",
        chance: "By chance, corrected",
        said: "Difference",
        course: "Over time",
        course_lead: "One line per side combines all its runs from their first second. Rates are averages per run; percentiles \
                      cover all answers. If a point has fewer than 1,000 answers, fewer than ten of them are above its p99.",
        rate: "Requests done per second",
        p50: "Response time, p50",
        p99: "Response time, p99",
        spectrum: "Response time by percentile",
        spectrum_lead: "All runs of a side in one histogram; percentiles are never averaged.",
        of_runs: "Runs",
        of_runs_lead: "A is the baseline; B is judged against it.",
        side: "Side",
        id: "Run",
        name: "Name",
        started: "Started",
        target: "Target",
        load: "Load",
        verdict: "Verdict",
        duration: "Measured",
        version: "Version",
        notes: "Notes",
        next: "Next",
        repeat: "How to repeat it",
        repeat_lead: "The same runs and the same seed give exactly the same comparison.",
        command: "Command",
        made_by: |version| format!("Made by Wavetank {version} from stored runs."),
    },
};
