//! Closing connections and their sending side.
//!
//! Emptying a slot of the table closes nothing while an operation holds the socket. Operations in
//! flight are therefore cancelled first, in the same call.

use io_uring::{opcode, squeue::Flags};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use super::ring::in_table;
use super::slots::Phase;
use super::{ClosingConn, Uring, sqe};
use crate::driver::ConnId;
use crate::token::{Operation, Token};

/// Operations in flight that may not end by themselves.
const CANCELLED: [Operation; 4] =
    [Operation::Receive, Operation::Readable, Operation::Writable, Operation::Connect];

/// Interval between two checks of closed connections with unsent bytes.
const LOOK_EACH: Nanos = Nanos::SECOND;
/// Number of consecutive checks without progress after which a dialed peer is reset. Such a peer
/// does not read the request, its response is not needed any more, and the slot and the address
/// must become free.
const LOOKS_DIALED: u32 = 1;
/// The same for an accepted peer. It may read its response slowly, and its kernel asks for more
/// only now and then.
const LOOKS_ACCEPTED: u32 = 60;

impl Uring {
    pub(super) fn close_connection(&mut self, conn: ConnId, how: Close) {
        match self.slots.phase(conn) {
            Phase::Open if how == Close::Fin && self.has_promises(conn) => {
                self.slots.begin_close(conn);
                self.unsettled.push(conn);
            }
            Phase::Open | Phase::Connecting => {
                // Bytes reported as sent must leave first: the batch identifies its connections by
                // slot only.
                if self.flows[conn.slot as usize].batch == self.outgoing.number() {
                    // If this fails, the next wait returns the error.
                    let _ = self.submit();
                }
                self.end(conn, how);
            }
            Phase::Free | Phase::Accepting | Phase::Leaving | Phase::Closing => {}
        }
    }

    pub(super) fn shut_down(&mut self, conn: ConnId) {
        if self.slots.takes_sends(conn) {
            self.slots.shutdown_when_sent(conn);
            self.unsettled.push(conn);
        }
    }

    /// Returns whether bytes that the owner considers sent may not be with the kernel yet.
    fn has_promises(&self, conn: ConnId) -> bool {
        let flow = &self.flows[conn.slot as usize];
        flow.promised || flow.batch == self.outgoing.number()
    }

    /// Continues everything that waited for the batch, which is submitted now.
    pub(super) fn settle(&mut self) {
        while let Some(conn) = self.unsettled.pop() {
            let phase = self.slots.phase(conn);
            if !matches!(phase, Phase::Open | Phase::Leaving) {
                continue;
            }
            match &self.flows[conn.slot as usize].unsent {
                None => self.on_all_sent(conn),
                Some(unsent) if phase == Phase::Leaving => {
                    let at = self.clock.now().after(LOOK_EACH);
                    self.leaving.push_back(ClosingConn { conn, at, left: unsent.left(), looks: 0 });
                }
                Some(_) => {}
            }
        }
    }

    /// Resets connections with a peer that took nothing for too long.
    #[cold]
    pub(super) fn reset_stuck(&mut self, now: Nanos) {
        while let Some(last) = self.leaving.pop_front_if(|leaving| leaving.at <= now) {
            let conn = last.conn;
            if self.slots.phase(conn) != Phase::Leaving {
                continue;
            }
            let left = self.flows[conn.slot as usize].unsent.as_ref().map_or(0, |unsent| unsent.left());
            let looks = if left < last.left { 0 } else { last.looks + 1 };
            let looks_max = if self.slots.is_dialed(conn) { LOOKS_DIALED } else { LOOKS_ACCEPTED };
            if looks < looks_max {
                self.leaving.push_back(ClosingConn { conn, at: now.after(LOOK_EACH), left, looks });
            } else {
                self.end(conn, Close::Rst);
            }
        }
    }

    /// `conn` has no unsent bytes any more.
    pub(super) fn on_all_sent(&mut self, conn: ConnId) {
        if self.slots.phase(conn) == Phase::Leaving {
            self.end(conn, Close::Fin);
        } else if self.slots.take_shut_later(conn) {
            let (ring, slot) = self.slots.place(conn.slot);
            let entry = opcode::Shutdown::new(in_table(slot), libc::SHUT_WR).build();
            self.queue(ring, entry, Token::new(Operation::ShutDown, conn));
            self.slots.begin(conn, Operation::ShutDown);
        }
    }

    /// Cancels the armed receive. Its completion arms the next one.
    pub(super) fn rearm_receive(&mut self, conn: ConnId) {
        let (ring, _) = self.slots.place(conn.slot);
        let entry = sqe::cancel(Token::new(Operation::Receive, conn)).flags(Flags::SKIP_SUCCESS);
        self.queue(ring, entry, Token::new(Operation::Aside, conn));
    }

    /// Closes `conn` now.
    pub(super) fn end(&mut self, conn: ConnId, how: Close) {
        let connecting = self.slots.phase(conn) == Phase::Connecting;
        drop(self.take_outside(conn));
        let (ring, slot) = self.slots.place(conn.slot);
        let aside = Token::new(Operation::Aside, conn);
        for operation in CANCELLED {
            if self.slots.is_in_progress(conn, operation) {
                let entry = sqe::cancel(Token::new(operation, conn)).flags(Flags::SKIP_SUCCESS);
                self.queue(ring, entry, aside);
                self.ends_awaited = true;
            }
        }
        let socket = in_table(slot);
        if how == Close::Rst && !connecting {
            let entry = if self.bind_op { sqe::set_linger_zero(socket) } else { sqe::disconnect(socket) };
            self.queue(ring, entry.flags(Flags::SKIP_SUCCESS), aside);
        }
        let entry = opcode::Close::new(socket).build().flags(Flags::SKIP_SUCCESS);
        self.queue(ring, entry, aside);
        self.rings[ring].closes_queued = true;
        let flow = self.flow(conn.slot);
        if let Some(unsent) = flow.unsent.take() {
            self.outgoing.requeue(*unsent);
        }
        self.slots.close(conn);
    }
}
