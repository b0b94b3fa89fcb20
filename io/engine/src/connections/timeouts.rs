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
                Timer::Seat(seat) => self.expire_seat(seat, at, now, rec),
                Timer::Waiting(target) => self.expire_waiting(target, at, now),
                Timer::Ping(seat, generation) => self.expire_ping(seat, generation, now, rec),
            }
        }
        any
    }

    fn expire_seat(&mut self, seat: u32, fired: Nanos, now: Nanos, rec: &mut Recorder) {
        let connect_timeout = self.plan.http.connect_timeout;
        let entry = &mut self.seats[seat as usize];
        if let Some(talk) = &mut entry.talk
            && talk.armed == fired
        {
            (talk.armed, talk.timer) = (Nanos::MAX, None);
        }
        if entry.deadline(connect_timeout).is_some_and(|deadline| deadline <= now) {
            match self.seats[seat as usize].state {
                ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing | ConnState::Greeting => {
                    self.opening_timed_out(seat, now, rec);
                }
                ConnState::Open if self.uses_streams(seat) => self.expire_streams(seat, now, rec),
                ConnState::Open if self.survives_timeout(seat) => self.expire_wait(seat, now, rec),
                ConnState::Open => self.end(seat, Failure::new(ErrorClass::RequestTimeout), true, now, rec),
                ConnState::Closed => {}
            }
        }
        self.arm(seat);
    }

    fn expire_waiting(&mut self, target: u16, fired: Nanos, now: Nanos) {
        let (Some(pool), outcomes) = (&mut self.pool, &mut self.outcomes) else { return };
        let next = pool.expire(target, fired, now, |flight, opening| {
            let class = if opening { ErrorClass::ConnectTimeout } else { ErrorClass::RequestTimeout };
            outcomes.push_back(ConnectionOutcome::Broken(
                flight.exchange,
                Box::new(Failure::new(class)),
                now,
            ));
        });
        if let Some(next) = next {
            self.timers.insert(next, Timer::Waiting(target));
        }
    }

    /// Ensures that a timer fires no later than the slot's next deadline.
    #[inline]
    pub(super) fn arm(&mut self, seat: u32) {
        let entry = &mut self.seats[seat as usize];
        let Some(deadline) = entry.deadline(self.plan.http.connect_timeout) else { return };
        self.arm_for(seat, deadline);
    }

    /// Ensures that a timer fires no later than `deadline`.
    #[inline]
    pub(super) fn arm_for(&mut self, seat: u32, deadline: Nanos) {
        let Some(talk) = &mut self.seats[seat as usize].talk else { return };
        if talk.armed > deadline {
            talk.armed = deadline;
            talk.timer = Some(self.timers.insert(deadline, Timer::Seat(seat)));
        }
    }

    /// Releases the activity of an idle held connection, including its timer, for the next
    /// connection.
    #[cold]
    pub(super) fn release_io(&mut self, seat: u32) {
        let entry = &mut self.seats[seat as usize];
        let Some(mut talk) = entry.talk.take() else { return };
        if let Machine::Messages(own) = &talk.machine {
            entry.parked = own.idle_state();
            self.talks.keep_last_id(seat, own.client.last_id());
        }
        if let Some(timer) = talk.timer.take() {
            self.timers.cancel(timer);
        }
        talk.armed = Nanos::MAX;
        self.talks.put(talk);
    }
}
