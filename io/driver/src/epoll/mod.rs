//! [`Epoll`]: the driver on readiness and non-blocking sockets.
//!
//! Edge-triggered with one `epoll_ctl` per connection for its whole life. A short receive means the
//! socket is drained (epoll(7)), so most answers cost one receive and no further call.

mod accept;
mod datagrams;
mod edges;
mod wait;

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use wavetank_plan::Close;
use wavetank_units::Nanos;

use crate::driver::{
    CloseReason, ConnAddresses, ConnId, Dial, Driver, DriverConfig, Event, ListenerId, SendStatus,
};
use crate::sockets::{ReportedEnd, Sockets};
use crate::token::{Operation, Token};
use crate::{Clock, Errno, Feature, Waker, send_buffer::SEND_BYTES_MAX, socket};
use edges::{broken_event, ending, news_behind_the_end, writable};
use wait::Timer;

/// Events fetched by one wait.
const EVENTS_MAX: usize = 256;
/// One receive reads at most this much.
const RECEIVE_BYTES: usize = 64 * 1024;

/// See the module's description.
pub struct Epoll {
    fd: OwnedFd,
    clock: Clock,
    sockets: Sockets,
    listeners: Vec<OwnedFd>,
    /// Listeners not watched for a while because accepting failed.
    paused: Vec<u32>,
    /// When they are watched again; [`Nanos::MAX`] if there are none.
    resume_at: Nanos,
    waker: Waker,
    ready: Vec<libc::epoll_event>,
    /// Where the kernel cannot wait to the microsecond by itself.
    timer: Option<Timer>,
    /// Next entry of `ready` to handle.
    at: usize,
    /// Connections that filled their buffer or have more to send. They continue after all others.
    unfinished: Vec<libc::epoll_event>,
    /// Accepted from the current listener in this turn.
    accepted: u32,
    /// Datagrams received from the current socket in this turn.
    datagrams: u32,
    buffer: Box<[u8]>,
    /// The connection of the last receive, if its end came with these bytes.
    ending: Option<ConnId>,
    stale: u64,
    bytes_sent: u64,
}

impl Driver for Epoll {
    fn new(setup: &DriverConfig) -> Result<Self, Errno> {
        // SAFETY: no pointers are passed.
        let fd = Errno::check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the kernel just returned `fd`, and no other value owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let waker = Waker::new()?;
        let mut driver = Self {
            fd,
            clock: setup.clock,
            sockets: Sockets::with_capacity(setup.sockets),
            listeners: Vec::new(),
            waker,
            ready: Vec::with_capacity(EVENTS_MAX),
            timer: None,
            at: 0,
            unfinished: Vec::new(),
            paused: Vec::new(),
            resume_at: Nanos::MAX,
            accepted: 0,
            datagrams: 0,
            buffer: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            ending: None,
            stale: 0,
            bytes_sent: 0,
        };
        let token = Token::new(Operation::Wake, ConnId { slot: 0, generation: 0 });
        driver.watch(driver.waker.fd(), libc::EPOLLIN as u32, token)?;
        if !setup.features.has(Feature::EpollPwait2) {
            driver.add_timer()?;
        }
        Ok(driver)
    }

    fn connect(&mut self, dial: &Dial) -> Result<ConnId, Errno> {
        if let Some(datagrams) = dial.datagrams {
            return self.connect_datagrams(dial, datagrams);
        }
        let socket = socket::plain_stream(dial.to)?;
        if let Some(from) = dial.from {
            socket::bind_source(&socket, from)?;
        }
        if dial.speaks_at_once && socket::is_tcp(dial.to) {
            socket::delay_acknowledgement(&socket)?;
        }
        socket::connect(&socket, dial.to)?;
        // Even if it is done already: the edge on registration reports it like any other.
        let conn = self.adopt(socket, true, Operation::Connection)?;
        if !socket::is_tcp(dial.to)
            && let Some(entry) = self.sockets.get(conn)
        {
            entry.has_no_delay();
        }
        Ok(conn)
    }

    fn listen(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno> {
        let (socket, bound) = socket::listening(at)?;
        let id = ListenerId(u32::try_from(self.listeners.len()).expect("a handful of listeners"));
        let token = Token::new(Operation::Listener, ConnId { slot: id.0, generation: 0 });
        // Level-triggered: connections that a limited turn leaves waiting are reported again.
        self.watch(&socket, libc::EPOLLIN as u32, token)?;
        self.listeners.push(socket);
        Ok((id, bound))
    }

    fn stop_accepting(&mut self) {
        self.listeners.clear();
        self.paused.clear();
        self.resume_at = Nanos::MAX;
    }

    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        match self.send_first(conn, bytes)? {
            taken if taken == bytes.len() => Ok(SendStatus::All),
            taken => Ok(self.keep(conn, Arc::from(&bytes[taken..]), 0)),
        }
    }

    #[inline]
    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno> {
        match self.send_first(conn, bytes)? {
            taken if taken == bytes.len() => Ok(SendStatus::All),
            taken => Ok(self.keep(conn, Arc::clone(bytes), taken)),
        }
    }

    fn ends(&mut self, conn: ConnId) -> Result<ConnAddresses, Errno> {
        socket::ends(&self.sockets.get(conn).ok_or(Errno(libc::ENOTCONN))?.fd)
    }

    fn last_received_age(&mut self, conn: ConnId) -> Option<Nanos> {
        socket::last_received_age(&self.sockets.get(conn)?.fd)
    }

    fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    fn close(&mut self, conn: ConnId, how: Close) {
        if let Some(entry) = self.sockets.remove(conn) {
            socket::close(entry.fd, how);
        }
    }

    fn shut_down_sending(&mut self, conn: ConnId) {
        if let Some(entry) = self.sockets.get(conn) {
            socket::shut_down_sending(&entry.fd);
        }
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        if self.at < self.ready.len() {
            return Ok(true);
        }
        self.at = 0;
        self.ready.clear();
        if now >= self.resume_at {
            self.resume_accepting()?;
        }
        let until = if self.unfinished.is_empty() { until.min(self.resume_at) } else { now };
        match self.wait_kernel(now, until) {
            Ok(()) => {
                self.ready.append(&mut self.unfinished);
                Ok(!self.ready.is_empty())
            }
            Err(Errno(libc::EINTR)) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    fn next(&mut self) -> Option<Event> {
        while let Some(&libc::epoll_event { events, u64 }) = self.ready.get(self.at) {
            let token = Token(u64);
            let event = match token.operation() {
                Some(Operation::Connection) => self.connection_ready(token.conn(), events),
                Some(Operation::Listener) => self.listener_ready(token.conn().slot),
                Some(Operation::Datagrams) => self.datagrams_ready(token.conn(), events),
                Some(Operation::Wake) => {
                    self.waker.acknowledge();
                    self.at += 1;
                    Some(Event::Woken)
                }
                // A timer is taken out of what is ready by the wait, the rest is another driver's.
                _ => unreachable!("only tokens made here are registered"),
            };
            if event.is_some() {
                return event;
            }
        }
        None
    }

    #[inline]
    fn received(&self, len: usize) -> &[u8] {
        &self.buffer[..len]
    }

    #[inline]
    fn is_ending(&self, conn: ConnId) -> bool {
        self.ending == Some(conn)
    }

    fn waker(&self) -> Result<Waker, Errno> {
        Ok(self.waker.clone())
    }

    fn stale(&self) -> u64 {
        self.stale
    }
}

impl Epoll {
    /// Passes the start of `bytes` to the kernel, after pending data. Returns how much it took.
    #[inline]
    fn send_first(&mut self, conn: ConnId, bytes: &[u8]) -> Result<usize, Errno> {
        let Some(entry) = self.sockets.get(conn) else { return Err(Errno(libc::ENOTCONN)) };
        if !entry.unsent.is_empty() {
            return Ok(0);
        }
        let offered = &bytes[..bytes.len().min(SEND_BYTES_MAX)];
        let taken = match entry.send(offered) {
            Ok(taken) => taken,
            Err(errno) => return Err(self.send_failed(conn, errno)),
        };
        self.bytes_sent += taken as u64;
        if taken == offered.len() && taken < bytes.len() {
            self.unfinished.push(writable(conn));
        }
        Ok(taken)
    }

    /// Data received before that is reported first, and then the end.
    #[cold]
    fn send_failed(&mut self, conn: ConnId, errno: Errno) -> Errno {
        if let Some(entry) = self.sockets.get(conn)
            && entry.send_error().is_none()
        {
            entry.break_sending(errno);
            // The kernel has reported the edge already, or will report no other.
            self.unfinished.push(ending(conn));
        }
        errno
    }

    #[cold]
    fn keep(&mut self, conn: ConnId, bytes: Arc<[u8]>, from: usize) -> SendStatus {
        if let Some(entry) = self.sockets.get(conn) {
            let _ = entry.before_send();
            entry.unsent.push(bytes, from);
        }
        SendStatus::Pending
    }

    fn watch(&self, fd: &OwnedFd, events: u32, token: Token) -> Result<(), Errno> {
        let mut event = libc::epoll_event { events, u64: token.0 };
        // SAFETY: `event` is valid for the call; both descriptors are open.
        Errno::check(unsafe {
            libc::epoll_ctl(self.fd.as_raw_fd(), libc::EPOLL_CTL_ADD, fd.as_raw_fd(), &raw mut event)
        })
        .map(drop)
    }

    fn adopt(&mut self, socket: OwnedFd, connecting: bool, kind: Operation) -> Result<ConnId, Errno> {
        let conn = self.sockets.insert(socket, connecting);
        let events = (libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET) as u32;
        let entry = self.sockets.get(conn).expect("just inserted");
        let mut event = libc::epoll_event { events, u64: Token::new(kind, conn).0 };
        // SAFETY: `event` is valid for the call; both descriptors are open.
        let result = unsafe {
            libc::epoll_ctl(self.fd.as_raw_fd(), libc::EPOLL_CTL_ADD, entry.fd.as_raw_fd(), &raw mut event)
        };
        if let Err(errno) = Errno::check(result) {
            self.sockets.remove(conn);
            return Err(errno);
        }
        Ok(conn)
    }

    /// Returns the next event of the connection at the head of `ready`; advances past it when it is
    /// drained.
    fn connection_ready(&mut self, conn: ConnId, events: u32) -> Option<Event> {
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
            // Once per edge: a connection that sends continuously would delay all others.
            self.ready[self.at].events &= !libc::EPOLLOUT as u32;
            match entry.unsent.flush(&entry.fd) {
                Ok(taken) => {
                    self.bytes_sent += taken.bytes as u64;
                    if taken.go_on {
                        self.unfinished.push(writable(conn));
                    }
                    if entry.unsent.is_empty() {
                        return Some(Event::Flushed(conn));
                    }
                }
                Err(errno) => {
                    // Reported after the data before it, which is read to the end now.
                    entry.break_sending(errno);
                    self.ready[self.at] = ending(conn);
                    return None;
                }
            }
        }
        let ends = libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR;
        if events & (libc::EPOLLIN | ends) == 0 {
            self.at += 1;
            return None;
        }
        if entry.reported != ReportedEnd::Nothing {
            // Readable for ever after; only what breaks the connection is news.
            self.at += 1;
            return news_behind_the_end(entry, conn, events);
        }
        match (socket::receive(&entry.fd, &mut self.buffer), entry.send_error()) {
            (Ok(Some(len)), _) if len > 0 => {
                // A full buffer may hide more; an announced end must be read to be heard.
                let full = len == self.buffer.len();
                if full {
                    self.unfinished.push(self.ready[self.at]);
                }
                if full || events & ends == 0 {
                    self.at += 1;
                }
                self.ending = (events & ends != 0 && !full).then_some(conn);
                Some(Event::Received(conn, len))
            }
            // Whatever is left to be heard of it: it broke under a send.
            (_, Some(errno)) | (Err(errno), None) => {
                self.at += 1;
                Some(broken_event(entry, conn, errno))
            }
            (Ok(Some(_)), None) => {
                self.at += 1;
                entry.reported = ReportedEnd::Eof;
                Some(Event::Ended(conn, CloseReason::Eof))
            }
            (Ok(None), None) => {
                self.at += 1;
                None
            }
        }
    }

    #[inline]
    fn connect_ready(&mut self, conn: ConnId, events: i32) -> Option<Event> {
        let entry = self.sockets.get(conn)?;
        if events & (libc::EPOLLOUT | libc::EPOLLERR | libc::EPOLLHUP) == 0 {
            self.at += 1;
            return None;
        }
        // Writable and neither broken nor hung up means connected, without a further query.
        let reported = events & (libc::EPOLLERR | libc::EPOLLHUP) != 0;
        match if reported { entry.connect_error() } else { Ok(()) } {
            // Stay on this entry: data may have come with the same edge.
            Ok(()) => {
                entry.connecting = false;
                Some(Event::Connected(conn))
            }
            Err(errno) => {
                self.at += 1;
                self.sockets.remove(conn);
                Some(Event::ConnectFailed(conn, errno))
            }
        }
    }
}
