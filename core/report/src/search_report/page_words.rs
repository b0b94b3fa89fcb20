//! [`SearchStrings`]: every text of a search's page that is ours, in each language.

use wavetank_record::{Number, SearchDoc};

use super::en::ENGLISH;
use super::format::level_text;
use super::headline::chinese_headline;
use super::sentences::AnswerStrings;
use super::zh::{self, CHINESE};
use crate::html::Language;

/// An end of a search: its stored name, its title, and its meaning.
type End = (&'static str, &'static str, &'static str);

/// All texts of a search page, by what they say.
pub(super) struct SearchStrings {
    pub(super) kind: &'static str,
    /// The answer in one line, if it is not shown as it is stored.
    pub(super) headline: Option<fn(&SearchDoc) -> String>,
    /// Texts that the other views have, too.
    pub(super) say: &'static AnswerStrings,
    /// Ends that are answers.
    pub(super) ends: [End; 4],
    /// Every other end.
    pub(super) broken_off: End,
    /// The interval's ends, and between them.
    pub(super) lower: &'static str,
    pub(super) knee: &'static str,
    pub(super) upper: &'static str,
    /// Description of an end of the interval, by its confidence.
    pub(super) lower_end: fn(&str) -> String,
    pub(super) upper_end: fn(&str) -> String,
    pub(super) estimate: &'static str,
    pub(super) estimate_queued: &'static str,
    /// A bound, if there is no interval.
    pub(super) holds_up_to: &'static str,
    pub(super) none_held: &'static str,
    pub(super) proven: &'static str,
    pub(super) not_proven: &'static str,
    /// After an end: it is less than the level (in its unit) of the passed runs.
    pub(super) less_queued: fn(&str) -> String,
    /// The knee and its interval in a chart's key, by the confidence of proven ends.
    pub(super) marked: fn(Option<&str>) -> String,
    /// Causes of the interval's width: runs that disagree (a list), the number of levels between
    /// its ends, and possible queueing below a level.
    pub(super) disagree: fn(&str) -> String,
    pub(super) apart: fn(usize) -> String,
    pub(super) queued_part: fn(&str) -> String,
    /// Passed runs, all runs, the level; number of levels that are not shown.
    pub(super) held_at: fn([&str; 3]) -> String,
    pub(super) more_levels: fn(usize) -> String,
    pub(super) asked: &'static str,
    /// Before implicit thresholds.
    pub(super) unasked: &'static str,
    pub(super) target: &'static str,
    /// Number of runs, length of each, length of all, the seed.
    pub(super) effort: fn([&str; 4]) -> String,
    pub(super) chart: &'static str,
    pub(super) chart_near: &'static str,
    /// Below a chart: the lowest and the highest of the levels that have their markers in the next
    /// one.
    pub(super) unmarked: fn(&str, &str) -> String,
    /// What is varied: `rate`, `users` or `connections`.
    pub(super) of: fn(&str) -> &'static str,
    /// A level in its unit, of what is varied.
    pub(super) level: fn(&str, Number) -> String,
    pub(super) levels: &'static str,
    pub(super) levels_lead: &'static str,
    pub(super) held: &'static str,
    /// Passed runs, all runs.
    pub(super) held_of: fn(&str, &str) -> String,
    pub(super) spoiled: fn(&str) -> String,
    pub(super) done: &'static str,
    pub(super) place: &'static str,
    pub(super) unheld: &'static str,
    pub(super) unheld_lead: &'static str,
    pub(super) notes: &'static str,
    pub(super) repeat: &'static str,
    pub(super) repeat_lead: &'static str,
    pub(super) made_by: fn(&str) -> String,
}

impl SearchStrings {
    pub(super) const fn for_language(language: Language) -> &'static Self {
        match language {
            Language::English => &EN,
            Language::Chinese => &ZH,
        }
    }
}

static EN: SearchStrings = SearchStrings {
    kind: "Search for the knee",
    headline: None,
    say: &ENGLISH,
    ends: [
        (
            "found",
            "KNEE FOUND",
            "Estimated from runs at the levels listed below. The knee and the ends of its interval need not be tested levels.",
        ),
        ("above", "NO KNEE IN RANGE", "The conditions pass even at the highest allowed level."),
        ("below", "DOES NOT PASS", "The conditions fail even at the lowest level."),
        (
            "generator",
            "GENERATOR'S LIMIT",
            "The load generator, not the target, ended the search. The target may sustain more.",
        ),
    ],
    broken_off: ("", "NO ANSWER YET", "The search ended before there was an answer."),
    lower: "Knee at least",
    knee: "Knee",
    upper: "Knee at most",
    lower_end: |confidence| format!("lower end of the {confidence} interval"),
    upper_end: |confidence| format!("upper end of the {confidence} interval"),
    estimate: "estimate",
    estimate_queued: "estimate, minus requests that may have queued",
    holds_up_to: "Passes at least up to",
    none_held: "No run passed from",
    proven: "proven by repeated runs",
    not_proven: "not proven",
    less_queued: |level| format!(": {level} passed, minus requests that may have queued"),
    marked: |confidence| match confidence {
        Some(confidence) => format!("Knee and its {confidence} interval"),
        None => "Knee and the interval so far, not proven".to_owned(),
    },
    disagree: |list| {
        format!(
            "Runs within the interval disagree ({list}), which makes it wider. More runs per level (--repeats) usually make it \
             narrower; longer runs (-d) may disagree less."
        )
    },
    apart: |levels| match levels {
        0 | 1 => "The interval is between adjacent levels.".to_owned(),
        _ => format!(
            "Runs within the interval do not contradict each other. Proving an end takes runs at several levels, so the levels that \
             prove the two ends are {levels} levels apart."
        ),
    },
    queued_part: |level| {
        format!(
            "Its part below {level} allows for requests that may have been queueing in runs at that level."
        )
    },
    held_at: |[held, runs, level]| format!("{held} of {runs} passed at {level}"),
    more_levels: |more| format!("{more} more such {}", if more == 1 { "level" } else { "levels" }),
    asked: "Thresholds",
    unasked: "implicit, added by Wavetank",
    target: "Target",
    effort: |[runs, each, all, seed]| {
        format!("{runs} {} of {each} in {all}, seed {seed}", if runs == "1" { "run" } else { "runs" })
    },
    chart: "Response time by load",
    chart_near: "Response time by load, near the knee",
    unmarked: |from, to| {
        format!(
            "Levels from {from} to {to} are shown in the next chart, since many marks would overlap here."
        )
    },
    of: |of| match of {
        "rate" => "Requests per second",
        "users" => "Users",
        _ => "Connections",
    },
    level: level_text,
    levels: "Tested levels",
    levels_lead: "Each value is the median of all runs at its level, including runs that do not count. For an even number of runs, it is \
                  the lower of the two in the middle. For response times, a run without any answer counts as above all others. Done/s \
                  excludes requests of the warm-up and requests answered after the load. Near the knee and beyond it, it \
                  is therefore lower than the rate that the target answered. With fewer \
                  than 1,000 answers in a run, fewer than ten are above p99; with fewer than 10,000, fewer than ten are above p99.9.",
    held: "Passed",
    held_of: |held, runs| format!("{held} of {runs}"),
    spoiled: |runs| format!(", {runs} invalidated by the generator"),
    done: "Done/s",
    place: "Position",
    unheld: "Runs that contradict others or do not count",
    unheld_lead: "Failed runs at levels where, or above which, other runs passed, and runs without information about their level. A level that fails on the way up is repeated, and the majority decides. Failed runs from the level at which no run passed are left out.",
    notes: "Notes",
    repeat: "How to repeat it",
    repeat_lead: "With the same seed, the levels are tried in the same order as long as the results are the same.",
    made_by: |version| format!("Made by Wavetank {version} from the stored search."),
};

static ZH: SearchStrings = SearchStrings {
    kind: "拐点搜索",
    headline: Some(chinese_headline),
    say: &CHINESE,
    ends: [
        (
            "found",
            "已找到拐点",
            "由下列各负载水平的运行估计得出：拐点及其区间的两端不一定是运行过的负载水平。",
        ),
        ("above", "范围内没有拐点", "即使在允许尝试的最高负载下，各项条件仍然成立。"),
        ("below", "不成立", "即使在最低负载下，各项条件也不成立。"),
        ("generator", "发压端已达上限", "搜索因发压端而非被测目标的上限而结束；被测目标也许能承受更多。"),
    ],
    broken_off: ("", "尚无结论", "搜索在得出结论之前结束。"),
    lower: "拐点至少为",
    knee: "拐点",
    upper: "拐点至多为",
    lower_end: |confidence| format!("{confidence} 区间的下端"),
    upper_end: |confidence| format!("{confidence} 区间的上端"),
    estimate: "估计值",
    estimate_queued: "估计值，已扣除可能仍在排队的部分",
    holds_up_to: "至少可维持到",
    none_held: "由此向上无一次成立",
    proven: "经多次运行证实",
    not_proven: "尚未证实",
    less_queued: |level| format!("：{level} 成立，再扣除可能仍在排队的部分"),
    marked: |confidence| match confidence {
        Some(confidence) => format!("拐点及其 {confidence} 区间"),
        None => "拐点及目前的区间（尚未证实）".to_owned(),
    },
    disagree: |list| {
        format!(
            "区间内的运行结果不一（{list}），区间因此变宽。增加每个负载水平的运行次数（--repeats）通常可使其变窄；\
             延长每次运行（-d）则可能减少不一致。"
        )
    },
    apart: |levels| match levels {
        0 | 1 => "区间位于相邻的负载水平之间。".to_owned(),
        _ => format!(
            "区间内的运行并不矛盾；一端须由若干负载水平的运行共同证实，因此证实两端的负载水平相隔 {levels} 级。"
        ),
    },
    queued_part: |level| format!("其中低于 {level} 的部分，是在该负载下运行结束时可能仍在排队的量。"),
    held_at: |[held, runs, level]| format!("{level} 的 {runs} 次中成立 {held} 次"),
    more_levels: |more| format!("另有 {more} 级"),
    asked: "阈值",
    unasked: "隐含条件，由 Wavetank 自动添加",
    target: "被测目标",
    effort: |[runs, each, all, seed]| format!("共 {runs} 次运行，每次 {each}，总计 {all}，随机种子 {seed}"),
    chart: "响应时间与负载的关系",
    chart_near: "拐点附近响应时间与负载的关系",
    unmarked: |from, to| format!("{from} 至 {to} 的各负载水平在下一图中标出：此图中许多会相互重叠。"),
    of: |of| match of {
        "rate" => "每秒请求数",
        "users" => "用户数",
        _ => "连接数",
    },
    level: |of, level| zh::level(&level_text(of, level)),
    levels: "尝试过的所有负载水平",
    levels_lead: "每项数值为该负载所有运行（含不计入的）的中位数；运行次数为偶数时，取中间两个中较小的。就响应时间而言，没有任何应答的运行视为高于其他所有运行。“成功/秒”不含预热期间发出的和负载结束后才应答的请求：接近和超过拐点时，它低于被测目标实际应答的速率。一次运行的应答不足 1,000 个时，高于其 p99 的不足 10 个；不足 10,000 个时，高于其 p99.9 的不足 10 个。",
    held: "成立次数",
    held_of: |held, runs| format!("{held}/{runs}"),
    spoiled: |runs| format!("，{runs} 次因发压端作废"),
    done: "成功/秒",
    place: "位置",
    unheld: "与其他运行矛盾或不计入的运行",
    unheld_lead: "未成立、而同一或更高负载另有运行成立的，以及不能说明其负载的。攀升途中某一负载不成立时会再次运行，以多数结果为准。自某一负载起再无一次成立的，其失败的运行从略。",
    notes: "说明",
    repeat: "如何复现",
    repeat_lead: "随机种子相同且各次结果相同时，负载水平的尝试顺序也相同。",
    made_by: |version| format!("由 Wavetank {version} 根据已存档的搜索记录生成。"),
};
