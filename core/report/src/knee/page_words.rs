//! [`KneeWords`]: every word of a search's page that is ours, in each language.

use wavetank_record::{Blame, Number, SearchDoc};

use super::chinese::{self, CHINESE};
use super::english::ENGLISH;
use super::headline::chinese_headline;
use super::words::level_text;
use crate::html::Language;

/// What an end of a search is called, its word, and what it means.
type End = (&'static str, &'static str, &'static str);

/// All words, by what they tell.
pub(super) struct KneeWords {
    pub(super) kind: &'static str,
    /// The answer in one line, where it is not told as it is stored.
    pub(super) headline: Option<fn(&SearchDoc) -> String>,
    /// Whose limit it was.
    pub(super) limit_of: fn(Blame) -> &'static str,
    /// Ends that are answers.
    pub(super) ends: [End; 4],
    /// Every other end.
    pub(super) broken_off: End,
    pub(super) lower: &'static str,
    pub(super) knee: &'static str,
    pub(super) upper: &'static str,
    pub(super) knee_means: &'static str,
    pub(super) proven: &'static str,
    pub(super) not_proven: &'static str,
    /// What is proven less than the level (in its unit) whose runs held.
    pub(super) less_queued: fn(&str) -> String,
    pub(super) asked: &'static str,
    pub(super) target: &'static str,
    /// How many runs, how long each, how long all, the seed.
    pub(super) effort: fn([&str; 4]) -> String,
    pub(super) chart: &'static str,
    /// What is varied: `rate`, `users` or `connections`.
    pub(super) of: fn(&str) -> &'static str,
    /// A level in its unit, of what is varied.
    pub(super) level: fn(&str, Number) -> String,
    pub(super) levels: &'static str,
    pub(super) levels_lead: &'static str,
    pub(super) held: &'static str,
    /// Runs that held, runs.
    pub(super) held_of: fn(&str, &str) -> String,
    pub(super) spoiled: fn(&str) -> String,
    pub(super) done: &'static str,
    pub(super) place: &'static str,
    pub(super) holds: &'static str,
    pub(super) holds_no_more: &'static str,
    pub(super) notes: &'static str,
    pub(super) repeat: &'static str,
    pub(super) repeat_lead: &'static str,
    pub(super) made_by: fn(&str) -> String,
}

impl KneeWords {
    pub(super) const fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &EN,
            Language::Chinese => &ZH,
        }
    }
}

static EN: KneeWords = KneeWords {
    kind: "Search for the knee",
    headline: None,
    limit_of: ENGLISH.whose,
    ends: [
        (
            "found",
            "KNEE FOUND",
            "The conditions hold at the lower end and no more at the upper; the knee lies between.",
        ),
        ("above", "NO KNEE IN RANGE", "The conditions hold even at the highest level that may be tried."),
        ("below", "DOES NOT HOLD", "The conditions do not hold even at the lowest level."),
        (
            "generator",
            "GENERATOR'S LIMIT",
            "The load generator, not the target, ended the search: the target may bear more.",
        ),
    ],
    broken_off: ("", "NO ANSWER YET", "The search ended before there was an answer."),
    lower: "Holds at least up to",
    knee: "Knee",
    upper: "Holds no more at",
    knee_means: "most likely",
    proven: "proven by repeated runs",
    not_proven: "not proven",
    less_queued: |level| format!("runs at {level} held, less what may have queued"),
    asked: "What has to hold",
    target: "Target",
    effort: |[runs, each, all, seed]| {
        format!("{runs} {} of {each} in {all}, seed {seed}", if runs == "1" { "run" } else { "runs" })
    },
    chart: "Response time by load",
    of: |of| match of {
        "rate" => "Requests per second",
        "users" => "Users",
        _ => "Connections",
    },
    level: level_text,
    levels: "Every level that was tried",
    levels_lead: "Each value is that of the run in the middle.",
    held: "Held",
    held_of: |held, runs| format!("{held} of {runs}"),
    spoiled: |runs| format!(", {runs} spoiled by the generator"),
    done: "Done/s",
    place: "Where",
    holds: "holds up to here at least",
    holds_no_more: "holds no more",
    notes: "Notes",
    repeat: "How to repeat it",
    repeat_lead: "With the same seed the levels are tried in the same order as long as the answers are the same.",
    made_by: |version| format!("Made by Wavetank {version} from the stored search."),
};

static ZH: KneeWords = KneeWords {
    kind: "拐点搜索",
    headline: Some(chinese_headline),
    limit_of: CHINESE.whose,
    ends: [
        ("found", "已找到拐点", "各项条件在下限处成立，在上限处不再成立；拐点在两者之间。"),
        ("above", "范围内没有拐点", "即使在允许尝试的最高负载下，各项条件仍然成立。"),
        ("below", "不成立", "即使在最低负载下，各项条件也不成立。"),
        ("generator", "发压端已达上限", "搜索因发压端而非被测目标的上限而结束；被测目标也许能承受更多。"),
    ],
    broken_off: ("", "尚无结论", "搜索在得出结论之前结束。"),
    lower: "至少可维持到",
    knee: "拐点",
    upper: "在此已不能维持",
    knee_means: "最可能的值",
    proven: "经多次运行证实",
    not_proven: "尚未证实",
    less_queued: |level| format!("{level} 的各次运行成立，再扣除可能仍在排队的部分"),
    asked: "须满足的条件",
    target: "被测目标",
    effort: |[runs, each, all, seed]| format!("共 {runs} 次运行，每次 {each}，总计 {all}，种子 {seed}"),
    chart: "响应时间与负载的关系",
    of: |of| match of {
        "rate" => "每秒请求数",
        "users" => "用户数",
        _ => "连接数",
    },
    level: |of, level| chinese::level(&level_text(of, level)),
    levels: "尝试过的所有负载水平",
    levels_lead: "每项数值取自居中的那次运行。",
    held: "成立次数",
    held_of: |held, runs| format!("{held}/{runs}"),
    spoiled: |runs| format!("，{runs} 次因发压端作废"),
    done: "成功/秒",
    place: "位置",
    holds: "至少可维持到此",
    holds_no_more: "已不能维持",
    notes: "说明",
    repeat: "如何复现",
    repeat_lead: "种子相同且各次结果相同时，负载水平的尝试顺序也相同。",
    made_by: |version| format!("由 Wavetank {version} 根据已存档的搜索记录生成。"),
};
