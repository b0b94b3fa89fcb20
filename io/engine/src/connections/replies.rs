//! What machines write by themselves, such as answers to pings, also while the peer does not read.

use wavetank_driver::{ConnId, Driver, SendStatus};
use wavetank_units::Nanos;
use wavetank_wire::messages::MessageClient;

use super::Connections;
use super::events::ConnectionOutcome;
use super::message_intake::message_end;
use crate::machine::Machine;
use crate::recorder::Recorder;

impl<D: Driver> Connections<D> {
    /// Handles a connection on which everything was sent that had to wait for the peer.
    #[cold]
    pub(super) fn flushed(&mut self, conn: ConnId, at: Nanos, rec: &mut Recorder) {
        let slot = self.slot_of(conn);
        let entry = &mut self.slots[slot as usize];
        let Some(io) = entry.io.as_mut().filter(|_| entry.conn == Some(conn)) else { return };
        match &mut io.machine {
            Machine::Http1(_) => {}
            Machine::Streams(client) => client.set_blocked(false),
            Machine::Messages(own) => {
                own.client.hold_pongs(false);
                send_out(&mut self.driver, conn, &mut own.client);
                if D::SENDS_LATER {
                    // They must have been sent before they are done.
                    self.flush_conn(conn);
                }
                self.complete_one_way(slot, at, rec);
            }
        }
    }

    /// Completes the messages that await no answer, now that the kernel has all of them.
    fn complete_one_way(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) {
        let mut is_any = false;
        while let Some(io) = &mut self.slots[slot as usize].io
            && let Some(request) = io.queue.take_one_way()
        {
            is_any = true;
            let end = message_end(0, 0);
            self.outcomes.push_back(ConnectionOutcome::Answered(request.exchange, end, at, at));
        }
        if is_any {
            self.free(slot, at, rec);
        }
    }
}

/// Sends what the machine has written by itself.
pub(super) fn send_out<D: Driver>(driver: &mut D, conn: ConnId, client: &mut MessageClient) {
    if client.out().is_empty() {
        return;
    }
    // If this fails, the driver reports the end of the connection.
    let sent = driver.send(conn, client.out());
    client.out().clear();
    if sent == Ok(SendStatus::Pending) {
        // Otherwise pings without end would fill the memory.
        client.hold_pongs(true);
    }
}
