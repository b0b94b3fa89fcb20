//! [`HostLimits`]: kernel limits of this host or process other than files and ports.

use wavetank_units::Nanos;

/// The longest accept queue that a listener asks for, as `serve` does (16 bits until Linux 5.4).
pub const BACKLOG_ASKED: u64 = 65_535;
/// The accept queue should hold the new connections of this time, because an accepting thread may
/// be kept from its CPU for that long.
pub const BURST: Nanos = Nanos::from_millis(250);
/// How long the side that closed first keeps an orderly closed connection; compiled into Linux.
pub const TIME_WAIT: Nanos = Nanos::from_secs(60);

/// Kernel limits that a large load may reach. Each is `None` where it does not apply or could not
/// be read; it is then not checked.
///
/// `vm.max_map_count` is not included: a ring takes three mappings and a thread two, so that the
/// default of 65,530 is far above the needs of one process. `net.ipv4.tcp_max_orphans` is not
/// included either: connections that a process closes in order, one after the other, never left
/// more than 3,600 orphans at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostLimits {
    /// Files that all processes of the host may open together (`fs.file-max`).
    pub files_max: Option<u64>,
    /// Memory that this process may still lock, in bytes (`ulimit -l`); `None` with `CAP_IPC_LOCK`.
    pub lockable_bytes: Option<u64>,
    /// Threads that may still be started: the lowest of `kernel.threads-max`, `kernel.pid_max` and
    /// the cgroup's limit.
    pub threads_left: Option<u64>,
    /// Connections that the firewall may still track, and its limit in total (`nf_conntrack_max`).
    /// `None` where it tracks none.
    pub tracked: Option<(u64, u64)>,
    /// The file of the cgroup with the limit that bounds
    /// [`HostFacts::memory_available_bytes`](crate::HostFacts). `None`: the host itself bounds it.
    pub memory_limit_file: Option<String>,
    /// The limit in that file, in bytes.
    pub memory_limit_bytes: Option<u64>,
    /// Pages that all TCP sockets together may use for bytes: without pressure, under pressure, at
    /// most (`net.ipv4.tcp_mem`).
    pub tcp_pages: Option<[u64; 3]>,
    /// Connections that wait to be accepted at most (`net.core.somaxconn`).
    pub backlog_max: Option<u64>,
    /// Connections in `TIME_WAIT` at most (`net.ipv4.tcp_max_tw_buckets`).
    pub time_wait_max: Option<u64>,
    /// Lists in which the kernel looks a connection up (`net.ipv4.tcp_ehash_entries`).
    pub hash_buckets: Option<u64>,
}
