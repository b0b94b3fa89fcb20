//! Connections that use HTTP/2 or HTTP/3. Their responses are given as they become due, in any
//! order.

use wavetank_driver::{ConnId, Driver, SendStatus};

use super::{Done, Worker};
use crate::connection::{AfterLast, OtherProtocol, ReadMode};
use crate::request_handler::RequestHandler;
use crate::truth::Counts;

impl<D: Driver> Worker<D> {
    /// Reads what has arrived on a connection with streams.
    pub(super) fn received_streams(&mut self, id: ConnId, len: usize, counts: &Counts) {
        let Some(connection) = self.connections.get(id) else { return };
        let Some(OtherProtocol::Streams(streams)) = connection.other.as_deref_mut() else { return };
        let mut clerk = RequestHandler {
            paths: &mut self.paths,
            known: &mut self.known,
            counts,
            outbox: &mut self.outbox,
            freeze: &self.shared.freeze,
            teller: &mut self.teller,
            now: self.now,
        };
        let asker = (id, &mut connection.kind, connection.handshake);
        if !streams.read(&mut clerk, asker, &mut self.deflater, self.driver.received(len)) {
            connection.reading = ReadMode::Nothing;
            connection.then = AfterLast::Linger;
            streams.asked.clear();
            streams.owed.clear();
            streams.open.clear();
        }
        self.advance_streams(id, counts);
    }

    /// Gives the responses that are due, and sends as much as the client accepts.
    pub(super) fn advance_streams(&mut self, id: ConnId, counts: &Counts) {
        let done = self.give_streams(id, counts);
        self.settle(id, done, counts);
    }

    fn give_streams(&mut self, id: ConnId, counts: &Counts) -> Done {
        let Some(connection) = self.connections.get(id) else { return Done::Waiting };
        let Some(OtherProtocol::Streams(streams)) = connection.other.as_deref_mut() else {
            return Done::Waiting;
        };
        if connection.pending {
            return Done::Waiting;
        }
        // During a freeze, only bytes that the kernel has already are transmitted.
        if let Some(end) = self.shared.freeze.frozen_until(self.now) {
            return Done::Later(end);
        }
        let (now, outbox) = (self.now, &mut self.outbox);
        if streams.give_owed(now, outbox, counts) {
            self.control.push(id);
        }
        let next_open = streams.advance_open(now, &mut outbox.out, counts);
        let server = &mut streams.server;
        let driver = &self.driver;
        let more = server.continue_bodies(|stream| driver.is_stream_blocked(id, stream));
        if streams.closes && connection.then == AfterLast::Go {
            server.part();
            connection.then = AfterLast::Close;
        }
        if !server.out().is_empty() {
            // Counted before sending: a client that has the bytes may immediately ask another
            // thread for the counts.
            counts.bytes_sent.add(server.out_bytes());
            let sent = self.driver.send(id, server.out());
            server.out().clear();
            match sent {
                Ok(SendStatus::All) => {}
                Ok(SendStatus::Pending) => {
                    connection.pending = true;
                    return Done::Waiting;
                }
                Err(_) => return Done::Broken,
            }
        }
        let next_owed = streams.owed.iter().map(|(_, due)| due.at).filter(|at| *at > now);
        let next = next_owed.chain(next_open).min();
        match next {
            _ if more => Done::Runnable,
            Some(at) => Done::Later(at),
            None if !streams.owed.is_empty() => Done::Waiting,
            None if server.in_use() == 0 => {
                // The client may still be sending on streams that were refused. QUIC has no FIN.
                if connection.then == AfterLast::Close && !D::HAS_RECORDS {
                    connection.then = AfterLast::Linger;
                    connection.reading = ReadMode::Nothing;
                }
                Done::Clear
            }
            // A client that has closed its side grants no more windows.
            None if connection.peer_done || connection.then == AfterLast::Linger => Done::Clear,
            None => Done::Waiting,
        }
    }
}
