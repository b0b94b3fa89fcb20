//! Agents of a fleet that lack data of their part of the run.

use wavetank_units::{Sentence, phrase, sentence};

use crate::facts::RuleInput;
use crate::{Blame, Finding, FindingCode, format};

/// Agents that a finding names; the others are counted.
const AGENTS_SHOWN_MAX: usize = 5;

/// What a fleet lacks of its run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetGaps {
    /// Agents of the fleet.
    pub agents: u64,
    /// Those that lack something: the name, and what is missing, e.g. `lost at 12 s in main`.
    pub lacking: Vec<(String, Sentence)>,
    /// The run was to go on with that many agents less. The verdict is then unchanged.
    pub tolerated: bool,
}

/// The gaps of the run, if it has any.
pub(crate) fn gaps<'a>(case: &RuleInput<'a>) -> Option<&'a FleetGaps> {
    case.facts.circumstances.fleet.as_ref().filter(|fleet| !fleet.lacking.is_empty())
}

/// Returns the finding about agents that lack something. It decides the verdict unless that is
/// tolerated.
pub(crate) fn finding(case: &RuleInput<'_>) -> Option<Finding> {
    let FleetGaps { agents, lacking, tolerated } = gaps(case)?;
    let mut reported: Vec<_> =
        lacking.iter().take(AGENTS_SHOWN_MAX).map(|(name, lack)| sentence!("{name}: {lack}")).collect();
    if lacking.len() > AGENTS_SHOWN_MAX {
        reported.push(sentence!("and {} more", lacking.len() - AGENTS_SHOWN_MAX));
    }
    Some(Finding {
        fix: Vec::new(),
        code: FindingCode::AgentsLost,
        blame: Blame::Generator,
        decisive: !tolerated,
        message: headline(lacking.len(), *agents),
        evidence: Sentence::join(reported, " · "),
        hint: phrase!(
            "fetch what they kept: wavetank fleet settle --fleet FILE; check these hosts, then run it again"
        ),
    })
}

/// `data of 2 of 12 agents is missing`.
pub(crate) fn headline(lacking: usize, agents: u64) -> Sentence {
    sentence!("data of {} of {} agents is missing", format::count(lacking as u64), format::count(agents))
}
