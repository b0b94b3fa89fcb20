//! Messages between load threads and the thread that controls them.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::Errno;
use wavetank_measure::{ErrorClass, Interval};
use wavetank_plan::{Key, LoadChange};
use wavetank_units::Nanos;

use crate::failure::Failure;
use crate::new_share::NewShare;

/// The maximum number of bytes of a request line in the details of a failure.
const SHOWN_BYTES_MAX: usize = 200;

/// A command to a load thread.
#[derive(Clone, Debug)]
pub enum Command {
    /// Starts the run's clock: its zero, on the clock that the thread was given.
    Start(Nanos),
    /// Changes the load of a phase from an instant of the run's clock on, at least a second ahead.
    Change {
        /// That instant.
        at: Nanos,
        /// Index of the phase.
        phase: u16,
        /// The new load, as the total of the run.
        change: LoadChange,
    },
    /// Replaces the share of the arrivals of phases that have not started.
    TakeShare(NewShare),
    /// Stops arrivals and iterations intended at that instant of the run's clock or later; requests
    /// in flight continue. The instant is slightly ahead, so that all threads stop at the same
    /// time.
    Drain(Nanos),
    /// Ends the run at that instant of the run's clock: cut what is in flight, close everything,
    /// seal and end. All threads get the same instant, slightly ahead, so that their last intervals
    /// are the same.
    Finish(Nanos),
    /// Changes the addresses of connections opened from now on, which are used in turn.
    ///
    /// There is one list for each target of the plan, empty if its addresses do not change. Open
    /// connections stay.
    UpdateAddresses(Arc<[Vec<SocketAddr>]>),
}

/// A message from a load thread.
#[derive(Debug)]
pub enum Message {
    /// The connections to be opened before the load are open or have failed, and the thread waits
    /// for the start. Contains the thread number and the number of open connections.
    Ready(u16, u64),
    /// The data of one interval on one thread.
    Sealed(Box<SealedInterval>),
    /// A journey requests the end of the run. Each thread reports this once.
    EndRun(EndOfRun),
    /// No arrivals or iterations will follow, and nothing is in flight. Contains the thread number
    /// and the instant at which the last request was resolved.
    Drained(u16, Nanos),
    /// The thread with this number has ended; its last interval was sent before.
    Finished(u16),
    /// The driver or process of the thread with this number failed for the given reason. It sends
    /// nothing more.
    Failed(u16, String),
}

/// One interval of one thread, with inconsistencies in the counters.
#[derive(Debug)]
pub struct SealedInterval {
    /// The counts.
    pub interval: Interval,
    /// First failure of each class and step on this thread.
    pub samples: Vec<Sample>,
    /// The lines that journeys logged.
    pub logs: Vec<LogLine>,
    /// The number of further lines that they logged.
    pub logs_untold: u64,
    /// Responses that have become some of the slowest of their step on this thread.
    pub slow: Vec<SlowSample>,
    /// The number of open requests or sessions in the counters differs from the actual number. This
    /// is a defect and never ignored.
    pub accounting: Option<String>,
}

/// The place where a journey ended the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfRun {
    /// Index into [`Plan::scenarios`](wavetank_plan::Plan::scenarios).
    pub scenario: u16,
    /// The step with the failed request, if the failure ended the run. `None`: the run reached its
    /// `end`.
    pub failed: Option<u16>,
}

/// A line that a journey logged, without secrets and control characters, truncated to the maximum
/// length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Its session's phase and scenario.
    pub key: Key,
    /// When.
    pub at: Nanos,
    /// The line.
    pub text: String,
}

/// The times of an answered request: its intended instant, the others in nanoseconds. Wait is
/// response − lag − service; it is recorded when the request is sent.
#[derive(Clone, Copy, Debug)]
pub struct RequestTimes {
    /// When the plan intended it.
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
    /// The key under which it was counted.
    pub key: Key,
    /// The times of its stages.
    pub times: RequestTimes,
    /// The status of the response.
    pub status: u16,
}

/// One failed request, as an example of its class.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The key under which it was counted.
    pub key: Key,
    /// Why it failed.
    pub class: ErrorClass,
    /// When it ended.
    pub at: Nanos,
    /// The time from its intended instant to its end, in nanoseconds.
    pub waited_ns: u64,
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    /// The details from the kernel, the parser or TLS.
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
        let detail = failure.detail.as_deref().map(str::to_owned);
        let detail = detail.or_else(|| failure.errno.map(|errno| errno.to_string()));
        Self { detail, errno: failure.errno, ..self }
    }

    /// Adds the method and target of the follow-up message in which the request failed.
    pub(crate) fn with_what(self, request: Option<&[u8]>) -> Self {
        let line = request.unwrap_or_default().split(|byte| *byte == b'\r').next().unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').take(2).collect();
        let what = String::from_utf8_lossy(&words.join(&b' ')).into_owned();
        let what = &what[..what.floor_char_boundary(SHOWN_BYTES_MAX)];
        let detail =
            self.detail.as_deref().map_or_else(|| what.to_owned(), |detail| format!("{what}: {detail}"));
        Self { detail: Some(detail), ..self }
    }
}
