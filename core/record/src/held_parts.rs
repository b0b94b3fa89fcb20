//! What a [`RunRecord`](crate::RunRecord) tells of connections that were held.

use serde::{Deserialize, Serialize};

use crate::{Connections, Number};

/// Connections in the time of one hold phase, whatever phase they were opened in:
/// `opening_before + offered = opened + failed + opening`, and `open_before + opened = closed + lost + open`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseConnections {
    /// Being opened when it began.
    pub opening_before: u64,
    /// Open when it began.
    pub open_before: u64,
    /// The same counters as of a whole run, in its time.
    #[serde(flatten)]
    pub counts: Connections,
}

/// A phase that held one and the same number of connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HoldDoc {
    /// Its name.
    pub phase: String,
    /// Connections that all hold phases wanted together, in the second with the fewest.
    pub planned: u64,
    /// Seconds it lasted.
    pub seconds: u64,
    /// Fewest connections open at the end of one of them.
    pub lowest: u64,
    /// End of that second, the first of several, in seconds on the run's clock.
    pub lowest_at_s: Number,
    /// Lost in its time.
    pub lost: u64,
    /// Of those opened in its time, the ones that replaced a lost one.
    pub reopened: u64,
    /// This host's kernel at the end of that second; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelCount>,
    /// The target's own count at the end of that second; absent where it tells none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetDoc>,
}

/// The kernel's count of this host's sockets (`/proc/net/sockstat` and `sockstat6`), both ends of a connection among them
/// where the target is on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelCount {
    /// When it was read after the second's end, milliseconds; negative before it.
    pub after_ms: Number,
    /// TCP sockets in use, of IPv4 and IPv6, `TIME_WAIT` excepted.
    pub tcp_inuse: u64,
    /// The same before the load.
    pub tcp_inuse_before: u64,
    /// Of those in use, the ends of the connection on which the target is asked for its count: both where it is on this
    /// host.
    pub tcp_asking: u64,
    /// TCP sockets in whatever state, of the whole host.
    pub tcp_alloc: u64,
    /// Connections in `TIME_WAIT`.
    pub tcp_tw: u64,
    /// Sockets that nobody holds any more.
    pub tcp_orphan: u64,
    /// Pages of memory for what is queued, of the whole host.
    pub tcp_mem_pages: u64,
    /// The kernel's own objects of the whole host, bytes.
    pub slab_bytes: u64,
    /// The same before the load.
    pub slab_bytes_before: u64,
    /// Resident memory of wavetank, bytes.
    pub rss_bytes: u64,
    /// The same before the load.
    pub rss_bytes_before: u64,
}

/// The target's own count of its connections (`GET /truth/connections` of a `wavetank serve`), without those on which it is
/// asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetDoc {
    /// The instant it speaks of, after the second's end, milliseconds; negative before it.
    pub after_ms: Number,
    /// How far that may be off, milliseconds; 0 where both sides have one clock.
    pub error_ms: Number,
    /// Open connections.
    pub open: u64,
    /// The same before the load: somebody else's.
    pub open_before: u64,
    /// Accepted since before the load.
    pub accepted: u64,
    /// Ended since then.
    pub closed: u64,
    /// Of them, those that broke.
    pub reset: u64,
}
