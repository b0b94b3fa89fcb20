//! [`Carrier`]: a connection of HTTP/2 with the streams on it.

use wavetank_driver::{ConnId, Dial};
use wavetank_wire::h2::TunnelClient;

/// A connection of HTTP/2; see the module documentation.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
pub(crate) struct Carrier {
    pub(crate) id: ConnId,
    pub(crate) dial: Dial,
    pub(crate) client: TunnelClient<ConnId>,
    /// It is established, before TLS.
    pub(crate) is_connected: bool,
    /// Its TLS handshake is complete, or it needs none.
    pub(crate) is_secured: bool,
    /// It is in the list of those that take further streams.
    pub(crate) is_listed: bool,
    /// The server has refused a stream, so it gets no more.
    pub(crate) is_refusing: bool,
    /// The streams that the caller has not closed.
    pub(crate) live: Vec<ConnId>,
    /// The number of those that wait until they can be opened.
    pub(crate) unopened: usize,
    /// The streams with bytes that flow control or the kernel holds back.
    pub(crate) blocked: Vec<ConnId>,
    /// The kernel does not take what was sent.
    pub(crate) is_unflushed: bool,
}

impl Carrier {
    /// Starts one for `dial`.
    pub(crate) fn new(id: ConnId, dial: Dial) -> Self {
        Self {
            id,
            dial,
            client: TunnelClient::new(dial.tls.is_some()),
            is_connected: false,
            is_secured: false,
            is_listed: false,
            is_refusing: false,
            live: Vec::new(),
            unopened: 0,
            blocked: Vec::new(),
            is_unflushed: false,
        }
    }

    /// Whether it takes another stream, if it has at most `streams_max`.
    pub(crate) fn has_room(&self, streams_max: usize) -> bool {
        !self.is_refusing
            && !self.client.is_parting()
            && self.unopened + self.client.in_use() < streams_max
            && (!self.client.is_ready() || self.unopened < self.client.room())
    }

    /// Whether the server no longer takes streams, and none is left.
    pub(crate) fn is_over(&self) -> bool {
        (self.is_refusing || self.client.is_parting()) && self.live.is_empty() && self.client.in_use() == 0
    }

    /// Removes a stream from those that the caller has not closed.
    pub(crate) fn forget(&mut self, tunnel: ConnId) {
        if let Some(place) = self.live.iter().position(|own| *own == tunnel) {
            self.live.swap_remove(place);
        }
        self.blocked.retain(|own| *own != tunnel);
    }
}
