//! [`Truth`]: everything the server has counted, over all threads.

mod arrival_log;
mod connection_snapshot;
mod counter;
mod counts;
mod gauge;
mod path_counts;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::Serialize;

pub use connection_snapshot::ConnectionSnapshot;
pub(crate) use counts::{CloseKind, Counts, CountsSnapshot};
pub(crate) use gauge::Gauge;
pub(crate) use path_counts::{PATHS_MAX, PathSlot};

/// Everything the server has counted since its start or the last reset, without requests for
/// `/truth`. Its JSON form is the response of `/truth`, schema `wavetank.truth/1`. The names of
/// times give their units, seconds or microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Truth {
    /// `wavetank.truth/1`.
    pub schema: &'static str,
    /// Requests with a complete, well-formed head.
    pub requests: u64,
    /// Responses with at least one byte passed to the kernel; the sum of `statuses`.
    pub answers: u64,
    /// Data that is not a valid request.
    pub bad_requests: u64,
    /// Connections.
    pub connections: ConnectionCounts,
    /// TLS handshakes.
    pub handshakes: HandshakeCounts,
    /// Bytes received and sent, on all connections; with TLS, the decrypted bytes.
    pub bytes: ByteCounts,
    /// Requests by path without query: at most 256 paths, all further ones under `other`.
    pub paths: BTreeMap<String, u64>,
    /// Responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Arrival times of requests.
    pub arrivals: Arrivals,
    /// Number of serving threads.
    pub threads: u32,
}

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

impl Truth {
    /// Sums up the counts of all threads. `serving` is the number of threads left, and `gauge` is
    /// shared by all.
    pub(crate) fn from_counts(all: &[CountsSnapshot], serving: u32, gauge: &Gauge) -> Self {
        let mut truth = Self { schema: "wavetank.truth/1", threads: serving, ..Self::default() };
        for seen in all {
            // Each request is counted on exactly one path.
            truth.requests += seen.paths.iter().map(|(_, count)| count).sum::<u64>() + seen.other_paths;
            truth.bad_requests += seen.bad_requests;
            truth.connections += seen.connections;
            truth.handshakes.full += seen.handshakes.full;
            truth.handshakes.resumed += seen.handshakes.resumed;
            truth.handshakes.failed += seen.handshakes.failed;
            truth.bytes.received += seen.bytes_received;
            truth.bytes.sent += seen.bytes_sent;
            for &(status, count) in &seen.statuses {
                truth.answers += count;
                *truth.statuses.entry(status).or_default() += count;
            }
        }
        truth.connections = truth.connections.with_extremes(gauge);
        truth.paths = merge_paths(all);
        truth.arrivals = arrival_log::merge(all.iter().map(|seen| &seen.arrivals));
        truth
    }

    /// Returns the response of `/truth`.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec(self).expect("numbers, and maps keyed by text and numbers");
        json.push(b'\n');
        json
    }
}

/// Threads may count different paths. Of all of them, the most requested are kept.
fn merge_paths(all: &[CountsSnapshot]) -> BTreeMap<String, u64> {
    let mut merged: BTreeMap<String, u64> = BTreeMap::new();
    let mut other = 0;
    for seen in all {
        other += seen.other_paths;
        for (path, count) in &seen.paths {
            *merged.entry(String::from_utf8_lossy(path).into_owned()).or_default() += count;
        }
    }
    if merged.len() > PATHS_MAX {
        let mut by_count: Vec<_> = merged.into_iter().collect();
        by_count.sort_by_key(|(_, count)| Reverse(*count));
        other += by_count.drain(PATHS_MAX..).map(|(_, count)| count).sum::<u64>();
        merged = by_count.into_iter().collect();
    }
    if other > 0 {
        merged.insert("other".to_owned(), other);
    }
    merged
}

#[cfg(test)]
mod tests;
