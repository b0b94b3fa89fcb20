//! Accepts a bounded number of peers at a time, into slots chosen by this driver.
//!
//! It does not use a multishot accept, which takes a connection first and then looks for a slot. If
//! the table is full, that kind drops the connection.

use std::os::fd::AsRawFd;

use io_uring::types::Fd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wavetank_units::Nanos;

use super::ring::Completion;
use super::slots::Phase;
use super::{Uring, sqe};
use crate::Errno;
use crate::driver::{ConnId, Event, ListenerId};
use crate::token::{Operation, Token};

/// Accepts armed for each listener.
const ACCEPTS: u32 = 64;
/// Length of the pause after accepting failed: there may be room again by then.
const ACCEPT_PAUSE: Nanos = Nanos::from_millis(100);

impl Uring {
    /// Retries listeners after their pause, and arms the missing accepts.
    #[inline]
    pub(super) fn arm_accepts(&mut self, now: Nanos) {
        if now >= self.listeners.resume_at {
            self.listeners.resume_at = Nanos::MAX;
            for listener in &mut self.listeners.list {
                listener.paused = false;
            }
            self.listeners.short = true;
        }
        if std::mem::take(&mut self.listeners.short) && !self.listeners.shut {
            for index in 0..self.listeners.list.len() {
                self.arm_listener(index);
            }
        }
    }

    fn arm_listener(&mut self, index: usize) {
        loop {
            let listener = &self.listeners.list[index];
            if listener.paused || listener.armed >= ACCEPTS {
                return;
            }
            let (fd, armed) = (Fd(listener.fd.as_raw_fd()), listener.armed);
            // Use another ring only if this one has no room.
            if armed > 0 && !self.slots.has_room(self.roomy) {
                return;
            }
            let ring = match self.ring_with_room() {
                Ok(ring) => ring,
                Err(errno) => return self.refuse(index, errno),
            };
            let Some(conn) = self.take(ring, Phase::Accepting, index as u16) else { return };
            let (_, slot) = self.slots.place(conn.slot);
            self.queue(ring, sqe::accept(fd, slot), Token::new(Operation::Accept, conn));
            self.slots.begin(conn, Operation::Accept);
            self.listeners.list[index].armed += 1;
        }
    }

    /// There is no slot for the next peer. Reports that if a peer is waiting, and pauses the
    /// listener.
    fn refuse(&mut self, index: usize, errno: Errno) {
        let mut waiting = [PollFd::new(&self.listeners.list[index].fd, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut waiting, Some(&at_once)).is_ok_and(|count| count > 0) {
            let listener = ConnId { slot: index as u32, generation: 0 };
            let token = Token::new(Operation::Listener, listener).0;
            self.ready.push(Completion { token, result: -errno.0, flags: 0 });
        }
        self.pause(index);
    }

    fn pause(&mut self, index: usize) {
        self.listeners.list[index].paused = true;
        self.listeners.resume_at = self.clock.now().after(ACCEPT_PAUSE);
    }

    /// Handles the completion of an accept.
    pub(super) fn on_accept(&mut self, conn: ConnId, result: i32) -> Option<Event> {
        let id = ListenerId(self.slots.listener(conn));
        if !self.slots.accepted(conn, result >= 0) {
            return None;
        }
        let index = id.0 as usize;
        self.listeners.list[index].armed -= 1;
        self.listeners.short = true;
        if result >= 0 {
            self.opened(conn);
            return Some(Event::Accepted(id, conn));
        }
        self.slots.close(conn);
        match -result {
            // A peer that gave up while waiting is not a failure of this side.
            libc::ECONNABORTED | libc::EINTR | libc::EAGAIN | libc::ECANCELED => None,
            _ if self.listeners.list[index].paused || self.listeners.shut => None,
            errno => {
                self.pause(index);
                Some(Event::AcceptFailed(id, Errno(errno)))
            }
        }
    }
}
