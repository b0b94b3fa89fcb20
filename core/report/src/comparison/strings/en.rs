//! A comparison in English.

use super::{CompareStrings, PageStrings};

pub(in crate::comparison) static WORDS: CompareStrings = CompareStrings {
    kind: "Comparison of load tests",
    answers: [
        ("DIFFERENCE", "At least one value differs by more than chance explains."),
        (
            "NO DIFFERENCE SHOWN",
            "No value differs by more than chance explains. That is no proof that they are equal.",
        ),
        (
            "UNDECIDED",
            "Nothing is judged: these runs cannot tell a difference from chance in any value that was to be judged.",
        ),
        ("REGRESSION", "At least one value is worse by more than was allowed."),
        ("NO REGRESSION SHOWN", "No value is shown to be worse by more than was allowed."),
    ],
    comma: ", ",
    times: |many| format!("{many} times"),
    more: |share| format!("{share} more"),
    less: |share| format!("{share} less"),
    same: "the same",
    tiny: "< 0.01 %",
    tiny_less: "> −0.01 %",
    none_before: |now| format!("none before, {now} now"),
    none_now: |before| format!("{before} before, none now"),
    not_known: "not known",
    interval: |from, to| format!(" ({from} to {to})"),
    between: |from, to| format!("{from} to {to}"),
    beyond: |of, limit| format!("{of}: beyond the {limit} allowed"),
    in_values: |many| {
        if many == "1" { "in the one value judged".to_owned() } else { format!("in {many} values") }
    },
    would_be_seen: |list| format!("; what would have been seen: {list}"),
    all_exclude: |limit, many| match many {
        "1" => format!("none beyond {limit} in the one value judged, and its interval excludes one"),
        _ => format!("none beyond {limit} in {many} values, and all intervals exclude one"),
    },
    not_excluded: |limit, names| format!("none beyond {limit}, but not excluded of {names}"),
    and_more: |more| {
        if more == "1" { ", and 1 other value".to_owned() } else { format!(", and {more} other values") }
    },
    nothing_judged: "there is no value that could be judged",
    none_asked: "none of the values asked for can be judged",
    one_run: "one run a side: how much two runs of the same thing differ is not known",
    no_spread: "the runs do not show how much runs of one side differ",
    no_ratio: "no value to be judged has a ratio: each is 0 or unknown in a run",
    not_shown: "no difference shown",
    would_be: |share| format!("; one of {share} would be seen"),
    show_little: "; only a large one would be seen",
    undecided: "undecided",
    for_no_ratio: ": 0 or unknown in a run",
    regression: |said| format!("REGRESSION: {said}"),
    possible: |said| format!("{said}; a regression is possible"),
    page: PageStrings {
        runs: |many| if many == "1" { "1 run".to_owned() } else { format!("{many} runs") },
        warnings: "Beware",
        how_sure: "How sure is that?",
        sure: |level| {
            format!("In at least {level} of such comparisons all differences that are told are real.")
        },
        sure_of_none: |chance| {
            format!(
                "Were all values equal, one of them or more would have been told to differ with a chance of {chance} at most. \
                 Differences that are there may have been missed: where it is known, what would have been seen stands beside the value."
            )
        },
        by_chance: |name, chance| {
            format!("Surest is {name}: the probability of such a difference by chance alone is {chance}.")
        },
        unsure: "Not at all: two runs of the same thing differ too, and how much can only be seen from several of each.",
        unsure_of_all: "Not at all: the reason stands above, and beside each value that has one of its own.",
        from_seconds: "The intervals below are from the seconds within the runs.",
        more_runs: "Are more runs needed?",
        yes_more: |runs| format!("Yes: {runs} of each side at least, made in turn (A B A B …)."),
        more_samples: "Where a value has too few samples, more or longer runs give it some; otherwise they do not help.",
        no_more: "No, not for what is told above: more would only narrow its intervals.",
        better: "better",
        worse: "worse",
        to_exclude: |names| {
            format!("Only if a regression must be excluded, which it is not yet for: {names}.")
        },
        also_possible: |limit, names| {
            format!(
                "Not for what is shown to be worse. If it must be known whether these are beyond the {limit}, too, yes: {names}."
            )
        },
        would_take: |runs, name, change| {
            format!(
                "Yes, if a difference such as that of {name} ({change}) matters: about {runs} runs a side would show it."
            )
        },
        little_seen: |names| {
            format!("Yes, if less than a doubling of {names} matters: these runs show little of that.")
        },
        far_more: "Only if differences smaller than those that would have been seen matter.",
        forest: "Change from A to B, with 95 % intervals",
        key_worse: "Difference for the worse",
        key_better: "Difference for the better",
        key_none: "No difference shown",
        key_undecided: "Undecided",
        allowed: |limit| format!("Regression allowed: {limit}"),
        forest_lead: "Right of the middle there is more of it, left of it less. An interval that touches the middle shows no difference. \
            One that does not proves none by itself: of many values some lie apart by chance. What is proven is told in the table.",
        values: "All values",
        values_lead: "Each value of all runs of a side together. A difference is told where it survives the correction for all values \
            that are judged.",
        own_intervals: "Intervals are not corrected for how many values are judged; the column beside them is.",
        few_above: "~ fewer than 10 samples lie above this percentile, on one side at least.",
        value: "Value",
        ratio: "B/A",
        interval: "95 % interval",
        chance: "By chance, corrected",
        said: "Difference",
        course: "Over time",
        course_lead: "One line a side: all its runs together, from their first second on. Rates are those of a run on average, percentiles \
                      are of all its answers. Where a point holds fewer than 1,000 answers, fewer than ten of them lie above its p99.",
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
        repeat_lead: "The same runs and the same seed give the same comparison, to the last digit.",
        command: "Command",
        made_by: |version| format!("Made by Wavetank {version} from stored runs."),
    },
};
