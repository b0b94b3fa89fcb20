//! Events made here that the kernel would report, and events behind the end of a connection.

use crate::driver::{CloseReason, ConnId, Event};
use crate::sockets::{ReportedEnd, Socket};
use crate::token::{Operation, Token};
use crate::{Errno, socket};

/// The event that the kernel would report for a connection that takes more bytes.
pub(super) fn writable(conn: ConnId) -> libc::epoll_event {
    libc::epoll_event { events: libc::EPOLLOUT as u32, u64: Token::new(Operation::Connection, conn).0 }
}

/// The event that the kernel would report for a connection that has ended.
pub(super) fn ending(conn: ConnId) -> libc::epoll_event {
    let events = (libc::EPOLLIN | libc::EPOLLHUP) as u32;
    libc::epoll_event { events, u64: Token::new(Operation::Connection, conn).0 }
}

pub(super) fn broken_event(entry: &mut Socket, conn: ConnId, errno: Errno) -> Event {
    entry.reported = ReportedEnd::Broken;
    Event::Ended(conn, CloseReason::Broken(errno))
}

/// Returns the event of a connection with a peer that has finished.
#[cold]
pub(super) fn news_behind_the_end(entry: &mut Socket, conn: ConnId, events: i32) -> Option<Event> {
    if entry.reported == ReportedEnd::Broken {
        return None;
    }
    let failed = events & libc::EPOLLERR != 0;
    let pending = || failed.then(|| socket::pending_error(&entry.fd).err()).flatten();
    entry.send_error().or_else(pending).map(|errno| broken_event(entry, conn, errno))
}
