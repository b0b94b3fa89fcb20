//! Closes connections, and ends their sending.
//!
//! Emptying a slot of the table closes nothing while an operation holds the socket, so pending
//! operations are cancelled first, in the same call.

use io_uring::{opcode, squeue::Flags};
use wavetank_plan::{Close, Nanos};

use super::ring::in_table;
use super::slots::Phase;
use super::{Uring, sqe};
use crate::driver::ConnId;
use crate::token::{Operation, Token};

/// Operations that may be pending without ending by themselves.
const CANCELLED: [Operation; 4] =
    [Operation::Receive, Operation::Readable, Operation::Writable, Operation::Connect];

/// How often closed connections with something unsent are looked at.
const LOOK_EACH: Nanos = Nanos::SECOND;
/// Number of checks in a row, at which the peer had taken nothing, before it is reset. A server we
/// dialed is not reading a request without a waiting user, and its slot and address are needed
/// again.
const LOOKS_DIALED: u32 = 1;
/// Who dialed us may read its answer slowly, and the kernel asks for more only now and then.
const LOOKS_ACCEPTED: u32 = 60;

/// A closed connection with something unsent.
pub(super) struct ClosingConn {
    conn: ConnId,
    /// When it is looked at again.
    pub(super) at: Nanos,
    /// Bytes that were unsent when it was looked at last.
    left: usize,
    /// Looks since the peer took some.
    looks: u32,
}

impl Uring {
    pub(super) fn close_connection(&mut self, conn: ConnId, how: Close) {
        match self.slots.phase(conn) {
            Phase::Open if how == Close::Fin && self.has_promises(conn) => {
                self.slots.begin_close(conn);
                self.unsettled.push(conn);
            }
            Phase::Open | Phase::Connecting => {
                // Data reported as sent leaves first, because the batch names its connections by
                // slot alone.
                if self.flows[conn.slot as usize].batch == self.outgoing.number() {
                    // If that fails, the next wait reports it.
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

    /// Whether the owner takes something for sent that the kernel may not have yet.
    fn has_promises(&self, conn: ConnId) -> bool {
        let flow = &self.flows[conn.slot as usize];
        flow.promised || flow.batch == self.outgoing.number()
    }

    /// The batch is submitted: what hung on that goes on.
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

    /// Resets connections with peers that took nothing for too long.
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

    /// Nothing of `conn` is unsent.
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

    /// Ends the armed receive; its end is reported, and leads to the next one.
    pub(super) fn rearm_receive(&mut self, conn: ConnId) {
        let (ring, _) = self.slots.place(conn.slot);
        let entry = sqe::cancel(Token::new(Operation::Receive, conn)).flags(Flags::SKIP_SUCCESS);
        self.queue(ring, entry, Token::new(Operation::Aside, conn));
    }

    /// Close `conn` now.
    pub(super) fn end(&mut self, conn: ConnId, how: Close) {
        let connecting = self.slots.phase(conn) == Phase::Connecting;
        drop(self.take_outside(conn));
        let (ring, slot) = self.slots.place(conn.slot);
        let aside = Token::new(Operation::Aside, conn);
        for operation in CANCELLED {
            if self.slots.is_under_way(conn, operation) {
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
