//! [`MemoryModel`]: what one end of a connection takes of memory, and how much of a host's may be planned with.
//!
//! One model for everybody who reckons with memory: `run`, `plan` and `check` (the client's end, and the target's where
//! it is on this host), `serve --connections` (the target's end), `size`. All numbers are in bytes and were measured
//! as growth of `/proc/slabinfo` and of the processes' own memory, divided by connections (x86-64, Linux 6.18,
//! `wavetank run` and `wavetank serve` over 127.0.0.0/8 with 40,000 connections; 1,000,000 agree within 5 %).
//! Other kernels differ by some hundred bytes: `struct tcp_sock` alone was 2,240 to 2,500 bytes in the last years.

use crate::EngineChoice;

/// What each socket is made of, on either engine: `TCP` 2,368, `sock_inode_cache` 832, `filp` 192, `dentry` 192, what
/// security modules keep of inode and file 56, `request_sock` and other small ones 28, and 2 % that slabs lose at their
/// pages' ends.
const SOCKET: u64 = 3_740;
/// What io\_uring adds: the poll that tells of the peer's end (`io_kiocb` 256) and the place in the ring's table 32.
const IN_A_RING: u64 = 290;
/// What epoll adds: `eventpoll_epi` 128, `eventpoll_pwq` 64, `ep_head` 16, the place in the table of files 9.
const IN_EPOLL: u64 = 220;
/// What an address and port of one's own adds (`tcp_bind2_bucket`).
const BOUND: u64 = 130;
/// What `wavetank run` keeps of a connection with its user on it, thinking or silent.
const CLIENT_USER: u64 = 350;
/// What `wavetank serve` keeps of a connection.
const TARGET_USER: u64 = 300;
/// What TLS adds to either end's program, measured with 8,000 connections and a chain of one certificate: keys, session,
/// and what is left of the buffers of its handshake.
const TLS_CLIENT: u64 = 4_400;
const TLS_TARGET: u64 = 3_800;
/// What an answer that is due later takes of `wavetank serve`.
const ANSWER_DUE: u64 = 256;

/// Memory of a socket whose bytes nobody has read or taken: the kernel counts them in whole pages (`tcp_mem`).
pub(crate) const PAGE_BYTES: u64 = 4_096;
/// What is left for a minute of a connection that was closed in the orderly way, at the end that closed first
/// (`tw_sock_TCP`).
pub(crate) const TIME_WAIT_BYTES: u64 = 256;
/// A virtual user without a connection: its place in its journey, the clock it waits for, the anchors of its cookies
/// and variables. What those hold comes on top.
pub(crate) const USER_BYTES: u64 = 512;

/// Of the memory that is free, one part in so many is not planned with: archive, page cache, whoever else works here;
/// and `MemAvailable` counts directory entries of sockets as memory that could be had back, though it cannot while
/// they are open.
const RESERVED_PART: u64 = 16;
/// The program before its first connection, with its rings, stacks and histograms.
const PROGRAM_BYTES: u64 = 16 << 20;

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// Who connects: `run`.
    Client,
    /// Who accepts: `serve`.
    Target,
}

/// What one end of a connection takes of memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryModel {
    /// The kernel's, while nothing is under way.
    pub kernel: u64,
    /// The program's, while nothing is under way.
    pub user: u64,
    /// On top while a request is under way or its bytes wait.
    pub under_way: u64,
}

impl MemoryModel {
    /// What wavetank's own ends take, in TLS or not; `engine` [`Auto`](EngineChoice::Auto) counts as io\_uring. Other
    /// people's servers differ in `user` alone.
    pub const fn for_end(end: ConnectionEnd, engine: EngineChoice, tls: bool) -> Self {
        let waits = match engine {
            EngineChoice::Epoll => IN_EPOLL,
            EngineChoice::Uring | EngineChoice::Auto => IN_A_RING,
        };
        let (kernel, user, secured, under_way) = match end {
            // The request waits unread at the target or the answer at the client: one page for both ends, and it is
            // the client's plan that foresees it.
            ConnectionEnd::Client => (SOCKET + waits + BOUND, CLIENT_USER, TLS_CLIENT, PAGE_BYTES),
            ConnectionEnd::Target => (SOCKET + waits, TARGET_USER, TLS_TARGET, ANSWER_DUE),
        };
        Self { kernel, user: if tls { user + secured } else { user }, under_way }
    }

    /// Of both ends.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            kernel: self.kernel + other.kernel,
            user: self.user + other.user,
            under_way: self.under_way + other.under_way,
        }
    }

    /// Kernel's and program's together, while nothing is under way.
    pub const fn idle(self) -> u64 {
        self.kernel + self.user
    }

    /// The same with a request under way.
    pub const fn with_request_in_flight(self) -> u64 {
        self.idle() + self.under_way
    }
}

/// How much of `available` bytes may be planned with.
pub const fn plannable_bytes(available: u64) -> u64 {
    available.saturating_sub(available / RESERVED_PART).saturating_sub(PROGRAM_BYTES)
}

/// What must be available for `bytes` to be planned with.
pub(crate) const fn available_for(bytes: u64) -> u64 {
    let whole = bytes.saturating_add(PROGRAM_BYTES) as u128 * RESERVED_PART as u128;
    let whole = whole.div_ceil(RESERVED_PART as u128 - 1);
    if whole > u64::MAX as u128 { u64::MAX } else { whole as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was measured of both ends: kernel memory of a connection.
    #[test]
    fn both_ends_are_within_a_tenth_of_what_was_measured() {
        let both = |engine| {
            [ConnectionEnd::Client, ConnectionEnd::Target]
                .map(|end| MemoryModel::for_end(end, engine, false).kernel)
        };
        for (engine, measured) in [(EngineChoice::Uring, 8_200), (EngineChoice::Epoll, 8_100)] {
            let planned: u64 = both(engine).iter().sum();
            assert!(planned.abs_diff(measured) * 10 <= measured, "{engine:?}: {planned}");
        }
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
