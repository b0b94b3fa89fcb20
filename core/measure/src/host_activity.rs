//! [`HostActivity`]: what moved on a host during a run, with the time in which it did.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use wavetank_units::Nanos;

use crate::host_limits::{LevelUse, LimitUse};
use crate::{DestinationSample, HostCounters, HostSample, LinkSample, ListenerSample};

/// Most counters, levels, listeners, destinations and links that are kept of a host, each.
const ENTRIES_MAX: usize = 1_024;
/// A link that carries this share of its rate is full: headers below IP are not counted.
const LINK_FULL: f64 = 0.85;
/// A host that used this share of its CPU is busy.
const CPU_FULL: f64 = 0.9;
const BITS: f64 = 8.0;

/// A counter over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Movement {
    /// By how much it rose in all.
    pub total: u64,
    /// The most from one sample to the next.
    pub most: u64,
    /// Samples in which it rose.
    pub samples: u64,
    /// The first sample before which it rose.
    pub first: Nanos,
    /// The last one.
    pub last: Nanos,
}

/// A listener over a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerActivity {
    /// Its sample with the longest queue.
    pub fullest: ListenerSample,
    /// When that was.
    pub at: Nanos,
    /// Packets that it dropped during the run.
    pub drops: u64,
    /// Samples in which its queue was full.
    pub full_samples: u64,
    drops_before: u64,
}

/// A link over a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkActivity {
    /// Its latest sample.
    pub last: LinkSample,
    /// The most bits per second in one direction from one sample to the next.
    pub most_bits_per_s: u64,
    /// Whether that was out of the host.
    pub most_is_out: bool,
    /// The end of that second.
    pub most_at: Nanos,
    /// When it was full: share of its rate ≥ 0.85.
    pub full: Movement,
    at: Nanos,
}

/// What moved on a host, from its first sample to its last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostActivity {
    counters: BTreeMap<String, Movement>,
    levels: BTreeMap<String, (u64, Nanos)>,
    listeners: BTreeMap<SocketAddr, ListenerActivity>,
    destinations: BTreeMap<SocketAddr, (DestinationSample, Nanos)>,
    links: BTreeMap<String, LinkActivity>,
    /// Resources with a limit, by name.
    limits: BTreeMap<String, LevelUse>,
    /// Samples after the first.
    samples: u64,
    cpu_full: Movement,
}

impl HostActivity {
    /// Adds a sample; `before` is the one before it.
    pub(crate) fn add(&mut self, sample: &HostSample, before: Option<&HostSample>) {
        let at = sample.at;
        let HostCounters { rises, levels, listeners, destinations, links } = &sample.counters;
        for (name, by) in rises {
            if let Some(movement) = entry(&mut self.counters, name, Movement::default) {
                movement.add(*by, at);
            }
        }
        for (name, value) in levels {
            if let Some(most) = entry(&mut self.levels, name, || (0, at))
                && *value > most.0
            {
                *most = (*value, at);
            }
        }
        for listener in listeners {
            let new = || ListenerActivity {
                fullest: ListenerSample { queue: 0, ..listener.clone() },
                at,
                drops: 0,
                full_samples: 0,
                drops_before: listener.drops,
            };
            if let Some(known) = entry(&mut self.listeners, &listener.address, new) {
                known.add(listener, at);
            }
        }
        for destination in destinations {
            if let Some(most) =
                entry(&mut self.destinations, &destination.address, || (destination.clone(), at))
                && destination.ports > most.0.ports
            {
                *most = (destination.clone(), at);
            }
        }
        for link in links {
            let new = || LinkActivity {
                last: link.clone(),
                most_bits_per_s: 0,
                most_is_out: false,
                most_at: at,
                full: Movement::default(),
                at,
            };
            if let Some(known) = entry(&mut self.links, &link.interface, new) {
                known.add(link, at);
            }
        }
        self.add_limits(sample);
        if let Some(before) = before {
            self.samples += 1;
            if sample.cpu_since(before).is_some_and(|share| share >= CPU_FULL) {
                self.cpu_full.add(1, at);
            }
        }
    }

    /// Adds what is used of each resource with a limit.
    fn add_limits(&mut self, sample: &HostSample) {
        let levels = sample.counters.levels.iter();
        let limited = levels.filter_map(|(name, used)| {
            let resource = name.strip_suffix(".used")?;
            Some((resource, *used, sample.counters.level(&format!("{resource}.max"))))
        });
        let memory = ("memory", sample.mem_used_bytes, sample.mem_all_bytes);
        for (resource, used, max) in limited.chain([memory]).filter(|(.., max)| *max > 0) {
            let new = || LevelUse::first(used, max, sample.at);
            if let Some(known) = entry(&mut self.limits, &resource.to_owned(), new) {
                known.add(used, max, sample.at);
            }
        }
    }

    /// What it used of `resource`, if that has a limit.
    pub fn limit(&self, resource: &str) -> Option<LimitUse> {
        self.limits.get(resource).map(|level| level.named(resource))
    }

    /// What it used of each resource with a limit, its CPUs excepted.
    pub(crate) fn limits(&self) -> Vec<LimitUse> {
        let levels = self.limits.iter().map(|(resource, level)| level.named(resource));
        let ports = self.destinations.values().filter(|(one, _)| one.range > 0).map(|(one, at)| LimitUse {
            resource: "ports".to_owned(),
            of: one.address.to_string(),
            before: 0.0,
            used: one.ports as f64,
            max: one.range as f64,
            at: *at,
        });
        let links = self.links.values().filter(|link| link.last.bits_per_s > 0).map(|link| LimitUse {
            resource: "link".to_owned(),
            of: link.last.interface.clone(),
            before: 0.0,
            used: link.most_bits_per_s as f64,
            max: link.last.bits_per_s as f64,
            at: link.most_at,
        });
        levels.chain(ports).chain(links).collect()
    }

    /// The counter `name`; all zeros if it never rose.
    pub fn counter(&self, name: &str) -> Movement {
        self.counters.get(name).copied().unwrap_or_default()
    }

    /// The counters that rose, by name.
    pub fn counters(&self) -> impl Iterator<Item = (&str, &Movement)> {
        self.counters.iter().map(|(name, movement)| (name.as_str(), movement))
    }

    /// The highest value of `name`, and when that was.
    pub fn highest(&self, name: &str) -> Option<(u64, Nanos)> {
        self.levels.get(name).copied()
    }

    /// Its listeners, by address.
    pub fn listeners(&self) -> impl Iterator<Item = &ListenerActivity> {
        self.listeners.values()
    }

    /// Its destinations at their fullest, by address.
    pub fn destinations(&self) -> impl Iterator<Item = &(DestinationSample, Nanos)> {
        self.destinations.values()
    }

    /// Its links with a known rate.
    pub fn links(&self) -> impl Iterator<Item = &LinkActivity> {
        self.links.values()
    }

    /// Samples after the first one.
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// When it used at least 90 % of the CPU that it may use.
    pub const fn cpu_full(&self) -> Movement {
        self.cpu_full
    }
}

impl Movement {
    fn add(&mut self, by: u64, at: Nanos) {
        if self.samples == 0 {
            self.first = at;
        }
        self.total = self.total.saturating_add(by);
        self.most = self.most.max(by);
        self.samples += 1;
        self.last = at;
    }
}

impl ListenerActivity {
    fn add(&mut self, sample: &ListenerSample, at: Nanos) {
        if sample.queue > self.fullest.queue {
            self.fullest = sample.clone();
            self.at = at;
        }
        // The kernel accepts one connection more than the limit into the queue.
        self.full_samples += u64::from(sample.limit > 0 && sample.queue >= sample.limit);
        // Another socket took its place.
        if sample.drops < self.drops_before {
            self.drops_before = 0;
        }
        self.drops += sample.drops - self.drops_before;
        self.drops_before = sample.drops;
    }
}

impl LinkActivity {
    fn add(&mut self, sample: &LinkSample, at: Nanos) {
        let seconds = at.since(self.at) as f64 / 1e9;
        let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 * BITS / seconds;
        if seconds > 0.0 {
            let received = rate(sample.in_bytes, self.last.in_bytes);
            let sent = rate(sample.out_bytes, self.last.out_bytes);
            let most = received.max(sent);
            if most as u64 > self.most_bits_per_s {
                self.most_bits_per_s = most as u64;
                self.most_is_out = sent >= received;
                self.most_at = at;
            }
            if sample.bits_per_s > 0 && most >= LINK_FULL * sample.bits_per_s as f64 {
                self.full.add(1, at);
            }
        }
        self.last = sample.clone();
        self.at = at;
    }
}

/// The value of `key`, made by `new` if there is room for one more.
fn entry<'m, K: Ord + Clone, V>(
    map: &'m mut BTreeMap<K, V>,
    key: &K,
    new: impl FnOnce() -> V,
) -> Option<&'m mut V> {
    if !map.contains_key(key) {
        if map.len() >= ENTRIES_MAX {
            return None;
        }
        map.insert(key.clone(), new());
    }
    map.get_mut(key)
}
