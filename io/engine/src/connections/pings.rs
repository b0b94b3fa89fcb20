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
    pub(super) fn start_pings(&mut self, slot: u32, at: Nanos) {
        if let Some(every) = self.pings.every {
            self.next_ping(slot, at.after(every));
        }
    }

    #[cold]
    fn next_ping(&mut self, slot: u32, at: Nanos) {
        if let Some(conn) = self.slots[slot as usize].conn {
            self.timers.insert(at, Timer::Ping(slot, conn.generation));
        }
    }

    /// Sends a ping, unless the connection of that generation is no longer open.
    #[cold]
    pub(super) fn expire_ping(&mut self, slot: u32, generation: u16, now: Nanos, rec: &mut Recorder) {
        let entry = &mut self.slots[slot as usize];
        let Some(conn) = entry.conn.filter(|conn| conn.generation == generation) else { return };
        if entry.state != ConnState::Open {
            return;
        }
        let (phase, target) = (entry.phase, entry.target);
        let payload = now.0.to_be_bytes();
        let io = entry.io.get_or_insert_with(|| self.io_pool.take_for(slot, entry.parked));
        let is_sent = match &mut io.machine {
            Machine::Http1(_) => return,
            Machine::Streams(client) => client.ping(&payload),
            Machine::Messages(own) => {
                let is_sent = own.client.ping(&payload);
                // If this fails, the driver reports the end of the connection.
                let _ = self.driver.send(conn, own.client.out());
                own.client.out().clear();
                is_sent
            }
        };
        if is_sent {
            self.pings.sent.insert(slot, now);
            rec.pinged(phase, target);
        }
        if self.uses_streams(slot) {
            self.flush_later(slot);
        } else if self.slots[slot as usize].is_held_idle() {
            self.release_io(slot);
        }
        self.start_pings(slot, now);
    }

    /// Records the answer to the last ping of a connection.
    pub(super) fn pong(&mut self, slot: u32, sent: Nanos, at: Nanos, rec: &mut Recorder) {
        if self.pings.sent.get(&slot) == Some(&sent) {
            self.pings.sent.remove(&slot);
            let entry = &self.slots[slot as usize];
            rec.ping_answered(entry.phase, entry.target, at.since(sent));
        }
    }
}
