//! [`UdpEcho`]: a thread that sends every datagram back.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use wavetank_driver::{Errno, ReceivedDatagram, ReplySocket};
use wavetank_units::UserError;

use crate::shared::Shared;
use crate::startup_error::cannot_start;
use crate::truth::Counts;

/// How often a thread without datagrams checks whether it should end.
const LOOK_AROUND: Duration = Duration::from_millis(100);
/// Room for any datagram.
const DATAGRAM_BYTES: usize = 64 * 1024;
/// Datagrams that wait for the end of a freeze. Further ones are lost, as in a full socket buffer.
const HELD_MAX: usize = 16_384;

/// See the module's description. Other threads send nothing on its socket.
pub(crate) struct UdpEcho {
    socket: ReplySocket,
    shared: Arc<Shared>,
    counts: Arc<Counts>,
    /// Datagrams that arrived during a freeze, with where they came from.
    held: VecDeque<(Box<[u8]>, ReceivedDatagram)>,
    timeout: Duration,
}

impl UdpEcho {
    /// Starts a thread that counts in `counts`, which no other thread does.
    ///
    /// # Errors
    /// The host does not allow another thread.
    pub(crate) fn start(
        socket: ReplySocket,
        shared: Arc<Shared>,
        counts: Arc<Counts>,
    ) -> Result<JoinHandle<()>, UserError> {
        let echo = Self { socket, shared, counts, held: VecDeque::new(), timeout: Duration::ZERO };
        std::thread::Builder::new()
            .name("serve-udp".to_owned())
            .spawn(move || echo.run())
            .map_err(|error| cannot_start(&error.to_string()))
    }

    fn run(mut self) {
        let mut buffer = vec![0; DATAGRAM_BYTES].into_boxed_slice();
        while !self.shared.is_stopping() {
            match self.turn(&mut buffer) {
                Ok(()) => {}
                Err(error) if is_passing(&error) => {}
                Err(error) => return self.shared.failed(Errno(error.raw_os_error().unwrap_or_default())),
            }
        }
    }

    /// Receives one datagram and sends it back.
    fn turn(&mut self, buffer: &mut [u8]) -> std::io::Result<()> {
        let now = self.shared.clock.now();
        let frozen = self.shared.freeze.frozen_until(now);
        if frozen.is_none() {
            self.release();
        }
        let timeout = frozen.map_or(LOOK_AROUND, |end| Duration::from_nanos(end.since(now)));
        // Zero would mean to wait forever.
        let timeout = timeout.clamp(Duration::from_micros(1), LOOK_AROUND);
        if timeout != self.timeout {
            self.socket.socket().set_read_timeout(Some(timeout))?;
            self.timeout = timeout;
        }
        let received = self.socket.receive(buffer)?;
        let datagram = &buffer[..received.len];
        self.counts.follow(self.shared.epoch());
        let now = self.shared.clock.now();
        self.shared.freeze.note_request(now);
        self.counts.messages_received.add(1);
        self.counts.bytes_received.add(received.len as u64);
        if self.shared.freeze.frozen_until(now).is_none() {
            self.release();
            self.answer(datagram, received);
        } else if self.held.len() < HELD_MAX {
            self.held.push_back((datagram.into(), received));
        }
        Ok(())
    }

    /// Answers the datagrams of a freeze that is over.
    fn release(&mut self) {
        while let Some((datagram, received)) = self.held.pop_front() {
            self.answer(&datagram, received);
        }
    }

    fn answer(&self, datagram: &[u8], ReceivedDatagram { peer, local, .. }: ReceivedDatagram) {
        // Counted first: the client may read the count as soon as it has the answer.
        self.counts.messages_sent.add(1);
        match self.socket.send(datagram, peer, local) {
            Ok(len) => self.counts.bytes_sent.add(len as u64),
            Err(_) => self.counts.messages_sent.take_one(),
        }
    }
}

/// Whether the socket works after this error: it is the end of a wait, or it belongs to an earlier
/// datagram that could not be delivered.
fn is_passing(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
    )
}
