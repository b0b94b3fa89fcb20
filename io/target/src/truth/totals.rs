//! The numbers of a [`Truth`](super::Truth).

use std::ops::AddAssign;

use serde::Serialize;

use super::Gauge;

/// Connections, open and closed. A connection with a first request for `/truth` counts as `control`
/// only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConnectionCounts {
    /// Accepted since the start or the last reset.
    pub accepted: u64,
    /// Open now, accepted at any time.
    pub open: u64,
    /// Used for `/truth`, open or not.
    pub control: u64,
    /// Failed attempts to accept, for example because the limit on open files is reached. Accepting
    /// then pauses for a while.
    pub accept_failed: u64,
    /// Closed since the start or the last reset, after the peer had sent its FIN.
    pub closed_by_peer: u64,
    /// Broken: the peer reset them, or vanished.
    pub reset: u64,
    /// Closed by the server first, or with their worker process.
    pub closed_by_us: u64,
    /// The maximum that were open simultaneously since the start or the last reset.
    pub peak: u64,
    /// The minimum that were open since the start or the last reset.
    pub lowest: u64,
}

impl AddAssign for ConnectionCounts {
    /// Adds the counts of another thread, except `peak` and `lowest`, which threads reach at
    /// different instants.
    fn add_assign(&mut self, other: Self) {
        let Self { accepted, open, control, accept_failed, closed_by_peer, reset, closed_by_us, .. } = other;
        self.accepted += accepted;
        self.open += open;
        self.control += control;
        self.accept_failed += accept_failed;
        self.closed_by_peer += closed_by_peer;
        self.reset += reset;
        self.closed_by_us += closed_by_us;
    }
}

impl ConnectionCounts {
    /// Sets the maximum and the minimum from `gauge`.
    pub(crate) fn with_extremes(self, gauge: &Gauge) -> Self {
        // Threads may have gone on between the two reads.
        let (peak, lowest) = (gauge.most().max(self.open), gauge.fewest().min(self.open));
        Self { peak, lowest, ..self }
    }
}

/// TLS handshakes, without those of connections used for `/truth`. All zero without TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HandshakeCounts {
    /// Complete, with a new session.
    pub full: u64,
    /// Complete, with a resumed session.
    pub resumed: u64,
    /// Connections that ended before the handshake was complete.
    pub failed: u64,
}

/// Bytes on all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ByteCounts {
    /// Received.
    pub received: u64,
    /// Passed to the kernel for sending.
    pub sent: u64,
}

/// Messages of WebSockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageCounts {
    /// Received whole.
    pub received: u64,
    /// Written to be sent.
    pub sent: u64,
}

/// Arrival times of requests. A request is timestamped when the receive that completed its head
/// returns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Arrivals {
    /// Requests in each second since the first request, in order, for at most one hour.
    pub per_second: Vec<u64>,
    /// Requests after that hour.
    pub later: u64,
    /// Time from the first request to the last timestamped one, in seconds.
    pub span_s: f64,
    /// The time between one request and the next, over all threads.
    pub gaps_us: Gaps,
}

/// Lengths of the gaps between successive requests, in microseconds; percentiles by nearest rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gaps {
    /// Number of gaps measured. Each thread keeps the timestamps of its first 131,072 requests.
    pub count: u64,
    /// Whether these are the gaps of all requests.
    pub complete: bool,
    /// Shortest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
    /// Longest.
    pub max: f64,
}
