//! [`Slots`]: the use of each slot in the tables of sockets, and the operations in flight there.
//!
//! This part makes no kernel calls: operations start, completions arrive in any order, and the
//! events to report follow. A slot is reused only after every operation on it has ended, so that a
//! completion is never attributed to the next connection.

mod pending_ops;
mod phase;
mod receive;

use crate::Errno;
use crate::driver::{CloseReason, ConnId};
use crate::token::Operation;
use pending_ops::PendingOps;
pub(super) use phase::Phase;
pub(super) use receive::{ReceiveAction, ReceiveOutcome};

/// The peer has sent its FIN, which was reported to the owner.
const FINISHED: u8 = 1 << 0;
/// The connection takes no more sends.
const BROKEN: u8 = 1 << 1;
/// The break was reported to the owner.
const BREAK_SHOWN: u8 = 1 << 2;
/// Its receive stays armed.
const HOT: u8 = 1 << 3;
/// Something became readable while a read was in flight.
const AGAIN: u8 = 1 << 4;
/// Sending ends after all of it is sent.
const SHUT_LATER: u8 = 1 << 5;
/// The peer is known to be gone: the rest is read up to the error.
const ENDING: u8 = 1 << 6;
/// This side dialed; the connection was not accepted.
const DIALED: u8 = 1 << 7;

/// Instead of a listener: this side dialed, and the connection is a UDP socket.
pub(super) const DATAGRAMS: u16 = u16::MAX;

/// One slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    generation: u16,
    under_way: PendingOps,
    phase: Phase,
    flags: u8,
    /// The listener that accepts into this slot, or [`DATAGRAMS`].
    listener: u16,
}

impl Slot {
    const NEW: Self =
        Self { generation: 0, under_way: PendingOps::NONE, phase: Phase::Free, flags: 0, listener: 0 };

    const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The free slots of one ring.
#[derive(Default)]
struct FreeSlots {
    free: Vec<u32>,
    /// Slots from this number on were never used.
    fresh: u32,
}

/// See the module's description.
pub(super) struct Slots {
    all: Vec<Slot>,
    rooms: Vec<FreeSlots>,
    per_ring: u32,
    /// Number of further connections with a receive that may stay armed.
    hot_left: u32,
    pub(super) stale: u64,
}

impl Slots {
    pub(super) const fn new(per_ring: u32, hot_max: u32) -> Self {
        Self { all: Vec::new(), rooms: Vec::new(), per_ring, hot_left: hot_max, stale: 0 }
    }

    /// Reserves room for this many slots, so that no memory is allocated before they are used up.
    pub(super) fn with_room(mut self, slots: usize) -> Self {
        self.all.reserve_exact(slots);
        self
    }

    /// Adds a ring with its slots.
    pub(super) fn add_ring(&mut self) {
        self.rooms.push(FreeSlots::default());
    }

    pub(super) const fn per_ring(&self) -> u32 {
        self.per_ring
    }

    /// Returns the ring with `slot` in its table, and the index there.
    #[inline]
    pub(super) const fn place(&self, slot: u32) -> (usize, u32) {
        if slot < self.per_ring {
            return (0, slot);
        }
        ((slot / self.per_ring) as usize, slot % self.per_ring)
    }

    pub(super) fn has_room(&self, ring: usize) -> bool {
        let room = &self.rooms[ring];
        !room.free.is_empty() || room.fresh < self.per_ring
    }

    /// Returns the number of slots that were ever in use, counted in the order of their numbers.
    pub(super) const fn len(&self) -> usize {
        self.all.len()
    }

    /// Takes a free slot of `ring`, with a new generation.
    pub(super) fn take(&mut self, ring: usize, phase: Phase, listener: u16) -> Option<ConnId> {
        let room = &mut self.rooms[ring];
        let slot = room.free.pop().or_else(|| {
            let fresh = room.fresh;
            (fresh < self.per_ring).then(|| {
                room.fresh += 1;
                ring as u32 * self.per_ring + fresh
            })
        })?;
        if self.all.len() <= slot as usize {
            self.all.resize(slot as usize + 1, Slot::NEW);
        }
        let entry = &mut self.all[slot as usize];
        debug_assert!(entry.phase == Phase::Free && entry.under_way == PendingOps::default());
        let generation = entry.generation.wrapping_add(1);
        let flags = if phase == Phase::Connecting { DIALED } else { 0 };
        *entry = Slot { generation, phase, flags, listener, ..Slot::NEW };
        Some(ConnId { slot, generation })
    }

    #[inline]
    fn get(&mut self, conn: ConnId) -> Option<&mut Slot> {
        self.all.get_mut(conn.slot as usize).filter(|slot| slot.generation == conn.generation)
    }

    /// Returns the phase of `conn`; [`Phase::Free`] for an old or unknown id.
    #[inline]
    pub(super) fn phase(&self, conn: ConnId) -> Phase {
        match self.all.get(conn.slot as usize) {
            Some(slot) if slot.generation == conn.generation => slot.phase,
            _ => Phase::Free,
        }
    }

    /// Returns whether bytes sent on `conn` can arrive.
    #[inline]
    pub(super) fn takes_sends(&self, conn: ConnId) -> bool {
        self.all.get(conn.slot as usize).is_some_and(|slot| {
            let living = matches!(slot.phase, Phase::Open | Phase::Connecting);
            slot.generation == conn.generation && living && !slot.has(BROKEN)
        })
    }

    pub(super) fn is_in_progress(&mut self, conn: ConnId, operation: Operation) -> bool {
        self.get(conn).is_some_and(|slot| slot.under_way.has(operation))
    }

    /// Returns whether this side dialed.
    pub(super) fn is_dialed(&mut self, conn: ConnId) -> bool {
        self.get(conn).is_some_and(|slot| slot.has(DIALED))
    }

    /// Returns whether `conn` is a UDP socket.
    pub(super) fn is_datagrams(&self, conn: ConnId) -> bool {
        self.all.get(conn.slot as usize).is_some_and(|slot| slot.listener == DATAGRAMS)
    }

    /// Returns the listener that accepts into the slot of `conn`.
    pub(super) fn listener(&mut self, conn: ConnId) -> u32 {
        self.get(conn).map_or(0, |slot| u32::from(slot.listener))
    }

    /// Records that `operation` is queued for the kernel; it will complete at least once.
    #[inline]
    pub(super) fn begin(&mut self, conn: ConnId, operation: Operation) {
        let Some(slot) = self.get(conn) else { return };
        debug_assert!(!slot.under_way.has(operation), "two of a kind: {operation:?} in {slot:?}");
        slot.under_way = slot.under_way.with(operation);
    }

    /// Records a completion of `operation`; without `more` it was the last one. Returns the slot,
    /// unless no owner needs the result any more.
    #[inline]
    fn complete(&mut self, conn: ConnId, operation: Operation, more: bool) -> Option<&mut Slot> {
        let found = self.all.get_mut(conn.slot as usize).filter(|slot| slot.generation == conn.generation);
        let Some(slot) = found else {
            self.stale += 1;
            return None;
        };
        if !more {
            slot.under_way = slot.under_way.without(operation);
        }
        if slot.phase == Phase::Closing {
            // The last completion was requested by this driver, so only earlier ones count as
            // stale.
            self.stale += u64::from(more);
            self.free_if_done(conn);
            return None;
        }
        self.all.get_mut(conn.slot as usize)
    }

    /// Records the end of a connect. Returns whether the connection is still needed.
    pub(super) fn connected(&mut self, conn: ConnId, operation: Operation, worked: bool) -> bool {
        // A failed bind replaces the completion of its connect.
        let operation = if operation == Operation::Bind { Operation::Connect } else { operation };
        let hot_left = self.hot_left;
        let Some(slot) = self.complete(conn, operation, false) else { return false };
        if worked {
            Self::open(slot, hot_left > 0);
            self.hot_left = hot_left.saturating_sub(1);
        }
        true
    }

    /// Records the end of an accept. Returns whether its slot is still needed.
    pub(super) fn accepted(&mut self, conn: ConnId, worked: bool) -> bool {
        self.connected(conn, Operation::Accept, worked)
    }

    fn open(slot: &mut Slot, hot: bool) {
        slot.phase = Phase::Open;
        slot.flags |= if hot { HOT } else { 0 };
    }

    /// Handles a receive that completed with `result`. Returns the outcome to report, and whether a
    /// receive or a watch may have to be armed.
    #[inline]
    pub(super) fn received(
        &mut self,
        conn: ConnId,
        result: i32,
        more: bool,
        rest: bool,
    ) -> (ReceiveOutcome, bool) {
        let Some(slot) = self.complete(conn, Operation::Receive, more) else {
            return (ReceiveOutcome::Nothing, false);
        };
        if slot.phase != Phase::Open {
            return (ReceiveOutcome::Nothing, false);
        }
        if result > 0 {
            // A UDP socket is read until nothing is left: one receive takes one datagram.
            let again = !more && (slot.has(HOT | AGAIN | ENDING) || rest || slot.listener == DATAGRAMS);
            // A reset may have arrived with them: from now on, a watch reports it.
            let unwatched = slot.has(HOT) && !slot.under_way.has(Operation::Readable) && !slot.has(ENDING);
            return (ReceiveOutcome::Bytes(result as usize), again || unwatched);
        }
        if result == 0 && slot.listener == DATAGRAMS {
            return (ReceiveOutcome::Nothing, !more);
        }
        match result {
            _ if -result == libc::ENOBUFS => (ReceiveOutcome::Starved, true),
            _ if -result == libc::EAGAIN && slot.has(AGAIN) => (ReceiveOutcome::Nothing, true),
            _ if slot.has(BROKEN) && matches!(-result, 0 | libc::EAGAIN) => (Self::failed(slot), false),
            _ if -result == libc::EAGAIN => (ReceiveOutcome::Nothing, slot.has(HOT)),
            0 => {
                slot.flags |= FINISHED;
                (ReceiveOutcome::End(CloseReason::Eof), false)
            }
            _ if -result == libc::EINTR || -result == libc::ECANCELED => (ReceiveOutcome::Nothing, true),
            _ => (self.broke(conn, Errno(-result)), false),
        }
    }

    /// Records that `conn` broke. Returns the outcome to report.
    pub(super) fn broke(&mut self, conn: ConnId, errno: Errno) -> ReceiveOutcome {
        let Some(slot) = self.get(conn) else { return ReceiveOutcome::Nothing };
        let reported = slot.has(BREAK_SHOWN);
        slot.flags |= FINISHED | BROKEN | BREAK_SHOWN;
        if reported || slot.phase != Phase::Open {
            ReceiveOutcome::Nothing
        } else {
            ReceiveOutcome::End(CloseReason::Broken(errno))
        }
    }

    /// All bytes that arrived before a failed send have been read.
    fn failed(slot: &mut Slot) -> ReceiveOutcome {
        let reported = slot.has(BREAK_SHOWN);
        slot.flags |= FINISHED | BREAK_SHOWN;
        if reported { ReceiveOutcome::Nothing } else { ReceiveOutcome::Failed }
    }

    /// Records a failed send: nothing can be sent on `conn` any more. The owner gets that event
    /// after all bytes that arrived before. Returns how to continue reading them.
    pub(super) fn sending_failed(&mut self, conn: ConnId) -> ReceiveAction {
        let Some(slot) = self.get(conn) else { return ReceiveAction::AsIs };
        slot.flags |= BROKEN;
        if slot.phase != Phase::Open || slot.has(BREAK_SHOWN) {
            return ReceiveAction::AsIs;
        }
        if slot.has(FINISHED) {
            return ReceiveAction::Over;
        }
        slot.flags |= AGAIN | ENDING;
        if slot.under_way.has(Operation::Receive) { ReceiveAction::Again } else { ReceiveAction::Now }
    }

    /// Handles an event of the watch, or its end; `gone` means that the peer is gone. Returns how
    /// to continue reading.
    ///
    /// An armed receive may miss a reset. If it arrives together with bytes, the kernel wakes the
    /// receive once for both, and the receive takes the bytes. So an armed receive is cancelled and
    /// armed again.
    pub(super) fn readable(&mut self, conn: ConnId, more: bool, gone: bool) -> ReceiveAction {
        let Some(slot) = self.complete(conn, Operation::Readable, more) else { return ReceiveAction::AsIs };
        if slot.phase != Phase::Open || slot.has(FINISHED) || (slot.has(HOT) && !gone) {
            return ReceiveAction::AsIs;
        }
        slot.flags |= AGAIN | if gone { ENDING } else { 0 };
        if slot.has(HOT) && slot.under_way.has(Operation::Receive) {
            ReceiveAction::Again
        } else {
            ReceiveAction::Now
        }
    }

    /// Records the end of an operation that is not reported. Returns whether its connection still
    /// exists.
    pub(super) fn done(&mut self, conn: ConnId, operation: Operation) -> bool {
        self.complete(conn, operation, false).is_some()
    }

    /// Returns whether to queue a receive: `Some(true)` for one that stays armed. After a failed
    /// send, only the bytes that are already there are read.
    #[inline]
    pub(super) fn wants_receive(&mut self, conn: ConnId) -> Option<bool> {
        let slot = self.get(conn)?;
        let reading = slot.phase == Phase::Open && !slot.has(FINISHED);
        if !reading || slot.under_way.has(Operation::Receive) {
            return None;
        }
        slot.flags &= !AGAIN;
        Some(slot.has(HOT) && !slot.has(BROKEN))
    }

    /// Returns whether to set a watch: `Some(true)` for readability, `Some(false)` only for a peer
    /// that is gone.
    pub(super) fn wants_watch(&mut self, conn: ConnId) -> Option<bool> {
        let slot = self.get(conn)?;
        let reading = slot.phase == Phase::Open && !slot.has(FINISHED | ENDING);
        (reading && !slot.under_way.has(Operation::Readable)).then(|| !slot.has(HOT))
    }

    /// Records that sending ends after all of it is sent.
    pub(super) fn shutdown_when_sent(&mut self, conn: ConnId) {
        if let Some(slot) = self.get(conn) {
            slot.flags |= SHUT_LATER;
        }
    }

    /// Returns and clears that record; called after all bytes are sent.
    pub(super) fn take_shut_later(&mut self, conn: ConnId) -> bool {
        let Some(slot) = self.get(conn) else { return false };
        let wanted = slot.has(SHUT_LATER);
        slot.flags &= !SHUT_LATER;
        wanted
    }

    /// Records that the owner has closed `conn` while some sent bytes may still have to be kept.
    pub(super) fn begin_close(&mut self, conn: ConnId) {
        if let Some(slot) = self.get(conn) {
            slot.phase = Phase::Leaving;
        }
    }

    /// Closes `conn`. Returns the operations in flight to cancel; the slot is free when all
    /// operations have ended.
    pub(super) fn close(&mut self, conn: ConnId) -> PendingOps {
        let Some(slot) = self.get(conn) else { return PendingOps::default() };
        let (under_way, hot) = (slot.under_way, slot.has(HOT));
        slot.phase = Phase::Closing;
        self.hot_left += u32::from(hot);
        self.free_if_done(conn);
        under_way
    }

    fn free_if_done(&mut self, conn: ConnId) {
        let (ring, _) = self.place(conn.slot);
        let slot = &mut self.all[conn.slot as usize];
        if slot.phase == Phase::Closing && slot.under_way == PendingOps::default() {
            slot.phase = Phase::Free;
            self.rooms[ring].free.push(conn.slot);
        }
    }
}

#[cfg(test)]
mod tests;
