//! [`CompareStrings`]: every word of a comparison that is ours, in one language.

mod en;
mod zh;

pub(super) use en::WORDS as EN;
pub(super) use zh::WORDS as ZH;

use crate::html::Language;

/// A sentence with one thing in it.
type Format1 = fn(&str) -> String;
/// A sentence with two things in it.
type Of2 = fn(&str, &str) -> String;

/// All words, by what they tell.
pub(super) struct CompareStrings {
    pub(super) kind: &'static str,
    /// Answers, and what each means, in the order of [`wavetank_record::CompareAnswer`].
    pub(super) answers: [(&'static str, &'static str); 5],
    /// Between the parts of a list.
    pub(super) comma: &'static str,
    /// So many times as much.
    pub(super) times: Format1,
    pub(super) more: Format1,
    pub(super) less: Format1,
    /// Neither.
    pub(super) same: &'static str,
    /// A share that would round to nothing.
    pub(super) tiny: &'static str,
    /// The same below none.
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
    /// Differences that would have been seen.
    pub(super) would_be_seen: Format1,
    /// The limit, how many values.
    pub(super) all_exclude: Of2,
    /// The limit, names.
    pub(super) not_excluded: Of2,
    pub(super) and_more: Format1,
    pub(super) nothing_judged: &'static str,
    /// Of what was asked for nothing can be judged; of the rest something might.
    pub(super) none_asked: &'static str,
    pub(super) one_run: &'static str,
    /// Several runs that tell nothing of how much they differ.
    pub(super) no_spread: &'static str,
    /// Values that are to be judged and of which none has a ratio.
    pub(super) no_ratio: &'static str,
    pub(super) not_shown: &'static str,
    pub(super) would_be: Format1,
    pub(super) show_little: &'static str,
    pub(super) undecided: &'static str,
    /// Behind it, of a value without a ratio.
    pub(super) for_no_ratio: &'static str,
    pub(super) regression: Format1,
    pub(super) possible: Format1,
    pub(super) page: PageStrings,
}

/// What only the page says.
pub(super) struct PageStrings {
    pub(super) runs: Format1,
    pub(super) warnings: &'static str,
    pub(super) how_sure: &'static str,
    /// The level; the value that is surest and its chance.
    pub(super) sure: Format1,
    pub(super) by_chance: Of2,
    /// How sure it is where no difference is told: the chance that one would have been by mistake.
    pub(super) sure_of_none: Format1,
    /// Of one run a side, and where nothing is judged for other reasons.
    pub(super) unsure: &'static str,
    pub(super) unsure_of_all: &'static str,
    /// Where single runs have intervals none the less.
    pub(super) from_seconds: &'static str,
    pub(super) more_runs: &'static str,
    /// How many a side at least.
    pub(super) yes_more: Format1,
    /// Where nothing is judged although there are several runs.
    pub(super) more_samples: &'static str,
    pub(super) no_more: &'static str,
    /// A rise or a fall that is for the better, and one for the worse.
    pub(super) better: &'static str,
    pub(super) worse: &'static str,
    /// Names of what is possible.
    pub(super) to_exclude: Format1,
    /// The limit and the names of what is possible beside a regression that is shown.
    pub(super) also_possible: Of2,
    /// How many runs a side would show the difference seen that is the nearest to it; its name, and its change.
    pub(super) would_take: fn(&str, &str, &str) -> String,
    /// Names of which little would have been seen.
    pub(super) little_seen: Format1,
    pub(super) far_more: &'static str,
    pub(super) forest: &'static str,
    /// What its markers mean, and its limits by the regression that is allowed.
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
