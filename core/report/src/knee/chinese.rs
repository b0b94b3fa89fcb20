//! The answer of a search in Chinese, said from its values.

use wavetank_plan::quantity::show_share;
use wavetank_record::{Blame, Number, SearchDoc};

use super::words::{answered_runs, level_text};

/// A level in its unit: `2,480/s`, `1,200 个用户`.
pub(super) fn level(of: &str, level: Number) -> String {
    let text = level_text(of, level);
    let unit = if of == "users" { "个用户" } else { "个连接" };
    text.split_once(' ').map_or_else(|| text.clone(), |(number, _)| format!("{number} {unit}"))
}

/// Whose limit it was.
pub(super) const fn whose(blame: Blame) -> &'static str {
    match blame {
        Blame::Target => "被测目标的上限",
        Blame::Generator => "发压端的上限",
        Blame::Network => "网络的上限",
        Blame::Balancer => "负载均衡的上限",
        Blame::None | Blame::Unknown => "被测目标或其前方环节的上限",
    }
}

/// The answer in one line, whatever it is.
pub(super) fn headline(doc: &SearchDoc) -> String {
    let answer = &doc.answer;
    let at = |value: Number| level(&doc.of, value);
    let asked = doc.thresholds.join("、");
    match (answer.end.as_str(), answer.knee) {
        ("found", Some(knee)) => {
            format!("拐点为 {}（{}）：不超过该负载时 {asked} 成立", at(knee), interval(doc))
        }
        ("above", Some(knee)) => {
            format!("直到 {} 没有拐点：在允许尝试的最高负载（--to）下 {asked} 仍然成立", at(knee))
        }
        ("below", _) => format!("没有拐点：在最低负载 {} 下 {asked} 就不成立", at(doc.setup.from)),
        ("generator", Some(knee)) => format!(
            "至少为 {}：在该负载下 {asked} 成立；而在 {} 达到上限的是发压端，并非被测目标",
            at(knee),
            at(answer.generator_at.unwrap_or(doc.setup.to))
        ),
        ("generator", None) => {
            let lowest = answer.generator_at.unwrap_or(doc.setup.from);
            format!("没有结论：在最低负载 {} 下发压端就已达上限", at(lowest))
        }
        ("target", _) => {
            format!("没有结论：被测目标在 {} 次运行之后不再应答；{}", answered_runs(doc), so_far(doc))
        }
        (end, _) => format!("{}；{}", stopped(end), so_far(doc)),
    }
}

/// `2,450 至 2,510，置信度 95 %`, and which end is not proven.
fn interval(doc: &SearchDoc) -> String {
    let answer = &doc.answer;
    let (Some(low), Some(high)) = (answer.low, answer.high) else { return "有一端未定".to_owned() };
    let ends = format!("{} 至 {}", level(&doc.of, low), level(&doc.of, high));
    match (answer.low_proven, answer.high_proven) {
        (true, true) => format!("{ends}，置信度 {}", show_share(answer.confidence.0)),
        (true, false) => format!("{ends}，上端尚未证实"),
        (false, true) => format!("{ends}，下端尚未证实"),
        (false, false) => format!("{ends}，两端均未证实"),
    }
}

/// Why it ended before its time.
fn stopped(end: &str) -> &'static str {
    match end {
        "signal" => "被信号中断",
        "time" => "剩余时间不足以再运行一次（--max-time）",
        "runs" => "经过大量运行仍无结论",
        "undecided" => "每次运行过短，无法判定（-d）",
        "under_way" => "尚未结束",
        "unsteady" => "没有结论：被测目标不仅随负载、也随时间变化",
        _ => "有一次运行中途终止",
    }
}

fn so_far(doc: &SearchDoc) -> String {
    let at = |value: Number| level(&doc.of, value);
    match (doc.answer.low, doc.answer.high) {
        (Some(low), Some(high)) => format!("目前可知拐点在 {} 与 {} 之间", at(low), at(high)),
        (Some(low), None) => format!("目前直到 {} 均成立", at(low)),
        (None, Some(high)) => format!("目前在 {} 不成立", at(high)),
        (None, None) => match doc.curve.iter().find(|point| point.runs > 0) {
            Some(point) => {
                format!("目前在 {} 的 {} 次运行中成立 {} 次", at(point.level), point.runs, point.passed)
            }
            None => "目前一无所知".to_owned(),
        },
    }
}
