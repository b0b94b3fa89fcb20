//! [`Truth`]: what a scripted target has seen, exactly.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::Stamp;

/// One request's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When the last byte of the head was read.
    pub at: Stamp,
    /// On which connection (1 = the first).
    pub connection: u64,
}

/// The counts of a scripted target, for complete heads and accepted connections.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// Requests with a complete head.
    pub requests: u64,
    /// Connections accepted.
    pub connections: u64,
    /// Connections not ended yet.
    pub open: u64,
    /// The most connections open simultaneously.
    pub open_peak: u64,
    /// Requests per request target.
    pub by_path: BTreeMap<String, u64>,
    /// Requests per method.
    pub by_method: BTreeMap<String, u64>,
    /// Started responses per status, 1xx not counted.
    pub by_status: BTreeMap<u16, u64>,
    /// Bytes read from clients.
    pub bytes_received: u64,
    /// Bytes written to clients.
    pub bytes_sent: u64,
    /// Heads that could not be read.
    pub malformed: u64,
    /// Connections the client ended with FIN.
    pub ended_by_fin: u64,
    /// Connections that the client ended with RST (or that failed while writing).
    pub ended_by_reset: u64,
    /// Connections the script ended.
    pub ended_by_script: u64,
    /// Every request's arrival, in order of counting.
    pub arrivals: Vec<Arrival>,
    /// Connections per address they came from.
    pub sources: BTreeMap<IpAddr, u64>,
    /// Connections per address and port they came from.
    pub peers: BTreeMap<SocketAddr, u64>,
    /// When each connection was accepted.
    pub accepted: Vec<Stamp>,
}

impl Truth {
    /// Arrivals as times after the first one, sorted.
    pub fn schedule(&self) -> Vec<Duration> {
        let mut stamps: Vec<Stamp> = self.arrivals.iter().map(|arrival| arrival.at).collect();
        stamps.sort_unstable();
        let first = stamps.first().copied().unwrap_or(Stamp(0));
        stamps.into_iter().map(|stamp| stamp.since(first)).collect()
    }

    /// Requests with this request target.
    pub fn for_path(&self, path: &str) -> u64 {
        self.by_path.get(path).copied().unwrap_or(0)
    }
}
