//! Opening connections.

use std::os::fd::{AsFd, OwnedFd};

use io_uring::squeue::{self, Flags};

use super::ring::in_table;
use super::slots::{DATAGRAMS, Phase};
use super::{Flow, Uring, sqe};
use crate::driver::{ConnId, Datagrams, Dial};
use crate::token::{Operation, Token};
use crate::{Errno, socket};

/// Maximum number of queue entries of one connect.
const ENTRIES_MAX: usize = 7;

impl Uring {
    pub(super) fn dial(&mut self, dial: &Dial) -> Result<ConnId, Errno> {
        let ring = self.ring_with_room()?;
        if self.addresses.is_full(2) {
            self.submit()?;
        }
        self.rings[ring].make_room(ENTRIES_MAX)?;
        let kind = if dial.datagrams.is_some() { DATAGRAMS } else { 0 };
        let conn = self.take(ring, Phase::Connecting, kind).ok_or(Errno(libc::EMFILE))?;
        let (_, slot) = self.slots.place(conn.slot);
        if self.bind_op {
            self.make_here(conn, dial);
        } else if let Err(errno) = self.make_outside(ring, conn, dial) {
            self.slots.close(conn);
            return Err(errno);
        }
        let entry = sqe::connect(in_table(slot), self.addresses.push(dial.to));
        self.queue(ring, entry, Token::new(Operation::Connect, conn));
        self.slots.begin(conn, Operation::Connect);
        Ok(conn)
    }

    /// Makes the socket in its slot. A failure is reported instead of the connect, or before it.
    fn make_here(&mut self, conn: ConnId, dial: &Dial) {
        let (ring, slot) = self.slots.place(conn.slot);
        let file = in_table(slot);
        let prepare = Token::new(Operation::Prepare, conn);
        // These operations complete during submission, each before the next one starts, so they
        // need no links, which would cost time.
        let quiet = |entry: squeue::Entry| entry.flags(Flags::SKIP_SUCCESS);
        let (kind, is_tcp) = if dial.datagrams.is_some() {
            (libc::SOCK_DGRAM, false)
        } else {
            (libc::SOCK_STREAM, socket::is_tcp(dial.to))
        };
        self.queue(ring, quiet(sqe::make_socket(slot, socket::family(dial.to), kind)), prepare);
        self.flow(conn.slot).delayed = is_tcp;
        if dial.speaks_at_once && is_tcp {
            let entry = sqe::switch_off(file, libc::IPPROTO_TCP, libc::TCP_QUICKACK);
            self.queue(ring, quiet(entry), prepare);
        }
        if dial.datagrams == Some(Datagrams::Segments) {
            self.queue(ring, quiet(sqe::cut_into_segments(file)), prepare);
        }
        let Some(from) = dial.from else { return };
        // Two UDP sockets must not share an address: each would get datagrams of the other.
        if dial.datagrams.is_none() {
            if from.port() == 0 {
                let entry = sqe::set_option(file, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT);
                self.queue(ring, quiet(entry), prepare);
            }
            // As on epoll: an address that a closed connection still occupies may be used again.
            self.queue(ring, quiet(sqe::set_option(file, libc::SOL_SOCKET, libc::SO_REUSEADDR)), prepare);
        }
        // Linked to the connect: nothing may be sent from another address. If binding fails, the
        // connect fails without a completion.
        let entry = sqe::bind(file, self.addresses.push(from)).flags(Flags::IO_LINK);
        self.queue(ring, quiet(entry), Token::new(Operation::Bind, conn));
    }

    /// Makes the socket in the process's table of files for a moment, where it can be bound.
    fn make_outside(&mut self, ring: usize, conn: ConnId, dial: &Dial) -> Result<(), Errno> {
        let socket = socket_outside(dial)?;
        // For a non-blocking socket, operations would fail instead of waiting.
        rustix::io::ioctl_fionbio(&socket, false).map_err(|errno| Errno(errno.raw_os_error()))?;
        if self.rings[ring].closes_queued {
            // The last socket of the slot must be removed first.
            self.submit()?;
        }
        let (_, slot) = self.slots.place(conn.slot);
        self.rings[ring].install(slot, socket.as_fd())?;
        if dial.asks_ends {
            self.outside.insert(conn.slot, (conn.generation, socket));
        }
        Ok(())
    }

    /// Takes a free slot of `ring` and clears its send state.
    pub(super) fn take(&mut self, ring: usize, phase: Phase, listener: u16) -> Option<ConnId> {
        let conn = self.slots.take(ring, phase, listener)?;
        if self.flows.len() < self.slots.len() {
            self.flows.resize_with(self.slots.len(), Flow::default);
        }
        self.flows[conn.slot as usize] = Flow::default();
        Some(conn)
    }

    /// `conn` is open: starts receiving, and sends the kept bytes.
    pub(super) fn opened(&mut self, conn: ConnId) {
        self.await_bytes(conn, true);
        if self.flow(conn.slot).unsent.is_some() {
            self.pieces.push_back(conn);
        }
    }

    /// Arms the receive or the watch that `conn` lacks. `later`: no bytes have arrived yet.
    pub(super) fn await_bytes(&mut self, conn: ConnId, later: bool) {
        let (ring, slot) = self.slots.place(conn.slot);
        let socket = in_table(slot);
        // Before any bytes have arrived, a reset arrives alone, and the armed receive reports it.
        // Most connections that are closed after one response therefore never need a watch.
        if let Some(bytes) = self.slots.wants_watch(conn).filter(|&bytes| bytes || !later) {
            // A watch reports that the peer is gone whichever events it requests.
            let events = if bytes { libc::POLLIN | libc::POLLRDHUP } else { 0 };
            self.queue(ring, sqe::watch(socket, events, true), Token::new(Operation::Readable, conn));
            self.slots.begin(conn, Operation::Readable);
            if bytes && later {
                return;
            }
        }
        let Some(stays) = self.slots.wants_receive(conn) else { return };
        let entry = if stays { sqe::recv_multishot(socket, later) } else { sqe::recv_once(socket) };
        self.queue(ring, entry, Token::new(Operation::Receive, conn));
        self.slots.begin(conn, Operation::Receive);
    }

    /// Queues an entry. If this fails, the next wait returns the error.
    pub(super) fn queue(&mut self, ring: usize, entry: squeue::Entry, token: Token) {
        // SAFETY: entries point to statics, to registered buffers, or to `addresses`. Addresses are
        // cleared only after everything is submitted, when the kernel has copied them.
        if let Err(errno) = unsafe { self.rings[ring].push(&entry.user_data(token.0)) } {
            self.failed = Some(errno);
        }
    }

    /// Handles the completion of a connect, or the failure of one of its steps. Returns the event
    /// to report.
    pub(super) fn on_connect(
        &mut self,
        token: Token,
        result: i32,
    ) -> Option<Result<ConnId, (ConnId, Errno)>> {
        let (conn, operation) = (token.conn(), token.operation()?);
        if operation == Operation::Prepare {
            // Its connect fails as well, and that is not reported.
            if self.slots.phase(conn) != Phase::Connecting {
                return None;
            }
        } else if !self.slots.connected(conn, operation, result >= 0) {
            return None;
        } else if result >= 0 {
            self.opened(conn);
            return Some(Ok(conn));
        }
        self.end(conn, wavetank_plan::Close::Fin);
        Some(Err((conn, Errno(-result))))
    }
}

/// Returns a socket in the process's table of files, bound and with the options of `dial`.
fn socket_outside(dial: &Dial) -> Result<OwnedFd, Errno> {
    if let Some(datagrams) = dial.datagrams {
        return socket::datagram(dial.to, dial.from, datagrams);
    }
    let socket = socket::stream(dial.to)?;
    if let Some(from) = dial.from {
        socket::bind_source(&socket, from)?;
    }
    if dial.speaks_at_once && socket::is_tcp(dial.to) {
        socket::delay_acknowledgement(&socket)?;
    }
    Ok(socket)
}
