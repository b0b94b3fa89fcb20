//! [`ConnectionSnapshot`]: the connections at one instant, for queries every second.

use serde::Serialize;

use super::ConnectionCounts;

/// The connections at one instant, over all threads, without those used for `/truth`. Its JSON form
/// is the response of `/truth/connections`, schema `wavetank.truth_connections/1`. Taking it costs
/// a few loads for each thread, with any number of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ConnectionSnapshot {
    /// `wavetank.truth_connections/1`.
    pub schema: &'static str,
    /// Open now, accepted at any time.
    pub open: u64,
    /// Accepted since the start or the last reset.
    pub accepted: u64,
    /// Closed since then, for any reason.
    pub closed: u64,
    /// Those of them that broke: the peer reset them, or vanished.
    pub reset: u64,
    /// The maximum that were open simultaneously since then.
    pub peak: u64,
    /// Responses since then, as counted by `/truth`.
    pub answers: u64,
    /// Time of the snapshot on the kernel's `CLOCK_MONOTONIC`, in nanoseconds.
    pub monotonic_ns: i64,
    /// The same instant as Unix time, in nanoseconds.
    pub unix_ns: i64,
}

impl ConnectionSnapshot {
    /// The snapshot from `counts` and `answers`, at an instant given by both clocks.
    pub(crate) const fn new(
        counts: &ConnectionCounts,
        answers: u64,
        monotonic_ns: i64,
        unix_ns: i64,
    ) -> Self {
        Self {
            schema: "wavetank.truth_connections/1",
            open: counts.open,
            accepted: counts.accepted,
            closed: counts.closed_by_peer + counts.reset + counts.closed_by_us,
            reset: counts.reset,
            peak: counts.peak,
            answers,
            monotonic_ns,
            unix_ns,
        }
    }

    /// Returns the response of `/truth/connections`.
    pub(crate) fn to_json(self) -> Vec<u8> {
        let mut json = serde_json::to_vec(&self).expect("numbers and one name");
        json.push(b'\n');
        json
    }
}
