//! The stages between connecting and the first request: a preface, TLS.

use wavetank_driver::{CloseReason, ConnId, DialTls, Driver};
use wavetank_plan::UrlProtocol;
use wavetank_units::Nanos;

use super::Connections;
use crate::conn_slot::ConnState;
use crate::failure;
use crate::machine::{Machine, speaks_http2};
use crate::preface::{read_tunnel, tunnel_ended, tunnel_reader};
use crate::recorder::Recorder;

impl<D: Driver> Connections<D> {
    /// Handles a successful connect.
    pub(super) fn connected(&mut self, conn: ConnId, at: Nanos, rec: &mut Recorder) {
        let slot = self.slot_of(conn);
        let entry = &mut self.slots[slot as usize];
        if entry.state != ConnState::Connecting {
            return;
        }
        if self.preface.is_needed() {
            return self.begin_preface(slot, conn, at, rec);
        }
        if self.upgrades.is_none() || self.opens_transport(slot, conn) {
            let entry = &self.slots[slot as usize];
            rec.connected(entry.phase, entry.target, at.since(entry.began));
            if self.is_quic
                && let Some(secured) = self.driver.secured(conn)
            {
                rec.agreed(entry.phase, entry.target, &secured);
            }
        }
        let entry = &mut self.slots[slot as usize];
        if self.names[usize::from(entry.target)].is_some() && !self.is_quic {
            entry.state = ConnState::Securing;
            self.io_of(slot).first_byte = at;
        } else {
            self.established(slot, conn, at, rec);
        }
    }

    /// Whether connecting opened a connection to the target. A UDP socket asks no peer: its time
    /// to connect would say nothing about the target. A stream may be on a connection that was
    /// open.
    #[cold]
    fn opens_transport(&self, slot: u32, conn: ConnId) -> bool {
        !self.driver.is_on_earlier(conn) && self.protocol_of(slot) != UrlProtocol::Udp
    }

    /// Handles a complete TLS handshake.
    pub(super) fn secured(&mut self, conn: ConnId, at: Nanos, rec: &mut Recorder) {
        let slot = self.slot_of(conn);
        let entry = &self.slots[slot as usize];
        if entry.state != ConnState::Securing {
            return;
        }
        let connected = entry.io.as_ref().map_or(at, |io| io.first_byte);
        let secured = self.driver.secured(conn);
        if !self.driver.is_on_earlier(conn) {
            rec.secured(entry.phase, entry.target, at.since(connected), secured.as_ref());
        }
        if self.has_streams && !speaks_http2(secured.as_ref()) {
            return self.http2_refused(slot, at, rec);
        }
        self.established(slot, conn, at, rec);
    }

    /// Sends the preface of this slot's connection.
    #[cold]
    pub(super) fn begin_preface(&mut self, slot: u32, conn: ConnId, at: Nanos, rec: &mut Recorder) {
        let target = self.slots[slot as usize].target;
        let bytes = match self.preface.bytes(target, || self.driver.ends(conn)) {
            Ok(bytes) => bytes,
            Err(failure) => return self.cancel_dial(slot, &failure, self.plan.http.close, at, rec),
        };
        if !bytes.is_empty() {
            // If this fails, the driver reports the end of the connection, which is handled there.
            let _ = self.driver.send(conn, &bytes);
        }
        if self.preface.needs_tunnel(target) {
            // With HTTP/1, the responses that follow use the same reader.
            let limits = self.io_pool.limits();
            self.slots[slot as usize].state = ConnState::Tunnelling;
            self.io_of(slot).machine = Machine::Http1(tunnel_reader(limits));
            return;
        }
        self.prefaced(slot, conn, at, rec);
    }

    /// Continues after the preface: the path to the target is open. The time for the tunnel counts
    /// as connecting.
    fn prefaced(&mut self, slot: u32, conn: ConnId, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.slots[slot as usize];
        rec.connected(entry.phase, entry.target, at.since(entry.began));
        let Some(name) = self.names[usize::from(entry.target)] else {
            return self.established(slot, conn, at, rec);
        };
        entry.state = ConnState::Securing;
        self.io_of(slot).first_byte = at;
        if let Err(errno) = self.driver.secure(conn, DialTls { name, session: slot }) {
            let failure = failure::connect_failure(errno);
            self.cancel_dial(slot, &failure, self.plan.http.close, at, rec);
        }
    }

    /// Handles bytes of the proxy's response to CONNECT.
    #[cold]
    pub(super) fn tunnel_answered(&mut self, conn: ConnId, len: usize, at: Nanos, rec: &mut Recorder) {
        let slot = self.slot_of(conn);
        let entry = &mut self.slots[slot as usize];
        let Some(io) = &mut entry.io else { return };
        let Machine::Http1(reader) = &mut io.machine else { return };
        let may_greet = self.names[usize::from(entry.target)].is_none()
            && self.upgrades.as_ref().is_some_and(|own| own.protocol(entry.target) == UrlProtocol::Tcp);
        match read_tunnel(reader, self.driver.received(len), may_greet) {
            Ok(Some(surplus)) => {
                self.prefaced(slot, conn, at, rec);
                if surplus > 0
                    && self.slots[slot as usize].conn == Some(conn)
                    && self.read_messages(slot, conn, len - surplus..len, at, rec)
                {
                    self.free(slot, at, rec);
                }
            }
            Ok(None) => {}
            Err(failure) => self.cancel_dial(slot, &failure, self.plan.http.close, at, rec),
        }
    }

    /// Handles the end of the connection to the proxy before the tunnel was open.
    #[cold]
    pub(super) fn tunnelling_ended(&mut self, slot: u32, how: CloseReason, at: Nanos, rec: &mut Recorder) {
        let failure = tunnel_ended(&failure::end_failure(how, &self.driver));
        self.cancel_dial(slot, &failure, self.plan.http.close, at, rec);
    }
}
