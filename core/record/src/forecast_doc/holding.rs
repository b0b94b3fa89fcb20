//! [`HoldingDoc`]: resources needed to hold connections.

use serde::Serialize;

use crate::Number;

/// Resources needed by the phases that hold connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HoldingDoc {
    /// Connections at the highest.
    pub connections: u64,
    /// Source addresses that are used; `null` where the kernel chooses.
    pub source_addresses: Option<u64>,
    /// Ports of each of them at most.
    pub ports_each: Option<u64>,
    /// How long they take to open.
    pub opening_s: Number,
    /// Opened a second at the highest; `null` where that is not known.
    pub opened_per_s_max: Option<Number>,
    /// Requests per second at the highest, if responses took no time; `null` if only responses
    /// limit them.
    pub requests_per_s_max: Option<Number>,
    /// Memory by its user.
    pub memory: Vec<HoldingMemoryDoc>,
    /// Rings of io\_uring; 0 with epoll.
    pub rings: u64,
    /// Load threads.
    pub threads: u32,
    /// The next limit: `memory`, `connections` (files), `source_ports` or `tracking` (the
    /// firewall's).
    pub next_limit: String,
    /// At how many connections.
    pub next_limit_connections: u64,
}

/// Memory that one part of it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HoldingMemoryDoc {
    /// `client_kernel`, `client`, `target_kernel`, `target` (if the target is on this host),
    /// `under_way`.
    pub part: String,
    /// Bytes of each connection; of `under_way`, of each request.
    pub each_bytes: u64,
    /// Bytes of all.
    pub bytes: u64,
}
