//! What machines write by themselves, such as answers to pings, also while the peer does not read.

use wavetank_driver::{ConnId, Driver, SendStatus};
use wavetank_wire::messages::MessageClient;

use super::Connections;
use crate::machine::Machine;

impl<D: Driver> Connections<D> {
    /// Handles a connection on which everything was sent that had to wait for the peer.
    #[cold]
    pub(super) fn flushed(&mut self, conn: ConnId) {
        let slot = self.slot_of(conn);
        let entry = &mut self.slots[slot as usize];
        let Some(io) = entry.io.as_mut().filter(|_| entry.conn == Some(conn)) else { return };
        match &mut io.machine {
            Machine::Http1(_) => {}
            Machine::Streams(client) => client.set_blocked(false),
            Machine::Messages(own) => {
                own.client.hold_pongs(false);
                send_out(&mut self.driver, conn, &mut own.client);
            }
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
