//! [`FileBudget`]: how many sockets a process can hold, and with how many threads and whose tables of files.

use crate::quantity::{format_grouped, show_count};
use crate::{EngineChoice, FileTables, HostFacts, UserError};

/// Files of the table that all threads share which stay free for archive, terminal, libraries and the name query.
const FILES_RESERVE: u64 = 100;
/// epoll, timer and wake-up descriptors of one thread, rounded up.
const FILES_PER_THREAD: u64 = 4;
/// Files of a thread's own table that are no connections: its driver's, listeners, standard streams.
const OWN_FILES_RESERVE: u64 = 32;
/// Files of a process with io\_uring that are none of the load's: standard streams, archive, libraries.
const RINGS_RESERVE: u64 = 12;
/// Descriptors by which one thread with io\_uring hears of others and of its rings' end; its rings come on top.
const WAKERS_PER_THREAD: u64 = 4;
/// Threads that may be started for their tables alone: far more sockets than a host's memory holds.
const THREADS_FOR_FILES_MAX: u64 = 256;

/// Rings that one load thread makes at most: each is a descriptor and a set of queues.
pub const RINGS_PER_THREAD_MAX: u32 = 256;
/// Sockets of one ring at most, however many files a table may have. The kernel would allow 2^20
/// (`IORING_MAX_FIXED_FILES`), but what a ring waits for is in at most 256 lists, and for closing a connection one of
/// them is searched.
pub const SOCKETS_PER_RING_MAX: u32 = 1 << 16;

/// What one process can hold. Pure arithmetic over [`HostFacts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBudget {
    /// Files of one table.
    table_max: u64,
    /// Files the host still has; both ends of a connection may be on it.
    host_max: u64,
    /// io\_uring's sockets are in rings, and in no table.
    tableless: bool,
    /// The best way to more tables than one.
    own: FileTables,
    /// Threads there will be if files do not ask for more.
    threads: u32,
    /// Their number was asked for and is not ours to raise.
    threads_fixed: bool,
    nr_open: u64,
    /// Files that all processes of the host may open together, and how many of them a connection takes.
    host_files: (Option<u64>, u64),
}

/// How a number of sockets is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketLayout {
    /// Whose table of files each thread fills.
    pub files: FileTables,
    /// So many threads at least.
    pub threads: u32,
}

impl FileBudget {
    /// For `threads` threads on `engine` (resolved, not [`EngineChoice::Auto`]); more may be started for their
    /// tables unless `threads_fixed`. With `both_ends` the peer's sockets count on this host too.
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
    const fn beside_rings(self) -> u64 {
        RINGS_RESERVE + WAKERS_PER_THREAD * self.threads as u64
    }

    /// Sockets in rings: none is in the table, but each ring is a file, and the kernel lets one hold as many sockets
    /// as a table may have files (`io_uring_register(2)`, `IORING_REGISTER_FILES`). Connections are spread evenly
    /// over threads, so that a ring of each may be partly empty.
    fn in_rings(self) -> u64 {
        let (threads, rings) = (u64::from(self.threads), self.table_max.saturating_sub(self.beside_rings()));
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
        // Who starts a thread has a descriptor of each in the table that was there first, beside files of its own.
        let started = self.table_max.saturating_sub(OWN_FILES_RESERVE).min(THREADS_FOR_FILES_MAX);
        let more = if self.threads_fixed { 0 } else { started };
        self.with_threads(u64::from(self.threads).max(more))
    }

    /// How `sockets` are held; of more than [`FileBudget::max_sockets`] as if there were so many.
    pub fn holding(self, sockets: u64) -> SocketLayout {
        let sockets = sockets.min(self.max_sockets());
        if self.tableless || sockets <= self.shared() {
            return SocketLayout { files: FileTables::Shared, threads: self.threads };
        }
        let needed = sockets.div_ceil(self.own_table().max(1));
        let threads = u32::try_from(needed).unwrap_or(u32::MAX).max(self.threads);
        SocketLayout { files: self.own, threads }
    }

    /// Why `asked` connections, for which `connections` sockets are needed with what room they must have, cannot be
    /// held, and what would help beside asking for fewer.
    pub fn refusal(self, asked: u64, connections: u64) -> UserError {
        let count = show_count(asked);
        let refused = |message: String, hint: String| UserError::refused("no_files", message, hint);
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
                    show_count(connections.saturating_mul(ends)),
                    show_count(self.host_max.saturating_mul(ends))
                ),
                cure,
            );
        }
        if self.tableless {
            let rings = self.rings(connections);
            let needed = self.beside_rings().saturating_add(rings.max(2 * u64::from(self.threads)));
            // Where there may be no more rings, each must hold more.
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

    /// Rings that hold so many sockets at most: one of each thread, and those that so many sockets fill.
    pub fn rings(self, sockets: u64) -> u64 {
        u64::from(self.threads).saturating_add(sockets.div_ceil(self.per_ring().max(1)))
    }

    fn too_few(self, connections: u64, needed: u64) -> String {
        let need = if connections == 1 { "connection needs" } else { "connections need" };
        let count = show_count(connections);
        let (needed, most) = (format_grouped(needed), format_grouped(self.table_max));
        format!("{count} {need} {needed} files, and this process may open {most}")
    }

    fn raise_to(self, needed: u64) -> String {
        let kernel =
            if needed > self.nr_open { format!("sysctl -w fs.nr_open={needed}; ") } else { String::new() };
        format!("as root: {kernel}ulimit -n {needed}")
    }
}

/// A limit of the host's with some room for whoever opens files meanwhile.
const fn rounded_up(files: u64) -> u64 {
    files.saturating_add(20_000 - 1) / 10_000 * 10_000
}
