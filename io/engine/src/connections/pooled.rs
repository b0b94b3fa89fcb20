//! Connections that sessions share.

use wavetank_driver::Driver;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_units::Nanos;

use super::Connections;
use super::stream_counts::streams_per_connection;
use super::timer::Timer;
use crate::conn_slot::{NOT_IDLE, NOT_POOLED, PARTED};
use crate::pool::Pool;
use crate::recorder::Recorder;
use crate::request_queue::QueuedRequest;

impl<D: Driver> Connections<D> {
    /// Sends on any connection to the target, or waits for one.
    pub(super) fn submit_shared(
        &mut self,
        request: QueuedRequest,
        phase: u16,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        if self.has_streams && self.submit_stream(request, phase, at, rec) {
            return;
        }
        let Some(pool) = &mut self.pool else { return };
        if !self.has_streams
            && let Some(slot) = pool.take_idle(request.target, &mut self.slots)
        {
            self.slots[slot as usize].phase = phase;
            self.dispatch(slot, request, at, rec);
            if self.upgrades.is_some() {
                // A message may be done already, which leaves the connection to the next one.
                self.free_shared(slot, at, rec);
            }
            return;
        }
        if let Some(deadline) = pool.wait(request, phase) {
            self.timers.insert(deadline, Timer::Waiting(request.target));
        }
        self.dial_for_queue(phase, rec);
    }

    /// Handles an open connection with capacity: it gets a waiting request for its target, or
    /// becomes idle.
    pub(super) fn free_shared(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) {
        loop {
            let entry = &mut self.slots[slot as usize];
            if !entry.has_room(self.pipeline) {
                if self.has_streams {
                    let phase = entry.phase;
                    self.unlist_full(slot);
                    if self.pool.as_ref().is_some_and(Pool::has_room) {
                        // The server may allow fewer streams than the plan.
                        self.dial_for_queue(phase, rec);
                    }
                }
                return;
            }
            let Some(pool) = &mut self.pool else { return };
            let (target, phase) = (entry.target, entry.phase);
            let unused = entry.sent() == 0;
            if unused && pool.is_starved() && pool.longest_waiting_other(target).is_some() {
                // Requests for a target without any connection have waited longer.
                pool.put_idle(slot, entry);
                return self.dial_for_queue(phase, rec);
            }
            let Some((request, of_phase)) = pool.take_waiting(target) else {
                if unused || self.has_streams {
                    pool.put_idle(slot, entry);
                    if unused && pool.is_starved() {
                        self.dial_for_queue(phase, rec);
                    }
                }
                return;
            };
            entry.phase = of_phase;
            self.dispatch(slot, request, at, rec);
        }
    }

    /// Opens shared connections until as many are being opened as requests wait. The work of one
    /// turn is limited; the rest follows in the next turn.
    pub(super) fn dial_for_queue(&mut self, phase: u16, rec: &mut Recorder) {
        self.opening_more = None;
        for _ in 0..WORK_PER_TURN_MAX {
            let Some(pool) = &mut self.pool else { return };
            pool.set_starved(false);
            let Some(target) = pool.next_target_to_dial() else { return };
            let Some(slot) = self.pool_slot(target, rec) else { return };
            self.open(slot, target, phase, rec);
        }
        self.opening_more = Some(phase);
    }

    /// Allows this many more shared connections.
    pub(crate) fn allow_more(&mut self, connections: u32) {
        let (targets, streams) = (self.plan.targets.len(), streams_per_connection(&self.plan));
        self.pool.get_or_insert_with(|| Pool::new(0, targets, streams)).allow_more(connections);
    }

    /// Opens a shared connection before the phase that needs it starts.
    pub(crate) fn preopen_shared(&mut self, target: u16, phase: u16, rec: &mut Recorder) {
        if let Some(slot) = self.pool_slot(target, rec) {
            self.open(slot, target, phase, rec);
        }
    }

    /// Returns a slot for one more connection to `target`. If the maximum is reached, an idle
    /// connection to another target is closed for it.
    fn pool_slot(&mut self, target: u16, rec: &mut Recorder) -> Option<u32> {
        let pool = self.pool.as_mut()?;
        if !pool.take_room() {
            let Some(idle) = pool.idle_elsewhere(target, &self.slots) else {
                pool.set_starved(true);
                return None;
            };
            let at = self.driver.now();
            self.stop_hold(idle, self.plan.http.close, at, rec);
            self.remove_from_pool(idle);
            self.pool.as_mut()?.take_room();
        }
        let slot = self.vacant.pop();
        self.ensure_slot(slot);
        self.slots[slot as usize].idle_at = NOT_IDLE;
        Some(slot)
    }

    /// Gives the place of a shared connection that the peer closes soon to another one, so that
    /// requests do not wait for its last response.
    #[cold]
    pub(super) fn part_from_pool(&mut self, slot: u32, rec: &mut Recorder) {
        let Some(pool) = &mut self.pool else { return };
        let entry = &self.slots[slot as usize];
        if !entry.is_pooled() || entry.idle_at == PARTED || !pool.part() {
            return;
        }
        let phase = entry.phase;
        pool.unlink(slot, &mut self.slots);
        self.slots[slot as usize].idle_at = PARTED;
        self.dial_for_queue(phase, rec);
    }

    /// Handles a shared connection that has ended or could not be opened: any use may take its slot
    /// now.
    pub(super) fn remove_from_pool(&mut self, slot: u32) {
        let Some(pool) = &mut self.pool else { return };
        pool.unlink(slot, &mut self.slots);
        if self.slots[slot as usize].idle_at == PARTED {
            pool.parted_closed();
        } else {
            pool.connection_closed();
        }
        self.slots[slot as usize].idle_at = NOT_POOLED;
        self.give_back(slot);
    }
}
