//! [`Ring`]: one io\_uring instance: its queues, its table of sockets, its buffers.

use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::{CancelBuilder, Fixed, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, Probe, cqueue, opcode, squeue};

use super::buffers::Buffers;
use super::sqe::{errno, set_up};
use crate::Errno;

/// Entries of the submission queue. What does not fit is submitted in several calls.
pub(super) const SUBMISSIONS: u32 = 256;
/// Entries of the completion queue. What does not fit the kernel keeps, and hands over later.
const COMPLETIONS: u32 = 2_048;
/// From this number of sockets, a ring requests more of them than it needs, because the kernel
/// sizes other structures by it. The lists it searches for an operation to cancel are then 256
/// instead of 64.
const SOCKETS_MANY: u32 = 16_384;
/// Those.
const COMPLETIONS_MANY: u32 = 8_192;
/// How often submitting may fail in a row before that is an error, with a pause behind each failure: half a second,
/// in which a host that is short of memory may have found some.
const FAILURES_MAX: u32 = 500;
/// The pause: a millisecond.
const PAUSE: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
/// Number of calls in a row that a flag requested without any work, after which the flag is
/// ignored. The kernel sets the flag after queueing its work. If the ring's thread takes that work
/// in between, the flag stays until there is other work for the ring: for minutes, if its
/// connections are silent. Work without a result, such as a watch for data that was read already,
/// is done at twenty of a kind in a call.
const BARREN_MAX: u8 = 100;
/// Calls after which ending pending operations is given up.
const QUIESCE_CALLS_MAX: u32 = 10_000;

/// One io\_uring instance. The rings of a driver belong to the thread that made it.
pub(super) struct Ring {
    /// Dropped first: nothing below may go while the kernel could still use it.
    uring: IoUring,
    pub(super) buffers: Buffers,
    /// What every wait adds.
    wait_flags: EnterFlags,
    /// Waits can be given an instant instead of a length (6.12).
    waits_until: bool,
    /// A slot of the table is emptied by an entry that is not submitted yet.
    pub(super) closes_queued: bool,
    /// Calls in a row that its flag asked for and that brought nothing.
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
    /// Creates a ring with a table of `sockets` sockets, and after them `last`, which stays open
    /// until no operation is pending. Fails with `EMFILE` if that is above the limit on open files.
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

    /// Whether sockets can be bound in their slots.
    pub(super) fn can_bind(&self) -> bool {
        let mut known = Probe::new();
        self.uring.submitter().register_probe(&mut known).is_ok() && known.is_supported(opcode::Bind::CODE)
    }

    /// Lets the kernel signal completions on `eventfd`.
    pub(super) fn register_eventfd(&self, eventfd: BorrowedFd<'_>) -> Result<(), Errno> {
        self.uring.submitter().register_eventfd(eventfd.as_raw_fd()).map_err(|error| errno(&error))
    }

    /// Put `socket` into `slot` of the table.
    pub(super) fn install(&self, slot: u32, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        let update = self.uring.submitter().register_files_update(slot, &[socket.as_raw_fd()]);
        update.map(drop).map_err(|error| errno(&error))
    }

    /// Queues an entry; if there is no room, earlier entries are submitted.
    ///
    /// # Safety
    /// The memory that the entry points to must stay valid until it is submitted, and, for an
    /// operation that is not complete by then, until its last completion.
    #[inline]
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) -> Result<(), Errno> {
        loop {
            // SAFETY: the caller's promise.
            if unsafe { self.uring.submission().push(entry) }.is_ok() {
                return Ok(());
            }
            self.submit()?;
        }
    }

    /// Never submit again: what is queued points to what will be gone.
    pub(super) const fn abandon(&mut self) {
        self.given_up = true;
    }

    /// Make room for `count` entries that must be submitted together.
    pub(super) fn make_room(&mut self, count: usize) -> Result<(), Errno> {
        let queue = self.uring.submission();
        let room = queue.capacity() - queue.len();
        drop(queue);
        if room < count { self.submit() } else { Ok(()) }
    }

    /// How many entries are queued.
    #[inline]
    pub(super) fn queued(&mut self) -> u32 {
        self.uring.submission().len() as u32
    }

    /// Whether completions wait in the queue.
    #[inline]
    pub(super) fn has_completions(&mut self) -> bool {
        !self.uring.completion().is_empty()
    }

    /// Whether a call would bring completions.
    #[inline]
    pub(super) fn is_flagged(&mut self) -> bool {
        let queue = self.uring.submission();
        queue.taskrun() || queue.cq_overflow()
    }

    /// Submits queued entries and executes deferred work, if there is any. Returns whether there
    /// was something to submit.
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

    /// Whether there are completions, or a call may well bring some.
    #[inline]
    pub(super) fn has_completions_hint(&mut self) -> bool {
        self.has_completions() || (self.barren < BARREN_MAX && self.is_flagged())
    }

    /// Take all completions that are there.
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
            // What did not fit the kernel hands over now; if that fails, then at the next wait.
            if self.call(0, 0, EnterFlags::GETEVENTS, None).is_err() || !self.has_completions() {
                return;
            }
        }
    }

    /// Submit what is queued, and nothing else.
    pub(super) fn submit(&mut self) -> Result<(), Errno> {
        self.enter(0, EnterFlags::empty(), None)
    }

    /// Submit, and do what the kernel has put off until now.
    pub(super) fn submit_and_reap(&mut self) -> Result<(), Errno> {
        self.enter(0, EnterFlags::GETEVENTS, None)
    }

    /// The same, and waits for a completion until an instant of the monotonic clock. `left` returns
    /// the remaining time once everything is submitted, for kernels that need it that way.
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
                // Some were not taken: the kernel stopped there and did not wait.
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
        // SAFETY: the memory of entries lives long enough, which `push` requires; the arguments are
        // what EXT_ARG announces, and outlive the call.
        let result = unsafe { self.uring.submitter().enter(queued, complete, flags.bits(), args) };
        result.map(|taken| taken as u32).map_err(|error| errno(&error))
    }

    /// Ends all pending operations and closes every socket of the table before the ring is dropped.
    /// The kernel searches from the start for each cancellation, so this is for few sockets only.
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

    /// The ring itself.
    #[cfg(test)]
    pub(super) fn fd(&self) -> std::os::fd::RawFd {
        self.uring.as_raw_fd()
    }

    /// Drops the ring. The kernel may fill the buffers until the last file of the table is closed.
    pub(super) fn close(self) -> Buffers {
        let Self { uring, buffers, .. } = self;
        drop(uring);
        buffers
    }
}

/// Memory is short, perhaps for a moment: programs that could free some need the CPU.
#[cold]
fn pause() {
    // No event reports that there is memory again, so none is awaited.
    let _ = rustix::event::poll(&mut [], Some(&PAUSE));
}

/// The socket in `slot` of a ring's table.
#[inline]
pub(super) const fn in_table(slot: u32) -> Fixed {
    Fixed(slot)
}

/// Which buffer a completion filled.
#[inline]
pub(super) fn buffer(flags: u32) -> Option<u16> {
    cqueue::buffer_select(flags)
}
