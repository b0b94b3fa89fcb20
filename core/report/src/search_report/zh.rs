//! The answer of a search in Chinese.

use wavetank_record::Blame;

use super::failed_runs::FailureKind;
use super::observed_levels::LevelRole;
use super::sentences::{AnswerStrings, Requirement, RunEvidence};

pub(super) static CHINESE: AnswerStrings = AnswerStrings {
    level,
    found: |asked, knee, interval, seen| {
        format!("拐点估计为 {knee}（{interval}），条件为 {}：{}", joined(asked), showed(seen))
    },
    above: |asked, most| {
        format!("直到 {most} 没有拐点：在允许尝试的最高负载（--to）下 {} 仍然成立", joined(asked))
    },
    below: |asked, lowest| format!("没有拐点：在最低负载 {lowest} 下 {} 就不成立", joined(asked)),
    generator: |asked, held, full| {
        format!(
            "至少为 {held}：在该负载下 {} 成立；而在 {full} 达到上限的是发压端，并非被测目标",
            joined(asked)
        )
    },
    generator_at_once: |lowest| format!("没有结论：在最低负载 {lowest} 下发压端就已达上限"),
    silent: |answered, so_far| format!("没有结论：被测目标在 {answered} 次运行之后不再应答；{so_far}"),
    stopped: |end, so_far| format!("{}；{so_far}", stopped(end)),
    interval: |[low, high], confidence, proven| {
        let ends = format!("{low} 至 {high}");
        match (proven.low, proven.high) {
            (true, true) => format!("{ends}，置信度 {confidence}"),
            (true, false) => format!("{ends}，上端尚未证实"),
            (false, true) => format!("{ends}，下端尚未证实"),
            (false, false) => format!("{ends}，两端均未证实"),
        }
    },
    quick: "快速估计，约 ± 10 %：",
    not_proven: "（尚未证实）",
    open_interval: "有一端未定",
    between: |low, high| format!("目前可知拐点在 {low} 与 {high} 之间"),
    up_to: |low| format!("目前直到 {low} 均成立"),
    not_at: |high| format!("目前在 {high} 不成立"),
    held: |level, passed, all| format!("目前在 {level} 的 {all} 次运行中成立 {passed} 次"),
    nothing: "目前一无所知",
    owner: |blame| match blame {
        Blame::Target => "被测目标",
        Blame::Generator => "发压端",
        Blame::Network => "网络",
        Blame::Balancer => "负载均衡",
        Blame::None | Blame::Unknown => "被测目标或其前方环节",
    },
    broke_at: |level| format!("（在 {level} 的一次运行中）"),
    place: |place| match place {
        LevelRole::Lower => "区间下端",
        LevelRole::LowerQueued => "区间下端（尚未扣除可能仍在排队的部分）",
        LevelRole::AllHeld => "各次运行均成立，更低的每个负载也多数运行成立",
        LevelRole::NoneHeld => "由此向上无一次成立",
        LevelRole::Upper => "区间上端",
    },
    and: "；",
    fate: |fate, runs, counted| match fate {
        FailureKind::Failed => format!("{counted} 次中有 {runs} 次不成立"),
        FailureKind::Spoiled => format!("{runs} 次不计入，因发压端作废"),
        FailureKind::Undecided => format!("{runs} 次不计入，没有结果"),
    },
    more: |more| format!("另有 {more} 种"),
};

/// `2,480/s` as it is, `1,200 个用户` for `1,200 users`.
pub(super) fn level(english: &str) -> String {
    let Some((number, unit)) = english.split_once(' ') else { return english.to_owned() };
    format!("{number} {}", if unit.starts_with("user") { "个用户" } else { "个连接" })
}

fn joined(asked: &Requirement) -> String {
    asked.conditions.join("、")
}

/// `在 500/s 的 3 次运行中成立 3 次，从 504/s 起的 16 次中成立 0 次`: as in English.
fn showed(seen: &RunEvidence) -> String {
    match (&seen.all, &seen.none) {
        (Some((level, runs)), Some((from, failed))) => {
            format!("在 {level} 的 {runs} 次运行中成立 {runs} 次，从 {from} 起的 {failed} 次中成立 0 次")
        }
        (Some((level, runs)), None) => format!("在 {level} 的 {runs} 次运行中成立 {runs} 次"),
        (None, Some((from, runs))) => format!("从 {from} 起的 {runs} 次运行中成立 0 次"),
        (None, None) => format!("在 {} 次运行中成立 {} 次", seen.runs.1, seen.runs.0),
    }
}

/// Why the search ended early.
fn stopped(end: &str) -> &'static str {
    match end {
        "signal" => "被信号中断",
        "stopped" => "被用户停止",
        "time" => "剩余时间不足以再运行一次（--max-time）",
        "runs" => "经过大量运行仍无结论",
        "undecided" => "每次运行过短，无法判定（-d）",
        "under_way" => "尚未结束",
        "unsteady" => "没有结论：被测目标不仅随负载、也随时间变化",
        _ => "有一次运行中途终止",
    }
}
