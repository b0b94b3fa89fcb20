//! Pings on open connections of HTTP/2 and `WebSocket`.

use std::collections::HashMap;

use wavetank_driver::Driver;
use wavetank_plan::Plan;
use wavetank_units::Nanos;

use super::{Connections, Timer};
use crate::conn_slot::ConnState;
use crate::machine::Machine;
use crate::recorder::Recorder;

/// The pings of a thread.
pub(super) struct Pings {
    /// The time between two pings of a connection; `None`: there are none.
    every: Option<Nanos>,
    /// When the last ping of a slot was sent that is not answered.
    sent: HashMap<u32, Nanos>,
}

impl Pings {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { every: plan.http.ping, sent: HashMap::new() }
    }
}

impl<D: Driver> Connections<D> {
    /// Starts the pings of a connection that is open now.
    #[inline]
    pub(super) fn start_pings(&mut self, seat: u32, at: Nanos) {
        if let Some(every) = self.pings.every {
            self.next_ping(seat, at.after(every));
        }
    }

    #[cold]
    fn next_ping(&mut self, seat: u32, at: Nanos) {
        if let Some(link) = self.seats[seat as usize].link {
            self.timers.insert(at, Timer::Ping(seat, link.generation));
        }
    }

    /// Sends a ping, unless the connection of that generation is no longer open.
    #[cold]
    pub(super) fn expire_ping(&mut self, seat: u32, generation: u16, now: Nanos, rec: &mut Recorder) {
        let entry = &mut self.seats[seat as usize];
        let Some(link) = entry.link.filter(|link| link.generation == generation) else { return };
        if entry.state != ConnState::Open {
            return;
        }
        let (phase, target) = (entry.phase, entry.target);
        let payload = now.0.to_be_bytes();
        let talk = entry.talk.get_or_insert_with(|| self.talks.take_for(seat, entry.parked));
        let is_sent = match &mut talk.machine {
            Machine::Http1(_) => return,
            Machine::Streams(client) => client.ping(&payload),
            Machine::Messages(own) => {
                let is_sent = own.client.ping(&payload);
                // If this fails, the driver reports the end of the connection.
                let _ = self.driver.send(link, own.client.out());
                own.client.out().clear();
                is_sent
            }
        };
        if is_sent {
            self.pings.sent.insert(seat, now);
            rec.pinged(phase, target);
        }
        if self.uses_streams(seat) {
            self.flush_later(seat);
        } else if self.seats[seat as usize].is_held_idle() {
            self.release_io(seat);
        }
        self.start_pings(seat, now);
    }

    /// Records the answer to the last ping of a connection.
    pub(super) fn pong(&mut self, seat: u32, sent: Nanos, at: Nanos, rec: &mut Recorder) {
        if self.pings.sent.get(&seat) == Some(&sent) {
            self.pings.sent.remove(&seat);
            let entry = &self.seats[seat as usize];
            rec.ping_answered(entry.phase, entry.target, at.since(sent));
        }
    }
}
