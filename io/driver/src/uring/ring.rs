//! [`Ring`]: one io\_uring instance with its queues, its table of sockets and its buffers.

use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::{CancelBuilder, Fixed, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, Probe, cqueue, opcode, squeue};

use super::buffers::Buffers;
use super::sqe::{errno, set_up};
use crate::Errno;

/// Entries of the submission queue. A larger number is submitted in several calls.
pub(super) const SUBMISSIONS: u32 = 256;
/// Entries of the completion queue. The kernel keeps further completions, and hands them over
/// later.
const COMPLETIONS: u32 = 2_048;
/// Number of sockets from which a ring has a larger completion queue. The kernel sizes other tables
/// by it: the lists searched for an operation to cancel are then 256 instead of 64.
const SOCKETS_MANY: u32 = 16_384;
/// Entries of that larger completion queue.
const COMPLETIONS_MANY: u32 = 8_192;
/// Number of consecutive failures of submitting before it is an error, with a pause after each.
/// That is half a second, in which a host that is short of memory may have found some.
const FAILURES_MAX: u32 = 500;
/// The pause after a failure: a millisecond.
const PAUSE: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
/// After this many consecutive calls that the flag requested and that brought nothing, the flag is
/// no reason to stay awake. The kernel sets the flag after it has queued its work. If the ring's
/// thread takes that work in between, the flag stays set without any work. It stays until the ring
/// has other work: for minutes, if its connections are silent. Work without a result, such as a
/// watch reporting bytes that were already read, is done at twenty of a kind per call.
const BARREN_MAX: u8 = 100;
/// Number of calls after which the attempt to end the operations in flight is given up.
const QUIESCE_CALLS_MAX: u32 = 10_000;

/// One io\_uring instance. The rings of a driver belong to the thread that made it.
pub(super) struct Ring {
    /// Dropped first: nothing below may be freed while the kernel could still use it.
    uring: IoUring,
    pub(super) buffers: Buffers,
    /// Flags that every wait adds.
    wait_flags: EnterFlags,
    /// Waits can be given an instant instead of a duration (6.12).
    waits_until: bool,
    /// An entry that empties a slot of the table is queued but not submitted yet.
    pub(super) closes_queued: bool,
    /// Number of consecutive calls that the flag requested and that brought nothing.
    barren: u8,
    /// Nothing is submitted any more.
    given_up: bool,
}

/// One completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion {
    pub(super) token: u64,
    pub(super) result: i32,
    pub(super) flags: u32,
}

impl Ring {
    /// Makes a ring with a table of `sockets` sockets. After them comes `last`, a file that stays
    /// open until no operation is in flight. Fails with `EMFILE` if that exceeds the limit on open
    /// files.
    pub(super) fn new(sockets: u32, last: BorrowedFd<'_>) -> Result<Self, Errno> {
        let many = sockets > SOCKETS_MANY;
        let uring = set_up(SUBMISSIONS, if many { COMPLETIONS_MANY } else { COMPLETIONS })?;
        uring.submitter().register_files_sparse(sockets + 1).map_err(|error| errno(&error))?;
        let buffers = Buffers::new()?;
        buffers.register(&uring)?;
        let facts = uring.params();
        let still = if facts.is_feature_no_iowait() { EnterFlags::NO_IOWAIT } else { EnterFlags::empty() };
        let waits_until = facts.is_feature_min_timeout();
        let this = Self {
            uring,
            buffers,
            wait_flags: still,
            waits_until,
            closes_queued: false,
            barren: 0,
            given_up: false,
        };
        this.install(sockets, last)?;
        Ok(this)
    }

    /// Returns whether sockets can be bound in their slots.
    pub(super) fn can_bind(&self) -> bool {
        let mut known = Probe::new();
        self.uring.submitter().register_probe(&mut known).is_ok() && known.is_supported(opcode::Bind::CODE)
    }

    /// Makes the kernel signal completions on `eventfd`.
    pub(super) fn register_eventfd(&self, eventfd: BorrowedFd<'_>) -> Result<(), Errno> {
        self.uring.submitter().register_eventfd(eventfd.as_raw_fd()).map_err(|error| errno(&error))
    }

    /// Puts `socket` into `slot` of the table.
    pub(super) fn install(&self, slot: u32, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        let update = self.uring.submitter().register_files_update(slot, &[socket.as_raw_fd()]);
        update.map(drop).map_err(|error| errno(&error))
    }

    /// Queues an entry; if there is no room, submits the entries before it.
    ///
    /// # Safety
    /// The memory that the entry points to must stay in place until the entry is submitted. For an
    /// operation that is not complete by then, it must stay until its last completion.
    #[inline]
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) -> Result<(), Errno> {
        loop {
            // SAFETY: guaranteed by the caller.
            if unsafe { self.uring.submission().push(entry) }.is_ok() {
                return Ok(());
            }
            self.submit()?;
        }
    }

    /// Ends all submitting: queued entries point to memory that will be freed.
    pub(super) const fn abandon(&mut self) {
        self.given_up = true;
    }

    /// Makes room for `count` entries that must be submitted together.
    pub(super) fn make_room(&mut self, count: usize) -> Result<(), Errno> {
        let queue = self.uring.submission();
        let room = queue.capacity() - queue.len();
        drop(queue);
        if room < count { self.submit() } else { Ok(()) }
    }

    /// Returns the number of queued entries.
    #[inline]
    pub(super) fn queued(&mut self) -> u32 {
        self.uring.submission().len() as u32
    }

    /// Returns whether completions wait in the queue.
    #[inline]
    pub(super) fn has_completions(&mut self) -> bool {
        !self.uring.completion().is_empty()
    }

    /// Returns whether a call would bring completions.
    #[inline]
    pub(super) fn is_flagged(&mut self) -> bool {
        let queue = self.uring.submission();
        queue.taskrun() || queue.cq_overflow()
    }

    /// Submits queued entries and runs deferred work, if there is either. Returns whether there was
    /// something to submit.
    #[inline]
    pub(super) fn submit_if_needed(&mut self) -> Result<bool, Errno> {
        let submits = self.queued() > 0;
        let flagged = self.is_flagged();
        if submits || flagged {
            self.submit_and_reap()?;
        }
        self.barren = if flagged && !self.has_completions() { self.barren.saturating_add(1) } else { 0 };
        Ok(submits)
    }

    /// Returns whether there are completions, or a call may bring some.
    #[inline]
    pub(super) fn has_completions_hint(&mut self) -> bool {
        self.has_completions() || (self.barren < BARREN_MAX && self.is_flagged())
    }

    /// Takes all available completions.
    #[inline]
    pub(super) fn drain(&mut self, into: &mut Vec<Completion>) {
        loop {
            into.extend(self.uring.completion().map(|entry| Completion {
                token: entry.user_data(),
                result: entry.result(),
                flags: entry.flags(),
            }));
            if !self.uring.submission().cq_overflow() {
                return;
            }
            // The kernel hands over the completions that did not fit now; if that fails, with the
            // next wait.
            if self.call(0, 0, EnterFlags::GETEVENTS, None).is_err() || !self.has_completions() {
                return;
            }
        }
    }

    /// Submits the queued entries, and does nothing else.
    pub(super) fn submit(&mut self) -> Result<(), Errno> {
        self.enter(0, EnterFlags::empty(), None)
    }

    /// Submits the queued entries, and runs work that the kernel has deferred.
    pub(super) fn submit_and_reap(&mut self) -> Result<(), Errno> {
        self.enter(0, EnterFlags::GETEVENTS, None)
    }

    /// As [`submit_and_reap`](Self::submit_and_reap), then waits for a completion until an instant
    /// of the monotonic clock. `left` returns the remaining time. It is called after everything is
    /// submitted, for kernels that need a duration.
    pub(super) fn wait(&mut self, until: i64, left: impl FnOnce() -> i64) -> Result<(), Errno> {
        let mut flags = EnterFlags::GETEVENTS | EnterFlags::EXT_ARG | self.wait_flags;
        let at = if self.waits_until {
            flags |= EnterFlags::ABS_TIMER;
            until
        } else {
            self.submit()?;
            left().max(0)
        };
        let at = Timespec::new()
            .sec((at / 1_000_000_000).unsigned_abs())
            .nsec((at % 1_000_000_000).unsigned_abs() as u32);
        self.enter(1, flags, Some(&SubmitArgs::new().timespec(&at)))
    }

    fn enter(&mut self, complete: u32, flags: EnterFlags, args: Option<&SubmitArgs>) -> Result<(), Errno> {
        self.buffers.publish();
        let mut failures = 0;
        if self.given_up {
            return Err(Errno(libc::EBADF));
        }
        loop {
            let queued = self.queued();
            if queued == 0 && flags.is_empty() {
                break;
            }
            match self.call(queued, complete, flags, args) {
                // The kernel did not take all entries: it stopped there and did not wait.
                Ok(taken) if taken < queued => {}
                Ok(_) | Err(Errno(libc::ETIME)) => break,
                Err(Errno(libc::EINTR | libc::EBUSY)) if self.queued() == 0 => break,
                Err(Errno(libc::EINTR)) => {}
                Err(Errno(libc::EBUSY | libc::EAGAIN)) if failures < FAILURES_MAX => {
                    failures += 1;
                    pause();
                }
                Err(errno) => return Err(errno),
            }
        }
        self.closes_queued = false;
        Ok(())
    }

    #[inline]
    fn call(
        &self,
        queued: u32,
        complete: u32,
        flags: EnterFlags,
        args: Option<&SubmitArgs>,
    ) -> Result<u32, Errno> {
        // SAFETY: the memory that entries point to lives long enough, as `push` requires. The
        // arguments are those that EXT_ARG announces, and outlive the call.
        let result = unsafe { self.uring.submitter().enter(queued, complete, flags.bits(), args) };
        result.map(|taken| taken as u32).map_err(|error| errno(&error))
    }

    /// Ends all operations in flight and closes every socket of the table, before the ring is
    /// dropped. For each operation to cancel, the kernel searches from the start, so this is only
    /// for few sockets.
    pub(super) fn quiesce(&mut self) {
        let mut waste = Vec::new();
        let _ = self.submit();
        let _ = self.uring.submitter().register_sync_cancel(None, CancelBuilder::any().all());
        for _ in 0..QUIESCE_CALLS_MAX {
            self.drain(&mut waste);
            waste.clear();
            if !self.is_flagged() || self.submit_and_reap().is_err() {
                break;
            }
        }
        let _ = self.uring.submitter().unregister_files();
    }

    /// Returns the file descriptor of the ring.
    #[cfg(test)]
    pub(super) fn fd(&self) -> std::os::fd::RawFd {
        self.uring.as_raw_fd()
    }

    /// Closes the ring and returns its buffers. The kernel may fill them until the last file of the
    /// table is closed.
    pub(super) fn close(self) -> Buffers {
        let Self { uring, buffers, .. } = self;
        drop(uring);
        buffers
    }
}

/// Memory is short, perhaps for a moment: a process that could free some needs the CPU.
#[cold]
fn pause() {
    // No event reports that memory is available again, so this waits for none.
    let _ = rustix::event::poll(&mut [], Some(&PAUSE));
}

/// Returns the socket in `slot` of a ring's table.
#[inline]
pub(super) const fn in_table(slot: u32) -> Fixed {
    Fixed(slot)
}

/// Returns the buffer that a completion filled.
#[inline]
pub(super) fn buffer(flags: u32) -> Option<u16> {
    cqueue::buffer_select(flags)
}
