//! Timeouts of connections and requests.
//!
//! Timers are lazy: each slot has one, set no later than the slot's next deadline and checked when
//! it fires. A request that is answered in time therefore needs no timer of its own.

use wavetank_driver::Driver;
use wavetank_measure::ErrorClass;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_units::Nanos;

use super::events::ConnectionOutcome;
use super::{Connections, Timer};
use crate::conn_slot::ConnState;
use crate::failure::Failure;
use crate::machine::Machine;
use crate::recorder::Recorder;

impl<D: Driver> Connections<D> {
    /// Returns when the next timer fires.
    pub(crate) fn next_timer(&mut self) -> Option<Nanos> {
        self.timers.next()
    }

    /// Handles timers due at `now`. Returns whether any was due.
    pub(crate) fn expire(&mut self, now: Nanos, rec: &mut Recorder) -> bool {
        let mut any = false;
        // Timers beyond the work limit of a turn stay due, so that the next turn does not sleep.
        for _ in 0..WORK_PER_TURN_MAX {
            let Some((at, timer)) = self.timers.pop(now) else { break };
            any = true;
            match timer {
                Timer::Seat(slot) => self.expire_slot(slot, at, now, rec),
                Timer::Waiting(target) => self.expire_waiting(target, at, now),
                Timer::Ping(slot, conn) => self.expire_ping(slot, conn, now, rec),
            }
        }
        any
    }

    fn expire_slot(&mut self, slot: u32, fired: Nanos, now: Nanos, rec: &mut Recorder) {
        let connect_timeout = self.plan.http.connect_timeout;
        let entry = &mut self.slots[slot as usize];
        if let Some(io) = &mut entry.io
            && io.armed == fired
        {
            (io.armed, io.timer) = (Nanos::MAX, None);
        }
        if entry.deadline(connect_timeout).is_some_and(|deadline| deadline <= now) {
            match self.slots[slot as usize].state {
                ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing | ConnState::Greeting => {
                    self.opening_timed_out(slot, now, rec);
                }
                ConnState::Open if self.uses_streams(slot) => self.expire_streams(slot, now, rec),
                ConnState::Open if self.survives_timeout(slot) => self.expire_wait(slot, now, rec),
                ConnState::Open => self.end(slot, Failure::new(ErrorClass::RequestTimeout), true, now, rec),
                ConnState::Closed => {}
            }
        }
        self.arm(slot);
    }

    fn expire_waiting(&mut self, target: u16, fired: Nanos, now: Nanos) {
        let (Some(pool), outcomes) = (&mut self.pool, &mut self.outcomes) else { return };
        let next = pool.expire(target, fired, now, |request, opening| {
            let class = if opening { ErrorClass::ConnectTimeout } else { ErrorClass::RequestTimeout };
            outcomes.push_back(ConnectionOutcome::Broken(
                request.exchange,
                Box::new(Failure::new(class)),
                now,
            ));
        });
        if let Some(next) = next {
            self.timers.insert(next, Timer::Waiting(target));
        }
    }

    /// Ensures that a timer fires no later than the slot's next deadline.
    pub(super) fn arm(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        let Some(deadline) = entry.deadline(self.plan.http.connect_timeout) else { return };
        self.arm_for(slot, deadline);
    }

    /// Ensures that a timer fires no later than `deadline`.
    #[inline]
    pub(super) fn arm_for(&mut self, slot: u32, deadline: Nanos) {
        if self.slots[slot as usize].io.as_ref().is_some_and(|io| io.armed > deadline) {
            self.set_timer(slot, deadline);
        }
    }

    /// Sets the timer of a slot. Most requests find one that was set before.
    #[cold]
    fn set_timer(&mut self, slot: u32, deadline: Nanos) {
        let Some(io) = &mut self.slots[slot as usize].io else { return };
        io.armed = deadline;
        io.timer = Some(self.timers.insert(deadline, Timer::Seat(slot)));
    }

    /// Releases the activity of an idle held connection, including its timer, for the next
    /// connection.
    #[cold]
    pub(super) fn release_io(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        let Some(mut io) = entry.io.take() else { return };
        if let Machine::Messages(own) = &io.machine {
            entry.parked = own.idle_state();
            self.io_pool.keep_last_id(slot, own.client.last_id());
        }
        if let Some(timer) = io.timer.take() {
            self.timers.cancel(timer);
        }
        io.armed = Nanos::MAX;
        self.io_pool.put(io);
    }
}
