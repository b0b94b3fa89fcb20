//! Connections that carry messages: WebSocket, event streams, raw TCP.

use wavetank_driver::{ConnId, Driver};
use wavetank_units::Nanos;

use super::Worker;
use crate::connection::{AfterLast, Connection, CountedAs, OtherProtocol, ReadMode};
use crate::event_stream::Framing;
use crate::freeze::Freeze;
use crate::outbox::Outbox;
use crate::raw_echo::RawEcho;
use crate::truth::{CloseKind, Counts};
use crate::web_socket::AfterMessages;

impl<D: Driver> Worker<D> {
    /// Makes a new connection one of raw TCP.
    pub(super) fn accepted_raw(&mut self, id: ConnId, counts: &Counts) {
        let Some(connection) = self.connections.get(id) else { return };
        connection.kind = CountedAs::Counted;
        let out = self.greeting.to_vec();
        connection.begin(OtherProtocol::Raw(RawEcho { out }));
        if !self.tls {
            self.advance(id, counts);
        }
    }

    /// Reads bytes of a connection with messages.
    pub(super) fn received_messages(&mut self, id: ConnId, len: usize, counts: &Counts) {
        let Some(connection) = self.connections.get(id) else { return };
        let Some(protocol) = connection.other.as_deref_mut() else { return };
        let received = self.driver.received(len);
        let after = match protocol {
            OtherProtocol::Streams(_) => return,
            OtherProtocol::WebSocket(socket) => socket.read(received, &mut self.deflater, counts),
            // A client has nothing to say on an event stream.
            OtherProtocol::Events(_) => AfterMessages::Open,
            OtherProtocol::Raw(raw) => {
                self.shared.freeze.note_request(self.now);
                if raw.read(received, counts) { AfterMessages::Open } else { AfterMessages::Broken }
            }
        };
        match after {
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

/// What remains of the messages to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remaining {
    /// None.
    Nothing,
    /// Some that cannot be sent now.
    Some,
    /// The next one is due then.
    At(Nanos),
}

/// Moves the messages of a connection into the outbox, unless the client reads none or the server
/// is frozen.
#[inline]
pub(super) fn take_messages(
    connection: &mut Connection,
    outbox: &mut Outbox,
    freeze: &Freeze,
    now: Nanos,
    counts: &Counts,
) -> Remaining {
    if connection.other.is_none() {
        return Remaining::Nothing;
    }
    take_some(connection, outbox, freeze, now, counts)
}

#[inline(never)]
fn take_some(
    connection: &mut Connection,
    outbox: &mut Outbox,
    freeze: &Freeze,
    now: Nanos,
    counts: &Counts,
) -> Remaining {
    let Some(protocol) = connection.other.as_deref_mut() else { return Remaining::Nothing };
    let waits = connection.pending || freeze.frozen_until(now).is_some();
    let out = match protocol {
        OtherProtocol::Streams(_) => return Remaining::Nothing,
        OtherProtocol::WebSocket(socket) if waits => {
            return if socket.has_out() { Remaining::Some } else { Remaining::Nothing };
        }
        OtherProtocol::WebSocket(socket) => socket.server.out(),
        OtherProtocol::Raw(raw) if waits => {
            return if raw.out.is_empty() { Remaining::Nothing } else { Remaining::Some };
        }
        OtherProtocol::Raw(raw) => &mut raw.out,
        OtherProtocol::Events(_) if connection.peer_done => {
            // The client reads no more.
            connection.other = None;
            connection.then = AfterLast::Close;
            return Remaining::Nothing;
        }
        // The head of the response comes first.
        OtherProtocol::Events(_) if waits || !connection.owed.is_empty() => return Remaining::Some,
        OtherProtocol::Events(stream) => {
            let next = stream.write(now, &mut outbox.out, counts, Framing::Chunks);
            if next.is_none() {
                connection.other = None;
            }
            return next.map_or(Remaining::Nothing, Remaining::At);
        }
    };
    outbox.out.append(out);
    Remaining::Nothing
}
