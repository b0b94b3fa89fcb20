//! [`Preconnect`]: opens connections at a set pace, ahead of the phases that need them all from
//! their start.

use std::collections::VecDeque;

use wavetank_pace::Partition;
use wavetank_plan::{Phase, Plan};
use wavetank_units::{Nanos, Rate};

use crate::users::Users;

/// The maximum number of simultaneous handshakes ahead of the load, on one thread. It suffices for
/// a distant target at the usual opening rate, and takes only some hundred milliseconds to
/// complete.
pub(crate) const HANDSHAKES_MAX: usize = 1_024;

/// The slots of one load thread that need a connection before a phase starts.
pub(crate) struct Preconnect {
    share: Partition,
    rate: Rate,
    /// The batches, opened one after the other.
    batches: VecDeque<Batch>,
}

/// The slots of one phase.
struct Batch {
    phase: u16,
    /// When its first connection is opened. This is on the run's clock while `waits`, and on the
    /// thread's clock after that.
    from: Nanos,
    /// Whether the batch waits until the run's clock is known.
    waits: bool,
    /// `None`: shared connections, on any slots.
    first_slot: Option<u32>,
    slots: u64,
    next: u64,
}

impl Preconnect {
    /// Plans the connections of `share`.
    ///
    /// Connections needed when the load starts are opened from `now` on. The `k`-th connection of
    /// the run is opened when `open_rate` allows `k`. Connections of later phases are opened as
    /// long before them as opening takes.
    pub(crate) fn new(plan: &Plan, share: Partition, now: Nanos) -> Self {
        let first_slots = Users::first_slots(plan, share);
        let (mut batches, mut taken) = (VecDeque::new(), Vec::new());
        let mut from = now;
        for (index, phase) in ahead(plan) {
            let track = plan.tracks().iter().position(|track| track.phases.contains(&index));
            let first_slot = track.map(|track| first_slots[track]);
            if taken.contains(&first_slot) {
                continue;
            }
            taken.push(first_slot);
            let takes = due(phase.connections, plan.open_rate);
            let waits = phase.start > load_start(plan);
            batches.push_back(Batch {
                phase: index,
                from: if waits { phase.start - takes } else { from },
                waits,
                first_slot,
                // Before the load, each user has one slot, however many it needs later.
                slots: share.count_below(phase.connections).min(
                    track.map_or(u64::MAX, |track| u64::from(first_slots[track + 1] - first_slots[track])),
                ),
                next: 0,
            });
            from = from.after(if waits { Nanos::ZERO } else { takes });
        }
        batches.retain(|batch: &Batch| batch.slots > 0);
        Self { share, rate: plan.open_rate, batches }
    }

    /// Returns the longest time that opening ahead of the load may take.
    ///
    /// The target decides how fast its handshakes are, and each handshake may take the whole
    /// connect timeout. Without TLS they all wait simultaneously.
    pub(crate) fn time_max(plan: &Plan) -> Nanos {
        let first = ahead(plan).filter(|(_, phase)| phase.start == load_start(plan));
        let count = first.fold(0_u64, |sum, (_, phase)| sum.saturating_add(phase.connections));
        let at_once = u64::from(plan.threads.max(1)) * HANDSHAKES_MAX as u64;
        let waves = if plan.tls.is_some() { count.div_ceil(at_once) } else { 1 };
        let waves = i64::try_from(waves).unwrap_or(i64::MAX);
        due(count, plan.open_rate).after(Nanos(plan.http.connect_timeout.0.saturating_mul(waves)))
    }

    /// Sets the start of the run's clock to `zero`, which fixes the instants of later phases.
    pub(crate) fn start(&mut self, zero: Nanos) {
        for batch in self.batches.iter_mut().filter(|batch| batch.waits) {
            (batch.from, batch.waits) = (batch.from.after(zero), false);
        }
    }

    /// Returns when the next connection is to be opened, among those with a known instant.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        let batch = self.batches.front().filter(|batch| !batch.waits && batch.next < batch.slots)?;
        Some(batch.from.after(due(self.share.nth(batch.next), self.rate)))
    }

    /// Returns the slot to open at `now`, or `None` for a shared connection, and its phase.
    pub(crate) fn pop(&mut self, now: Nanos) -> Option<(Option<u32>, u16)> {
        if self.next_deadline().is_none_or(|at| at > now) {
            return None;
        }
        let batch = self.batches.front_mut()?;
        let number = u32::try_from(batch.next).ok()?;
        let slot = batch.first_slot.map(|first| first + number);
        batch.next += 1;
        let phase = batch.phase;
        if batch.next >= batch.slots {
            self.batches.pop_front();
        }
        Some((slot, phase))
    }
}

/// Returns the phases with connections that are opened ahead.
fn ahead(plan: &Plan) -> impl Iterator<Item = (u16, &Phase)> {
    (0_u16..).zip(&plan.phases).filter(|(_, phase)| phase.open_before)
}

/// Returns when the load starts.
fn load_start(plan: &Plan) -> Nanos {
    plan.phases.iter().map(|phase| phase.start).min().unwrap_or(Nanos::ZERO)
}

/// Returns how long opening `count` connections takes.
fn due(count: u64, rate: Rate) -> Nanos {
    let ns = u128::from(count) * u128::from(rate.per.0.unsigned_abs()) / u128::from(rate.count.max(1));
    Nanos(i64::try_from(ns).unwrap_or(i64::MAX))
}
