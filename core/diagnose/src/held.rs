//! Findings about held connections.

use wavetank_measure::{HeldPhase, Plateau};
use wavetank_plan::Subject;
use wavetank_units::{Nanos, Sentence, sentence};

use crate::facts::RuleInput;
use crate::{Blame, Finding, FindingCode, format};

/// A plateau that was always at or above this share of its plan needs no finding, in hundredths.
const HELD_SHARE_MIN: u64 = 99;

/// Returns a finding for each plateau that was below its plan, unless a threshold is about held or
/// lost connections. Without the finding, a run that held no connection would pass silently,
/// because silent connections have no other threshold (`docs/measuring.md` §5).
pub(crate) fn findings(case: &RuleInput<'_>) -> Vec<Finding> {
    let of_held = |subject: &Subject| matches!(subject, Subject::Held | Subject::Lost);
    if case.facts.plan.thresholds.iter().any(|condition| of_held(&condition.subject)) {
        return Vec::new();
    }
    let low = |(_, plateau): &(&HeldPhase, &Plateau)| {
        plateau.lowest.held * 100 < plateau.lowest.planned * HELD_SHARE_MIN
    };
    let plateaus = case.facts.totals.held.plateaus().filter(low);
    plateaus.map(|(phase, plateau)| below_plan(case, phase, plateau)).collect()
}

fn below_plan(case: &RuleInput<'_>, phase: &HeldPhase, plateau: &Plateau) -> Finding {
    let name = &case.facts.plan.phases[usize::from(phase.phase)].name;
    let (lowest, conns) = (plateau.lowest, phase.conns);
    let lost = conns.lost > 0;
    Finding {
        fix: Vec::new(),
        code: FindingCode::HeldBelowPlan,
        blame: if lost { Blame::Target } else { Blame::Unknown },
        decisive: false,
        message: sentence!(
            "only {} of {} connections were held in the lowest second of {name}",
            format::count(lowest.held),
            format::count(lowest.planned)
        ),
        evidence: sentence!(
            "in {name} {} were lost, {} opened again, {} not opened",
            format::count(conns.lost),
            format::count(conns.reopened),
            format::count(conns.failed)
        ),
        hint: sentence!("to fail such a run: thresholds: [held >= {} in {name}, lost = 0]", lowest.planned),
    }
}

/// Returns the first line of a run that held connections and passed: `1,000,000 connections held
/// for 20 m 00 s, 0 lost`.
pub(crate) fn headline(case: &RuleInput<'_>) -> Option<Sentence> {
    let totals = case.facts.totals;
    let (phase, longest) = totals.held.plateaus().max_by_key(|(_, plateau)| plateau.seconds)?;
    let (lowest, planned) = (longest.lowest.held, longest.lowest.planned);
    let length = totals.spans().phase_length(phase.phase, totals.sealed);
    let whole = Nanos(length.0 - length.0 % Nanos::SECOND.0);
    let length = if whole > Nanos::ZERO { whole } else { length };
    let (held, length, lost) = (format::count(lowest), shown(length), format::count(totals.conns.lost));
    Some(if lowest < planned {
        let planned = format::count(planned);
        sentence!("{held} of {planned} connections held for {length}, {lost} lost")
    } else {
        sentence!("{held} connections held for {length}, {lost} lost")
    })
}

/// Whole seconds without a fraction.
fn shown(length: Nanos) -> String {
    let seconds = length.0 / Nanos::SECOND.0;
    if seconds > 0 && seconds < 120 { format!("{seconds} s") } else { length.to_string() }
}
