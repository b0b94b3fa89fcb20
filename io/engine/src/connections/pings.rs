//! Pings on open connections of HTTP/2 and `WebSocket`.

use std::collections::{HashMap, VecDeque};

use wavetank_driver::{ConnId, Driver};
use wavetank_plan::Plan;
use wavetank_units::Nanos;

use super::{Connections, Timer};
use crate::conn_slot::ConnState;
use crate::machine::Machine;
use crate::recorder::Recorder;

/// More pings of a connection do not wait for an answer. The oldest ones count as lost.
const UNANSWERED_MAX: usize = 100;

/// The pings of a thread.
pub(super) struct Pings {
    /// The time between two pings of a connection; `None`: there are none.
    every: Option<Nanos>,
    unanswered: Unanswered,
}

impl Pings {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { every: plan.http.ping, unanswered: Unanswered::default() }
    }
}

/// When the pings were sent that are not answered, by slot and in order.
#[derive(Default)]
struct Unanswered(HashMap<u32, VecDeque<Nanos>>);

impl Unanswered {
    /// Forgets the pings of the slot's last connection.
    fn clear(&mut self, slot: u32) {
        self.0.remove(&slot);
    }

    fn add(&mut self, slot: u32, sent: Nanos) {
        let pings = self.0.entry(slot).or_default();
        if pings.len() == UNANSWERED_MAX {
            pings.pop_front();
        }
        pings.push_back(sent);
    }

    /// Takes out the ping sent at `sent` and those before it: a peer may answer only the last ping
    /// that it has read (RFC 6455 §5.5.3).
    fn take_until(&mut self, slot: u32, sent: Nanos) -> VecDeque<Nanos> {
        let Some(pings) = self.0.get_mut(&slot) else { return VecDeque::new() };
        let Some(place) = pings.iter().position(|ping| *ping == sent) else { return VecDeque::new() };
        let later = pings.split_off(place + 1);
        let answered = std::mem::replace(pings, later);
        if pings.is_empty() {
            self.0.remove(&slot);
        }
        answered
    }
}

impl<D: Driver> Connections<D> {
    /// Starts the pings of a connection that is open now.
    #[inline]
    pub(super) fn start_pings(&mut self, slot: u32, at: Nanos) {
        if self.pings.every.is_some() {
            self.pings.unanswered.clear(slot);
            self.next_ping(slot, at);
        }
    }

    /// Sends the next ping one interval after `at`.
    #[cold]
    fn next_ping(&mut self, slot: u32, at: Nanos) {
        if let (Some(every), Some(conn)) = (self.pings.every, self.slots[slot as usize].conn) {
            self.timers.insert(at.after(every), Timer::Ping(slot, conn));
        }
    }

    /// Sends a ping, unless that connection is no longer the slot's open one.
    #[cold]
    pub(super) fn expire_ping(&mut self, slot: u32, conn: ConnId, now: Nanos, rec: &mut Recorder) {
        let entry = &mut self.slots[slot as usize];
        if entry.conn != Some(conn) || entry.state != ConnState::Open {
            return;
        }
        self.refresh_phase(slot);
        let entry = &mut self.slots[slot as usize];
        let (phase, target) = (entry.phase, entry.target);
        let payload = now.0.to_be_bytes();
        let io = entry.io.get_or_insert_with(|| self.io_pool.take_for(slot, entry.parked));
        let is_sent = match &mut io.machine {
            Machine::Http1(_) => return,
            Machine::Messages(own) if own.end.is_some() => return,
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
            self.pings.unanswered.add(slot, now);
            rec.pinged(phase, target);
        }
        if self.uses_streams(slot) {
            self.flush_later(slot);
        } else if self.slots[slot as usize].is_held_idle() {
            self.release_io(slot);
        }
        self.next_ping(slot, now);
    }

    /// Records the answer to the ping that was sent at `sent`.
    pub(super) fn pong(&mut self, slot: u32, sent: Nanos, at: Nanos, rec: &mut Recorder) {
        for sent in self.pings.unanswered.take_until(slot, sent) {
            let entry = &self.slots[slot as usize];
            rec.ping_answered(entry.phase, entry.target, at.since(sent));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_covers_the_pings_before_it() {
        let mut unanswered = Unanswered::default();
        for sent in 1..=3 {
            unanswered.add(7, Nanos(sent));
        }
        unanswered.add(8, Nanos(2));
        assert_eq!(unanswered.take_until(7, Nanos(9)), [], "no such ping");
        assert_eq!(unanswered.take_until(7, Nanos(2)), [Nanos(1), Nanos(2)]);
        assert_eq!(unanswered.take_until(7, Nanos(2)), [], "answered twice");
        assert_eq!(unanswered.take_until(7, Nanos(3)), [Nanos(3)]);
        unanswered.clear(8);
        assert_eq!(unanswered.take_until(8, Nanos(2)), [], "of an earlier connection");
        for sent in 0..=UNANSWERED_MAX as i64 {
            unanswered.add(7, Nanos(sent));
        }
        assert_eq!(unanswered.take_until(7, Nanos(UNANSWERED_MAX as i64)).len(), UNANSWERED_MAX);
        assert!(unanswered.0.is_empty());
    }
}
