//! [`NetTest`] and [`NetSettings`]: what is measured, and how long.

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

/// One kind of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetTest {
    /// TCP throughput.
    Tcp,
    /// Requests and responses of a byte, one after the other.
    RequestResponse,
    /// New connections.
    Connect,
    /// Messages of 1 B to 8 MB, back and forth.
    Sizes,
    /// UDP: loss and jitter at a rate, and the highest rate of small packets.
    Udp,
    /// The largest packet that the path carries.
    Mtu,
}

impl NetTest {
    /// All of them, in the order in which they are made.
    pub const ALL: [Self; 6] =
        [Self::Tcp, Self::RequestResponse, Self::Connect, Self::Sizes, Self::Udp, Self::Mtu];

    /// Returns the name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::RequestResponse => "rr",
            Self::Connect => "connect",
            Self::Sizes => "sizes",
            Self::Udp => "udp",
            Self::Mtu => "mtu",
        }
    }
}

/// Direction of data, seen from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the client to the server.
    Forward,
    /// From the server to the client.
    Reverse,
}

impl Direction {
    /// Returns the name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }
}

/// What is measured between two hosts, and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetSettings {
    /// The kinds of measurements, each once.
    pub tests: Vec<NetTest>,
    /// Numbers of simultaneous TCP streams, each measured in turn.
    pub streams: Vec<u32>,
    /// Duration of each measurement.
    pub duration: Nanos,
    /// UDP rate in bits per second, at which loss and jitter are measured.
    pub udp_bits_per_s: u64,
}

impl Default for NetSettings {
    fn default() -> Self {
        Self {
            tests: NetTest::ALL.to_vec(),
            streams: vec![1, 4],
            duration: Nanos::from_secs(3),
            udp_bits_per_s: 10_000_000,
        }
    }
}

impl NetSettings {
    /// Most simultaneous streams of a test.
    pub const STREAMS_MAX: u32 = 128;
    /// Longest measurement.
    pub const DURATION_MAX: Nanos = Nanos::from_secs(3_600);
    /// Payload of a datagram of the rate test, bytes: with headers of IPv6 and UDP it fits an MTU
    /// of 1,500, also in a tunnel.
    pub const UDP_BYTES: usize = 1_400;
    /// Payload of a datagram of the packet rate test, bytes.
    pub const SMALL_BYTES: usize = 64;

    /// Whether `test` is to be made.
    pub fn has(&self, test: NetTest) -> bool {
        self.tests.contains(&test)
    }
}
