//! The part of a host's line with what its kernel counted.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use wavetank_measure::{DestinationSample, HostCounters, LinkSample, ListenerSample};

/// Absent parts are empty: hosts of earlier versions, and of kernels that do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RawCounters {
    /// Levels and listeners that are not here are as in the line before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    same: bool,
    /// Levels of the line before that are no more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gone: Vec<String>,
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
        let Self { same, gone, rises, levels, listeners, destinations, links } = self;
        !same
            && gone.is_empty()
            && rises.is_empty()
            && levels.is_empty()
            && listeners.is_empty()
            && destinations.is_empty()
            && links.is_empty()
    }

    /// Whether these can be expressed by what changed since `before`.
    pub(crate) fn is_expressed_by(&self, before: &Self) -> bool {
        !self.listeners.is_empty() || before.listeners.is_empty()
    }

    /// Removes levels and listeners that are as in `before`.
    pub(crate) fn keep_changes(&mut self, before: &Self) {
        self.same = true;
        let gone = before.levels.keys().filter(|name| !self.levels.contains_key(*name));
        self.gone = gone.cloned().collect();
        self.levels.retain(|name, value| before.levels.get(name) != Some(value));
        if self.listeners == before.listeners {
            self.listeners.clear();
        }
    }

    /// Adds those of the line before that are not repeated. Without that line they are unknown.
    pub(crate) fn add_unchanged(&mut self, before: Option<Self>) {
        let gone = std::mem::take(&mut self.gone);
        let Some(before) = before.filter(|_| std::mem::take(&mut self.same)) else { return };
        for (name, value) in before.levels {
            if !gone.contains(&name) {
                self.levels.entry(name).or_insert(value);
            }
        }
        if self.listeners.is_empty() {
            self.listeners = before.listeners;
        }
    }
}

impl From<&HostCounters> for RawCounters {
    fn from(counters: &HostCounters) -> Self {
        let HostCounters { rises, levels, listeners, destinations, links } = counters;
        let listener = |one: &ListenerSample| (one.address, one.queue, one.limit, one.drops);
        let destination = |one: &DestinationSample| (one.address, one.ports, one.resting, one.range);
        let link = |one: &LinkSample| (one.interface.clone(), one.bits_per_s, one.in_bytes, one.out_bytes);
        Self {
            same: false,
            gone: Vec::new(),
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
