//! [`ImpactStrings`]: the texts on faults and pool changes.

use wavetank_record::{ImpactDoc, ImpactOutcome, Number, RecoveryDoc};
use wavetank_units::Nanos;

use crate::format;
use crate::html::{Language, Of1, Of2};

/// Texts of the section about faults and pool changes during the load.
pub(crate) struct ImpactStrings {
    pub(crate) before: &'static str,
    pub(crate) during: &'static str,
    pub(crate) after: &'static str,
    undone: Of1,
    lasting: &'static str,
    failed: &'static str,
    stuck: &'static str,
    not_reached: &'static str,
    unhurt: &'static str,
    well_during: Of1,
    well_after: Of1,
    never_well: &'static str,
    /// Before the list of events on the first page.
    pub(crate) meanwhile: &'static str,
    pub(crate) from: Of1,
    pub(crate) from_to: Of2,
    /// The end of the line.
    pub(crate) stop: &'static str,
    /// Remark that the line does not prove a cause.
    pub(crate) no_proof: &'static str,
}

impl ImpactStrings {
    pub(crate) const fn for_language(language: Language) -> &'static Self {
        match language {
            Language::English => &EN,
            Language::Chinese => &ZH,
        }
    }

    /// The result of an event: `reverted after 5.01 s`.
    pub(crate) fn outcome(&self, impact: &ImpactDoc) -> String {
        match (impact.outcome, impact.until_s) {
            (ImpactOutcome::NotReached, _) => self.not_reached.to_owned(),
            (ImpactOutcome::Failed, _) => self.failed.to_owned(),
            (ImpactOutcome::Done, _) => self.lasting.to_owned(),
            (ImpactOutcome::Stuck, _) => self.stuck.to_owned(),
            (ImpactOutcome::Undone, until) => {
                (self.undone)(&seconds_text(until.map_or(0.0, |until| until.0 - impact.from_s.0)))
            }
        }
    }

    /// How it ended for clients; empty if nothing is known.
    pub(crate) fn recovery(&self, impact: &ImpactDoc) -> String {
        let took = seconds_text(impact.recovery_s.map_or(0.0, |took| took.0));
        match impact.recovery {
            RecoveryDoc::Unknown => String::new(),
            RecoveryDoc::Unhurt => self.unhurt.to_owned(),
            RecoveryDoc::During => (self.well_during)(&took),
            RecoveryDoc::After => (self.well_after)(&took),
            RecoveryDoc::Never => self.never_well.to_owned(),
        }
    }
}

/// A length in seconds with a fitting unit.
fn seconds_text(seconds: f64) -> String {
    let length = Number((seconds * 1e3).round() / 1e3);
    if length.0 < 1.0 { Nanos((length.0 * 1e9) as i64).to_string() } else { format::seconds(length) }
}

static EN: ImpactStrings = ImpactStrings {
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
