//! [`FileBudget`]: the number of sockets that a process can hold, with how many threads, and in
//! which file descriptor tables.

use wavetank_units::quantity::format_grouped;
use wavetank_units::{Code, UserError};

use crate::{EngineChoice, FileTables, HostFacts};

/// Descriptors of the shared table that stay free for the archive, the terminal, libraries and DNS
/// lookups.
const FILES_RESERVE: u64 = 100;
/// epoll, timer and wake-up descriptors of one thread, rounded up.
const FILES_PER_THREAD: u64 = 4;
/// Descriptors of a thread's own table that are not connections: those of its driver, listeners,
/// standard streams.
const OWN_FILES_RESERVE: u64 = 32;
/// Descriptors of a process with io\_uring that do not belong to the load: standard streams,
/// archive, libraries.
const RINGS_RESERVE: u64 = 12;
/// Descriptors with which an io\_uring thread is woken by other threads and learns of its rings'
/// end. The rings' own descriptors are counted separately.
const WAKERS_PER_THREAD: u64 = 4;
/// Threads that may be started for their tables alone: far more sockets than a host's memory holds.
const THREADS_FOR_FILES_MAX: u64 = 256;

/// Rings that one load thread makes at most: each is a descriptor and a set of queues.
pub const RINGS_PER_THREAD_MAX: u32 = 256;
/// Maximum number of sockets of one ring, regardless of the descriptor limit. The kernel would
/// allow 2^20 (`IORING_MAX_FIXED_FILES`). However, a ring keeps its pending operations in at most
/// 256 lists, and closing a connection searches one of them.
pub const SOCKETS_PER_RING_MAX: u32 = 1 << 16;

/// The number of sockets that one process can hold. Pure arithmetic over [`HostFacts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBudget {
    /// Files of one table.
    table_max: u64,
    /// Files the host still has; both ends of a connection may be on it.
    host_max: u64,
    /// io\_uring's sockets are in rings, and in no table.
    tableless: bool,
    /// The best way to have more than one table.
    own: FileTables,
    /// Threads there will be if files do not ask for more.
    threads: u32,
    /// Their number was asked for and is not ours to raise.
    threads_fixed: bool,
    nr_open: u64,
    /// Descriptors that all processes of the host may open together, and how many of them a
    /// connection takes.
    host_files: (Option<u64>, u64),
}

/// How a number of sockets is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketLayout {
    /// Which file descriptor table each thread fills.
    pub files: FileTables,
    /// Minimum number of threads.
    pub threads: u32,
}

impl FileBudget {
    /// Computes the budget for `threads` threads on `engine`, which is resolved (not
    /// [`EngineChoice::Auto`]). More threads may be started for their tables unless
    /// `threads_fixed`. With `both_ends` the peer's sockets count on this host too.
    pub fn new(
        host: &HostFacts,
        engine: EngineChoice,
        threads: u32,
        threads_fixed: bool,
        both_ends: bool,
    ) -> Self {
        let ends = if both_ends { 2 } else { 1 };
        Self {
            table_max: host.files_max,
            host_max: host.sockets.files_left.map_or(u64::MAX, |left| left / ends),
            tableless: engine == EngineChoice::Uring,
            own: host.sockets.own_files,
            threads,
            threads_fixed,
            nr_open: host.sockets.nr_open,
            host_files: (host.limits.files_max, ends),
        }
    }

    /// Files that are no sockets of the load, if all threads share a table.
    const fn kept(self) -> u64 {
        FILES_RESERVE + FILES_PER_THREAD * self.threads as u64
    }

    const fn shared(self) -> u64 {
        self.table_max.saturating_sub(self.kept())
    }

    const fn own_table(self) -> u64 {
        self.table_max.saturating_sub(OWN_FILES_RESERVE)
    }

    /// Files that are not rings, where io\_uring's sockets are in rings.
    const fn outside_rings(self) -> u64 {
        RINGS_RESERVE + WAKERS_PER_THREAD * self.threads as u64
    }

    /// Returns the number of sockets that rings can hold. Such sockets are not in the descriptor
    /// table, but each ring is a file. The kernel lets one ring hold as many sockets as a table may
    /// have files (`io_uring_register(2)`, `IORING_REGISTER_FILES`). Connections are spread evenly
    /// over threads, so one ring of each thread may be partly empty.
    fn in_rings(self) -> u64 {
        let (threads, rings) = (u64::from(self.threads), self.table_max.saturating_sub(self.outside_rings()));
        if rings < threads {
            return 0;
        }
        (rings - threads).max(threads).min(self.rings_max()).saturating_mul(self.per_ring())
    }

    /// Rings that the threads make together at most.
    fn rings_max(self) -> u64 {
        u64::from(self.threads).saturating_mul(u64::from(RINGS_PER_THREAD_MAX))
    }

    /// Sockets that one ring holds; its table holds one file more.
    fn per_ring(self) -> u64 {
        self.table_max.saturating_sub(1).min(u64::from(SOCKETS_PER_RING_MAX))
    }

    fn with_threads(self, threads: u64) -> u64 {
        if self.tableless {
            return self.in_rings().min(self.host_max);
        }
        let own = match self.own {
            FileTables::Shared => 0,
            FileTables::PerThread | FileTables::PerProcess => self.own_table().saturating_mul(threads),
        };
        own.max(self.shared()).min(self.host_max)
    }

    /// Sockets that can be held without starting a thread for their sake.
    pub fn without_extra_threads(self) -> u64 {
        self.with_threads(u64::from(self.threads))
    }

    /// Sockets that can be held at all.
    pub fn max_sockets(self) -> u64 {
        // The thread that starts the others has one descriptor of each in the first table, in
        // addition to its own files.
        let started = self.table_max.saturating_sub(OWN_FILES_RESERVE).min(THREADS_FOR_FILES_MAX);
        let more = if self.threads_fixed { 0 } else { started };
        self.with_threads(u64::from(self.threads).max(more))
    }

    /// Returns how `sockets` are held. Numbers above [`FileBudget::max_sockets`] are treated as
    /// that maximum.
    pub fn holding(self, sockets: u64) -> SocketLayout {
        let sockets = sockets.min(self.max_sockets());
        if self.tableless || sockets <= self.shared() {
            return SocketLayout { files: FileTables::Shared, threads: self.threads };
        }
        let needed = sockets.div_ceil(self.own_table().max(1));
        let threads = u32::try_from(needed).unwrap_or(u32::MAX).max(self.threads);
        SocketLayout { files: self.own, threads }
    }

    /// Returns the error for `asked` connections that cannot be held, with a hint that does not
    /// reduce them. `connections` is the number of sockets that they need, including the required
    /// headroom.
    pub fn refusal(self, asked: u64, connections: u64) -> UserError {
        let count = format_grouped(asked);
        let refused = |message: String, hint: String| UserError::refused(Code::NoFiles, message, hint);
        if connections > self.host_max {
            let (files_max, ends) = self.host_files;
            let more = connections.saturating_sub(self.host_max).saturating_mul(ends);
            let cure = files_max.map_or_else(
                || format!("as root: raise fs.file-max by {more}"),
                |now| format!("as root: sysctl -w fs.file-max={}", rounded_up(now.saturating_add(more))),
            );
            return refused(
                format!(
                    "{count} connections are {} files, and this host has {} left (fs.file-max)",
                    format_grouped(connections.saturating_mul(ends)),
                    format_grouped(self.host_max.saturating_mul(ends))
                ),
                cure,
            );
        }
        if self.tableless {
            let rings = self.rings(connections);
            let needed = self.outside_rings().saturating_add(rings.max(2 * u64::from(self.threads)));
            // If no more rings are possible, each must hold more sockets.
            let needed = needed.max(connections.div_ceil(self.rings_max().max(1)).saturating_add(1));
            return refused(self.too_few(asked, needed), self.raise_to(needed));
        }
        if self.threads_fixed && self.own != FileTables::Shared {
            let threads = connections.div_ceil(self.own_table().max(1));
            return refused(
                format!(
                    "{count} connections are more than {} threads hold with {} files each",
                    self.threads, self.table_max
                ),
                format!("--threads {threads}, or leave it out"),
            );
        }
        let needed = connections.saturating_add(self.kept());
        refused(self.too_few(asked, needed), self.raise_to(needed))
    }

    /// Returns the maximum number of rings for `sockets`: one of each thread, and those that the
    /// sockets fill.
    pub fn rings(self, sockets: u64) -> u64 {
        u64::from(self.threads).saturating_add(sockets.div_ceil(self.per_ring().max(1)))
    }

    fn too_few(self, connections: u64, needed: u64) -> String {
        let need = if connections == 1 { "connection needs" } else { "connections need" };
        let count = format_grouped(connections);
        let (needed, most) = (format_grouped(needed), format_grouped(self.table_max));
        format!("{count} {need} {needed} files, and this process may open {most}")
    }

    fn raise_to(self, needed: u64) -> String {
        let kernel =
            if needed > self.nr_open { format!("sysctl -w fs.nr_open={needed}; ") } else { String::new() };
        format!("as root: {kernel}ulimit -n {needed}")
    }
}

/// Rounds up a host limit, with headroom for other processes that open files meanwhile.
const fn rounded_up(files: u64) -> u64 {
    files.saturating_add(20_000 - 1) / 10_000 * 10_000
}
