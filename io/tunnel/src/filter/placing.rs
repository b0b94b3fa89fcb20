//! Chooses the connections that carry streams.

use wavetank_driver::{CloseReason, ConnId, Dial, Driver, Errno, Event};

use super::{Tunnels, carrier_mut};
use crate::carrier::Carrier;

impl<D: Driver> Tunnels<D> {
    /// Adds a stream in place of a connection.
    pub(super) fn connect_tunnel(&mut self, dial: &Dial) -> Result<ConnId, Errno> {
        let id = self.table.insert(*dial);
        if let Err(errno) = self.place(id, dial) {
            self.table.remove(id);
            return Err(errno);
        }
        Ok(id)
    }

    /// Puts a stream on a connection with room, or opens one.
    fn place(&mut self, id: ConnId, dial: &Dial) -> Result<(), Errno> {
        let found = self.find_roomy(dial);
        let carrier = match found {
            Some(carrier) => carrier,
            None => self.dial_carrier(dial)?,
        };
        let Self { table, carriers, .. } = self;
        let (Some(tunnel), Some(own)) = (table.get_mut(id), carrier_mut(carriers, carrier)) else {
            return Ok(());
        };
        tunnel.carrier = Some(carrier);
        tunnel.is_on_earlier = found.is_some() || tunnel.is_moved;
        own.live.push(id);
        own.unopened += 1;
        let (is_connected, is_secured) = (own.is_connected, own.is_secured);
        self.report_progress(id, is_connected, is_secured);
        if found.is_some() {
            self.open_tunnels(carrier);
            self.flush(carrier);
        }
        Ok(())
    }

    /// Returns a connection for `dial` with room for another stream.
    fn find_roomy(&mut self, dial: &Dial) -> Option<ConnId> {
        let Self { carriers, roomy, streams_max, .. } = self;
        let list = roomy.get_mut(&(dial.to, dial.tls.map(|tls| tls.name)))?;
        while let Some(&last) = list.last() {
            if let Some(own) = carrier_mut(carriers, last) {
                if own.has_room(*streams_max) {
                    return Some(last);
                }
                own.is_listed = false;
            }
            list.pop();
        }
        None
    }

    fn dial_carrier(&mut self, dial: &Dial) -> Result<ConnId, Errno> {
        let id = self.inner.connect(dial)?;
        let slot = id.slot as usize;
        if self.carriers.len() <= slot {
            self.carriers.resize_with(slot + 1, || None);
        }
        self.carriers[slot] = Some(Box::new(Carrier::new(id, *dial)));
        self.list(id);
        Ok(id)
    }

    /// Adds a connection to those that take further streams, if it has room.
    pub(super) fn list(&mut self, id: ConnId) {
        let Self { carriers, roomy, streams_max, .. } = self;
        let Some(own) = carrier_mut(carriers, id) else { return };
        if own.has_room(*streams_max) && !std::mem::replace(&mut own.is_listed, true) {
            roomy.entry((own.dial.to, own.dial.tls.map(|tls| tls.name))).or_default().push(id);
        }
    }

    /// Moves a stream, for which the server has done nothing, to another connection.
    pub(super) fn move_tunnel(&mut self, id: ConnId) {
        let Self { table, carriers, .. } = self;
        let Some(tunnel) = table.get_mut(id) else { return };
        if let Some(own) = tunnel.carrier.and_then(|carrier| carrier_mut(carriers, carrier)) {
            own.forget(id);
            own.unopened -= usize::from(tunnel.stream.is_none());
        }
        (tunnel.stream, tunnel.carrier, tunnel.is_moved) = (None, None, true);
        // Its port may be that of the connection which it leaves.
        let from = tunnel.dial.from.map(|mut from| {
            from.set_port(0);
            from
        });
        let dial = Dial { from, ..tunnel.dial };
        if let Err(errno) = self.place(id, &dial) {
            return self.end_tunnel(id, CloseReason::Broken(errno));
        }
        let Self { table, carriers, .. } = self;
        let Some(tunnel) = table.get(id).filter(|tunnel| tunnel.is_blocked) else { return };
        if let Some(own) = tunnel.carrier.and_then(|carrier| carrier_mut(carriers, carrier)) {
            own.blocked.push(id);
        }
    }

    /// Reports to the caller how far a stream's connection is.
    pub(super) fn report_progress(&mut self, id: ConnId, is_connected: bool, is_secured: bool) {
        let Some(tunnel) = self.table.get_mut(id) else { return };
        if is_connected && !std::mem::replace(&mut tunnel.is_connected, true) {
            self.events.push(Event::Connected(id));
        }
        let needs_tls = tunnel.dial.tls.is_some();
        if is_secured && needs_tls && !std::mem::replace(&mut tunnel.is_secured, true) {
            self.events.push(Event::Secured(id));
        }
    }
}
