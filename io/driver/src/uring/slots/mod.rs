//! [`Slots`]: the contents of the socket tables, and the operations pending on them.
//!
//! It knows no kernel: operations start, completions arrive in any order, and it decides what to
//! report. A slot is given away again only after every operation on it has ended, so that a
//! completion can never be mistaken for one of the next connection.

mod pending_ops;
mod receive;

use crate::Errno;
use crate::driver::{CloseReason, ConnId};
use crate::token::Operation;
use pending_ops::PendingOps;
pub(super) use receive::{ReceiveAction, ReceiveOutcome};

/// How far a slot's connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is none.
    Free,
    /// A listener's next peer will be put here.
    Accepting,
    Connecting,
    Open,
    /// Closed by its owner, but some of what was sent may still have to be kept.
    Leaving,
    /// Closed; operations are coming to their end.
    Closing,
}

/// The peer has sent its FIN, which was reported to the owner.
const FINISHED: u8 = 1 << 0;
/// It takes no more sends.
const BROKEN: u8 = 1 << 1;
/// The break was reported to the owner.
const BREAK_TOLD: u8 = 1 << 2;
/// Its receive stays armed.
const HOT: u8 = 1 << 3;
/// There was new data to read during a read.
const AGAIN: u8 = 1 << 4;
/// Sending ends once all is sent.
const SHUT_LATER: u8 = 1 << 5;
/// The peer is known to be gone: what is left is read up to the error.
const ENDING: u8 = 1 << 6;
/// It was not accepted.
const DIALED: u8 = 1 << 7;

/// One slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    generation: u16,
    under_way: PendingOps,
    phase: Phase,
    flags: u8,
    /// Who accepts here.
    listener: u16,
}

impl Slot {
    const NEW: Self =
        Self { generation: 0, under_way: PendingOps::NONE, phase: Phase::Free, flags: 0, listener: 0 };

    const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Slots that are free in one ring.
#[derive(Default)]
struct FreeSlots {
    free: Vec<u32>,
    /// Slots from here on were never used.
    fresh: u32,
}

/// See the module's description.
pub(super) struct Slots {
    all: Vec<Slot>,
    rooms: Vec<FreeSlots>,
    per_ring: u32,
    /// How many more connections may have a receive that stays armed.
    hot_left: u32,
    pub(super) stale: u64,
}

impl Slots {
    pub(super) const fn new(per_ring: u32, hot_max: u32) -> Self {
        Self { all: Vec::new(), rooms: Vec::new(), per_ring, hot_left: hot_max, stale: 0 }
    }

    /// The same with room for this many slots before memory is allocated.
    pub(super) fn with_room(mut self, slots: usize) -> Self {
        self.all.reserve_exact(slots);
        self
    }

    /// Another ring with its slots.
    pub(super) fn add_ring(&mut self) {
        self.rooms.push(FreeSlots::default());
    }

    pub(super) const fn per_ring(&self) -> u32 {
        self.per_ring
    }

    /// Returns the table and the position of `slot`.
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

    /// How many slots were ever in use, in the order of their numbers.
    pub(super) const fn len(&self) -> usize {
        self.all.len()
    }

    /// A free slot of `ring`, of a generation of its own.
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

    /// How far `conn` is; [`Phase::Free`] for an old or unknown id.
    #[inline]
    pub(super) fn phase(&self, conn: ConnId) -> Phase {
        match self.all.get(conn.slot as usize) {
            Some(slot) if slot.generation == conn.generation => slot.phase,
            _ => Phase::Free,
        }
    }

    /// Whether what is sent on `conn` can arrive.
    #[inline]
    pub(super) fn takes_sends(&self, conn: ConnId) -> bool {
        self.all.get(conn.slot as usize).is_some_and(|slot| {
            let living = matches!(slot.phase, Phase::Open | Phase::Connecting);
            slot.generation == conn.generation && living && !slot.has(BROKEN)
        })
    }

    pub(super) fn is_under_way(&mut self, conn: ConnId, operation: Operation) -> bool {
        self.get(conn).is_some_and(|slot| slot.under_way.has(operation))
    }

    /// Whether we dialed.
    pub(super) fn is_dialed(&mut self, conn: ConnId) -> bool {
        self.get(conn).is_some_and(|slot| slot.has(DIALED))
    }

    /// Returns the listener whose completions `conn`'s slot waits for.
    pub(super) fn listener(&mut self, conn: ConnId) -> u32 {
        self.get(conn).map_or(0, |slot| u32::from(slot.listener))
    }

    /// `operation` is queued for the kernel; its completion will come, once or more often.
    #[inline]
    pub(super) fn begin(&mut self, conn: ConnId, operation: Operation) {
        let Some(slot) = self.get(conn) else { return };
        debug_assert!(!slot.under_way.has(operation), "two of a kind: {operation:?} in {slot:?}");
        slot.under_way = slot.under_way.with(operation);
    }

    /// Handles a completion of `operation`; without `more` it was the last. Returns the slot,
    /// unless there is no owner to notify.
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
            // The end of an operation is what we asked for ourselves.
            self.stale += u64::from(more);
            self.free_if_done(conn);
            return None;
        }
        self.all.get_mut(conn.slot as usize)
    }

    /// A connect ended. Whether the connection is still wanted.
    pub(super) fn connected(&mut self, conn: ConnId, operation: Operation, worked: bool) -> bool {
        // A failed bind counts as a failed connect.
        let operation = if operation == Operation::Bind { Operation::Connect } else { operation };
        let hot_left = self.hot_left;
        let Some(slot) = self.complete(conn, operation, false) else { return false };
        if worked {
            Self::open(slot, hot_left > 0);
            self.hot_left = hot_left.saturating_sub(1);
        }
        true
    }

    /// An accept ended. Whether its slot is still wanted.
    pub(super) fn accepted(&mut self, conn: ConnId, worked: bool) -> bool {
        self.connected(conn, Operation::Accept, worked)
    }

    fn open(slot: &mut Slot, hot: bool) {
        slot.phase = Phase::Open;
        slot.flags |= if hot { HOT } else { 0 };
    }

    /// A receive returned `result`. Returns what to report, and whether a receive or a watch may
    /// have to be set.
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
            let again = !more && (slot.has(HOT | AGAIN | ENDING) || rest);
            // A reset may have come with them: from now on it is watched for.
            let unwatched = slot.has(HOT) && !slot.under_way.has(Operation::Readable) && !slot.has(ENDING);
            return (ReceiveOutcome::Bytes(result as usize), again || unwatched);
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

    /// `conn` broke. Returns what to report.
    pub(super) fn broke(&mut self, conn: ConnId, errno: Errno) -> ReceiveOutcome {
        let Some(slot) = self.get(conn) else { return ReceiveOutcome::Nothing };
        let told = slot.has(BREAK_TOLD);
        slot.flags |= FINISHED | BROKEN | BREAK_TOLD;
        if told || slot.phase != Phase::Open {
            ReceiveOutcome::Nothing
        } else {
            ReceiveOutcome::End(CloseReason::Broken(errno))
        }
    }

    /// All that came before a send failed has been read.
    fn failed(slot: &mut Slot) -> ReceiveOutcome {
        let told = slot.has(BREAK_TOLD);
        slot.flags |= FINISHED | BREAK_TOLD;
        if told { ReceiveOutcome::Nothing } else { ReceiveOutcome::Failed }
    }

    /// A send failed: nothing can be sent on `conn` any more. Its owner is notified after earlier
    /// data. Returns what to do about reading that.
    pub(super) fn sending_failed(&mut self, conn: ConnId) -> ReceiveAction {
        let Some(slot) = self.get(conn) else { return ReceiveAction::AsIs };
        slot.flags |= BROKEN;
        if slot.phase != Phase::Open || slot.has(BREAK_TOLD) {
            return ReceiveAction::AsIs;
        }
        if slot.has(FINISHED) {
            return ReceiveAction::Over;
        }
        slot.flags |= AGAIN | ENDING;
        if slot.under_way.has(Operation::Receive) { ReceiveAction::Anew } else { ReceiveAction::Now }
    }

    /// The watch reported something (or ended); `gone`: the peer is gone. Returns what to do about
    /// reading.
    ///
    /// An armed receive may miss a reset. If it arrives together with bytes, the kernel wakes the
    /// receive once for both, and it takes the bytes. So an armed receive is ended, and armed
    /// again.
    pub(super) fn readable(&mut self, conn: ConnId, more: bool, gone: bool) -> ReceiveAction {
        let Some(slot) = self.complete(conn, Operation::Readable, more) else { return ReceiveAction::AsIs };
        if slot.phase != Phase::Open || slot.has(FINISHED) || (slot.has(HOT) && !gone) {
            return ReceiveAction::AsIs;
        }
        slot.flags |= AGAIN | if gone { ENDING } else { 0 };
        if slot.has(HOT) && slot.under_way.has(Operation::Receive) {
            ReceiveAction::Anew
        } else {
            ReceiveAction::Now
        }
    }

    /// An operation ended that is not reported. Returns whether its connection still exists.
    pub(super) fn done(&mut self, conn: ConnId, operation: Operation) -> bool {
        self.complete(conn, operation, false).is_some()
    }

    /// Returns whether to queue a receive: `Some(true)` for one that stays armed. After a failed
    /// send, only present data is read.
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

    /// Returns whether to set a watch: `Some(true)` for readable data, `Some(false)` for the end of
    /// the peer only.
    pub(super) fn wants_watch(&mut self, conn: ConnId) -> Option<bool> {
        let slot = self.get(conn)?;
        let reading = slot.phase == Phase::Open && !slot.has(FINISHED | ENDING);
        (reading && !slot.under_way.has(Operation::Readable)).then(|| !slot.has(HOT))
    }

    /// Sending is to end once all is sent.
    pub(super) fn shutdown_when_sent(&mut self, conn: ConnId) {
        if let Some(slot) = self.get(conn) {
            slot.flags |= SHUT_LATER;
        }
    }

    /// Whether that is the case; asked once all is sent.
    pub(super) fn take_shut_later(&mut self, conn: ConnId) -> bool {
        let Some(slot) = self.get(conn) else { return false };
        let wanted = slot.has(SHUT_LATER);
        slot.flags &= !SHUT_LATER;
        wanted
    }

    /// The owner has closed `conn`, and some of what it sent may still have to be kept.
    pub(super) fn begin_close(&mut self, conn: ConnId) {
        if let Some(slot) = self.get(conn) {
            slot.phase = Phase::Leaving;
        }
    }

    /// Closes `conn`. Returns the pending operations that must be cancelled; the slot is free when
    /// all have ended.
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
