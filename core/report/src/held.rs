//! What the record tells of connections that were held.

use wavetank_measure::{ConnCounts, HeldPhase, Totals};
use wavetank_plan::Plan;
use wavetank_record::{Connections, HeldDoc, Number, PhaseConnections};

/// Connections of the whole run.
pub(crate) fn connections(totals: &Totals) -> Connections {
    let ConnCounts { offered, opened, failed, closed, lost, reopened, late, opening, open, peak } =
        totals.conns;
    let planned = totals.planned;
    let held_min = totals.held_min.unwrap_or_default();
    Connections {
        planned,
        offered,
        opening,
        opened,
        failed,
        closed,
        lost,
        reopened,
        open,
        peak,
        held_min,
        late,
    }
}

/// Connections in the time of phase number `phase`, if it holds some.
pub(crate) fn of_phase(totals: &Totals, phase: u16) -> Option<PhaseConnections> {
    let held = totals.held.phases().iter().find(|held| held.phase == phase)?;
    let HeldPhase { planned, opening_before, open_before, conns, held_min, .. } = held;
    let ConnCounts { offered, opened, failed, closed, lost, reopened, late, opening, open, peak } = *conns;
    Some(PhaseConnections {
        planned: *planned,
        opening_before: *opening_before,
        open_before: *open_before,
        offered,
        opening,
        opened,
        failed,
        closed,
        lost,
        reopened,
        late,
        open,
        peak,
        held_min: held_min.unwrap_or_default(),
    })
}

/// The phases that held a constant number.
pub(crate) fn held(plan: &Plan, totals: &Totals) -> Vec<HeldDoc> {
    let doc = |(held, plateau): (&HeldPhase, &wavetank_measure::Plateau)| HeldDoc {
        phase: plan.phases[usize::from(held.phase)].name.clone(),
        planned: plateau.lowest.planned,
        seconds: plateau.seconds,
        lowest: plateau.lowest.held,
        lowest_at_s: Number(plateau.lowest.at.as_secs_f64()),
        lost: held.conns.lost,
        reopened: held.conns.reopened,
    };
    totals.held.plateaus().map(doc).collect()
}
