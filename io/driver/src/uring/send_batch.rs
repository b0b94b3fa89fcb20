//! [`SendBatch`]: the small sends of one batch, which leave with the next system call.

use std::sync::Arc;

use crate::ConnId;
use crate::send_buffer::SendBuffer;

/// Maximum length of a small send. It is considered done when it is handed over, and this is
/// corrected if it was not.
pub(super) const SMALL_BYTES_MAX: usize = 16 * 1024;
/// Maximum number of sends of one call: each takes the kernel some microseconds, during which this
/// thread does nothing else.
pub(super) const BATCH_MAX: usize = 32;
/// Maximum number of copied bytes of one batch.
const COPIED_BYTES_MAX: usize = (BATCH_MAX + 1) * SMALL_BYTES_MAX;

/// One send. A batch has at most one of each connection: of two, the second could overtake the rest
/// of the first.
#[derive(Clone, Copy)]
struct Out {
    conn: ConnId,
    from: From,
    len: u32,
    /// Number of sends of the owner: later ones are merged into the first.
    times: u16,
}

/// The place of the bytes.
#[derive(Clone, Copy)]
enum From {
    /// Index into `shared`.
    Shared(u32),
    /// Offset in `copied`.
    Copied(u32),
}

/// See the module's description.
pub(super) struct SendBatch {
    outs: Vec<Out>,
    /// Kept until the kernel has taken its part of them. The last one is kept longer: most loads
    /// send the same bytes again, and then no counter shared between threads is touched.
    shared: Vec<Arc<[u8]>>,
    copied: Box<[u8]>,
    /// Unsent bytes of connections that were closed.
    kept: Vec<SendBuffer>,
    used: usize,
    /// Number of sends that are queued for the kernel. If submitting fails, none of them is queued
    /// twice.
    queued: usize,
    /// Number of the batch, starting at 1; 0 means none.
    number: u32,
}

impl SendBatch {
    pub(super) fn new() -> Self {
        Self {
            outs: Vec::with_capacity(BATCH_MAX),
            shared: Vec::with_capacity(BATCH_MAX),
            copied: vec![0; COPIED_BYTES_MAX].into_boxed_slice(),
            kept: Vec::new(),
            used: 0,
            queued: 0,
            number: 1,
        }
    }

    /// Returns the number of the current batch.
    #[inline]
    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// Returns whether there may be no room for another small send of maximum length.
    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.outs.len() == BATCH_MAX || self.used + SMALL_BYTES_MAX > self.copied.len()
    }

    /// Adds a send of shared bytes.
    #[inline]
    pub(super) fn share(&mut self, conn: ConnId, bytes: &Arc<[u8]>) {
        if !self.shared.last().is_some_and(|last| Arc::ptr_eq(last, bytes)) {
            self.shared.push(Arc::clone(bytes));
        }
        let from = From::Shared(self.shared.len() as u32 - 1);
        self.outs.push(Out { conn, from, len: bytes.len() as u32, times: 1 });
    }

    /// Adds a send of bytes, which are copied.
    #[inline]
    pub(super) fn copy(&mut self, conn: ConnId, bytes: &[u8]) {
        let from = From::Copied(self.used as u32);
        self.append(bytes);
        self.outs.push(Out { conn, from, len: bytes.len() as u32, times: 1 });
    }

    /// Adds `bytes` to the send of `conn` in this batch. Returns `false` if that send is already
    /// queued, would become too long, or has no room.
    pub(super) fn extend(&mut self, conn: ConnId, bytes: &[u8]) -> bool {
        let found = self.outs.iter().rposition(|out| out.conn == conn);
        let Some(at) = found.filter(|&at| at >= self.queued) else { return false };
        let Out { from, len, times, .. } = self.outs[at];
        let len = len as usize;
        let last = matches!(from, From::Copied(start) if start as usize + len == self.used);
        let room = self.copied.len() - self.used;
        let needed = bytes.len() + if last { 0 } else { len };
        if len + bytes.len() > SMALL_BYTES_MAX || needed > room || times == u16::MAX {
            return false;
        }
        if !last {
            let start = self.used;
            match from {
                From::Copied(old) => self.copied.copy_within(old as usize..old as usize + len, start),
                From::Shared(index) => {
                    self.copied[start..start + len].copy_from_slice(&self.shared[index as usize]);
                }
            }
            self.used += len;
            self.outs[at].from = From::Copied(start as u32);
        }
        self.append(bytes);
        self.outs[at].len += bytes.len() as u32;
        self.outs[at].times += 1;
        true
    }

    fn append(&mut self, bytes: &[u8]) {
        self.copied[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    /// Returns the next send of the batch that is not queued yet.
    #[inline]
    pub(super) fn next(&self) -> Option<(ConnId, &[u8])> {
        self.outs.get(self.queued).map(|out| (out.conn, self.bytes(out)))
    }

    /// Marks that send as queued.
    #[inline]
    pub(super) const fn queued(&mut self) {
        self.queued += 1;
    }

    /// Returns the bytes sent on `conn` in this batch, and the number of sends.
    pub(super) fn find(&self, conn: ConnId) -> Option<(&[u8], u16)> {
        self.outs.iter().find(|out| out.conn == conn).map(|out| (self.bytes(out), out.times))
    }

    #[inline]
    fn bytes(&self, out: &Out) -> &[u8] {
        match out.from {
            From::Shared(index) => &self.shared[index as usize],
            From::Copied(start) => &self.copied[start as usize..start as usize + out.len as usize],
        }
    }

    /// Starts the next batch: the kernel has taken this one, and has reported every send that was
    /// not taken completely.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.outs.clear();
        self.kept.clear();
        (self.used, self.queued) = (0, 0);
        self.number = self.number.wrapping_add(1).max(1);
        if self.shared.len() > 1 {
            self.shared.drain(..self.shared.len() - 1);
        }
    }

    /// Keeps bytes that a queued entry may point to until the next batch starts.
    pub(super) fn requeue(&mut self, unsent: SendBuffer) {
        self.kept.push(unsent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_queued_twice() {
        let [one, two] = [1, 2].map(|slot| ConnId { slot, generation: 1 });
        let mut outgoing = SendBatch::new();
        outgoing.copy(one, b"a");
        assert!(outgoing.extend(one, b"b"));
        assert_eq!(outgoing.next(), Some((one, &b"ab"[..])));
        outgoing.queued();
        // The call that should have submitted it failed. Queued entries stay unchanged, and only
        // new ones are queued.
        assert!(!outgoing.extend(one, b"c"));
        outgoing.share(two, &Arc::from(&b"d"[..]));
        assert_eq!((outgoing.find(one), outgoing.next()), (Some((&b"ab"[..], 2)), Some((two, &b"d"[..]))));
        outgoing.queued();
        assert_eq!(outgoing.next(), None);
        outgoing.reset();
        outgoing.copy(one, b"e");
        assert_eq!(outgoing.next(), Some((one, &b"e"[..])));
    }
}
