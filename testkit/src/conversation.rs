//! [`Conversation`]: one connection of a scripted target, from accept to end.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt;

use crate::clock::{Stamp, park_until};
use crate::naive_parser::{Head, ReceivedRequest};
use crate::script_action::ScriptAction;
use crate::target::Shared;
use crate::truth::Arrival;

/// No request of a test is this long; a longer one is malformed.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// One connection. Blocking: its thread does nothing else.
pub(crate) struct Conversation<'a> {
    stream: Arc<TcpStream>,
    number: u64,
    shared: &'a Shared,
    buffer: Vec<u8>,
    served: u64,
    mute: bool,
}

/// Why a connection is over.
enum End {
    /// The script ended it, or the target is being dropped.
    Ours,
    /// The client sent FIN.
    Fin,
    /// RST, or a write that failed.
    Broken,
}

impl<'a> Conversation<'a> {
    pub(crate) fn new(stream: Arc<TcpStream>, number: u64, shared: &'a Shared) -> Self {
        // A response must be sent when it is due, not when the client acknowledges the previous
        // one.
        let _ = stream.set_nodelay(true);
        Self { stream, number, shared, buffer: Vec::new(), served: 0, mute: false }
    }

    pub(crate) fn run(mut self) {
        let shared = self.shared;
        let end = self.converse();
        shared.count(|truth| match end {
            End::Ours => truth.ended_by_script += 1,
            End::Fin => truth.ended_by_fin += 1,
            End::Broken => truth.ended_by_reset += 1,
        });
    }

    fn converse(&mut self) -> End {
        let greeting = self.shared.script.greeting.clone();
        if let Err(end) = self.perform(greeting) {
            return end;
        }
        loop {
            let seen = match self.next_request() {
                Ok(seen) => seen,
                Err(end) => return end,
            };
            if self.mute {
                continue;
            }
            let acts = (self.shared.script.play)(&seen);
            if let Err(end) = self.perform(acts) {
                return end;
            }
            if !seen.keeps_alive() && !self.mute {
                return End::Ours;
            }
        }
    }

    /// Reads up to the end of the next request, counting it when its head is complete.
    fn next_request(&mut self) -> Result<ReceivedRequest, End> {
        let head = loop {
            match Head::read(&self.buffer) {
                Ok(Some(head)) => break head,
                Ok(None) if self.buffer.len() < HEAD_BYTES_MAX => self.fill()?,
                _ => {
                    self.shared.count(|truth| truth.malformed += 1);
                    return Err(End::Ours);
                }
            }
        };
        let arrived = Stamp::now();
        self.served += 1;
        let (number, first) = self.count(&head, arrived);
        let body_len = head.body_len();
        while self.buffer.len() < head.len + body_len {
            self.fill()?;
        }
        let body = self.buffer[head.len..head.len + body_len].to_vec();
        self.buffer.drain(..head.len + body_len);
        Ok(ReceivedRequest {
            method: head.method,
            path: head.path,
            version: head.version,
            fields: head.fields,
            body,
            number,
            on_connection: self.served,
            connection: self.number,
            arrived,
            first,
        })
    }

    fn count(&self, head: &Head, arrived: Stamp) -> (u64, Stamp) {
        self.shared.count(|truth| {
            truth.requests += 1;
            *truth.by_path.entry(head.path.clone()).or_default() += 1;
            *truth.by_method.entry(head.method.clone()).or_default() += 1;
            truth.arrivals.push(Arrival { at: arrived, connection: self.number });
            (truth.requests, truth.arrivals[0].at)
        })
    }

    fn fill(&mut self) -> Result<(), End> {
        let mut chunk = [0; 16 * 1024];
        loop {
            match (&*self.stream).read(&mut chunk) {
                Ok(0) => return Err(End::Fin),
                Ok(n) => {
                    self.buffer.extend_from_slice(&chunk[..n]);
                    self.shared.count(|truth| truth.bytes_received += n as u64);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The idle limit has passed.
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(End::Ours),
                Err(_) => return Err(End::Broken),
            }
        }
    }

    fn perform(&mut self, acts: Vec<ScriptAction>) -> Result<(), End> {
        for act in acts {
            match act {
                ScriptAction::Wait(span) => self.wait(Stamp::now().plus(span))?,
                ScriptAction::WaitUntil(until) => self.wait(until)?,
                ScriptAction::Send(bytes) => self.send(&bytes)?,
                ScriptAction::Trickle(bytes, gap) => self.trickle(&bytes, gap)?,
                ScriptAction::HalfClose => {
                    let _ = self.stream.shutdown(Shutdown::Write);
                    self.mute = true;
                }
                ScriptAction::Silence => self.mute = true,
                ScriptAction::Reset => {
                    // Lingering for zero seconds makes the close an RST.
                    let _ = sockopt::set_socket_linger(&*self.stream, Some(Duration::ZERO));
                    return Err(End::Ours);
                }
                ScriptAction::Close => return Err(End::Ours),
                ScriptAction::IdleLimit(limit) => {
                    self.stream.set_read_timeout(Some(limit)).expect("a limit above zero");
                }
            }
        }
        Ok(())
    }

    fn wait(&self, until: Stamp) -> Result<(), End> {
        if park_until(until, &self.shared.stop) { Err(End::Ours) } else { Ok(()) }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), End> {
        self.count_status(bytes);
        // Counted before the write, like everything that is counted: once a client has the bytes,
        // they must be counted.
        self.shared.count(|truth| truth.bytes_sent += bytes.len() as u64);
        (&*self.stream).write_all(bytes).map_err(|_| End::Broken)
    }

    fn trickle(&mut self, bytes: &[u8], gap: Duration) -> Result<(), End> {
        self.count_status(bytes);
        let mut due = Stamp::now();
        for byte in bytes {
            self.wait(due)?;
            self.shared.count(|truth| truth.bytes_sent += 1);
            (&*self.stream).write_all(&[*byte]).map_err(|_| End::Broken)?;
            due = due.plus(gap);
        }
        Ok(())
    }

    fn count_status(&self, bytes: &[u8]) {
        let digits = bytes.strip_prefix(b"HTTP/1.1 ").or_else(|| bytes.strip_prefix(b"HTTP/1.0 "));
        let status = digits.and_then(|digits| std::str::from_utf8(digits.get(..3)?).ok()?.parse().ok());
        if let Some(status) = status.filter(|status| *status >= 200) {
            self.shared.count(|truth| *truth.by_status.entry(status).or_default() += 1);
        }
    }
}
