//! [`HealthCheck`]: periodic health checks of one server.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};
use wavetank_topology::{Backend, BackendCheck};
use wavetank_units::Nanos;

/// Bytes of the status line that are read; the rest is ignored.
const STATUS_BYTES_MAX: usize = 64;

/// The result of a check: success, or the reason of the failure.
pub(super) type Outcome = Result<(), String>;

/// The checks of one server, one at a time. No call blocks.
pub(super) struct HealthCheck<'l> {
    server: &'l Backend,
    how: &'l BackendCheck,
    state: State,
    /// The start of the current or the last check.
    begun: Nanos,
}

enum State {
    /// No check is in progress; the next one starts when it is due.
    Idle,
    Connecting(OwnedFd),
    /// The request was sent, and this much of the response was received.
    Asked(TcpStream, Vec<u8>),
}

impl<'l> HealthCheck<'l> {
    /// Checks of `server`, the first of them at `first`.
    pub(super) fn new(server: &'l Backend, how: &'l BackendCheck, first: Nanos) -> Self {
        Self { server, how, state: State::Idle, begun: Nanos(first.0.saturating_sub(how.every.0)) }
    }

    /// Returns when [`handle_time`](Self::handle_time) must be called next, unless the handle
    /// becomes ready before.
    pub(super) fn due(&self) -> Nanos {
        match self.state {
            State::Idle => self.begun.after(self.how.every),
            State::Connecting(_) | State::Asked(..) => self.begun.after(self.how.timeout),
        }
    }

    /// Returns the descriptor and event to wait for.
    pub(super) fn handle(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match &self.state {
            State::Idle => None,
            State::Connecting(socket) => Some((socket.as_fd(), PollFlags::OUT)),
            State::Asked(stream, _) => Some((stream.as_fd(), PollFlags::IN)),
        }
    }

    /// Starts a check that is due, or gives up one that takes too long.
    pub(super) fn handle_time(&mut self, now: Nanos) -> Option<Outcome> {
        if now < self.due() {
            return None;
        }
        if matches!(self.state, State::Idle) {
            self.begun = now;
            return match self.begin() {
                Ok(socket) => {
                    self.state = State::Connecting(socket);
                    None
                }
                Err(errno) => Some(Err(errno.to_string())),
            };
        }
        let asked = std::mem::replace(&mut self.state, State::Idle);
        let doing = if matches!(asked, State::Connecting(_)) { "no connection" } else { "no answer" };
        Some(Err(format!("{doing} within {} ms", self.how.timeout.0 / 1_000_000)))
    }

    /// Continues the check when its descriptor is ready.
    pub(super) fn handle_ready(&mut self) -> Option<Outcome> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => None,
            State::Connecting(socket) => self.connected(socket),
            State::Asked(stream, read) => self.answered(stream, read),
        }
    }

    fn begin(&self) -> Result<OwnedFd, Errno> {
        let address = SocketAddr::new(self.server.address, self.server.port);
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket =
            socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
        match connect(&socket, &address) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(errno) => Err(errno),
        }
    }

    fn connected(&mut self, socket: OwnedFd) -> Option<Outcome> {
        if let Err(errno) = sockopt::socket_error(&socket).and_then(|error| error) {
            return Some(Err(errno.to_string()));
        }
        let Some(path) = &self.how.path else { return Some(Ok(())) };
        let mut stream = TcpStream::from(socket);
        let server = self.server;
        let question = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: wavetank-health\r\nConnection: close\r\n\r\n",
            SocketAddr::new(server.address, server.port),
        );
        // A new socket accepts a few hundred bytes in one write.
        match stream.write_all(question.as_bytes()) {
            Ok(()) => {
                self.state = State::Asked(stream, Vec::with_capacity(STATUS_BYTES_MAX));
                None
            }
            Err(error) => Some(Err(error.to_string())),
        }
    }

    fn answered(&mut self, mut stream: TcpStream, mut read: Vec<u8>) -> Option<Outcome> {
        let mut some = [0; STATUS_BYTES_MAX];
        let room = STATUS_BYTES_MAX - read.len();
        match stream.read(&mut some[..room]) {
            Ok(0) => return Some(Err("it closed the connection without an answer".to_owned())),
            Ok(count) => read.extend_from_slice(&some[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Some(Err(error.to_string())),
        }
        if let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            return Some(judged(&read[..end]));
        }
        if read.len() == STATUS_BYTES_MAX {
            return Some(judged(&read));
        }
        self.state = State::Asked(stream, read);
        None
    }
}

/// Judges a status line such as `HTTP/1.1 200 OK`: 200 to 399 is a success.
fn judged(line: &[u8]) -> Outcome {
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_ascii_whitespace();
    let http = words.next().is_some_and(|word| word.starts_with("HTTP/1."));
    let status = words.next().filter(|word| word.len() == 3).and_then(|word| word.parse::<u16>().ok());
    match status.filter(|_| http) {
        Some(200..=399) => Ok(()),
        Some(status) => Err(format!("it answers {status}")),
        None => Err("its response is not HTTP".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Result<(), &str>) {
        assert_eq!(judged(line.as_bytes()), expected.map_err(str::to_owned), "{line}");
    }

    #[test]
    fn only_answers_of_http_that_are_no_errors_are_good() {
        check("HTTP/1.1 200 OK\r", Ok(()));
        check("HTTP/1.0 399", Ok(()));
        check("HTTP/1.1 204", Ok(()));
        check("HTTP/1.1 400 Bad Request", Err("it answers 400"));
        check("HTTP/1.1 503 Service Unavailable\r", Err("it answers 503"));
        check("HTTP/1.1 199 x", Err("it answers 199"));
        for foreign in ["SSH-2.0-OpenSSH_9.2", "", "HTTP/1.1", "HTTP/1.1 ok", "HTTP/1.1 2000 x", "ICY 200 OK"]
        {
            check(foreign, Err("its response is not HTTP"));
        }
    }
}
