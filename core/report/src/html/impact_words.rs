//! [`ImpactStrings`]: the texts on faults and pool changes.

use super::strings::{Of1, Of2, Strings};

/// Texts of the section about faults and pool changes during the load.
pub(crate) struct ImpactStrings {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) what: &'static str,
    pub(crate) outcome: &'static str,
    pub(crate) stretch: &'static str,
    pub(crate) lost: &'static str,
    pub(crate) recovery: &'static str,
    pub(crate) before: &'static str,
    pub(crate) during: &'static str,
    pub(crate) after: &'static str,
    pub(crate) undone: Of1,
    pub(crate) lasting: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) stuck: &'static str,
    pub(crate) not_reached: &'static str,
    pub(crate) unhurt: &'static str,
    pub(crate) well_during: Of1,
    pub(crate) well_after: Of1,
    pub(crate) never_well: &'static str,
    /// Before the list of events on the first page.
    pub(crate) meanwhile: &'static str,
    pub(crate) from: Of1,
    pub(crate) from_to: Of2,
    /// The end of the line.
    pub(crate) stop: &'static str,
    /// Remark that the line does not prove a cause.
    pub(crate) no_proof: &'static str,
}

/// The texts in the language of `words`.
pub(crate) fn impact_words(words: &Strings) -> &'static ImpactStrings {
    if words.tag == "en" { &EN } else { &ZH }
}

static EN: ImpactStrings = ImpactStrings {
    title: "Faults and events on hosts",
    lead: "Faults and other events of the experiment or the lab, with client results before, during and after them. Before covers \
           the whole seconds of the ten seconds before the event, except those made worse by an earlier event. During covers the second of \
           its start to the second of its end. After ends once the results have been stable at their earlier level for three seconds. Waiting requests count in the second in which they are answered, so on average as many may be done as before. A second is worse than before if more \
           requests fail (by over 1 % of all), fewer than 90 % are done, connections are lost, or the p99 is more than twice the p99 of the slowest second before and at \
           least 10 ms above it. The charts show events as bands with dotted edges.",
    what: "Event",
    outcome: "Outcome",
    stretch: "Time",
    lost: "Connections lost",
    recovery: "Recovery",
    before: "before",
    during: "during",
    after: "after",
    undone: |time| format!("reverted after {time}"),
    lasting: "not reverted",
    failed: "could not be executed",
    stuck: "could not be reverted",
    not_reached: "not executed: the run ended first",
    unhurt: "no second was worse than before",
    well_during: |time| format!("recovered {time} after its start, while it was still active"),
    well_after: |time| format!("recovered {time} after it was reverted"),
    never_well: "not recovered before the load ended",
    meanwhile: "Faults and events during the run",
    from: |begin| format!("from {begin}"),
    from_to: |begin, end| format!("{begin} to {end}"),
    stop: ".",
    no_proof: " That alone does not prove the cause; see below for client results before, during and after it.",
};

static ZH: ImpactStrings = ImpactStrings {
    title: "主机上的故障与事件",
    lead: "实验或实验室中的故障及其他事件，以及客户端所见：发生前十秒之内的各个整秒（因更早的事件而变差的除外）、从开始的那一秒到结束的那一秒，以及直到客户端连续三秒恢复如初。等待中的请求在结束的那一秒得到应答，因此平均完成量可能与之前相当。\
           若某一秒的失败占比高出 1 个百分点以上、完成量不足原先的 90\u{a0}%、p99 超过此前最慢一秒的两倍且高出至少 10\u{a0}ms，或有连接断开，即视为变差。\
           图中以带点线边框的色带标出。",
    what: "事件",
    outcome: "执行情况",
    stretch: "时段",
    lost: "断开的连接",
    recovery: "恢复情况",
    before: "之前",
    during: "期间",
    after: "之后",
    undone: |time| format!("{time} 后撤销"),
    lasting: "未撤销",
    failed: "未能执行",
    stuck: "未能撤销",
    not_reached: "未执行：运行已先行结束",
    unhurt: "没有哪一秒变差",
    well_during: |time| format!("开始 {time} 后恢复，此时故障仍在持续"),
    well_after: |time| format!("撤销 {time} 后恢复"),
    never_well: "负载结束前未恢复",
    meanwhile: "运行期间的故障与事件",
    from: |begin| format!("始于 {begin}"),
    from_to: |begin, end| format!("{begin} 至 {end}"),
    stop: "。",
    no_proof: "仅此不能证明因果；其前、期间与其后客户端所见列于下文。",
};
