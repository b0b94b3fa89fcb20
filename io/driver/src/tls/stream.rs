//! [`Stream`]: one TLS connection. [`Streams`]: all TLS connections of one driver.

use std::collections::VecDeque;
use std::sync::Arc;

use super::machine::{Out, Read, TlsState};
use crate::driver::{CloseReason, ConnId, DialTls};

/// Plaintext of one send: several records, so that they share one system call.
pub(super) const PIECE_BYTES: usize = 64 * 1024;

/// The stage of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TlsStage {
    /// Not connected yet, or in the handshake.
    Shaking,
    /// The handshake is complete and data flows.
    Open,
    /// TLS has ended: nothing more is read.
    Over,
}

/// One TLS connection.
#[expect(clippy::struct_excessive_bools, reason = "four facts independent of each other, kept small")]
pub(super) struct Stream {
    pub(super) id: ConnId,
    pub(super) stage: TlsStage,
    /// Selects its sessions in the cache; `None` on the server side.
    pub(super) dial: Option<DialTls>,
    /// `None` until the connection is open.
    pub(super) machine: Option<TlsState>,
    /// Received bytes of an incomplete record; empty between records.
    pub(super) rest: Vec<u8>,
    /// State that only some connections have at some moments.
    pub(super) extra: Option<Box<StreamExtra>>,
    /// The connection is in the queue of handshakes.
    pub(super) queued: bool,
    /// The inner driver keeps bytes of this connection.
    pub(super) inner_pending: bool,
    /// The caller got [`crate::SendStatus::Pending`], so [`crate::Event::Flushed`] must follow.
    pub(super) flush_owed: bool,
    /// The `close_notify` of this side has been sent or is on its way.
    pub(super) goodbye_said: bool,
}

/// State that only some connections have at some moments.
#[derive(Default)]
pub(super) struct StreamExtra {
    /// Plaintext that waits for the handshake, or for the peer to read.
    pub(super) unsent: VecDeque<(Arc<[u8]>, usize)>,
    /// How the connection ended while its handshake was queued. Reported after its turn in the
    /// queue.
    pub(super) ended: Option<CloseReason>,
    /// Sending ends after all of it is sent.
    pub(super) finish: bool,
}

impl Stream {
    pub(super) fn new(id: ConnId, dial: Option<DialTls>, machine: Option<TlsState>) -> Self {
        Self {
            id,
            stage: TlsStage::Shaking,
            dial,
            machine,
            rest: Vec::new(),
            extra: None,
            queued: false,
            inner_pending: false,
            flush_owed: false,
            goodbye_said: false,
        }
    }

    /// Returns whether plaintext waits here.
    pub(super) fn has_unsent(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| !extra.unsent.is_empty())
    }

    /// Returns whether everything is with the kernel.
    pub(super) fn is_flushed(&self) -> bool {
        !self.inner_pending && !self.has_unsent()
    }

    pub(super) fn extra(&mut self) -> &mut StreamExtra {
        self.extra.get_or_insert_default()
    }

    /// Reads `incoming`, which starts with the rest of the previous read. Keeps the new rest.
    pub(super) fn read(&mut self, incoming: &mut [u8], plain: &mut Vec<u8>, out: &mut Out) -> Read {
        let Some(machine) = &mut self.machine else { return Read::default() };
        let read = machine.read(incoming, plain, out);
        // Allocates exactly what is needed: an idle connection keeps nothing, or part of a record.
        self.rest = incoming[read.used..].to_vec();
        read
    }

    /// Encrypts `plain`, with nothing waiting ahead of it. Returns whether it can be sent.
    #[inline]
    pub(super) fn write(&mut self, plain: &[u8], out: &mut Out) -> bool {
        write(&mut self.machine, plain, &mut self.rest, out)
    }

    /// Encrypts up to `PIECE_BYTES` of the waiting plaintext. Returns the number of plaintext
    /// bytes; `None`: they cannot be sent.
    pub(super) fn write_piece(&mut self, out: &mut Out) -> Option<usize> {
        let Some(extra) = &mut self.extra else { return Some(0) };
        let Some((bytes, from)) = extra.unsent.front_mut() else { return Some(0) };
        let end = bytes.len().min(*from + PIECE_BYTES);
        if !write(&mut self.machine, &bytes[*from..end], &mut self.rest, out) {
            return None;
        }
        let len = end - *from;
        *from = end;
        if end == bytes.len() {
            extra.unsent.pop_front();
        }
        Some(len)
    }
}

/// Encrypts `plain`. After the library has refused once, it is not called again.
fn write(machine: &mut Option<TlsState>, plain: &[u8], rest: &mut [u8], out: &mut Out) -> bool {
    let written = machine.as_mut().is_some_and(|machine| machine.write(plain, rest, out));
    if !written {
        *machine = None;
    }
    written
}

/// The TLS connections of one driver, by the slot of their id.
#[derive(Default)]
pub(super) struct Streams {
    slots: Vec<Option<Box<Stream>>>,
}

impl Streams {
    pub(super) fn insert(&mut self, stream: Stream) {
        let slot = stream.id.slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(Box::new(stream));
    }

    #[inline]
    pub(super) fn get(&mut self, id: ConnId) -> Option<&mut Stream> {
        self.slots.get_mut(id.slot as usize)?.as_deref_mut().filter(|stream| stream.id == id)
    }

    #[inline]
    pub(super) fn peek(&self, id: ConnId) -> Option<&Stream> {
        self.slots.get(id.slot as usize)?.as_deref().filter(|stream| stream.id == id)
    }

    pub(super) fn remove(&mut self, id: ConnId) -> Option<Box<Stream>> {
        self.peek(id)?;
        self.slots[id.slot as usize].take()
    }
}
