//! [`HostCounters`]: what a host's kernel counted between two samples, by name, and its sockets and
//! links at the second.

use std::net::SocketAddr;

/// Start of the name of a counter that rises by one with each sample in which several sockets
/// listen on an address, one with a long queue and another one without. The address follows.
pub const UNEVEN_QUEUE: &str = "uneven_queue.";

/// What moved on a host since its sample before, and what was so when the sample was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostCounters {
    /// By how much counters rose since the sample before, such as `TcpExt.ListenOverflows`. Sorted
    /// by name; a counter that did not rise is absent, and the first sample has none.
    pub rises: Vec<(String, u64)>,
    /// Values at this instant, such as `state.close_wait`. Sorted by name; zeros are absent.
    pub levels: Vec<(String, u64)>,
    /// Listening TCP sockets. Empty if the kernel does not list them.
    pub listeners: Vec<ListenerSample>,
    /// The destinations to which most local ports are in use.
    pub destinations: Vec<DestinationSample>,
    /// Links with a known rate.
    pub links: Vec<LinkSample>,
}

/// A listening socket, or several that share an address and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerSample {
    /// Where it listens.
    pub address: SocketAddr,
    /// Connections that wait to be accepted, in the longest queue.
    pub queue: u64,
    /// How many may wait.
    pub limit: u64,
    /// Packets that the socket dropped since it was made; connects to a full queue are among them.
    pub drops: u64,
}

/// Outgoing connections to one address and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationSample {
    /// The remote address.
    pub address: SocketAddr,
    /// Local address and port pairs in use, in any state; each source address has its own ports.
    pub ports: u64,
    /// Those of them in TIME-WAIT.
    pub resting: u64,
    /// Ports that the kernel may choose from, times the local addresses in use.
    pub range: u64,
}

/// An interface of a link with a known rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSample {
    /// The interface: `eth0`.
    pub interface: String,
    /// What its link can carry in each direction, bits per second.
    pub bits_per_s: u64,
    /// Bytes received and sent since the interface was made.
    pub in_bytes: u64,
    /// Bytes sent since the interface was made.
    pub out_bytes: u64,
}

impl HostCounters {
    /// By how much `name` rose since the sample before.
    pub fn rise(&self, name: &str) -> u64 {
        value(&self.rises, name)
    }

    /// The value of `name` at this instant.
    pub fn level(&self, name: &str) -> u64 {
        value(&self.levels, name)
    }
}

/// The value of `name` in a sorted list; 0 if absent.
fn value(list: &[(String, u64)], name: &str) -> u64 {
    list.binary_search_by(|(known, _)| known.as_str().cmp(name)).map_or(0, |at| list[at].1)
}
