//! [`TeardownWatch`]: detects when the kernel has released every ring of a driver.
//!
//! Closing a ring only starts its end: a kernel thread cancels the operations in flight, waits for
//! them, and then closes the files of the table. So each table holds one end of a pipe. When the
//! other end reports that all of them are closed, no operation is left that could write into memory
//! of this process.
//!
//! With this method, the cost per operation is constant. `IORING_REGISTER_SYNC_CANCEL` and
//! `IORING_OP_ASYNC_CANCEL` restart their search for each operation, and pass all those already
//! cancelled: for 100,000 it took 14 s.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use wavetank_units::Nanos;

use crate::{Clock, Errno};

/// Time limit for the end of the rings. The kernel needs some microseconds for each connection. It
/// exceeds this limit only if something else keeps a ring open, such as a process forked at that
/// moment.
const PATIENCE: Nanos = Nanos::from_secs(60);

/// See the module's description.
pub(super) struct TeardownWatch {
    ours: OwnedFd,
    theirs: OwnedFd,
}

impl TeardownWatch {
    pub(super) fn new() -> Result<Self, Errno> {
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(|errno| Errno(errno.raw_os_error()))?;
        Ok(Self { ours, theirs })
    }

    /// Returns the end that every table of sockets must hold.
    pub(super) fn end(&self) -> BorrowedFd<'_> {
        self.theirs.as_fd()
    }

    /// Waits until every table is closed. `false`: some table is still open, and may remain so.
    pub(super) fn wait_all_closed(self, clock: Clock) -> bool {
        let Self { ours, theirs } = self;
        drop(theirs);
        let until = clock.now().after(PATIENCE);
        loop {
            let left = until.0.saturating_sub(clock.now().0).max(0);
            let left = Timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 };
            // Nothing is ever written, so the only event is the close of the last other end.
            let mut reported = [PollFd::new(&ours, PollFlags::IN)];
            match poll(&mut reported, Some(&left)) {
                Err(rustix::io::Errno::INTR) => {}
                other => return other.is_ok_and(|count| count > 0),
            }
        }
    }
}
