//! Waiting: the call of a turn that submits entries, waits and collects completions.

use std::os::fd::AsRawFd;

use io_uring::types::Fd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wavetank_units::Nanos;

use super::ring::Ring;
use super::{Uring, sqe};
use crate::Errno;
use crate::driver::ConnId;
use crate::token::{Operation, Token};

/// Maximum sleep while a ring has long been flagged without any result. If there is something after
/// all, it is handled at most this late.
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
            // More completions arrived than one turn handles. Queued sends leave, and nothing new
            // is requested, except the end of operations that hold closed sockets open.
            self.submit()?;
            if std::mem::take(&mut self.ends_awaited) {
                for ring in &mut self.rings {
                    // Closes that waited for their sends are queued only now, as cancel and close
                    // entries.
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

    /// Submits queued entries, and takes in their immediate results. A failure concerns the driver
    /// and no single connection: the next wait returns it again.
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

    /// Records the duration of the current call, which started at `began` and may have carried
    /// sends.
    #[inline]
    fn worked_since(&mut self, began: Nanos) {
        self.worked_until = self.clock.now();
        self.longest_send = self.longest_send.max(self.worked_until.since(began));
    }

    /// Everything is submitted: takes in the completions, and frees the memory kept for submitting.
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

    /// With one ring, the call that submits returns the available completions; if there are none,
    /// the next call sleeps. One call could do both, but then the time of the sends could not be
    /// separated from the sleep.
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

    /// The kernel cannot wait for several rings in one call, so all of them signal one eventfd.
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
            // A ring with more work than one call does is still flagged, but does not signal again.
            // So all rings are checked once more before sleeping.
            if self.rings.iter_mut().any(|ring| ring.queued() > 0 || ring.has_completions_hint()) {
                continue;
            }
            let left = until.0.saturating_sub(self.clock.now().0);
            if left <= 0 {
                return Ok(());
            }
            let doubted = self.rings.iter_mut().any(Ring::is_flagged);
            let reported = self.sleep(if doubted { left.min(NAP_IN_DOUBT.0) } else { left });
            if !reported && !doubted {
                return Ok(());
            }
        }
    }

    /// Sleeps until some ring signals, at most `left` nanoseconds. Returns whether one did.
    fn sleep(&self, left: i64) -> bool {
        let Some(eventfd) = &self.eventfd else { return false };
        let left = Timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 };
        let mut reported = [PollFd::new(eventfd, PollFlags::IN)];
        if !poll(&mut reported, Some(&left)).is_ok_and(|count| count > 0) {
            return false;
        }
        let mut count = [0; 8];
        // Only its readability matters.
        let _ = rustix::io::read(eventfd, &mut count);
        true
    }

    fn watch_waker(&mut self) {
        let entry = sqe::watch_file(Fd(self.waker.fd().as_raw_fd()));
        self.queue(0, entry, Token::new(Operation::Wake, ConnId { slot: 0, generation: 0 }));
        self.waker_watched = true;
    }
}

#[cfg(test)]
mod tests;
