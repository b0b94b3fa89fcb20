//! Connections that are WebSockets.

use wavetank_driver::{ConnId, Driver};
use wavetank_units::Nanos;

use super::Worker;
use crate::connection::{AfterLast, Connection, OtherProtocol, ReadMode};
use crate::freeze::Freeze;
use crate::outbox::Outbox;
use crate::truth::{CloseKind, Counts};
use crate::web_socket::AfterMessages;

impl<D: Driver> Worker<D> {
    /// Reads bytes of a WebSocket.
    pub(super) fn received_messages(&mut self, id: ConnId, len: usize, counts: &Counts) {
        let Some(connection) = self.connections.get(id) else { return };
        let Some(OtherProtocol::WebSocket(socket)) = connection.other.as_deref_mut() else { return };
        match socket.read(self.driver.received(len), &mut self.deflater, counts) {
            AfterMessages::Open => {}
            AfterMessages::Over => {
                connection.reading = ReadMode::Nothing;
                connection.then = AfterLast::Close;
            }
            AfterMessages::Broken => {
                connection.reading = ReadMode::Nothing;
                connection.then = AfterLast::Linger;
                if connection.pending {
                    return self.close(id, CloseKind::Closed, counts);
                }
            }
        }
        self.advance(id, counts);
    }
}

/// Moves the messages of a WebSocket into the outbox, unless the client reads none or the server is
/// frozen. Returns whether there are any left.
#[inline]
pub(super) fn take_messages(
    connection: &mut Connection,
    outbox: &mut Outbox,
    freeze: &Freeze,
    now: Nanos,
) -> bool {
    let Some(OtherProtocol::WebSocket(socket)) = connection.other.as_deref_mut() else { return false };
    if connection.pending || freeze.frozen_until(now).is_some() {
        return socket.has_out();
    }
    outbox.out.append(socket.server.out());
    false
}
