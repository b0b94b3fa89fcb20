//! [`size_doc`]: the `wavetank.size/1` object of a load.

use wavetank_capacity::size::{HostInventory, Setting, Sizing, SizingResult, TierSizing, columns};
use wavetank_record::{AnswerDoc, LackDoc, Number, SIZE_SCHEMA, SizeDoc, TierDoc};

/// A load with the hosts it needs, and the settings it was computed from.
#[derive(Clone, Copy, Debug)]
pub struct SizingInput<'a> {
    /// The URL or file; empty without one.
    pub target: &'a str,
    /// Version of wavetank.
    pub version: &'a str,
    /// The result of the computation.
    pub sizing: &'a Sizing,
    /// The hosts.
    pub means: &'a HostInventory,
    /// Defaults and settings of the exchange, in addition to those of the hosts.
    pub settings: &'a [Setting],
    /// Notes in addition to those of the computation itself.
    pub notes: &'a [String],
}

/// Returns everything that is known of the sizing.
pub fn size_doc(sized: &SizingInput<'_>) -> SizeDoc {
    let sizing = sized.sizing;
    let group = |group: &'static str, answers: &[SizingResult]| -> Vec<AnswerDoc> {
        answers.iter().map(|one| answer(group, one)).collect()
    };
    let mut answers = group("ports", &sizing.tuples.answers);
    answers.extend(group("memory", &sizing.memory));
    answers.extend(group("network", &sizing.network));
    let compare =
        if sized.sizing.demand.connections > 1 { columns(&sizing.demand, sized.means) } else { Vec::new() };
    SizeDoc {
        schema: SIZE_SCHEMA.to_owned(),
        version: sized.version.to_owned(),
        target: sized.target.to_owned(),
        asked: group("load", &sizing.demand.asked),
        hosts: sizing.tiers.iter().map(tier).collect(),
        answers,
        tunings: sizing.tunings.clone(),
        compare,
        lacking: sizing.lacking.iter().map(LackDoc::from).collect(),
        settings: sized.settings.iter().chain(&sized.means.settings).cloned().collect(),
        notes: sizing.notes.iter().chain(sized.notes).cloned().collect(),
    }
}

fn answer(group: &str, one: &SizingResult) -> AnswerDoc {
    AnswerDoc {
        role: one.role.map_or_else(String::new, |role| role.name().to_owned()),
        group: group.to_owned(),
        what: one.what.to_owned(),
        value: Number(one.value.as_f64()),
        unit: one.value.unit().to_owned(),
        shown: one.value.show(),
        formula: one.formula.clone(),
    }
}

fn tier(one: &TierSizing) -> TierDoc {
    TierDoc {
        role: one.role.name().to_owned(),
        needed: one.needed,
        spare: one.spare,
        have: one.have,
        bounded: !one.limits.is_empty(),
        limits: one.limits.clone(),
    }
}
