//! Sending: small sends in batches, long ones immediately and in pieces.
//!
//! A small send is reported as done before the kernel has it. It leaves with the next call, and
//! almost always completely. If it did not, the driver finds out before it reports anything else,
//! and keeps the rest. A long send is made in a separate call, so that only the bytes that the
//! kernel did not take must be copied.

use std::sync::Arc;

use io_uring::squeue::Flags;

use super::ring::{Completion, in_table};
use super::send_batch::{SMALL_BYTES_MAX, SendBatch};
use super::slots::Phase;
use super::{Uring, sqe};
use crate::Errno;
use crate::driver::{ConnId, SendStatus};
use crate::send_buffer::SEND_BYTES_MAX;
use crate::token::{Operation, Token};

/// Maximum number of pieces of long sends that one call hands over.
const PIECES_MAX: usize = 8;

/// The result of a piece.
enum Progress {
    /// Nothing to report: there is more to send, or the owner does not wait for the end.
    Reported,
    /// All bytes are sent, which is to be reported to the owner.
    Flushed,
    /// The piece failed, which is to be reported.
    Failed,
}

impl Uring {
    /// Sends `bytes`. `add` puts them into the batch; `shared` turns them into bytes that can be
    /// kept.
    #[inline]
    pub(super) fn queue_send(
        &mut self,
        conn: ConnId,
        bytes: &[u8],
        add: impl FnOnce(&mut SendBatch),
        shared: impl FnOnce() -> Arc<[u8]>,
    ) -> Result<SendStatus, Errno> {
        loop {
            if !self.slots.takes_sends(conn) {
                return Err(Errno(libc::ENOTCONN));
            }
            let number = self.outgoing.number();
            let flow = &mut self.flows[conn.slot as usize];
            let free = flow.unsent.is_none() && self.slots.phase(conn) == Phase::Open;
            let first = flow.batch != number;
            let small = bytes.len() <= SMALL_BYTES_MAX;
            if flow.delayed && (flow.batch != 0 || !small) {
                self.undelay(conn);
                continue;
            }
            if free && small {
                if first && !self.outgoing.is_full() {
                    flow.batch = number;
                    add(&mut self.outgoing);
                    return Ok(SendStatus::All);
                }
                // A datagram stays by itself.
                if !first && !self.slots.is_datagrams(conn) && self.outgoing.extend(conn, bytes) {
                    return Ok(SendStatus::All);
                }
            } else if !free {
                self.keep(conn, shared(), 0);
                return Ok(SendStatus::Pending);
            } else if first {
                let taken = self.send_at_once(conn, &bytes[..bytes.len().min(SEND_BYTES_MAX)])?;
                if taken == bytes.len() {
                    return Ok(SendStatus::All);
                }
                self.keep(conn, shared(), taken);
                return Ok(SendStatus::Pending);
            }
            // The batch is full, or the result of the previous send is needed.
            self.submit()?;
        }
    }

    /// Switches Nagle's delay off, ahead of the next send.
    #[cold]
    fn undelay(&mut self, conn: ConnId) {
        let (ring, slot) = self.slots.place(conn.slot);
        let entry = sqe::set_option(in_table(slot), libc::IPPROTO_TCP, libc::TCP_NODELAY);
        let token = Token::new(Operation::Aside, conn);
        self.queue(ring, entry.flags(Flags::SKIP_SUCCESS), token);
        self.flow(conn.slot).delayed = false;
    }

    /// Sends as much of `bytes` as the kernel takes now.
    #[cold]
    fn send_at_once(&mut self, conn: ConnId, bytes: &[u8]) -> Result<usize, Errno> {
        let (ring, slot) = self.slots.place(conn.slot);
        let entry = sqe::send(in_table(slot), bytes).user_data(Token::new(Operation::Piece, conn).0);
        // SAFETY: the entry is submitted below, which completes the send; if that fails, nothing is
        // submitted again.
        unsafe { self.rings[ring].push(&entry) }?;
        self.slots.begin(conn, Operation::Piece);
        self.at_once = Some((conn, None));
        if let Err(errno) = self.submit() {
            self.rings[ring].abandon();
            return Err(errno);
        }
        // A send that may not wait completes during submission.
        let result = self.at_once.take().and_then(|(_, result)| result).unwrap_or(-libc::EIO);
        match usize::try_from(result) {
            Ok(taken) => {
                self.bytes_sent += taken as u64;
                Ok(taken)
            }
            Err(_) if result == -libc::EAGAIN => Ok(0),
            Err(_) => {
                if self.sending_failed(conn, Errno(-result)) {
                    let token = Token::new(Operation::Send, conn).0;
                    self.ready.push(Completion { token, result, flags: 0 });
                }
                Err(Errno(-result))
            }
        }
    }

    /// Keeps `bytes`, from offset `from` on, after the bytes kept already.
    #[cold]
    fn keep(&mut self, conn: ConnId, bytes: Arc<[u8]>, from: usize) {
        let open = self.slots.phase(conn) == Phase::Open;
        let flow = self.flow(conn.slot);
        flow.owed = true;
        let first = flow.unsent.is_none();
        flow.unsent.get_or_insert_default().push(bytes, from);
        // The kernel will need more than one send for it.
        if std::mem::take(&mut flow.delayed) {
            self.undelay(conn);
        }
        if first && open {
            self.pieces.push_back(conn);
        }
    }

    /// Queues the batch and the next pieces.
    #[inline]
    pub(super) fn fill(&mut self) -> Result<(), Errno> {
        while let Some((conn, bytes)) = self.outgoing.next() {
            let (ring, slot) = self.slots.place(conn.slot);
            let entry = sqe::send(in_table(slot), bytes)
                .flags(Flags::SKIP_SUCCESS)
                .user_data(Token::new(Operation::Send, conn).0);
            // SAFETY: the batch keeps its bytes in place until it is submitted, which completes the
            // send.
            unsafe { self.rings[ring].push(&entry) }?;
            self.bytes_sent += bytes.len() as u64;
            self.outgoing.queued();
        }
        if self.pieces.is_empty() { Ok(()) } else { self.fill_pieces() }
    }

    #[cold]
    fn fill_pieces(&mut self) -> Result<(), Errno> {
        for _ in 0..self.pieces.len().min(PIECES_MAX) {
            let Some(conn) = self.pieces.pop_front() else { break };
            if !matches!(self.slots.phase(conn), Phase::Open | Phase::Leaving) {
                continue;
            }
            let Some(unsent) = &self.flows[conn.slot as usize].unsent else { continue };
            let Some(bytes) = unsent.next_chunk() else { continue };
            let (ring, slot) = self.slots.place(conn.slot);
            let entry = sqe::send(in_table(slot), bytes).user_data(Token::new(Operation::Piece, conn).0);
            // SAFETY: unsent bytes stay in place until the completion of their send. If the
            // connection is closed before the entry is submitted, the batch keeps the bytes.
            unsafe { self.rings[ring].push(&entry) }?;
            self.slots.begin(conn, Operation::Piece);
        }
        Ok(())
    }

    /// Looks for completions of sends, from index `from` on: bytes that were not taken must be
    /// known before the owner sends more.
    #[inline]
    pub(super) fn collect_sends(&mut self, from: usize) {
        for at in from..self.ready.len() {
            let token = Token(self.ready[at].token);
            if let Some(Operation::Send | Operation::Piece | Operation::Writable) = token.operation() {
                self.send_completed(at, token);
            }
        }
    }

    #[cold]
    fn send_completed(&mut self, at: usize, token: Token) {
        let (conn, result) = (token.conn(), self.ready[at].result);
        let operation = token.operation();
        let handled = match operation {
            Some(Operation::Send) => self.fell_short(conn, result),
            Some(Operation::Piece) if self.is_awaited(conn, result) => {
                self.slots.done(conn, Operation::Piece)
            }
            Some(Operation::Piece) => match self.piece_completed(conn, result) {
                Progress::Flushed => {
                    self.ready[at].token = Token::new(Operation::Flushed, conn).0;
                    return;
                }
                Progress::Reported => true,
                Progress::Failed => false,
            },
            _ => {
                if self.slots.done(conn, Operation::Writable) {
                    self.pieces.push_back(conn);
                }
                true
            }
        };
        if handled {
            self.ready[at].token = Token::new(Operation::Aside, conn).0;
        }
    }

    /// Returns whether the driver waits for this piece.
    fn is_awaited(&mut self, conn: ConnId, came: i32) -> bool {
        match &mut self.at_once {
            Some((awaited, result)) if *awaited == conn => {
                *result = Some(came);
                true
            }
            _ => false,
        }
    }

    /// Handles a small send that was taken in part or failed. Returns whether that is all; if not,
    /// an error is still to be reported.
    fn fell_short(&mut self, conn: ConnId, result: i32) -> bool {
        let Some((bytes, times)) = self.outgoing.find(conn) else {
            // The completion came too late: the rest of the bytes is gone, and missing bytes must
            // not go unnoticed.
            self.slots.stale += 1;
            return !self.sending_failed(conn, Errno(libc::EIO));
        };
        let taken = if result == -libc::EAGAIN { 0 } else { result };
        let Ok(taken) = usize::try_from(taken) else {
            self.bytes_sent -= bytes.len() as u64;
            self.unsent.push((conn, u32::from(times)));
            return !self.sending_failed(conn, Errno(-result));
        };
        self.bytes_sent -= (bytes.len() - taken) as u64;
        if matches!(self.slots.phase(conn), Phase::Open | Phase::Leaving) && taken < bytes.len() {
            let rest = Arc::from(&bytes[taken..]);
            let flow = &mut self.flows[conn.slot as usize];
            flow.promised = true;
            flow.unsent.get_or_insert_default().push(rest, 0);
            self.watch_writable(conn);
        }
        true
    }

    /// Ends sending on `conn` and drops the bytes kept for it. Returns whether to report that now,
    /// because nothing is left to read.
    #[cold]
    fn sending_failed(&mut self, conn: ConnId, errno: Errno) -> bool {
        if self.slots.phase(conn) == Phase::Free {
            return false;
        }
        let flow = self.flow(conn.slot);
        (flow.broke, flow.promised, flow.owed) = (errno.packed(), false, false);
        if let Some(unsent) = flow.unsent.take() {
            self.outgoing.requeue(*unsent);
        }
        let reading = self.slots.sending_failed(conn);
        self.read(conn, reading)
    }

    /// Handles a piece that was taken, perhaps in part, or that failed.
    fn piece_completed(&mut self, conn: ConnId, result: i32) -> Progress {
        let wanted = self.slots.done(conn, Operation::Piece);
        let taken = if result == -libc::EAGAIN { 0 } else { result };
        let Ok(taken) = usize::try_from(taken) else {
            let over = wanted && self.sending_failed(conn, Errno(-result));
            if wanted && self.slots.phase(conn) == Phase::Leaving {
                self.end(conn, wavetank_plan::Close::Rst);
            }
            return if over { Progress::Failed } else { Progress::Reported };
        };
        self.bytes_sent += taken as u64;
        if !wanted {
            return Progress::Reported;
        }
        let flow = &mut self.flows[conn.slot as usize];
        let Some(unsent) = flow.unsent.as_deref_mut() else { return Progress::Reported };
        let whole = unsent.next_chunk().map_or(0, <[u8]>::len) == taken;
        unsent.advance(taken);
        if !unsent.is_empty() {
            if whole {
                self.pieces.push_back(conn);
            } else {
                self.watch_writable(conn);
            }
            return Progress::Reported;
        }
        flow.unsent = None;
        flow.promised = false;
        let owed = std::mem::take(&mut flow.owed);
        self.on_all_sent(conn);
        if owed { Progress::Flushed } else { Progress::Reported }
    }

    fn watch_writable(&mut self, conn: ConnId) {
        let (ring, slot) = self.slots.place(conn.slot);
        let entry = sqe::watch(in_table(slot), libc::POLLOUT, false);
        self.queue(ring, entry, Token::new(Operation::Writable, conn));
        self.slots.begin(conn, Operation::Writable);
    }
}
