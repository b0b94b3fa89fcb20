//! UDP sockets.

use super::Epoll;
use super::edges::{broken_event, writable};
use crate::Errno;
use crate::driver::{ConnId, Datagrams, Dial, Event};
use crate::socket;
use crate::sockets::ReportedEnd;
use crate::token::Operation;

/// Datagrams of one socket in one turn: a flood of them must not delay other sockets.
const DATAGRAMS_PER_TURN: u32 = 32;

impl Epoll {
    pub(super) fn connect_datagrams(&mut self, dial: &Dial, datagrams: Datagrams) -> Result<ConnId, Errno> {
        let socket = socket::datagram(dial.to, dial.from, datagrams)?;
        socket::connect(&socket, dial.to)?;
        let conn = self.adopt(socket, true, Operation::Datagrams)?;
        if let Some(entry) = self.sockets.get(conn) {
            entry.has_no_delay();
        }
        Ok(conn)
    }

    /// Returns the next event of the UDP socket at the head of `ready`; advances past it when it is
    /// drained. A short receive says nothing: another datagram may have arrived with the same edge.
    pub(super) fn datagrams_ready(&mut self, conn: ConnId, events: u32) -> Option<Event> {
        let events = events as i32;
        let Some(entry) = self.sockets.get(conn) else {
            self.stale += 1;
            self.at += 1;
            return None;
        };
        if entry.connecting {
            return self.connect_ready(conn, events);
        }
        if events & libc::EPOLLOUT != 0 && !entry.unsent.is_empty() {
            self.ready[self.at].events &= !libc::EPOLLOUT as u32;
            self.unfinished.push(writable(conn));
        }
        while entry.reported == ReportedEnd::Nothing {
            match socket::receive(&entry.fd, &mut self.buffer) {
                Ok(Some(0)) => {}
                Ok(Some(len)) => {
                    self.datagrams += 1;
                    if self.datagrams == DATAGRAMS_PER_TURN {
                        self.unfinished.push(self.ready[self.at]);
                        self.next_socket();
                    }
                    self.ending = None;
                    return Some(Event::Received(conn, len));
                }
                Ok(None) => break,
                Err(errno) => {
                    let event = broken_event(entry, conn, errno);
                    self.next_socket();
                    return Some(event);
                }
            }
        }
        self.next_socket();
        None
    }

    const fn next_socket(&mut self) {
        self.datagrams = 0;
        self.at += 1;
    }
}
