//! TLS handshakes of clients.

use wavetank_driver::{Alpn, ConnId, Driver};

use super::Worker;
use crate::handshake::Handshake;
use crate::truth::Counts;

impl<D: Driver> Worker<D> {
    /// Handles a complete TLS handshake.
    pub(super) fn secured(&mut self, id: ConnId, counts: &Counts) {
        let Some(connection) = self.connections.get(id) else { return };
        let secured = self.driver.secured(id);
        let alpn = secured.as_ref().and_then(|secured| secured.alpn.as_ref());
        match alpn.map(Alpn::as_str) {
            Some("h2") => connection.begin_http2(),
            Some("h3") => connection.begin_http3(),
            _ => {}
        }
        let resumed = secured.is_some_and(|secured| secured.resumed);
        if resumed {
            counts.resumed_handshakes.add(1);
            connection.handshake = Handshake::Resumed;
        } else {
            counts.full_handshakes.add(1);
            connection.handshake = Handshake::Full;
        }
        if connection.carries_messages() {
            // Raw TCP begins with a greeting.
            self.advance(id, counts);
        }
    }
}
