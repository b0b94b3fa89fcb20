//! Opening connections, and what happens when that fails.

use std::net::SocketAddr;

use wavetank_driver::{Dial, Driver};
use wavetank_plan::Nanos;
use wavetank_plan::constants::WORK_PER_TURN_MAX;

use super::{Connections, Outcome};
use crate::failure::{self, Failure};
use crate::recorder::Recorder;
use crate::seat::State;

impl<D: Driver> Connections<D> {
    /// Open shared connections until as many are coming as requests wait; at most a turn's work of it, the
    /// rest in the next turn.
    pub(super) fn open_for_waiting(&mut self, phase: u16, rec: &mut Recorder) {
        self.opening_more = None;
        for _ in 0..WORK_PER_TURN_MAX {
            let Some(pool) = &mut self.pool else { return };
            let Some(flight) = pool.first_waiting().filter(|_| self.opening < pool.waiting()) else { return };
            let target = self.requests.get(flight.scenario, flight.step).target;
            let Some(seat) = pool.take_closed() else { return };
            self.open(seat, target, phase, rec);
        }
        self.opening_more = Some(phase);
    }

    /// Whether connections are being opened.
    pub(crate) const fn is_opening(&self) -> bool {
        self.opening > 0
    }

    /// Whether connections wait to be opened that did not fit into the last turn.
    pub(crate) const fn is_opening_more(&self) -> bool {
        self.opening_more.is_some()
    }

    /// Open them. Whether there were any.
    pub(crate) fn go_on_opening(&mut self, rec: &mut Recorder) -> bool {
        let phase = self.opening_more;
        if let Some(phase) = phase {
            self.open_for_waiting(phase, rec);
        }
        phase.is_some()
    }

    /// Open this seat's connection ahead of the phase that will need it.
    pub(crate) fn open_ahead(&mut self, seat: u32, phase: u16, rec: &mut Recorder) {
        if self.seats[seat as usize].state == State::Closed {
            if let Some(pool) = &mut self.pool {
                pool.take_this_closed(seat);
            }
            self.open(seat, 0, phase, rec);
        }
    }

    pub(super) fn open(&mut self, seat: u32, target: u16, phase: u16, rec: &mut Recorder) {
        let addresses = &self.plan.targets[usize::from(target)].addresses;
        let to: SocketAddr = addresses[self.next_address % addresses.len()];
        self.next_address = self.next_address.wrapping_add(1);
        let from = self.sources.next_for(to);
        let began = self.clock.now();
        rec.opening();
        self.opening += 1;
        let entry = &mut self.seats[seat as usize];
        (entry.target, entry.phase, entry.served) = (target, phase, 0);
        match self.driver.connect(&Dial { to, from, tls: None }) {
            Ok(link) => {
                entry.state = State::Connecting(began);
                entry.link = Some(link);
                let slot = link.slot as usize;
                if self.seat_of_slot.len() <= slot {
                    self.seat_of_slot.resize(slot + 1, u32::MAX);
                }
                self.seat_of_slot[slot] = seat;
                self.arm(seat);
            }
            // Not `open_for_waiting`: its loop goes on by itself, and others have nothing else waiting.
            Err(errno) => self.open_failed(seat, failure::of_connect(errno), began, rec),
        }
    }

    pub(super) fn open_failed(&mut self, seat: u32, failure: Failure, at: Nanos, rec: &mut Recorder) {
        rec.open_failed();
        self.opening -= 1;
        let entry = &mut self.seats[seat as usize];
        entry.state = State::Closed;
        entry.link = None;
        if let Some(pool) = &mut self.pool {
            pool.put_closed(seat);
            if let Some(flight) = pool.take_waiting() {
                self.outcomes.push_back(Outcome::Broken(flight.exchange, failure, at));
            }
        }
        while let Some(flight) = self.seats[seat as usize].waiting.pop_front() {
            self.outcomes.push_back(Outcome::Broken(flight.exchange, failure, at));
        }
    }
}
