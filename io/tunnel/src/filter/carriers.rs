//! Events of the connections that carry streams.

use wavetank_driver::{CloseReason, ConnId, Driver, Errno, Event, SendStatus, StreamEndKind};
use wavetank_plan::Close;
use wavetank_wire::h2::{StreamFailure, TunnelSink};

use super::{NO_HTTP2, Tunnels, carrier_mut};
use crate::carrier::Carrier;
use crate::tunnel::TunnelTable;
use wavetank_driver::EventQueue;

impl<D: Driver> Tunnels<D> {
    /// Handles an event of the inner driver. Returns those that concern no stream.
    pub(super) fn filter(&mut self, event: Event) -> Option<Event> {
        let (Event::Received(id, _)
        | Event::Connected(id)
        | Event::Secured(id)
        | Event::ConnectFailed(id, _)
        | Event::Ended(id, _)
        | Event::Flushed(id)) = event
        else {
            return Some(event);
        };
        if self.streams_max == 0 {
            return Some(event);
        }
        match event {
            Event::Received(_, len) => self.receive(id, len),
            Event::Connected(_) => self.connected(id),
            Event::Secured(_) => self.secured_carrier(id),
            Event::ConnectFailed(_, errno) => self.connect_failed(id, errno),
            Event::Ended(_, how) => self.carrier_ended(id, how),
            Event::Flushed(_) => {
                if let Some(own) = carrier_mut(&mut self.carriers, id) {
                    own.client.set_blocked(false);
                    own.is_unflushed = false;
                }
                self.unblock(id);
            }
            _ => {}
        }
        None
    }

    fn connected(&mut self, id: ConnId) {
        let Some(own) = carrier_mut(&mut self.carriers, id) else { return };
        own.is_connected = true;
        self.advance_handshake(id);
        let is_plain = carrier_mut(&mut self.carriers, id).is_some_and(|own| own.dial.tls.is_none());
        if is_plain {
            self.greet(id);
        }
    }

    fn secured_carrier(&mut self, id: ConnId) {
        let secured = self.inner.secured(id);
        let agreed = secured.as_ref().and_then(|secured| secured.alpn.as_ref());
        if agreed.is_none_or(|alpn| alpn.as_str() != "h2") {
            self.advance_handshake(id);
            return self.fail_carrier(id, NO_HTTP2);
        }
        self.greet(id);
    }

    /// Starts HTTP/2 on a connection that is established.
    fn greet(&mut self, id: ConnId) {
        let Some(own) = carrier_mut(&mut self.carriers, id) else { return };
        own.is_secured = true;
        self.flush(id);
        self.advance_handshake(id);
    }

    /// Reports to the caller how far the connection of each stream on it is.
    fn advance_handshake(&mut self, id: ConnId) {
        let Some(own) = carrier_mut(&mut self.carriers, id) else { return };
        let (is_connected, is_secured, live) = (own.is_connected, own.is_secured, own.live.clone());
        for tunnel in live {
            self.report_progress(tunnel, is_connected, is_secured);
        }
    }

    fn connect_failed(&mut self, id: ConnId, errno: Errno) {
        for tunnel in self.take_carrier(id).map(|own| own.live).unwrap_or_default() {
            match self.table.get_mut(tunnel) {
                Some(own) if !own.is_connected => {
                    own.has_ended = true;
                    self.events.push(Event::ConnectFailed(tunnel, errno));
                }
                _ => self.end_tunnel(tunnel, CloseReason::Broken(errno)),
            }
        }
    }

    fn carrier_ended(&mut self, id: ConnId, how: CloseReason) {
        let Some(own) = self.take_carrier(id) else { return };
        for tunnel in own.live {
            self.end_tunnel(tunnel, how);
        }
        self.inner.close(id, Close::Fin);
    }

    /// Ends a connection, and all streams on it, because the server broke the protocol.
    fn fail_carrier(&mut self, id: ConnId, reason: &str) {
        let Some(mut own) = self.take_carrier(id) else { return };
        for tunnel in &own.live {
            self.fail_tunnel(*tunnel, StreamEndKind::Protocol, reason);
        }
        if own.is_secured {
            // The peer learns the reason, if it still reads.
            let _ = self.inner.send(id, own.client.out());
        }
        self.inner.close(id, Close::Fin);
    }

    fn take_carrier(&mut self, id: ConnId) -> Option<Box<Carrier>> {
        carrier_mut(&mut self.carriers, id)?;
        let own = self.carriers[id.slot as usize].take()?;
        for tunnel in &own.live {
            if let Some(tunnel) = self.table.get_mut(*tunnel) {
                tunnel.carrier = None;
            }
        }
        Some(own)
    }

    /// Handles bytes of a server.
    fn receive(&mut self, id: ConnId, len: usize) {
        let Self { inner, table, carriers, events, .. } = self;
        let Some(own) = carrier_mut(carriers, id) else { return };
        let was_ready = own.client.is_ready();
        let mut intake = Intake { table, events, moved: Vec::new(), failed: Vec::new() };
        let read = own.client.read(inner.received(len), &mut intake);
        let Intake { moved, failed, .. } = intake;
        for (tunnel, failure) in failed {
            self.stream_failed(tunnel, failure);
        }
        if let Err(fault) = read {
            return self.fail_carrier(id, fault.text());
        }
        for (tunnel, is_refused) in moved {
            if is_refused && let Some(own) = carrier_mut(&mut self.carriers, id) {
                own.is_refusing = true;
            }
            self.move_tunnel(tunnel);
        }
        let is_parting = carrier_mut(&mut self.carriers, id).is_some_and(|own| own.client.is_parting());
        if !was_ready || is_parting {
            self.open_tunnels(id);
        }
        self.flush(id);
        self.unblock(id);
        self.tidy(id);
    }

    fn stream_failed(&mut self, tunnel: ConnId, failure: StreamFailure) {
        let (kind, reason) = match failure {
            StreamFailure::Fault(fault) => (StreamEndKind::Protocol, fault.text().to_owned()),
            StreamFailure::Reset(code) => {
                (StreamEndKind::Reset, format!("the server reset the stream: {code}"))
            }
            StreamFailure::Refused => (StreamEndKind::Reset, "the server refused the stream".to_owned()),
            StreamFailure::GoneAway(code) => {
                (StreamEndKind::Closed, format!("the server closed the connection (GOAWAY, {code})"))
            }
        };
        self.fail_tunnel(tunnel, kind, reason);
    }

    /// Reports the streams of which flow control and the kernel have let all bytes go.
    fn unblock(&mut self, id: ConnId) {
        let Self { table, carriers, events, .. } = self;
        let Some(own) = carrier_mut(carriers, id) else { return };
        let (client, is_unflushed) = (&mut own.client, own.is_unflushed);
        own.blocked.retain(|&blocked| {
            let Some(tunnel) = table.get_mut(blocked) else { return false };
            // A stream that was moved is not open yet.
            let is_blocked = is_unflushed || tunnel.stream.is_none_or(|stream| client.unsent(stream) > 0);
            if !is_blocked {
                tunnel.is_blocked = false;
                events.push(Event::Flushed(blocked));
            }
            is_blocked
        });
    }

    /// Sends what has collected on a connection.
    pub(super) fn flush(&mut self, id: ConnId) {
        let Some(own) = carrier_mut(&mut self.carriers, id) else { return };
        if own.is_secured && !own.client.out().is_empty() {
            // If this fails, the inner driver reports the end of the connection.
            let sent = self.inner.send(id, own.client.out());
            own.client.out().clear();
            if sent == Ok(SendStatus::Pending) {
                own.client.set_blocked(true);
                own.is_unflushed = true;
            }
        }
    }

    /// Closes a connection that is of no further use, or lists it as one with room.
    pub(super) fn tidy(&mut self, id: ConnId) {
        let Some(own) = carrier_mut(&mut self.carriers, id) else { return };
        let is_abandoned = own.live.is_empty() && !own.client.is_ready();
        if !is_abandoned && !own.is_over() {
            return self.list(id);
        }
        self.take_carrier(id);
        self.inner.close(id, if is_abandoned { Close::Rst } else { Close::Fin });
    }
}

/// Receives what arrives on the streams of one connection.
struct Intake<'a> {
    table: &'a mut TunnelTable,
    events: &'a mut EventQueue,
    /// Streams that continue on another connection, and whether the server has refused them.
    moved: Vec<(ConnId, bool)>,
    failed: Vec<(ConnId, StreamFailure)>,
}

impl TunnelSink<ConnId> for Intake<'_> {
    fn received(&mut self, key: ConnId, bytes: &[u8]) {
        if let Some(tunnel) = self.table.get_mut(key) {
            tunnel.request = Vec::new();
            self.events.push_received(key, bytes);
        }
    }

    fn ended(&mut self, key: ConnId) {
        if let Some(tunnel) = self.table.get_mut(key)
            && !std::mem::replace(&mut tunnel.has_ended, true)
        {
            self.events.push(Event::Ended(key, CloseReason::Eof));
        }
    }

    fn failed(&mut self, key: ConnId, failure: StreamFailure) {
        let Some(tunnel) = self.table.get(key) else { return };
        let is_new = !tunnel.is_moved && !tunnel.request.is_empty() && !tunnel.has_ended;
        if is_new && failure.is_untouched() {
            self.moved.push((key, failure == StreamFailure::Refused));
        } else {
            self.failed.push((key, failure));
        }
    }
}
