//! [`KeepAlive`]: the PINGs of a client to a server that soon closes silent connections.

use std::time::{Duration, Instant};

use quinn_proto::coding::Codec;
use quinn_proto::{Connection, VarInt};

use crate::config::KEEP_ALIVE;

/// The parameter `max_idle_timeout`, in milliseconds (RFC 9000 §18.2).
const MAX_IDLE_TIMEOUT: u64 = 1;
/// The shortest interval. Shorter idle timeouts are not worth more packets.
const INTERVAL_MIN: Duration = Duration::from_millis(100);

/// When a client sends a PING on a silent connection. The library has the same interval for all
/// connections, which is too long for some servers.
#[derive(Debug)]
pub(crate) struct KeepAlive {
    /// `None`: that of the library is short enough.
    interval: Option<Duration>,
    /// When the last packet arrived, or the last PING was sent.
    silent_since: Instant,
}

impl KeepAlive {
    /// Creates the state before the handshake is complete.
    pub(crate) const fn new(now: Instant) -> Self {
        Self { interval: None, silent_since: now }
    }

    /// Sets the interval when the handshake is complete: a third of the server's idle timeout, so
    /// that one PING may be lost.
    pub(crate) fn begin(&mut self, connection: &Connection) {
        let interval = idle_timeout(connection).map(|timeout| (timeout / 3).max(INTERVAL_MIN));
        self.interval = interval.filter(|interval| *interval < KEEP_ALIVE);
    }

    /// Notes that a packet has arrived.
    pub(crate) const fn note_arrival(&mut self, now: Instant) {
        self.silent_since = now;
    }

    /// Returns when the next PING is due.
    pub(crate) fn due_at(&self) -> Option<Instant> {
        self.interval.map(|interval| self.silent_since + interval)
    }

    /// Returns whether a PING is due, which the caller sends.
    pub(crate) fn take_due(&mut self, now: Instant) -> bool {
        let is_due = self.due_at().is_some_and(|at| at <= now);
        if is_due {
            self.silent_since = now;
        }
        is_due
    }
}

/// Returns the idle timeout that the peer has announced, if it has one. The library shows it only
/// as part of the encoded parameters.
fn idle_timeout(connection: &Connection) -> Option<Duration> {
    let parameters = connection.crypto_session().transport_parameters().ok()??;
    let mut encoded = Vec::new();
    parameters.write(&mut encoded);
    let mut rest = &encoded[..];
    loop {
        let id = VarInt::decode(&mut rest).ok()?.into_inner();
        let length = usize::try_from(VarInt::decode(&mut rest).ok()?.into_inner()).ok()?;
        let (mut value, after) = rest.split_at_checked(length)?;
        rest = after;
        if id == MAX_IDLE_TIMEOUT {
            let timeout = VarInt::decode(&mut value).ok()?.into_inner();
            return (timeout > 0).then(|| Duration::from_millis(timeout));
        }
    }
}
