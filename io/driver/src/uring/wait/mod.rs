//! Waiting: the call of a turn that submits, waits and brings what came.

use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::types::Fd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wavetank_plan::Nanos;

use super::ring::Ring;
use super::{Uring, sqe};
use crate::Errno;
use crate::driver::ConnId;
use crate::token::{Operation, Token};

/// The longest sleep while a ring is flagged that has had nothing to report for long. If there is
/// something after all, it is at most this late.
const NAP_IN_DOUBT: Nanos = Nanos::from_millis(5);

impl Uring {
    #[inline]
    pub(super) fn wait_for_any(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        self.give_back();
        self.worked_until = now;
        if let Some(errno) = self.failed {
            return Err(errno);
        }
        if self.at < self.ready.len() {
            // More arrived than one turn handles: sent data leaves, and nothing new is requested,
            // except the ends of operations that hold closed sockets open.
            self.submit()?;
            if std::mem::take(&mut self.ends_awaited) {
                for ring in &mut self.rings {
                    // Operations that waited for sends to leave are cancelled and closed by entries
                    // that are queued only now.
                    if ring.queued() > 0 || ring.is_flagged() {
                        ring.submit_and_reap()?;
                    }
                }
                self.take_in();
            }
            return Ok(true);
        }
        self.ready.clear();
        self.at = 0;
        self.arm_accepts(now);
        let mut until = until.min(self.listeners.resume_at);
        if let Some(leaving) = self.leaving.front() {
            until = until.min(leaving.at);
            if leaving.at <= now {
                self.reset_stuck(now);
            }
        }
        if !self.waker_watched {
            self.watch_waker();
        }
        while let Some(conn) = self.thirsty.pop() {
            self.await_bytes(conn, false);
        }
        if !self.unsettled.is_empty() {
            self.submit()?;
        }
        self.fill()?;
        let busy = !self.pieces.is_empty() || !self.ready.is_empty();
        let until = if busy { now } else { until };
        if self.eventfd.is_none() {
            self.wait_on_one(now, until)?;
        } else {
            self.wait_on_all(now, until)?;
        }
        Ok(!self.ready.is_empty())
    }

    /// Submits queued entries, and handles their results directly. A failure concerns the driver
    /// and no single connection: the next wait reports it again.
    pub(super) fn submit(&mut self) -> Result<(), Errno> {
        let began = self.clock.now();
        let submitted = self.fill().and_then(|()| self.rings.iter_mut().try_for_each(Ring::submit));
        if let Err(errno) = submitted {
            self.failed = Some(errno);
            return Err(errno);
        }
        self.worked_since(began);
        self.take_in();
        Ok(())
    }

    /// The present call, which may have carried sends, was made at `began`.
    #[inline]
    fn worked_since(&mut self, began: Nanos) {
        self.worked_until = self.clock.now();
        self.longest_send = self.longest_send.max(self.worked_until.since(began));
    }

    /// Everything is submitted: handles the completions, and drops what was kept for submitting.
    #[inline]
    fn take_in(&mut self) {
        let from = self.ready.len();
        for ring in &mut self.rings {
            ring.drain(&mut self.ready);
        }
        self.collect_sends(from);
        self.outgoing.reset();
        self.addresses.clear();
        if !self.unsettled.is_empty() {
            self.settle();
        }
    }

    /// With one ring, the call that submits brings what is there, and where that is nothing, the next one sleeps.
    /// One call could do both, but nobody could tell then how long the sends took and how long it slept.
    #[inline]
    fn wait_on_one(&mut self, now: Nanos, until: Nanos) -> Result<(), Errno> {
        let ring = &mut self.rings[0];
        let queued = ring.queued() > 0;
        if queued || ring.is_flagged() {
            ring.submit_and_reap()?;
            if queued {
                self.worked_since(now);
            }
        }
        let ring = &mut self.rings[0];
        if until > now && self.ready.is_empty() && !ring.has_completions() {
            let clock = self.clock;
            ring.wait(clock.monotonic(until), || until.0.saturating_sub(clock.now().0))?;
        }
        self.take_in();
        Ok(())
    }

    /// Of several rings none can be waited for alone: all tell one eventfd.
    fn wait_on_all(&mut self, now: Nanos, until: Nanos) -> Result<(), Errno> {
        loop {
            let mut queued = false;
            for ring in &mut self.rings {
                queued |= ring.submit_if_needed()?;
            }
            if queued {
                self.worked_since(now);
            }
            self.take_in();
            if !self.ready.is_empty() {
                return Ok(());
            }
            // A ring that had more to do than one call does is flagged still, and tells no more of it:
            // before sleeping all are looked at once more.
            if self.rings.iter_mut().any(|ring| ring.queued() > 0 || ring.has_completions_hint()) {
                continue;
            }
            let left = until.0.saturating_sub(self.clock.now().0);
            if left <= 0 {
                return Ok(());
            }
            let doubted = self.rings.iter_mut().any(Ring::is_flagged);
            let told = self.sleep(if doubted { left.min(NAP_IN_DOUBT.0) } else { left });
            if !told && !doubted {
                return Ok(());
            }
        }
    }

    /// Sleep until some ring tells something, at most `left` nanoseconds. Whether it was told.
    fn sleep(&self, left: i64) -> bool {
        let Some(eventfd) = &self.eventfd else { return false };
        let left = Timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 };
        let mut told = [PollFd::new(eventfd, PollFlags::IN)];
        if !poll(&mut told, Some(&left)).is_ok_and(|count| count > 0) {
            return false;
        }
        let mut count = [0; 8];
        // Only its being readable matters.
        let _ = rustix::io::read(eventfd, &mut count);
        true
    }

    fn watch_waker(&mut self) {
        let entry = sqe::watch_file(Fd(self.waker.fd().as_raw_fd()));
        self.queue(0, entry, Token::new(Operation::Wake, ConnId { slot: 0, generation: 0 }));
        self.waker_watched = true;
    }
}

/// Counts what rings tell.
pub(super) fn eventfd() -> Result<OwnedFd, Errno> {
    rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK | rustix::event::EventfdFlags::CLOEXEC)
        .map_err(|errno| Errno(errno.raw_os_error()))
}

#[cfg(test)]
mod tests;
