//! Accepting connections: a bounded number per turn, with a pause after a failure.

use std::os::fd::AsRawFd;

use wavetank_units::Nanos;

use super::Epoll;
use crate::driver::{ConnId, Event, ListenerId};
use crate::token::{Operation, Token};
use crate::{Errno, socket};

/// Length of the pause after accepting failed: files may be free again by then.
const ACCEPT_PAUSE: Nanos = Nanos::from_millis(100);
/// Connections accepted from one listener before other events get their turn.
const ACCEPTS_MAX: u32 = 64;

impl Epoll {
    /// Watches the paused listeners again.
    pub(super) fn resume_accepting(&mut self) -> Result<(), Errno> {
        self.resume_at = Nanos::MAX;
        while let Some(listener) = self.paused.pop() {
            self.watch_listener(listener, libc::EPOLLIN as u32)?;
        }
        Ok(())
    }

    /// Changes which events of a registered listener are watched.
    fn watch_listener(&self, listener: u32, events: u32) -> Result<(), Errno> {
        let token = Token::new(Operation::Listener, ConnId { slot: listener, generation: 0 });
        let mut event = libc::epoll_event { events, u64: token.0 };
        let fd = self.listeners[listener as usize].as_raw_fd();
        // SAFETY: `event` is valid for the call; both descriptors are open.
        Errno::check(unsafe { libc::epoll_ctl(self.fd.as_raw_fd(), libc::EPOLL_CTL_MOD, fd, &raw mut event) })
            .map(drop)
    }

    pub(super) fn listener_ready(&mut self, listener: u32) -> Option<Event> {
        let id = ListenerId(listener);
        let Some(fd) = self.listeners.get(listener as usize) else {
            // It was ready in this turn and has been closed since.
            self.at += 1;
            return None;
        };
        if self.accepted >= ACCEPTS_MAX {
            self.accepted = 0;
            self.at += 1;
            return None;
        }
        self.accepted += 1;
        let accepted = socket::accept(fd);
        let adopted = match accepted {
            Ok(Some(socket)) => self.adopt(socket, false, Operation::Connection),
            Ok(None) => {
                self.accepted = 0;
                self.at += 1;
                return None;
            }
            Err(errno) => Err(errno),
        };
        match adopted {
            Ok(conn) => Some(Event::Accepted(id, conn)),
            Err(errno) => {
                self.accepted = 0;
                self.at += 1;
                // The listener stays readable; without a pause the thread would spin on the same
                // error.
                if self.watch_listener(listener, 0).is_ok() {
                    self.paused.push(listener);
                    self.resume_at = self.clock.now().after(ACCEPT_PAUSE);
                }
                Some(Event::AcceptFailed(id, errno))
            }
        }
    }
}
