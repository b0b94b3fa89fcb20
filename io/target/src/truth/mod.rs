//! [`Truth`]: what the server has seen, all threads together.

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

/// What the server has seen since its start or the last reset, requests for `/truth` excepted. In JSON it is
/// what `/truth` answers, schema `wavetank.truth/1`; times are in seconds and microseconds as named.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Truth {
    /// `wavetank.truth/1`.
    pub schema: &'static str,
    /// Requests whose head was read whole and well-formed.
    pub requests: u64,
    /// Answers of which the first byte was handed over for sending; the sum of `statuses`.
    pub answers: u64,
    /// What could not be read as a request, or broke off in a fault.
    pub bad_requests: u64,
    /// Connections.
    pub connections: ConnectionCounts,
    /// TLS handshakes.
    pub handshakes: HandshakeCounts,
    /// Bytes received and sent, on all connections; of TLS, what was inside.
    pub bytes: ByteCounts,
    /// Requests by path without query: at most 256 paths, all further ones under `other`.
    pub paths: BTreeMap<String, u64>,
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// When requests came.
    pub arrivals: Arrivals,
    /// Threads that serve.
    pub threads: u32,
}

/// How many connections there were and are. One whose first request is for `/truth` counts as `control` only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConnectionCounts {
    /// Accepted since the start or the last reset.
    pub accepted: u64,
    /// Open now, whenever accepted.
    pub open: u64,
    /// Used for `/truth`, open or not.
    pub control: u64,
    /// Failed attempts to accept, e.g. for want of files. Accepting then rests for a while.
    pub accept_failed: u64,
    /// Gone since the start or the last reset after their peer had said that it would send no more (FIN).
    pub closed_by_peer: u64,
    /// Gone because they broke: their peer reset them, or went away without a word.
    pub reset: u64,
    /// Gone because the server closed them first, or with their worker process.
    pub closed_by_us: u64,
    /// The most that were open at once since the start or the last reset.
    pub peak: u64,
    /// The fewest.
    pub lowest: u64,
}

impl AddAssign for ConnectionCounts {
    /// Those of another thread, but for `peak` and `lowest`: threads have theirs at different instants.
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
    /// With the most and the fewest that `gauge` has seen.
    pub(crate) fn with_extremes(self, gauge: &Gauge) -> Self {
        // Threads may have gone on between one look and the other.
        let (peak, lowest) = (gauge.most().max(self.open), gauge.fewest().min(self.open));
        Self { peak, lowest, ..self }
    }
}

/// TLS handshakes, those of connections used for `/truth` excepted. All zero without TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HandshakeCounts {
    /// Complete, with a new session.
    pub full: u64,
    /// Complete, with an earlier session.
    pub resumed: u64,
    /// Connections that ended before theirs was complete.
    pub failed: u64,
}

/// Bytes on all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ByteCounts {
    /// Received.
    pub received: u64,
    /// Handed over for sending.
    pub sent: u64,
}

/// When requests came. A request is stamped when the receive that completed its head returns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Arrivals {
    /// Requests in each second since the first request, in order; at most an hour of them.
    pub per_second: Vec<u64>,
    /// Requests after that hour.
    pub later: u64,
    /// From the first request to the last stamped one, in seconds.
    pub span_s: f64,
    /// The time between one request and the next, over all threads.
    pub gaps_us: Gaps,
}

/// Lengths of the gaps between successive requests, in microseconds; percentiles by nearest rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gaps {
    /// Gaps measured: each thread keeps the stamps of its first 131,072 requests.
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
    /// What all threads' counts come to; `serving` threads are left of those, and `gauge` is what they share.
    pub(crate) fn from_counts(all: &[CountsSnapshot], serving: u32, gauge: &Gauge) -> Self {
        let mut truth = Self { schema: "wavetank.truth/1", threads: serving, ..Self::default() };
        for seen in all {
            // Each is counted on some path, and nowhere else.
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

    /// As `/truth` answers it.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec(self).expect("numbers, and maps keyed by text and numbers");
        json.push(b'\n');
        json
    }
}

/// Each thread has its own choice of paths; of their union the most asked for are kept.
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
