//! [`TargetPoller`]: polls the connection count of a `wavetank serve`.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use wavetank_measure::TargetSample;
use wavetank_record::TargetCount;
use wavetank_units::Nanos;
use wavetank_wire::h1::{Limits, ResponseReader, ResponseSink};

use crate::network::in_network_fd;

/// Time limit of an answer. A later one would overlap with the next second's request.
const PATIENCE: Duration = Duration::from_millis(900);
/// Maximum number of bytes kept of an answer's body.
const BODY_MAX: usize = 4_096;
/// Maximum size of a whole answer in bytes. A server that sends more is not `wavetank serve`.
const ANSWER_MAX: usize = 64 * 1_024;

/// The result of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollResult {
    /// The target's count.
    Reported(TargetSample),
    /// No answer this time, from a target that had answered before.
    Silent,
    /// The target does not report its count; it must not be polled again.
    Foreign {
        /// Whether a request was sent.
        sent: bool,
        /// Whether it was answered with something else.
        answered: bool,
    },
}

/// Polls the target on a separate connection that is outside of the engine and not counted by the
/// run.
#[derive(Debug)]
pub struct TargetPoller {
    address: SocketAddr,
    /// The complete request.
    request: Vec<u8>,
    /// The run's zero on the kernel's monotonic clock, which is also the target's clock if the
    /// target is on this host.
    zero_monotonic_ns: i64,
    stream: Option<TcpStream>,
    /// Whether the target has reported its count before.
    known: bool,
    /// The network in which the target is polled; `None`: that of the calling thread.
    network: Option<Arc<OwnedFd>>,
}

impl TargetPoller {
    /// Returns a poller of the target at `address`, with `host` in the request's `Host` header.
    pub fn new(address: SocketAddr, host: &str, zero_monotonic_ns: i64) -> Self {
        let agent = concat!("wavetank/", env!("CARGO_PKG_VERSION"));
        let request =
            format!("GET /truth/connections HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\n\r\n");
        Self {
            address,
            request: request.into_bytes(),
            zero_monotonic_ns,
            stream: None,
            known: false,
            network: None,
        }
    }

    /// Polls from the network that `network` was opened as, `/proc/PID/ns/net`.
    #[must_use]
    pub fn within(self, network: Arc<OwnedFd>) -> Self {
        Self { network: Some(network), ..self }
    }

    /// Polls once. This takes at most about three seconds, no matter what the target sends, and
    /// usually far less than a millisecond.
    pub fn poll(&mut self, now: impl Fn() -> Nanos) -> PollResult {
        let kept = self.stream.take();
        let reused = kept.is_some();
        let Some(mut stream) = kept.or_else(|| self.connect()) else {
            return self.unanswered(false, false);
        };
        let asked = now();
        if stream.write_all(&self.request).is_err() {
            return self.unanswered(!reused, false);
        }
        let answer = read_answer(&mut stream, || now().since(asked));
        let answered = now();
        let Some((status, body)) = answer else { return self.unanswered(true, false) };
        let Some(count) = TargetCount::decode(&body).ok().filter(|_| status == 200) else {
            return self.unanswered(true, true);
        };
        self.known = true;
        self.stream = Some(stream);
        PollResult::Reported(sample(&count, asked, answered, self.zero_monotonic_ns))
    }

    fn connect(&self) -> Option<TcpStream> {
        let connect = || TcpStream::connect_timeout(&self.address, PATIENCE).ok();
        let stream = self.network.as_ref().map_or_else(connect, |network| in_network_fd(network, connect))?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.set_write_timeout(Some(PATIENCE)).ok()?;
        stream.set_nodelay(true).ok()?;
        Some(stream)
    }

    /// A target that has reported its count before is polled again, because it may only be busy.
    const fn unanswered(&self, sent: bool, answered: bool) -> PollResult {
        if self.known { PollResult::Silent } else { PollResult::Foreign { sent, answered } }
    }
}

/// Returns the count with its time on the run clock. A time that is not between question and answer
/// comes from another clock; the midpoint and half the interval as error are used in that case.
fn sample(count: &TargetCount, asked: Nanos, answered: Nanos, zero_monotonic_ns: i64) -> TargetSample {
    let TargetCount { open, accepted, closed, reset, peak, monotonic_ns } = *count;
    let reported = Nanos(monotonic_ns.saturating_sub(zero_monotonic_ns));
    let (at, error) = if asked <= reported && reported <= answered {
        (reported, Nanos::ZERO)
    } else {
        let half = Nanos((answered - asked).0 / 2);
        (asked.after(half), half)
    };
    TargetSample { asked, at, error, open, accepted, closed, reset, peak }
}

/// Returns status and body of the next answer. Returns `None` if no readable answer that leaves the
/// connection open arrives in time. `waited` returns the nanoseconds since the request.
fn read_answer(stream: &mut TcpStream, waited: impl Fn() -> u64) -> Option<(u16, Vec<u8>)> {
    let mut reader = ResponseReader::new(Limits::default());
    reader.expect(false);
    let mut body = Body(Vec::new());
    let (mut chunk, mut total) = ([0; 4_096], 0);
    while total < ANSWER_MAX {
        let read = match stream.read(&mut chunk) {
            Ok(0) => return None,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        total += read;
        if let Some(answer) = reader.read(&chunk[..read], &mut body).ok()?.answer {
            return answer.keep_alive.then_some((answer.status, body.0));
        }
        // A server that sends single bytes slowly never exceeds the read timeout, and the run's end
        // waits for us.
        if u128::from(waited()) > PATIENCE.as_nanos() {
            return None;
        }
    }
    None
}

/// The start of a body.
struct Body(Vec<u8>);

impl ResponseSink for Body {
    fn body(&mut self, bytes: &[u8]) {
        let room = BODY_MAX.saturating_sub(self.0.len());
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}
