//! [`Stream`]: one TLS connection. [`Streams`]: those of one driver.

use std::collections::VecDeque;
use std::sync::Arc;

use super::machine::{Out, Read, TlsState};
use crate::driver::{CloseReason, ConnId, DialTls};

/// Plaintext that goes into one send: some records, so that the kernel is not asked for each.
pub(super) const PIECE_BYTES: usize = 64 * 1024;

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TlsStage {
    /// Not connected yet, or the handshake goes on.
    Shaking,
    /// Data flow.
    Open,
    /// TLS is over: nothing is read any more.
    Over,
}

/// One TLS connection.
#[expect(clippy::struct_excessive_bools, reason = "four facts independent of each other, kept small")]
pub(super) struct Stream {
    pub(super) id: ConnId,
    pub(super) stage: TlsStage,
    /// The dial whose sessions are current; `None` on the server's side.
    pub(super) dial: Option<DialTls>,
    /// `None` until the connection is there.
    pub(super) machine: Option<TlsState>,
    /// Received, and not to be understood without what follows; empty between records.
    pub(super) rest: Vec<u8>,
    /// What only some connections have at some moments.
    pub(super) extra: Option<Box<StreamExtra>>,
    /// In the queue of handshakes.
    pub(super) queued: bool,
    /// The inner driver keeps bytes of ours.
    pub(super) inner_pending: bool,
    /// The caller received [`crate::SendStatus::Pending`] and must receive
    /// [`crate::Event::Flushed`].
    pub(super) flush_owed: bool,
    /// Our `close_notify` is out, or on its way.
    pub(super) goodbye_said: bool,
}

/// What only some connections have at some moments.
#[derive(Default)]
pub(super) struct StreamExtra {
    /// Plaintext that waits: for the handshake, or for the peer to read.
    pub(super) unsent: VecDeque<(Arc<[u8]>, usize)>,
    /// The connection ended while its handshake was queued: reported after the queue has reached
    /// it.
    pub(super) ended: Option<CloseReason>,
    /// Sending ends when all is sent.
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

    /// Whether plaintext waits here.
    pub(super) fn has_unsent(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| !extra.unsent.is_empty())
    }

    /// All is with the kernel.
    pub(super) fn is_flushed(&self) -> bool {
        !self.inner_pending && !self.has_unsent()
    }

    pub(super) fn extra(&mut self) -> &mut StreamExtra {
        self.extra.get_or_insert_default()
    }

    /// Reads `incoming`, which starts with what was left over before, and keeps what is left over
    /// now.
    pub(super) fn read(&mut self, incoming: &mut [u8], plain: &mut Vec<u8>, out: &mut Out) -> Read {
        let Some(machine) = &mut self.machine else { return Read::default() };
        let read = machine.read(incoming, plain, out);
        // Exactly what is needed: an idle connection keeps nothing, or part of a record.
        self.rest = incoming[read.used..].to_vec();
        read
    }

    /// Encrypt `plain`, which goes ahead of nothing. Returns whether it can be sent.
    #[inline]
    pub(super) fn write(&mut self, plain: &[u8], out: &mut Out) -> bool {
        write(&mut self.machine, plain, &mut self.rest, out)
    }

    /// Encrypts up to `PIECE_BYTES` of the waiting data. Returns the number of plaintext bytes;
    /// `None` if it cannot be sent.
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

/// Encrypt. A library that will not is not asked again.
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
