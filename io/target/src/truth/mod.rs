//! [`Truth`]: everything the server has counted, over all threads.

mod arrival_log;
mod connection_snapshot;
mod counter;
mod counts;
mod gauge;
mod path_counts;
mod totals;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

pub use connection_snapshot::ConnectionSnapshot;
pub(crate) use counts::{CloseKind, Counts, CountsSnapshot};
pub(crate) use gauge::Gauge;
pub(crate) use path_counts::{PATHS_MAX, PathSlot};
pub use totals::{Arrivals, ByteCounts, ConnectionCounts, Gaps, HandshakeCounts, MessageCounts};

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
    /// Messages of WebSockets.
    pub messages: MessageCounts,
    /// Requests by path without query: at most 256 paths, all further ones under `other`.
    pub paths: BTreeMap<String, u64>,
    /// Responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Arrival times of requests.
    pub arrivals: Arrivals,
    /// Number of serving threads.
    pub threads: u32,
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
            truth.messages.received += seen.messages.received;
            truth.messages.sent += seen.messages.sent;
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
