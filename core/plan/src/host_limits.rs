//! [`HostLimits`]: what the kernel allows this host or process beside files and ports.

use crate::Nanos;

/// The longest queue of connections to accept that a listener asks for, `serve` among them (16 bits until Linux 5.4).
pub(crate) const BACKLOG_ASKED: u64 = 65_535;
/// New connections of so long should find room in that queue: a thread that accepts may be kept from its CPU so long.
pub(crate) const BURST: Nanos = Nanos::from_millis(250);
/// How long a connection that was closed in the orderly way is kept by who closed first; compiled into Linux.
pub(crate) const TIME_WAIT: Nanos = Nanos::from_secs(60);

/// Limits of the kernel's that a large load may come to. Each is `None` where it does not hold here or could not be
/// read: then nothing is said of it.
///
/// `vm.max_map_count` is not among them: a ring takes three mappings and a thread two, so that its default of 65,530 is
/// far beyond the rings and threads that one process makes. `net.ipv4.tcp_max_orphans` is not: connections that a
/// process closes orderly one after the other never left more than 3,600 of them at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostLimits {
    /// Files that all processes of the host may open together (`fs.file-max`).
    pub files_max: Option<u64>,
    /// Memory that this process may still lock, in bytes (`ulimit -l`); `None` with `CAP_IPC_LOCK`.
    pub lockable_bytes: Option<u64>,
    /// Threads that may still be started: the least of `kernel.threads-max`, `kernel.pid_max` and the cgroup's.
    pub threads_left: Option<u64>,
    /// Connections that the firewall may still track, and how many it may in all (`nf_conntrack_max`); `None` where it
    /// tracks none.
    pub tracked: Option<(u64, u64)>,
    /// The file of the cgroup whose limit bounds [`HostFacts::memory_available_bytes`](crate::HostFacts); `None`: the
    /// host itself does.
    pub memory_limit_file: Option<String>,
    /// What is in that file, in bytes.
    pub memory_limit_bytes: Option<u64>,
    /// Pages that all TCP sockets may hold bytes in: at ease, under pressure, at most (`net.ipv4.tcp_mem`).
    pub tcp_pages: Option<[u64; 3]>,
    /// Connections that wait to be accepted at most (`net.core.somaxconn`).
    pub backlog_max: Option<u64>,
    /// Connections in `TIME_WAIT` at most (`net.ipv4.tcp_max_tw_buckets`).
    pub time_wait_max: Option<u64>,
    /// Lists in which the kernel looks a connection up (`net.ipv4.tcp_ehash_entries`).
    pub hash_buckets: Option<u64>,
}
