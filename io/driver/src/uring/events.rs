//! Translates completions into events.

use io_uring::cqueue;

use super::Uring;
use super::addresses_of_conn::into_owned_fd;
use super::buffers::BUFFER_BYTES;
use super::ring::{Completion, buffer};
use super::slots::{Phase, ReceiveAction, ReceiveOutcome};
use crate::Errno;
use crate::driver::{CloseReason, ConnId, Event, ListenerId};
use crate::token::{Operation, Token};

impl Uring {
    #[inline]
    pub(super) fn next_event(&mut self) -> Option<Event> {
        self.give_back();
        while let Some(&completion) = self.ready.get(self.at) {
            self.at += 1;
            let token = Token(completion.token);
            let event = match token.operation() {
                Some(Operation::Receive) => self.receive_completed(token.conn(), completion),
                Some(operation) => self.completed(token, operation, completion),
                None => unreachable!("only tokens made here are queued"),
            };
            if event.is_some() {
                return event;
            }
            self.give_back();
        }
        None
    }

    /// Returns the buffer of the last receive to the kernel: the owner has seen its bytes.
    #[inline]
    pub(super) fn give_back(&mut self) {
        if let Some((ring, buffer)) = self.lent.take() {
            self.rings[ring].buffers.give(buffer);
        }
    }

    /// Whether the end of `conn` is known: from its watch, or from the next completion. An armed
    /// receive completes with the end right after the bytes that came with it.
    #[inline]
    pub(super) fn knows_end(&self, conn: ConnId) -> bool {
        let is_end = |next: &Completion| {
            let token = Token(next.token);
            next.result == 0
                && token.operation() == Some(Operation::Receive)
                && token.conn() == conn
                && !self.slots.is_datagrams(conn)
        };
        // After a full buffer there may be more.
        let is_last = self.received_len < BUFFER_BYTES;
        self.ready.get(self.at).is_some_and(is_end) || (is_last && self.slots.is_ending(conn))
    }

    #[inline]
    fn receive_completed(&mut self, conn: ConnId, completion: Completion) -> Option<Event> {
        let Completion { result, flags, .. } = completion;
        if let Some(buffer) = buffer(flags) {
            // The next call returns it, whether the receive is reported or not.
            self.lent = Some((self.slots.place(conn.slot).0, buffer));
        }
        let (more, rest) = (cqueue::more(flags), cqueue::sock_nonempty(flags));
        let (came, again) = self.slots.received(conn, result, more, rest);
        if again {
            self.thirsty.push(conn);
        }
        match came {
            ReceiveOutcome::Bytes(len) => {
                self.received_len = len;
                Some(Event::Received(conn, len))
            }
            ReceiveOutcome::Nothing => None,
            ReceiveOutcome::End(how) => Some(Event::Ended(conn, how)),
            ReceiveOutcome::Failed => {
                Some(Event::Ended(conn, CloseReason::Broken(self.why_sending_failed(conn))))
            }
            ReceiveOutcome::Starved => {
                self.starved += 1;
                None
            }
        }
    }

    fn completed(&mut self, token: Token, operation: Operation, completion: Completion) -> Option<Event> {
        let (conn, result) = (token.conn(), completion.result);
        match operation {
            Operation::Accept => self.on_accept(conn, result),
            Operation::Prepare | Operation::Bind | Operation::Connect => {
                Some(match self.on_connect(token, result)? {
                    Ok(conn) => Event::Connected(conn),
                    Err((conn, errno)) => Event::ConnectFailed(conn, errno),
                })
            }
            Operation::Readable => {
                // Where a receive is armed, the end of the peer alone is not watched.
                let ends = libc::POLLERR | libc::POLLHUP | libc::POLLRDHUP;
                let gone = result < 0 || result & i32::from(ends) != 0;
                let reading = self.slots.readable(conn, cqueue::more(completion.flags), gone);
                self.read(conn, reading);
                None
            }
            // The completions of these that are left are errors on connections where nothing is
            // read any more.
            Operation::Send | Operation::Piece => {
                let errno = self.why_sending_failed(conn);
                match self.slots.broke(conn, errno) {
                    ReceiveOutcome::End(how) => Some(Event::Ended(conn, how)),
                    _ => None,
                }
            }
            Operation::Flushed => (self.slots.phase(conn) == Phase::Open).then_some(Event::Flushed(conn)),
            Operation::ShutDown => {
                self.slots.done(conn, operation);
                None
            }
            Operation::Wake => {
                self.waker_watched &= cqueue::more(completion.flags);
                self.waker.acknowledge().then_some(Event::Woken)
            }
            Operation::Listener => Some(Event::AcceptFailed(ListenerId(conn.slot), Errno(-result))),
            // Its result is not needed any more.
            Operation::Install => {
                drop(into_owned_fd(result));
                None
            }
            Operation::Aside
            | Operation::Writable
            | Operation::Connection
            | Operation::Receive
            | Operation::Datagrams
            | Operation::Timer => None,
        }
    }

    fn why_sending_failed(&self, conn: ConnId) -> Errno {
        let flow = self.flows.get(conn.slot as usize);
        flow.and_then(|flow| Errno::unpacked(flow.broke)).unwrap_or(Errno(libc::EPIPE))
    }

    /// Executes `reading`. Returns whether nothing is left to read.
    pub(super) fn read(&mut self, conn: ConnId, reading: ReceiveAction) -> bool {
        match reading {
            ReceiveAction::AsIs => {}
            ReceiveAction::Now => self.thirsty.push(conn),
            ReceiveAction::Again => self.rearm_receive(conn),
            ReceiveAction::Over => return true,
        }
        false
    }
}
