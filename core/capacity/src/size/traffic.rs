//! [`Traffic`]: packets and bytes on the wire, each way.
//!
//! The traffic of the load in Ethernet frames of 1,500 bytes. It includes requests and responses in
//! segments of 1,448 bytes, an acknowledgement for each two segments of a response, three packets
//! to open a connection and three to close it, and a full TLS handshake. Lost packets and the
//! savings of offloading are not included.

use wavetank_units::Nanos;

use super::PerSecond;
use super::demand::{CloseSide, LoadDemand, TransactionProfile};

/// Data of one full segment: 1,500 bytes without the IPv4 and TCP headers and the timestamps (RFC
/// 7323).
const SEGMENT_BYTES: u64 = 1_448;
/// Overhead of a segment on the wire: IPv4 20, TCP 20, timestamps 12, Ethernet 14 + 4, and between
/// two frames 8 + 12 (IEEE 802.3).
pub(super) const FRAME_BYTES: u64 = 90;
/// Time for which a receiver waits for data to send before it acknowledges (`TCP_DELACK_MIN`).
const ACK_DELAY: Nanos = Nanos::from_millis(40);
/// One TLS record: 5 bytes of head, 1 of type, 16 of tag (RFC 8446 §5.2); at most 16 KiB of data.
const RECORD_BYTES: (u64, u64) = (22, 1 << 14);
/// Bytes of a full handshake of TLS 1.3, from and to the client. From the client: a hello with a
/// hybrid key share, and Finished. To the client: a hello, a chain of two certificates (3 kB) and
/// Finished (RFC 8446 §2).
const HANDSHAKE_BYTES: (u64, u64) = (1_900, 4_900);
/// Packets of it, acknowledgements of the other side included.
const HANDSHAKE_PACKETS: (u64, u64) = (5, 5);

/// The traffic in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// Packets a second.
    pub packets: PerSecond,
    /// Bytes a second on the wire.
    pub bytes: PerSecond,
}

impl Direction {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { packets: self.packets.plus(other.packets), bytes: self.bytes.plus(other.bytes) }
    }

    /// Bits a second.
    pub fn bits(self) -> PerSecond {
        self.bytes.times(8)
    }
}

/// The traffic between clients and the hosts they connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// From the clients.
    pub up: Direction,
    /// To the clients.
    pub down: Direction,
    /// Packets and bytes of one request and its answer, from the client and to it.
    pub each: [PacketCount; 2],
    /// Packets and bytes for opening and closing one connection.
    pub around: [PacketCount; 2],
}

/// Some packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCount {
    /// How many.
    pub packets: u64,
    /// Bytes of data in them, without the overhead of each packet.
    pub data: u64,
}

impl PacketCount {
    /// Bytes on the wire.
    pub const fn bytes(self) -> u64 {
        self.data + self.packets * FRAME_BYTES
    }

    fn a_second(self, flow: PerSecond) -> Direction {
        Direction {
            packets: flow.times(u128::from(self.packets)),
            bytes: flow.times(u128::from(self.bytes())),
        }
    }
}

impl Traffic {
    /// Computes the traffic of a load; `tls`: whether this part of the path uses TLS.
    pub fn for_demand(demand: &LoadDemand, tls: bool) -> Self {
        let TransactionProfile { request_bytes, answer_bytes, service, closing, .. } = demand.exchange;
        let (up, down) = (segments(request_bytes, tls), segments(answer_bytes, tls));
        // The response acknowledges its request if it comes soon enough. The next request comes too
        // late to acknowledge the response.
        let acks_down = if service < ACK_DELAY { 0 } else { up.packets.div_ceil(2) };
        let each = [
            PacketCount { packets: up.packets + down.packets.div_ceil(2), data: up.data },
            PacketCount { packets: down.packets + acks_down, data: down.data },
        ];
        let around = around(closing, tls);
        let opens = demand.opens;
        Self {
            up: each[0].a_second(demand.requests).plus(around[0].a_second(opens)),
            down: each[1].a_second(demand.requests).plus(around[1].a_second(opens)),
            each,
            around,
        }
    }
}

/// Bytes of HTTP in segments.
fn segments(bytes: u64, tls: bool) -> PacketCount {
    let records = if tls { bytes.div_ceil(RECORD_BYTES.1) * RECORD_BYTES.0 } else { 0 };
    let data = bytes + records;
    PacketCount { packets: data.div_ceil(SEGMENT_BYTES), data }
}

/// SYN, SYN and ACK, ACK; the handshake; FIN, FIN and ACK, ACK, or one RST.
fn around(closing: CloseSide, tls: bool) -> [PacketCount; 2] {
    let (up, down) = match closing {
        CloseSide::Client => (2 + 2, 1 + 1),
        CloseSide::Server => (2 + 1, 1 + 2),
        CloseSide::Reset => (2 + 1, 1),
    };
    let (packets, data) = if tls { (HANDSHAKE_PACKETS, HANDSHAKE_BYTES) } else { ((0, 0), (0, 0)) };
    [
        PacketCount { packets: up + packets.0, data: data.0 },
        PacketCount { packets: down + packets.1, data: data.1 },
    ]
}
