//! [`Tunnels`]: streams of HTTP/2 in place of connections, as a filter between a driver and its
//! caller.

mod carriers;
mod driver;
mod placing;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use wavetank_driver::{CloseReason, ConnId, Driver, Errno, Event, SendStatus, StreamEnd, StreamEndKind};
use wavetank_plan::Close;
use wavetank_units::Nanos;
use wavetank_wire::h2::NotOpened;

use crate::carrier::Carrier;
use crate::tunnel::{Tunnel, TunnelTable};
use wavetank_driver::EventQueue;

/// A caller that sends faster than flow control allows gets at most this much memory.
const UNSENT_BYTES_MAX: usize = 64 << 20;

/// A stream that the caller has closed in order is reset if the server has not ended it by then.
/// For TCP, drivers do the same.
const CLOSING_MAX: Nanos = Nanos::from_secs(1);

/// A stream on which more was sent before the server answered cannot move to another connection.
const REPEATED_BYTES_MAX: usize = 256 << 10;

const NO_WEBSOCKETS: &str = "the server has not announced that it accepts WebSockets over HTTP/2 \
                             (SETTINGS_ENABLE_CONNECT_PROTOCOL, RFC 8441)";
const NO_STREAMS: &str = "the server allows no streams on its HTTP/2 connections";
const NO_HTTP2: &str = "the server did not agree on HTTP/2 in the TLS handshake (ALPN)";
const NOT_A_REQUEST: &str = "the text of the request is not valid HTTP and cannot be sent as HTTP/2";

/// A driver of which the dials are streams of HTTP/2; see the module documentation.
///
/// A connection gets up to a given number of streams. It is opened for the first one, and stays
/// open for later ones when the last one is closed.
pub struct Tunnels<D: Driver> {
    inner: D,
    /// The number of streams on a connection; 0: dials pass through, and so does everything else.
    streams_max: usize,
    table: TunnelTable,
    /// By slot of the inner driver.
    carriers: Vec<Option<Box<Carrier>>>,
    /// Connections that take further streams, by peer and server name.
    roomy: HashMap<(SocketAddr, Option<u16>), Vec<ConnId>>,
    events: EventQueue,
    /// The streams that the caller has closed in order, their connections, and when they are reset.
    closing: VecDeque<(Nanos, ConnId, u32)>,
    /// The last event was one of a stream.
    is_own: bool,
    /// The reason of the last [`CloseReason::Stream`].
    end: Option<StreamEnd>,
    /// See [`Driver::bytes_sent`].
    accepted_bytes: u64,
}

impl<D: Driver> Tunnels<D> {
    /// Makes the dials of `inner` streams, up to `streams_max` on each connection. With `None`
    /// everything passes through.
    pub fn wrap(inner: D, streams_max: Option<u32>) -> Self {
        Self {
            inner,
            streams_max: streams_max.map_or(0, |most| most.max(1) as usize),
            table: TunnelTable::default(),
            carriers: Vec::new(),
            roomy: HashMap::new(),
            events: EventQueue::default(),
            closing: VecDeque::new(),
            is_own: false,
            end: None,
            accepted_bytes: 0,
        }
    }

    /// Sends bytes on a stream, or keeps them until it can be opened.
    fn write(&mut self, id: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        let Some(tunnel) = self.table.get_mut(id) else { return Err(Errno(libc::ENOTCONN)) };
        let Some(carrier) = tunnel.carrier.filter(|_| !tunnel.has_ended) else {
            return Err(Errno(libc::EPIPE));
        };
        self.accepted_bytes += bytes.len() as u64;
        let Some(stream) = tunnel.stream else {
            tunnel.request.extend_from_slice(bytes);
            if tunnel.request.len() > UNSENT_BYTES_MAX {
                return Err(self.overrun(id));
            }
            self.open_tunnels(carrier);
            self.flush(carrier);
            return Ok(SendStatus::All);
        };
        let Some(own) = carrier_mut(&mut self.carriers, carrier) else { return Err(Errno(libc::EPIPE)) };
        if !tunnel.request.is_empty() {
            // The server has not answered yet, so the stream may have to move.
            tunnel.request.extend_from_slice(bytes);
            if tunnel.request.len() > REPEATED_BYTES_MAX {
                tunnel.request = Vec::new();
            }
        }
        own.client.send(stream, bytes);
        let unsent = own.client.unsent(stream);
        if unsent > UNSENT_BYTES_MAX {
            return Err(self.overrun(id));
        }
        self.flush(carrier);
        let Self { table, carriers, .. } = self;
        let (Some(own), Some(tunnel)) = (carrier_mut(carriers, carrier), table.get_mut(id)) else {
            return Ok(SendStatus::All);
        };
        let is_held = unsent > 0 || own.is_unflushed;
        if is_held && !std::mem::replace(&mut tunnel.is_blocked, true) {
            own.blocked.push(id);
        }
        Ok(if is_held { SendStatus::Pending } else { SendStatus::All })
    }

    /// Ends a stream on which more was sent than may be kept.
    fn overrun(&mut self, id: ConnId) -> Errno {
        let errno = Errno(libc::ENOBUFS);
        self.end_tunnel(id, CloseReason::Broken(errno));
        errno
    }

    /// Reports the end of a stream, unless it was reported before.
    fn end_tunnel(&mut self, id: ConnId, how: CloseReason) {
        if let Some(tunnel) = self.table.get_mut(id)
            && !std::mem::replace(&mut tunnel.has_ended, true)
        {
            self.events.push(Event::Ended(id, how));
        }
    }

    /// Like [`end_tunnel`](Self::end_tunnel), with a reason that is one of HTTP/2.
    fn fail_tunnel(&mut self, id: ConnId, kind: StreamEndKind, reason: impl Into<String>) {
        if let Some(tunnel) = self.table.get_mut(id)
            && !tunnel.has_ended
        {
            tunnel.end = Some(StreamEnd { kind, reason: reason.into() });
        }
        self.end_tunnel(id, CloseReason::Stream);
    }

    /// Closes a stream for the caller.
    fn close_tunnel(&mut self, id: ConnId, how: Close) {
        let Some(tunnel) = self.table.remove(id) else { return };
        let Tunnel { carrier: Some(carrier), stream, .. } = *tunnel else { return };
        let Some(own) = carrier_mut(&mut self.carriers, carrier) else { return };
        own.forget(id);
        match stream {
            Some(stream) => {
                own.client.close(stream, how == Close::Fin);
                if how == Close::Fin {
                    self.closing.push_back((self.inner.now().after(CLOSING_MAX), carrier, stream));
                }
            }
            None => own.unopened -= 1,
        }
        self.flush(carrier);
        self.tidy(carrier);
    }

    /// Resets the streams that were closed long before `now` and that the server has not ended.
    fn reset_closing(&mut self, now: Nanos) {
        while let Some((_, carrier, stream)) = self.closing.pop_front_if(|&mut (until, ..)| until <= now) {
            let Some(own) = carrier_mut(&mut self.carriers, carrier) else { continue };
            own.client.close(stream, false);
            self.flush(carrier);
            self.tidy(carrier);
        }
    }

    /// Opens the streams on a connection that wait for it, as many as the server allows. The others
    /// move to another connection.
    fn open_tunnels(&mut self, carrier: ConnId) {
        let mut surplus = Vec::new();
        let Self { table, carriers, .. } = self;
        let Some(own) = carrier_mut(carriers, carrier) else { return };
        if !own.client.is_ready() || own.unopened == 0 {
            return;
        }
        let mut failed = Vec::new();
        for &id in &own.live {
            let Some(tunnel) = table.get_mut(id) else { continue };
            if tunnel.stream.is_some() || tunnel.has_ended {
                continue;
            }
            if own.client.room() == 0 || own.is_refusing {
                surplus.push(id);
                continue;
            }
            let Some(length) = tunnel.request_len() else { continue };
            match own.client.open(id, &tunnel.request[..length]) {
                Ok(stream) => {
                    tunnel.stream = Some(stream);
                    own.unopened -= 1;
                    if tunnel.request.len() > length {
                        own.client.send(stream, &tunnel.request[length..]);
                    }
                }
                Err(why) => failed.push((id, why)),
            }
        }
        let allows_none = own.client.streams_max() == 0;
        for (id, why) in failed {
            let reason = match why {
                NotOpened::NoWebSockets => NO_WEBSOCKETS,
                NotOpened::NotARequest => NOT_A_REQUEST,
            };
            self.fail_tunnel(id, StreamEndKind::Protocol, reason);
        }
        for id in surplus {
            if allows_none {
                self.fail_tunnel(id, StreamEndKind::Protocol, NO_STREAMS);
            } else {
                self.move_tunnel(id);
            }
        }
    }
}

fn carrier_mut(carriers: &mut [Option<Box<Carrier>>], id: ConnId) -> Option<&mut Carrier> {
    carriers.get_mut(id.slot as usize)?.as_deref_mut().filter(|carrier| carrier.id == id)
}

impl<D: Driver> Drop for Tunnels<D> {
    fn drop(&mut self) {
        for mut carrier in self.carriers.drain(..).flatten() {
            carrier.client.part();
            // If this fails, the connection has ended before.
            let _ = self.inner.send(carrier.id, carrier.client.out());
            self.inner.close(carrier.id, Close::Fin);
        }
        self.inner.send_now();
    }
}
