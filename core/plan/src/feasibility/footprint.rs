//! [`MemoryModel`]: the memory that one end of a connection takes, and how much of a host's memory
//! may be planned with.
//!
//! All memory estimates use this model: `run`, `plan` and `check` (the client's end, and the
//! target's if it is on this host), `serve --connections` (the target's end), and `size`. All
//! numbers are in bytes. They were measured as growth of `/proc/slabinfo` and of the processes' own
//! memory, divided by the number of connections. The setup was x86-64, Linux 6.18, `wavetank run`
//! and `wavetank serve` over 127.0.0.0/8 with 40,000 connections; 1,000,000 connections agree
//! within 5 %. Other kernels differ by some hundred bytes: `struct tcp_sock` alone was 2,240 to
//! 2,500 bytes in recent years.

use crate::{EngineChoice, HttpVersion, Plan};

/// Kernel memory of each socket, with either engine. It is the sum of `TCP` 2,368,
/// `sock_inode_cache` 832, `filp` 192, `dentry` 192, the data of security modules for inode and
/// file 56, `request_sock` and other small ones 28. The slabs' unused space at page ends adds 2 %.
const SOCKET: u64 = 3_740;
/// Memory that io\_uring adds: the poll for the peer's close (`io_kiocb` 256) and the entry in the
/// ring's table 32.
const IN_A_RING: u64 = 290;
/// Memory that epoll adds: `eventpoll_epi` 128, `eventpoll_pwq` 64, `ep_head` 16, the entry in the
/// descriptor table 9.
const IN_EPOLL: u64 = 220;
/// Memory that an explicitly bound address and port adds (`tcp_bind2_bucket`).
const BOUND: u64 = 130;
/// Memory of `wavetank run` for a connection with its user, thinking or silent.
const CLIENT_USER: u64 = 350;
/// Memory of `wavetank serve` for a connection.
const TARGET_USER: u64 = 300;
/// Memory that TLS adds to the program at either end: keys, session, and the rest of the handshake
/// buffers. Measured with 8,000 connections and a chain of one certificate.
const TLS_CLIENT: u64 = 4_400;
const TLS_TARGET: u64 = 3_800;
/// Kernel memory of a UDP socket of the client, and memory that QUIC with its TLS adds to the
/// program at either end. Measured with 100,000 held connections. All connections of `wavetank
/// serve` share its UDP sockets.
const UDP_SOCKET: u64 = 2_900;
const QUIC_CLIENT: u64 = 22_900;
const QUIC_TARGET: u64 = 104_800;
/// Memory of `wavetank serve` for a delayed response.
const ANSWER_DUE: u64 = 256;

/// Memory of a socket with bytes that were not read or sent yet. The kernel counts them in whole
/// pages (`tcp_mem`).
pub const PAGE_BYTES: u64 = 4_096;
/// Memory that an orderly closed connection keeps for one minute at the end that closed first
/// (`tw_sock_TCP`).
pub const TIME_WAIT_BYTES: u64 = 256;
/// Memory of a virtual user without a connection: its position in the journey, its timer, and the
/// containers for its cookies and variables. Their content is counted separately.
pub(super) const USER_BYTES: u64 = 512;

/// One part in `RESERVED_PART` of the free memory is kept for the archive, the page cache and other
/// processes. Also, `MemAvailable` counts the sockets' directory entries as reclaimable memory,
/// although they cannot be reclaimed while the sockets are open.
const RESERVED_PART: u64 = 16;
/// The program before its first connection, with its rings, stacks and histograms.
const PROGRAM_BYTES: u64 = 16 << 20;

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// The side that connects: `run`.
    Client,
    /// The side that accepts: `serve`.
    Target,
}

/// What connections run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// TLS over TCP.
    Tls,
    /// QUIC, which includes TLS.
    Quic,
}

impl Transport {
    /// TCP, with or without TLS.
    pub const fn tcp(tls: bool) -> Self {
        if tls { Self::Tls } else { Self::Tcp }
    }

    /// The transport of connections with this version of HTTP, with or without TLS.
    pub fn with_version(version: HttpVersion, tls: bool) -> Self {
        if version == HttpVersion::Http3 { Self::Quic } else { Self::tcp(tls) }
    }

    /// The transport of a plan's connections.
    pub fn of(plan: &Plan) -> Self {
        Self::with_version(plan.http.version, plan.tls.is_some())
    }
}

/// Memory of one end of a connection, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryModel {
    /// Kernel memory while no request is in flight.
    pub kernel: u64,
    /// Program memory while no request is in flight.
    pub user: u64,
    /// Additional memory while a request is in flight or its bytes wait.
    pub under_way: u64,
}

impl MemoryModel {
    /// Returns the memory of wavetank's own ends. `engine` [`Auto`](EngineChoice::Auto) counts as
    /// io\_uring. Other servers differ only in `user`.
    pub const fn for_end(end: ConnectionEnd, engine: EngineChoice, transport: Transport) -> Self {
        let waits = match engine {
            EngineChoice::Epoll => IN_EPOLL,
            EngineChoice::Uring | EngineChoice::Auto => IN_A_RING,
        };
        let (kernel, user, under_way) = match end {
            // Either the request waits unread at the target, or the response at the client: one
            // page for both ends. The client's plan accounts for it.
            ConnectionEnd::Client => (SOCKET + waits + BOUND, CLIENT_USER, PAGE_BYTES),
            ConnectionEnd::Target => (SOCKET + waits, TARGET_USER, ANSWER_DUE),
        };
        let (kernel, secured) = match (transport, end) {
            (Transport::Tcp, _) => (kernel, 0),
            (Transport::Tls, ConnectionEnd::Client) => (kernel, TLS_CLIENT),
            (Transport::Tls, ConnectionEnd::Target) => (kernel, TLS_TARGET),
            (Transport::Quic, ConnectionEnd::Client) => (UDP_SOCKET, QUIC_CLIENT),
            (Transport::Quic, ConnectionEnd::Target) => (0, QUIC_TARGET),
        };
        Self { kernel, user: user + secured, under_way }
    }

    /// Returns the memory of both ends.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            kernel: self.kernel + other.kernel,
            user: self.user + other.user,
            under_way: self.under_way + other.under_way,
        }
    }

    /// Returns the memory of kernel and program together while no request is in flight.
    pub const fn idle(self) -> u64 {
        self.kernel + self.user
    }

    /// Returns the same with a request in flight.
    pub const fn with_request_in_flight(self) -> u64 {
        self.idle() + self.under_way
    }
}

/// How much of `available` bytes may be planned with.
pub const fn plannable_bytes(available: u64) -> u64 {
    available.saturating_sub(available / RESERVED_PART).saturating_sub(PROGRAM_BYTES)
}

/// Returns the available memory that is required to plan with `bytes`.
pub(super) const fn available_for(bytes: u64) -> u64 {
    let whole = bytes.saturating_add(PROGRAM_BYTES) as u128 * RESERVED_PART as u128;
    let whole = whole.div_ceil(RESERVED_PART as u128 - 1);
    if whole > u64::MAX as u128 { u64::MAX } else { whole as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured values of both ends: kernel memory of a connection.
    #[test]
    fn both_ends_are_within_a_tenth_of_what_was_measured() {
        let both = |engine| {
            [ConnectionEnd::Client, ConnectionEnd::Target]
                .map(|end| MemoryModel::for_end(end, engine, Transport::Tcp).kernel)
        };
        for (engine, measured) in [(EngineChoice::Uring, 8_200), (EngineChoice::Epoll, 8_100)] {
            let planned: u64 = both(engine).iter().sum();
            assert!(planned.abs_diff(measured) * 10 <= measured, "{engine:?}: {planned}");
        }
    }

    /// A run of 100,000 held QUIC connections: what both programs grew by for each.
    #[test]
    fn quic_takes_what_was_measured() {
        let of = |end| MemoryModel::for_end(end, EngineChoice::Uring, Transport::Quic);
        assert!(of(ConnectionEnd::Client).user.abs_diff(23_190) < 500);
        assert!(of(ConnectionEnd::Target).user.abs_diff(105_000) < 500);
    }

    #[test]
    fn what_is_needed_and_what_is_planned_with_agree() {
        for bytes in [0, 1, 4_096, 9_600_000_000, 1 << 50] {
            let available = available_for(bytes);
            assert!(plannable_bytes(available) >= bytes, "{bytes}");
            assert!(plannable_bytes(available - 2) < bytes || bytes == 0, "{bytes}: not more than that");
        }
        assert_eq!(plannable_bytes(PROGRAM_BYTES), 0);
        assert_eq!(available_for(u64::MAX), u64::MAX);
    }
}
