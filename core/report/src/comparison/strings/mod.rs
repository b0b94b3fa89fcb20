//! [`CompareStrings`]: every text of a comparison that is ours, in one language.

mod en;
mod zh;

pub(super) use en::WORDS as EN;
pub(super) use zh::WORDS as ZH;

use crate::html::Language;

/// A sentence with one placeholder.
type Format1 = fn(&str) -> String;
/// A sentence with two placeholders.
type Of2 = fn(&str, &str) -> String;

/// All texts of a comparison, named by what they say.
pub(super) struct CompareStrings {
    pub(super) kind: &'static str,
    /// Answers, and the meaning of each, in the order of [`wavetank_record::CompareAnswer`].
    pub(super) answers: [(&'static str, &'static str); 5],
    /// Between the parts of a list.
    pub(super) comma: &'static str,
    /// A factor: this many times as much.
    pub(super) times: Format1,
    pub(super) more: Format1,
    pub(super) less: Format1,
    /// No change.
    pub(super) same: &'static str,
    /// A share that would round to zero.
    pub(super) tiny: &'static str,
    /// The same below zero.
    pub(super) tiny_less: &'static str,
    pub(super) none_before: Format1,
    pub(super) none_now: Format1,
    pub(super) not_known: &'static str,
    /// The interval behind a change: from, to.
    pub(super) interval: Of2,
    /// From, to.
    pub(super) between: Of2,
    /// Values that are named, the limit.
    pub(super) beyond: Of2,
    pub(super) in_values: Format1,
    /// Differences that would have been detected.
    pub(super) would_be_seen: Format1,
    /// The limit, how many values.
    pub(super) all_exclude: Of2,
    /// The limit, names.
    pub(super) not_excluded: Of2,
    pub(super) and_more: Format1,
    pub(super) nothing_judged: &'static str,
    /// Shown if none of the requested values can be judged, but others might be.
    pub(super) none_asked: &'static str,
    pub(super) one_run: &'static str,
    /// Several runs that do not show how much they differ.
    pub(super) no_spread: &'static str,
    /// Shown if none of the values to be judged has a ratio.
    pub(super) no_ratio: &'static str,
    pub(super) not_shown: &'static str,
    pub(super) would_be: Format1,
    pub(super) show_little: &'static str,
    pub(super) undecided: &'static str,
    /// After it, for a value without a ratio.
    pub(super) for_no_ratio: &'static str,
    pub(super) regression: Format1,
    pub(super) possible: Format1,
    pub(super) page: PageStrings,
}

/// Texts that only the page has.
pub(super) struct PageStrings {
    pub(super) runs: Format1,
    pub(super) warnings: &'static str,
    pub(super) how_sure: &'static str,
    /// The level; the most certain value and its probability.
    pub(super) sure: Format1,
    pub(super) by_chance: Of2,
    /// Certainty where no difference is shown: the chance that one would have been shown by
    /// mistake.
    pub(super) sure_of_none: Format1,
    /// For one run on each side, and where nothing is judged for other reasons.
    pub(super) unsure: &'static str,
    pub(super) unsure_of_all: &'static str,
    /// Shown if single runs have intervals nevertheless.
    pub(super) from_seconds: &'static str,
    pub(super) more_runs: &'static str,
    /// Minimum number of runs on each side.
    pub(super) yes_more: Format1,
    /// Shown if nothing is judged although there are several runs.
    pub(super) more_samples: &'static str,
    pub(super) no_more: &'static str,
    /// A change for the better, and one for the worse.
    pub(super) better: &'static str,
    pub(super) worse: &'static str,
    /// Names of possible regressions.
    pub(super) to_exclude: Format1,
    /// The limit and the names of possible regressions, in addition to one that is shown.
    pub(super) also_possible: Of2,
    /// Number of runs on each side that would show the observed difference closest to significance;
    /// its name, and its change.
    pub(super) would_take: fn(&str, &str, &str) -> String,
    /// Names of values for which little would have been detected.
    pub(super) little_seen: Format1,
    pub(super) far_more: &'static str,
    pub(super) forest: &'static str,
    /// The meaning of its markers, and its limits by the allowed regression.
    pub(super) key_worse: &'static str,
    pub(super) key_better: &'static str,
    pub(super) key_none: &'static str,
    pub(super) key_undecided: &'static str,
    pub(super) allowed: Format1,
    pub(super) forest_lead: &'static str,
    pub(super) values: &'static str,
    pub(super) values_lead: &'static str,
    pub(super) own_intervals: &'static str,
    /// Below values that are marked.
    pub(super) few_above: &'static str,
    pub(super) value: &'static str,
    pub(super) ratio: &'static str,
    pub(super) interval: &'static str,
    pub(super) chance: &'static str,
    pub(super) said: &'static str,
    pub(super) course: &'static str,
    pub(super) course_lead: &'static str,
    pub(super) rate: &'static str,
    pub(super) p50: &'static str,
    pub(super) p99: &'static str,
    pub(super) spectrum: &'static str,
    pub(super) spectrum_lead: &'static str,
    pub(super) of_runs: &'static str,
    pub(super) of_runs_lead: &'static str,
    pub(super) side: &'static str,
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) started: &'static str,
    pub(super) target: &'static str,
    pub(super) load: &'static str,
    pub(super) verdict: &'static str,
    pub(super) duration: &'static str,
    pub(super) version: &'static str,
    pub(super) notes: &'static str,
    pub(super) next: &'static str,
    pub(super) repeat: &'static str,
    pub(super) repeat_lead: &'static str,
    pub(super) command: &'static str,
    pub(super) made_by: Format1,
}

impl CompareStrings {
    pub(super) const fn for_language(language: Language) -> &'static Self {
        match language {
            Language::English => &EN,
            Language::Chinese => &ZH,
        }
    }
}
