//! Faults and pool changes during the load, and their effect on clients.

use wavetank_record::{ClientWindowDoc, ImpactDoc, RunRecord};
use wavetank_units::quantity::{format_grouped, show_request_rate, show_share};

use super::impact_words::ImpactStrings;
use super::model::Section;
use super::page_text::PageText::{self, Own};
use super::table::{Column, Table};
use super::value::Value;
use crate::format;
use crate::html::Language;

/// Most events with lines of their own on a terminal.
const SHOWN_MAX: usize = 12;

const TITLE: PageText = Own(["Faults and events on hosts", "主机上的故障与事件"]);
const LEAD: PageText = Own([
    "Faults and other events of the experiment or the lab, with client results before, during and after them. Before covers \
           the whole seconds of the ten seconds before the event, except those made worse by an earlier event. During covers the second of \
           its start to the second of its end. After ends once the results have been stable at their earlier level for three seconds. Waiting requests count in the second in which they are answered, so on average as many may be done as before. A second is worse than before if more \
           requests fail (by over 1 % of all), fewer than 90 % are done, connections are lost, or the p99 is more than twice the p99 of the slowest second before and at \
           least 10 ms above it. The charts show events as bands with dotted edges.",
    "实验或实验室中的故障及其他事件，以及客户端所见：发生前十秒之内的各个整秒（因更早的事件而变差的除外）、从开始的那一秒到结束的那一秒，以及直到客户端连续三秒恢复如初。等待中的请求在结束的那一秒得到应答，因此平均完成量可能与之前相当。\
           若某一秒的失败占比高出 1 个百分点以上、完成量不足原先的 90\u{a0}%、p99 超过此前最慢一秒的两倍且高出至少 10\u{a0}ms，或有连接断开，即视为变差。\
           图中以带点线边框的色带标出。",
]);

type Col = Column<ImpactDoc>;

/// The columns in Markdown. A page has a row for each stretch of time.
const COLUMNS: [Col; 5] = [
    Col::text("at", PageText::Absent, |impact| Value::seconds(Some(impact.from_s))),
    Col::text("event", PageText::Absent, |impact| Value::Name(format!("{} on {}", impact.what, impact.host))),
    Col::text("outcome", PageText::Absent, |impact| {
        let why = if impact.why.is_empty() { String::new() } else { format!(": {}", impact.why) };
        Value::stored([plain().outcome(impact) + &why])
    }),
    Col::text("client results", PageText::Absent, |impact| Value::stored([changes(impact).join(", ")])),
    Col::text("recovery", PageText::Absent, |impact| Value::stored([plain().recovery(impact)])),
];

/// Empty without planned events.
pub(crate) fn impacts(record: &RunRecord) -> Section {
    let section = Section::of_table("Events", Table::new("events", &COLUMNS, &record.impacts));
    Section { id: "impacts", title: TITLE, lead: LEAD, terminal_notes: notes(&record.impacts), ..section }
}

const fn plain() -> &'static ImpactStrings {
    ImpactStrings::for_language(Language::English)
}

fn notes(impacts: &[ImpactDoc]) -> Vec<(&'static str, Vec<String>)> {
    let mut lines = Vec::new();
    for (number, impact) in impacts.iter().take(SHOWN_MAX).enumerate() {
        let event = format!("at {}: {} on {}", format::seconds(impact.from_s), impact.what, impact.host);
        lines.push((if number == 0 { "events" } else { "" }, vec![event, plain().outcome(impact)]));
        lines.push(("", vec![impact.why.to_string()]));
        lines.push(("", changes(impact).into_iter().chain([plain().recovery(impact)]).collect()));
    }
    let more = impacts.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        lines.push(("", vec![format!("{more} more in `impacts` of --format json")]));
    }
    lines
}

/// The effect on clients, as values before and during the event; empty if no effect can be shown.
fn changes(impact: &ImpactDoc) -> Vec<String> {
    let Some(during) = &impact.during else { return Vec::new() };
    let before = impact.before.as_ref();
    let pair = |name: &str, of: &dyn Fn(&ClientWindowDoc) -> Option<String>| {
        let now = of(during)?;
        let then = before.and_then(of);
        Some(match then {
            Some(then) if then != now => format!("{name} {then} → {now}"),
            _ => format!("{name} {now}"),
        })
    };
    let mut parts: Vec<String> = [
        pair("done", &|seen| Some(show_request_rate(seen.done_per_s.0))),
        pair("failed", &|seen| Some(show_share(seen.failed_share.0))),
        pair("p99", &|seen| seen.p99_us.map(format::time)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let lost = during.lost + impact.after.map_or(0, |after| after.lost);
    if lost > 0 {
        parts.push(format!("connections lost {}", format_grouped(lost)));
    }
    parts
}
