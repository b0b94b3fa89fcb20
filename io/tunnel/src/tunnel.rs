//! [`Tunnel`] and [`TunnelTable`]: the streams, each in the place of a connection.

use memchr::memmem;
use wavetank_driver::{ConnId, Dial, StreamEnd};

/// A stream that takes the place of a connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
pub(crate) struct Tunnel {
    pub(crate) id: ConnId,
    pub(crate) dial: Dial,
    /// The connection that carries it; `None`: it has ended.
    pub(crate) carrier: Option<ConnId>,
    /// The stream; `None`: it was not opened yet.
    pub(crate) stream: Option<u32>,
    /// What was sent before the stream was opened, and is kept until the server has answered.
    pub(crate) request: Vec<u8>,
    /// The caller knows that it is connected.
    pub(crate) is_connected: bool,
    /// The caller knows that its handshake is complete.
    pub(crate) is_secured: bool,
    /// Another stream has opened the connection.
    pub(crate) is_on_earlier: bool,
    /// It was moved to another connection.
    pub(crate) is_moved: bool,
    /// Its end is in the queue of events, or was returned.
    pub(crate) has_ended: bool,
    /// It waits until flow control lets all of its bytes go.
    pub(crate) is_blocked: bool,
    pub(crate) end: Option<StreamEnd>,
}

impl Tunnel {
    /// Returns the length of the request, if it is complete.
    pub(crate) fn request_len(&self) -> Option<usize> {
        memmem::find(&self.request, b"\r\n\r\n").map(|at| at + 4)
    }
}

/// All streams.
#[derive(Debug, Default)]
pub(crate) struct TunnelTable {
    entries: Vec<Option<Box<Tunnel>>>,
    generations: Vec<u16>,
    free: Vec<u32>,
}

impl TunnelTable {
    /// Adds a stream for `dial`.
    pub(crate) fn insert(&mut self, dial: Dial) -> ConnId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.generations.push(0);
            u32::try_from(self.entries.len() - 1).expect("fewer streams than 2^32")
        });
        let place = slot as usize;
        let id = ConnId { slot, generation: self.generations[place] };
        self.entries[place] = Some(Box::new(Tunnel {
            id,
            dial,
            carrier: None,
            stream: None,
            request: Vec::new(),
            is_connected: false,
            is_secured: false,
            is_on_earlier: false,
            is_moved: false,
            has_ended: false,
            is_blocked: false,
            end: None,
        }));
        id
    }

    #[inline]
    pub(crate) fn get(&self, id: ConnId) -> Option<&Tunnel> {
        self.entries.get(id.slot as usize)?.as_deref().filter(|tunnel| tunnel.id == id)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: ConnId) -> Option<&mut Tunnel> {
        self.entries.get_mut(id.slot as usize)?.as_deref_mut().filter(|tunnel| tunnel.id == id)
    }

    pub(crate) fn remove(&mut self, id: ConnId) -> Option<Box<Tunnel>> {
        self.get(id)?;
        let place = id.slot as usize;
        self.generations[place] = self.generations[place].wrapping_add(1);
        self.free.push(id.slot);
        self.entries[place].take()
    }
}
