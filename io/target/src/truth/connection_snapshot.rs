//! [`ConnectionSnapshot`]: the connections of one instant, for those who ask once a second.

use serde::Serialize;

use super::ConnectionCounts;

/// How it stood with connections at one instant, all threads together; those used for `/truth` excepted. In JSON it is
/// what `/truth/connections` answers, schema `wavetank.truth_connections/1`. It costs a few loads for each thread,
/// however many connections are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ConnectionSnapshot {
    /// `wavetank.truth_connections/1`.
    pub schema: &'static str,
    /// Open, whenever accepted.
    pub open: u64,
    /// Accepted since the start or the last reset.
    pub accepted: u64,
    /// Gone since then, in whatever way.
    pub closed: u64,
    /// Those of them that broke: their peer reset them, or went away without a word.
    pub reset: u64,
    /// The most that were open at once since then.
    pub peak: u64,
    /// Answers given since then, as `/truth` counts them.
    pub answers: u64,
    /// When this was so, on the kernel's `CLOCK_MONOTONIC`, in nanoseconds.
    pub monotonic_ns: i64,
    /// The same instant as Unix time, in nanoseconds.
    pub unix_ns: i64,
}

impl ConnectionSnapshot {
    /// What `counts` and `answers` come to at an instant that both clocks tell.
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

    /// As `/truth/connections` answers it.
    pub(crate) fn to_json(self) -> Vec<u8> {
        let mut json = serde_json::to_vec(&self).expect("numbers and one name");
        json.push(b'\n');
        json
    }
}
