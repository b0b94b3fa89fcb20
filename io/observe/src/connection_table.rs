//! [`ConnectionTable`]: the connections of a network namespace by state and destination.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};

use wavetank_measure::DestinationSample;

use crate::connection_info::{ConnectionInfo, PathInfo};

/// Destinations in a sample at most, those with most ports.
const DESTINATIONS_MAX: usize = 4;
/// Fewer ports to a destination are not worth a line.
const PORTS_MIN: u64 = 32;
/// Names of the states by the kernel's number (`tcp_states.h`), from 1 on.
const STATES: [&str; 12] = [
    "established",
    "syn_sent",
    "syn_recv",
    "fin_wait1",
    "fin_wait2",
    "time_wait",
    "close",
    "close_wait",
    "last_ack",
    "listen",
    "closing",
    "syn_recv",
];

/// Counts of connections.
#[derive(Debug, Default)]
pub(crate) struct ConnectionTable {
    states: [u64; STATES.len()],
    destinations: HashMap<SocketAddr, Use>,
    path: PathInfo,
}

#[derive(Debug, Default)]
struct Use {
    ports: u64,
    resting: u64,
    sources: HashSet<IpAddr>,
}

impl ConnectionTable {
    /// Adds a connection. `is_outgoing`: its local port is not that of a listener. `is_resting`: it
    /// is in TIME-WAIT.
    pub(crate) fn add(
        &mut self,
        state: u8,
        local: SocketAddr,
        remote: SocketAddr,
        is_outgoing: bool,
        is_resting: bool,
    ) {
        if let Some(count) = usize::from(state).checked_sub(1).and_then(|at| self.states.get_mut(at)) {
            *count += 1;
        }
        if is_outgoing && remote.port() != 0 {
            let known = self.destinations.entry(remote).or_default();
            known.ports += 1;
            known.resting += u64::from(is_resting);
            known.sources.insert(local.ip());
        }
    }

    /// Adds what the kernel knows of an established connection.
    pub(crate) fn add_info(&mut self, info: ConnectionInfo) {
        self.path.add(info);
    }

    /// Returns the number of connections in each state, as `state.time_wait`, and what they show of
    /// their path, as `tcp.rtt_us`, sorted by name.
    pub(crate) fn levels(&self) -> Vec<(String, u64)> {
        let mut levels: Vec<(String, u64)> = Vec::new();
        for (name, count) in STATES.iter().zip(self.states).filter(|(_, count)| *count > 0) {
            let name = format!("state.{name}");
            match levels.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += count,
                None => levels.push((name, count)),
            }
        }
        levels.extend(self.path.levels());
        levels.sort();
        levels
    }

    /// Returns the destinations with most local ports in use. `range`: ports that the kernel may
    /// choose from for each local address.
    pub(crate) fn destinations(&self, range: u64) -> Vec<DestinationSample> {
        let sample = |(address, used): (&SocketAddr, &Use)| DestinationSample {
            address: *address,
            ports: used.ports,
            resting: used.resting,
            range: range * used.sources.len() as u64,
        };
        let many = self.destinations.iter().filter(|(_, used)| used.ports >= PORTS_MIN);
        let mut all: Vec<_> = many.map(sample).collect();
        all.sort_by_key(|one| (std::cmp::Reverse(one.ports), one.address));
        all.truncate(DESTINATIONS_MAX);
        all
    }
}

#[cfg(test)]
impl ConnectionTable {
    /// Ports in use to one destination.
    pub(crate) fn ports_to(&self, address: SocketAddr) -> u64 {
        self.destinations.get(&address).map_or(0, |used| used.ports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_state_and_destination() {
        let mut table = ConnectionTable::default();
        let at = |ip: [u8; 4], port| SocketAddr::from((ip, port));
        for port in 0..40 {
            let state = if port < 30 { 6 } else { 1 };
            let local = at([10, 0, 0, 1 + u8::from(port % 2 == 0)], 40_000 + port);
            table.add(state, local, at([10, 0, 1, 9], 8_080), true, state == 6);
        }
        table.add(1, at([10, 0, 0, 1], 80), at([10, 0, 0, 9], 5_000), false, false);
        table.add(12, at([10, 0, 0, 1], 80), at([10, 0, 0, 9], 5_001), false, false);
        table.add(200, at([10, 0, 0, 1], 80), at([10, 0, 0, 9], 5_002), false, false);
        let level = |name: &str, count| (format!("state.{name}"), count);
        assert_eq!(table.levels(), [level("established", 11), level("syn_recv", 1), level("time_wait", 30)]);
        let address = at([10, 0, 1, 9], 8_080);
        let expected = DestinationSample { address, ports: 40, resting: 30, range: 2_000 };
        assert_eq!(table.destinations(1_000), [expected]);
    }
}
