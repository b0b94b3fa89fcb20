//! [`ConnectionSchedule`]: when the connections of a network namespace are listed.

use wavetank_measure::{HostCounters, HostSample, ListenerSample};
use wavetank_units::Nanos;

use crate::accept_queues::AcceptQueues;

/// With more sockets than this, connections are not listed.
const CONNECTIONS_MAX: u64 = 200_000;
/// With more sockets than this, they are listed without what the kernel knows of their paths.
const PATHS_MAX: u64 = 10_000;

/// Lists connections for at most a fixed share of time: their number decides what that costs.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionSchedule {
    /// Listing takes at most one part of time in this many.
    rest: u64,
    /// Before this instant they are not listed again.
    due: Nanos,
}

impl ConnectionSchedule {
    /// Lists connections for at most one part of time in `rest`.
    pub(crate) const fn one_part_in(rest: u64) -> Self {
        Self { rest, due: Nanos(i64::MIN) }
    }

    /// Adds states and destinations of all connections to `counters`, if that is due. `net` has the
    /// number of sockets.
    pub(crate) fn add(
        &mut self,
        counters: &mut HostCounters,
        (net, local_ports): (&HostSample, u64),
        (queues, listeners): (&mut AcceptQueues, &[ListenerSample]),
        now: impl Fn() -> Nanos,
    ) {
        let many = net.tcp_inuse + net.tcp_tw > CONNECTIONS_MAX;
        if many || net.at < self.due {
            return;
        }
        let begun = now();
        let with_path = net.tcp_inuse <= PATHS_MAX;
        if let Some(table) = queues.connections(listeners, with_path) {
            counters.levels.extend(table.levels());
            counters.levels.sort();
            counters.destinations = table.destinations(local_ports);
        }
        let took = now().since(begun);
        self.due = begun.after(Nanos(took.saturating_mul(self.rest).cast_signed()));
    }
}
