//! Both addresses of a connection: the kernel returns them only for a file of the process.

use std::os::fd::{FromRawFd, OwnedFd};

use super::ring::in_table;
use super::slots::Phase;
use super::{Uring, sqe};
use crate::driver::{ConnAddresses, ConnId};
use crate::token::{Operation, Token};
use crate::{Errno, socket};

impl Uring {
    /// Returns both addresses of `conn`. The query needs the socket in the process's table of files
    /// for a moment. It is installed there, or is still there since it was made, on kernels before
    /// 6.11, which may not be able to install it.
    pub(super) fn query_addresses(&mut self, conn: ConnId) -> Result<ConnAddresses, Errno> {
        self.with_file(conn, socket::ends)?
    }

    /// Calls `query` with a file of `conn`'s socket.
    pub(super) fn with_file<T>(
        &mut self,
        conn: ConnId,
        query: impl FnOnce(&OwnedFd) -> T,
    ) -> Result<T, Errno> {
        if self.slots.phase(conn) != Phase::Open {
            return Err(Errno(libc::ENOTCONN));
        }
        let socket = match self.take_outside(conn) {
            Some(socket) => socket,
            None => self.install(conn)?,
        };
        Ok(query(&socket))
    }

    /// Removes and returns the file left from making `conn`'s socket, if there is one.
    pub(super) fn take_outside(&mut self, conn: ConnId) -> Option<OwnedFd> {
        if self.outside.is_empty() {
            return None;
        }
        self.outside
            .remove(&conn.slot)
            .filter(|(generation, _)| *generation == conn.generation)
            .map(|(_, fd)| fd)
    }

    /// Installs `conn`'s socket into the process's table of files as well.
    fn install(&mut self, conn: ConnId) -> Result<OwnedFd, Errno> {
        let (ring, slot) = self.slots.place(conn.slot);
        let token = Token::new(Operation::Install, conn);
        self.queue(ring, sqe::install(in_table(slot)), token);
        let from = self.ready.len();
        self.submit()?;
        // The operation never waits: its result arrives with the call that submits it.
        let reported = self.ready[from..].iter_mut().find(|completion| completion.token == token.0);
        let completion = reported.ok_or(Errno(libc::EIO))?;
        completion.token = Token::new(Operation::Aside, conn).0;
        into_owned_fd(completion.result)
    }
}

/// Converts the result of installing a socket into the process's table of files.
pub(super) fn into_owned_fd(result: i32) -> Result<OwnedFd, Errno> {
    if result < 0 {
        return Err(Errno(-result));
    }
    // SAFETY: the kernel made this descriptor for this caller alone, and nothing else takes it.
    Ok(unsafe { OwnedFd::from_raw_fd(result) })
}
