//! Events of the inner driver, and how the TLS layer handles them.

use wavetank_units::registered;

use rustls::Error;

use super::stream::TlsStage;
use super::{Stream, Tls, error_text};
use crate::driver::{CloseReason, ConnId, Driver, Event};

/// Maximum number of bytes received while a handshake is in the queue. Beyond it, the handshake
/// goes ahead of the others, so that a peer cannot make this side buffer any amount.
const QUEUED_BYTES_MAX: usize = 64 * 1024;

impl<D: Driver> Tls<D> {
    /// Handles an event of the inner driver. Returns the event to report immediately, if any; all
    /// others are in the queue of ready events.
    #[inline]
    pub(super) fn filter(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Received(conn, len) => {
                if self.streams.peek(conn).is_none() {
                    return Some(event);
                }
                self.receive(conn, len);
                None
            }
            Event::Flushed(conn) => {
                let Some(stream) = self.streams.get(conn) else { return Some(event) };
                stream.inner_pending = false;
                self.resume_sending(conn);
                None
            }
            Event::Ended(conn, how) => {
                let Some(stream) = self.streams.get(conn) else { return Some(event) };
                if stream.queued {
                    stream.extra().ended = Some(how);
                } else {
                    self.ended(conn, how);
                }
                None
            }
            Event::Connected(conn) => {
                if let Some(stream) = self.streams.get(conn) {
                    self.handshakes.push(stream);
                }
                Some(event)
            }
            Event::Accepted(_, conn) => {
                self.accepted(conn);
                Some(event)
            }
            Event::ConnectFailed(conn, _) => {
                self.streams.remove(conn);
                Some(event)
            }
            Event::Secured(_) | Event::Woken | Event::AcceptFailed(..) => Some(event),
        }
    }

    fn accepted(&mut self, conn: ConnId) {
        let Some(server) = &self.server else { return };
        match server.begin() {
            Ok(machine) => {
                let machine = super::machine::TlsState::Server(Box::new(machine));
                self.streams.insert(Stream::new(conn, None, Some(machine)));
            }
            Err(error) => {
                self.streams.insert(Stream::new(conn, None, None));
                self.fail(conn, &error);
            }
        }
    }

    fn receive(&mut self, conn: ConnId, len: usize) {
        let Some(stream) = self.streams.get(conn) else { return };
        let bytes = self.inner.received(len);
        match stream.stage {
            TlsStage::Open => {
                self.incoming.clear();
                self.incoming.append(&mut stream.rest);
                self.incoming.extend_from_slice(bytes);
                self.advance(conn);
            }
            TlsStage::Shaking => {
                stream.rest.extend_from_slice(bytes);
                if stream.rest.len() > QUEUED_BYTES_MAX {
                    self.step(conn);
                } else {
                    self.handshakes.push(stream);
                }
            }
            // Bytes after the end are ignored.
            TlsStage::Over => {}
        }
    }

    /// Processes `incoming`, sends the responses that TLS requires, and queues the resulting
    /// events.
    pub(super) fn advance(&mut self, conn: ConnId) {
        let Some(stream) = self.streams.get(conn) else { return };
        if let Some((client, dial)) = self.client.as_ref().zip(stream.dial) {
            client.set_current(dial);
        }
        self.plain.clear();
        self.out.clear();
        let read = stream.read(&mut self.incoming, &mut self.plain, &mut self.out);
        let opened = Self::opened(stream);
        // If this fails, the inner driver reports it, after everything that arrived before.
        let _ = self.flush_ciphertext(conn);
        if opened {
            self.reported.push_back(Event::Secured(conn));
        }
        if !self.plain.is_empty() {
            self.reported.push_back(Event::Received(conn, self.plain.len()));
        }
        if let Some(error) = read.fault {
            return self.fail(conn, &error);
        }
        if read.closed {
            return self.over(conn, CloseReason::Eof);
        }
        if opened {
            self.resume_sending(conn);
        }
    }

    /// Handles the end of the inner connection.
    pub(super) fn ended(&mut self, conn: ConnId, how: CloseReason) {
        let Some(stream) = self.streams.get(conn) else { return };
        let how = match (stream.stage, how) {
            // The peer's end was reported before; only a break of the connection is a new event.
            (TlsStage::Over, CloseReason::Eof) => return,
            (TlsStage::Open, CloseReason::Eof) => CloseReason::Truncated,
            (TlsStage::Shaking, CloseReason::Eof) => {
                self.fault =
                    Some(registered!("the peer closed the connection in the TLS handshake").to_owned());
                CloseReason::Tls
            }
            (_, how) => how,
        };
        self.over(conn, how);
    }

    pub(super) fn fail(&mut self, conn: ConnId, error: &Error) {
        self.fault = Some(error_text::error_text(error).into());
        if let Some(stream) = self.streams.get(conn) {
            // The library has no more to do for this connection.
            stream.machine = None;
            stream.rest = Vec::new();
        }
        self.over(conn, CloseReason::Tls);
    }

    /// Ends reading on this connection.
    fn over(&mut self, conn: ConnId, how: CloseReason) {
        if let Some(stream) = self.streams.get(conn) {
            stream.stage = TlsStage::Over;
            self.reported.push_back(Event::Ended(conn, how));
        }
    }
}
