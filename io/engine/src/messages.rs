//! What load threads and the one who runs them say to each other.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::Errno;
use wavetank_measure::{ErrorClass, Interval};
use wavetank_plan::{Key, Nanos, Rate};

use crate::failure::Failure;

/// Bytes of a request line that are told with a failure.
const TOLD_BYTES_MAX: usize = 200;

/// To a load thread.
#[derive(Clone, Debug)]
pub enum Command {
    /// The run's clock begins: its zero on the clock the thread was given.
    Start(Nanos),
    /// From an instant of the run's clock on (at least a second ahead), a phase's load is another one.
    Change(Nanos, Change),
    /// No arrivals and iterations intended at that instant of the run's clock or later; what is under way
    /// goes on. A little ahead, so that all threads stop at the same one.
    Drain(Nanos),
    /// At that instant of the run's clock: cut what is under way, close everything, seal and end. One
    /// instant for all threads, a little ahead, so that their last intervals are the same.
    Finish(Nanos),
    /// Connections opened from now on go to these addresses, in turn: for each target of the plan its own, none where
    /// they stay what they were. What is open stays.
    UpdateAddresses(Arc<[Vec<SocketAddr>]>),
}

/// A new load for the phase that runs at the instant of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Open model: this rate, as the total of the run.
    Rate(Rate),
    /// Closed model: this many users, as the total of the run; at most as many as the plan had seats for.
    Users(u64),
}

/// From a load thread.
#[derive(Debug)]
pub enum Message {
    /// Thread number: connections that are to be there before the load are open, so many of them, or have
    /// failed; it waits for the start.
    Ready(u16, u64),
    /// What happened in one interval on one thread.
    Sealed(Box<SealedInterval>),
    /// A journey wants the run to end: each thread says so once.
    EndRun(EndOfRun),
    /// Thread number; no arrivals or iterations will follow, nothing is under way. With it the instant
    /// the last request was resolved.
    Drained(u16, Nanos),
    /// Thread number: it has ended; its last interval was sent before.
    Finished(u16),
    /// Thread number: its driver or its process failed, as the words say; nothing more comes from it.
    Failed(u16, String),
}

/// One interval of one thread, with what does not add up.
#[derive(Debug)]
pub struct SealedInterval {
    /// The counts.
    pub interval: Interval,
    /// First failures of their class and step on this thread.
    pub samples: Vec<Sample>,
    /// What journeys logged.
    pub logs: Vec<LogLine>,
    /// Lines that they logged beyond these.
    pub logs_untold: u64,
    /// Answers that have become some of the slowest of their step on this thread.
    pub slow: Vec<SlowSample>,
    /// What the counters hold as open differs from what is under way: a defect, never ignored.
    pub accounting: Option<String>,
}

/// Where a journey ended the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfRun {
    /// Index into [`Plan::scenarios`](wavetank_plan::Plan::scenarios).
    pub scenario: u16,
    /// The step whose request failed where that is to end the run; `None`: the run came to its `end`.
    pub failed: Option<u16>,
}

/// A line that a journey logged: without secrets, control characters and what is too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Its session's phase and scenario.
    pub key: Key,
    /// When.
    pub at: Nanos,
    /// The line.
    pub text: String,
}

/// The times of a done request: its intended instant, the others in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct RequestTimes {
    /// When the plan wanted it.
    pub intended: Nanos,
    /// complete − intended.
    pub response: u64,
    /// complete − sent.
    pub service: u64,
    /// begun − intended.
    pub lag: u64,
    /// first byte − sent.
    pub ttfb: u64,
    /// complete − first byte.
    pub transfer: u64,
}

/// One answered request, as an example of the slowest.
#[derive(Clone, Copy, Debug)]
pub struct SlowSample {
    /// What it was counted under.
    pub key: Key,
    /// How long everything took.
    pub times: RequestTimes,
    /// The answer's status.
    pub status: u16,
}

/// One failed request, as an example of its class.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What it was counted under.
    pub key: Key,
    /// Why it failed.
    pub class: ErrorClass,
    /// When it ended.
    pub at: Nanos,
    /// How long after its intended instant, in nanoseconds.
    pub waited_ns: u64,
    /// The answer's status, if there was one.
    pub status: Option<u16>,
    /// What the kernel, the parser or TLS said.
    pub detail: Option<String>,
    /// The error number behind it.
    pub errno: Option<Errno>,
}

impl Sample {
    pub(crate) const fn new(key: Key, class: ErrorClass, at: Nanos, waited_ns: u64) -> Self {
        Self { key, class, at, waited_ns, status: None, detail: None, errno: None }
    }

    pub(crate) fn with_status(self, status: Option<u16>) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn with_failure(self, failure: &Failure) -> Self {
        let detail = failure
            .errno
            .map(|errno| errno.to_string())
            .or_else(|| failure.detail.as_deref().map(str::to_owned));
        Self { detail, errno: failure.errno, ..self }
    }

    /// It failed in something more that was sent for it: the first line of that says what it was.
    pub(crate) fn with_what(self, request: Option<&[u8]>) -> Self {
        let line = request.unwrap_or_default().split(|byte| *byte == b'\r').next().unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').take(2).collect();
        let what = String::from_utf8_lossy(&words.join(&b' ')).into_owned();
        let what = &what[..what.floor_char_boundary(TOLD_BYTES_MAX)];
        let detail =
            self.detail.as_deref().map_or_else(|| what.to_owned(), |detail| format!("{what}: {detail}"));
        Self { detail: Some(detail), ..self }
    }
}
