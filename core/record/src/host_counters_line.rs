//! The part of a host's line with what its kernel counted.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use wavetank_measure::{DestinationSample, HostCounters, LinkSample, ListenerSample};

/// Absent parts are empty: hosts of earlier versions, and of kernels that do not count.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RawCounters {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    rises: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    levels: BTreeMap<String, u64>,
    /// Address, queue, limit, drops.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    listeners: Vec<(SocketAddr, u64, u64, u64)>,
    /// Address, ports, resting, range.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    destinations: Vec<(SocketAddr, u64, u64, u64)>,
    /// Interface, bits per second, bytes in, bytes out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<(String, u64, u64, u64)>,
}

impl RawCounters {
    /// Whether there is nothing to store.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { rises, levels, listeners, destinations, links } = self;
        rises.is_empty()
            && levels.is_empty()
            && listeners.is_empty()
            && destinations.is_empty()
            && links.is_empty()
    }
}

impl From<&HostCounters> for RawCounters {
    fn from(counters: &HostCounters) -> Self {
        let HostCounters { rises, levels, listeners, destinations, links } = counters;
        let listener = |one: &ListenerSample| (one.address, one.queue, one.limit, one.drops);
        let destination = |one: &DestinationSample| (one.address, one.ports, one.resting, one.range);
        let link = |one: &LinkSample| (one.interface.clone(), one.bits_per_s, one.in_bytes, one.out_bytes);
        Self {
            rises: rises.iter().cloned().collect(),
            levels: levels.iter().cloned().collect(),
            listeners: listeners.iter().map(listener).collect(),
            destinations: destinations.iter().map(destination).collect(),
            links: links.iter().map(link).collect(),
        }
    }
}

impl From<RawCounters> for HostCounters {
    fn from(raw: RawCounters) -> Self {
        let listener = |(address, queue, limit, drops)| ListenerSample { address, queue, limit, drops };
        let destination =
            |(address, ports, resting, range)| DestinationSample { address, ports, resting, range };
        let link = |(interface, bits_per_s, in_bytes, out_bytes)| LinkSample {
            interface,
            bits_per_s,
            in_bytes,
            out_bytes,
        };
        Self {
            rises: raw.rises.into_iter().collect(),
            levels: raw.levels.into_iter().collect(),
            listeners: raw.listeners.into_iter().map(listener).collect(),
            destinations: raw.destinations.into_iter().map(destination).collect(),
            links: raw.links.into_iter().map(link).collect(),
        }
    }
}
