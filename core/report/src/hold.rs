//! The part of the record about held connections.

use wavetank_measure::{ConnCounts, HeldPhase, Observations, Plateau, Totals};
use wavetank_plan::Plan;
use wavetank_record::{Connections, HoldDoc, KernelCount, Number, PhaseConnections, TargetDoc};
use wavetank_units::Nanos;

/// Connections of the whole run.
pub(crate) fn connections(totals: &Totals) -> Connections {
    // Without hold phases, no connection can be missing.
    let none = totals.held.phases().is_empty().then_some(0);
    counts(totals.planned, &totals.conns, totals.held_min.or(none))
}

/// Connections during phase number `phase`, if it holds any.
pub(crate) fn phase_connections(totals: &Totals, phase: u16) -> Option<PhaseConnections> {
    let held = totals.held.phases().iter().find(|held| held.phase == phase)?;
    Some(PhaseConnections {
        opening_before: held.opening_before,
        open_before: held.open_before,
        counts: counts(held.planned, &held.conns, held.held_min),
    })
}

fn counts(planned: u64, conns: &ConnCounts, held_min: Option<u64>) -> Connections {
    let ConnCounts { offered, opened, failed, closed, lost, reopened, late, opening, open, peak, .. } =
        *conns;
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

/// Returns the phases that held a constant number of connections, with the observations of the
/// second with the fewest. `in_lab`: the load came from hosts of a lab.
pub(crate) fn held(plan: &Plan, totals: &Totals, observed: &Observations, in_lab: bool) -> Vec<HoldDoc> {
    let doc = |(held, plateau): (&HeldPhase, &Plateau)| HoldDoc {
        phase: plan.phases[usize::from(held.phase)].name.clone(),
        planned: plateau.lowest.planned,
        seconds: plateau.seconds,
        lowest: plateau.lowest.held,
        lowest_at_s: Number(plateau.lowest.at.as_secs_f64()),
        lost: held.conns.lost,
        reopened: held.conns.reopened,
        kernel: kernel(observed, plateau.lowest.at, in_lab),
        target: target(observed, plateau.lowest.at),
    };
    totals.held.plateaus().map(doc).collect()
}

fn kernel(observed: &Observations, at: Nanos, in_lab: bool) -> Option<KernelCount> {
    let (sample, before) = (observed.host_at(at)?, observed.host_before()?);
    Some(KernelCount {
        after_ms: millis(sample.at, at),
        tcp_inuse: sample.tcp_inuse,
        tcp_inuse_before: before.tcp_inuse,
        // A target with our clock is on this host, and so is its end of the connection.
        tcp_asking: match observed.target_before() {
            None => 0,
            // The target of a lab is sampled within its own host, and sockets of that host are not
            // counted here.
            Some(_) if in_lab => 0,
            Some(sample) if sample.error == Nanos::ZERO => 2,
            Some(_) => 1,
        },
        tcp_alloc: sample.tcp_alloc,
        tcp_tw: sample.tcp_tw,
        tcp_orphan: sample.tcp_orphan,
        tcp_mem_pages: sample.tcp_mem_pages,
        slab_bytes: sample.slab_bytes,
        slab_bytes_before: before.slab_bytes,
        rss_bytes: sample.rss_bytes,
        rss_bytes_before: before.rss_bytes,
    })
}

fn target(observed: &Observations, at: Nanos) -> Option<TargetDoc> {
    let (sample, before) = (observed.target_at(at)?, observed.target_before()?);
    Some(TargetDoc {
        after_ms: millis(sample.at, at),
        error_ms: millis(sample.error, Nanos::ZERO),
        open: sample.open,
        open_before: before.open,
        accepted: sample.accepted.saturating_sub(before.accepted),
        closed: sample.closed.saturating_sub(before.closed),
        reset: sample.reset.saturating_sub(before.reset),
    })
}

/// Milliseconds from `from` to `at`, whole microseconds of them.
fn millis(at: Nanos, from: Nanos) -> Number {
    Number((at.0.saturating_sub(from.0) / 1_000) as f64 / 1e3)
}
