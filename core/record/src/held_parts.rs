//! The parts of a [`RunRecord`](crate::RunRecord) about held connections.

use serde::{Deserialize, Serialize};

use crate::{Connections, Number};

/// Connections in the time of one hold phase, in whatever phase they were opened: `opening_before +
/// offered = opened + failed + opening`, and `open_before + opened = closed + lost + open`.
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

/// A phase that held a constant number of connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HoldDoc {
    /// Its name.
    pub phase: String,
    /// Target number of connections of all hold phases together, in the second with the fewest.
    pub planned: u64,
    /// Seconds it lasted.
    pub seconds: u64,
    /// Fewest connections open at the end of one of them.
    pub lowest: u64,
    /// End of that second, the first of several, in seconds on the run's clock.
    pub lowest_at_s: Number,
    /// Lost in its time.
    pub lost: u64,
    /// Connections opened in its time that replaced lost ones.
    pub reopened: u64,
    /// This host's kernel at the end of that second; absent if it was not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelCount>,
    /// The target's own count at the end of that second; absent if it reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetDoc>,
}

/// The kernel's count of this host's sockets (`/proc/net/sockstat` and `sockstat6`). If the target
/// is on this host, both ends of a connection are included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelCount {
    /// When it was read after the second's end, milliseconds; negative before it.
    pub after_ms: Number,
    /// TCP sockets in use, of IPv4 and IPv6, `TIME_WAIT` excepted.
    pub tcp_inuse: u64,
    /// The same before the load.
    pub tcp_inuse_before: u64,
    /// The sockets in use that belong to the connection on which the target is asked for its count.
    /// Both ends count if the target is on this host.
    pub tcp_asking: u64,
    /// TCP sockets in whatever state, of the whole host.
    pub tcp_alloc: u64,
    /// Connections in `TIME_WAIT`.
    pub tcp_tw: u64,
    /// Sockets that no process holds any more.
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

/// The target's own count of its connections (`GET /truth/connections` of a `wavetank serve`),
/// without those used to ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetDoc {
    /// The instant it speaks of, after the second's end, milliseconds; negative before it.
    pub after_ms: Number,
    /// Maximum error of that instant, milliseconds; 0 if both sides use one clock.
    pub error_ms: Number,
    /// Open connections.
    pub open: u64,
    /// The same before the load: connections of other clients.
    pub open_before: u64,
    /// Accepted since before the load.
    pub accepted: u64,
    /// Ended since then.
    pub closed: u64,
    /// Connections among them that were reset.
    pub reset: u64,
}
