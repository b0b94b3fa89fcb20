//! The two ends of a connection, which only a file of the process can be asked for.

use std::os::fd::{FromRawFd, OwnedFd};

use super::ring::in_table;
use super::slots::Phase;
use super::{Uring, sqe};
use crate::driver::{ConnAddresses, ConnId};
use crate::token::{Operation, Token};
use crate::{Errno, socket};

impl Uring {
    /// Returns the addresses of `conn`. Its socket is in the process's file table for a moment:
    /// installed there, or still there from its creation on kernels older than 6.11, which may lack
    /// the install operation.
    pub(super) fn query_addresses(&mut self, conn: ConnId) -> Result<ConnAddresses, Errno> {
        if self.slots.phase(conn) != Phase::Open {
            return Err(Errno(libc::ENOTCONN));
        }
        let socket = match self.take_outside(conn) {
            Some(socket) => socket,
            None => self.install(conn)?,
        };
        socket::ends(&socket)
    }

    /// The file that is still there from the making of `conn`'s socket, if it is.
    pub(super) fn take_outside(&mut self, conn: ConnId) -> Option<OwnedFd> {
        if self.outside.is_empty() {
            return None;
        }
        self.outside
            .remove(&conn.slot)
            .filter(|(generation, _)| *generation == conn.generation)
            .map(|(_, fd)| fd)
    }

    /// Another name for `conn`'s socket, among the process's files.
    fn install(&mut self, conn: ConnId) -> Result<OwnedFd, Errno> {
        let (ring, slot) = self.slots.place(conn.slot);
        let token = Token::new(Operation::Install, conn);
        self.queue(ring, sqe::install(in_table(slot)), token);
        let from = self.ready.len();
        self.submit()?;
        // It never waits: its result is reported on submission.
        let told = self.ready[from..].iter_mut().find(|completion| completion.token == token.0);
        let completion = told.ok_or(Errno(libc::EIO))?;
        completion.token = Token::new(Operation::Aside, conn).0;
        into_owned_fd(completion.result)
    }
}

/// Converts the result of installing a socket in the process's file table.
pub(super) fn into_owned_fd(result: i32) -> Result<OwnedFd, Errno> {
    if result < 0 {
        return Err(Errno(-result));
    }
    // SAFETY: the kernel made this number for us alone, and this is the only one to take it.
    Ok(unsafe { OwnedFd::from_raw_fd(result) })
}
