//! [`Sources`]: where connections go to, and from which (address, port) pair.
//!
//! Given addresses to come from, a load thread owns its pairs: it binds one of its own before it connects, so
//! that the kernel never searches for a free port, which takes milliseconds once most are in use. A pair, with
//! the target's address a *tuple*, is used for one connection at a time and then rests. The kernel takes a
//! tuple again while its own `TIME_WAIT` lasts, because every owner had `SO_REUSEADDR` set; what rests is for
//! the peer's sake, whose `TIME_WAIT` tells an old segment from a new one by timestamps only after a while.

mod tuples;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_pace::Partition;
use wavetank_plan::{Nanos, Plan, Ports, SourceRange, SourcesPlan};

use tuples::Tuples;

/// A tuple rests at least so long: `tcp_tw_reuse_delay`, after which Linux tells old from new.
const REST_MS: u32 = 1_000;
/// What rested this long (Linux's `TIME_WAIT`) is as good as new; one that the kernel refused is tried again.
const REST_LONG_MS: u32 = 60_000;
/// With so many resting, tuples are taken again after the short rest though others were never used: 8 MB.
const RESTING_MAX: usize = 1 << 20;

/// The ports that a run binds on this host, and where it begins with them.
#[derive(Clone, Debug)]
pub struct SourcePorts {
    ports: Arc<[u16]>,
    start: u64,
    /// Of the plan's source addresses those in here alone; `None`: all of them.
    own: Option<Arc<[SourceRange]>>,
}

impl SourcePorts {
    /// `ports` of this host. `run` is any number of the run's own, the same for all who share the host in it:
    /// runs in a row then begin at places of their own, and do not meet each other's `TIME_WAIT`s.
    pub fn new(ports: &Ports, run: u64) -> Self {
        // Numbers of runs may be close to each other (instants); spread them (Fibonacci hashing, Knuth).
        let start = run.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
        Self { ports: ports.iter().collect(), start, own: None }
    }

    /// The same at a place that has the addresses `own`, and no others of a plan's source addresses. With none of them
    /// the kernel chooses there.
    #[must_use]
    pub fn at(self, own: &[SourceRange]) -> Self {
        Self { own: Some(own.into()), ..self }
    }

    /// The addresses to come from, of those of a plan.
    fn sources(&self, plan: &SourcesPlan) -> SourcesPlan {
        match &self.own {
            None => plan.clone(),
            Some(own) => {
                let here =
                    |range: &SourceRange| own.iter().filter_map(|own| range.common(*own)).collect::<Vec<_>>();
                SourcesPlan { ranges: plan.ranges.iter().flat_map(here).collect(), order: plan.order }
            }
        }
    }
}

/// One pair of address and port, for one address of a target; or none, where the kernel chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuple {
    way: u16,
    index: u32,
}

impl Tuple {
    /// The kernel's choice.
    pub(crate) const KERNELS: Self = Self { way: 0, index: u32::MAX };

    /// Whether it is one of ours.
    pub(crate) fn is_chosen(self) -> bool {
        self != Self::KERNELS
    }
}

/// Where one connection goes to, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) to: SocketAddr,
    pub(crate) from: Option<SocketAddr>,
    pub(crate) tuple: Tuple,
}

/// See the module's description.
pub(crate) struct Sources {
    v4: Tuples,
    v6: Tuples,
    /// By target, its addresses as indices into `ways`.
    targets: Vec<Vec<u16>>,
    ways: Vec<AddressTuples>,
    /// Which address of a target comes next.
    turn: usize,
}

/// One address of a target, with the tuples towards it.
struct AddressTuples {
    to: SocketAddr,
    /// How many were used already, in their order.
    used: u32,
    /// Used before, in order of their release.
    resting: VecDeque<Rest>,
    /// Refused by the kernel: somebody else has them.
    refused: VecDeque<Rest>,
}

#[derive(Clone, Copy)]
struct Rest {
    since_ms: u32,
    index: u32,
}

impl Sources {
    /// The tuples of the load thread that owns `share` of everything. `turn` is the address of a target it
    /// begins with.
    pub(crate) fn new(plan: &Plan, ports: &SourcePorts, share: Partition, turn: usize) -> Self {
        let sources = ports.sources(&plan.sources);
        let family = |v4| Tuples::new(&sources, v4, &ports.ports, ports.start, share);
        let targets = vec![Vec::new(); plan.targets.len()];
        let mut this = Self { v4: family(true), v6: family(false), targets, ways: Vec::new(), turn };
        for (at, target) in plan.targets.iter().enumerate() {
            this.targets[at] = this.places(plan.connect_addresses(target));
        }
        this
    }

    /// From now on the ways of each target lead to these addresses; where there are none they stay. What is in use or
    /// rests towards addresses that are left is kept, for they may come back.
    pub(crate) fn lead(&mut self, to: &[Vec<SocketAddr>]) {
        for (at, addresses) in to.iter().enumerate().take(self.targets.len()) {
            let places = self.places(addresses);
            if !places.is_empty() {
                self.targets[at] = places;
            }
        }
    }

    /// Places in the table of ways; what does not fit into it is left out.
    fn places(&mut self, addresses: &[SocketAddr]) -> Vec<u16> {
        let mut place = |to: SocketAddr| {
            let known = self.ways.iter().position(|way| way.to == to);
            let index = u16::try_from(known.unwrap_or(self.ways.len())).ok()?;
            if known.is_none() {
                self.ways.push(AddressTuples {
                    to,
                    used: 0,
                    resting: VecDeque::new(),
                    refused: VecDeque::new(),
                });
            }
            Some(index)
        };
        addresses.iter().filter_map(|&to| place(to)).collect()
    }

    /// The way of the next connection to `target`; `None`: every tuple is in use or rests.
    #[inline]
    pub(crate) fn allocate(&mut self, target: u16, now: Nanos) -> Option<Route> {
        let addresses = &self.targets[usize::from(target)];
        for _ in 0..addresses.len() {
            let index = addresses[self.turn % addresses.len()];
            self.turn = self.turn.wrapping_add(1);
            let way = &mut self.ways[usize::from(index)];
            let tuples = if way.to.is_ipv4() { &self.v4 } else { &self.v6 };
            if tuples.are_the_kernels() {
                return Some(Route { to: way.to, from: None, tuple: Tuple::KERNELS });
            }
            if let Some(tuple) = way.take(tuples.count(), now) {
                let from = Some(tuples.get(tuple));
                return Some(Route { to: way.to, from, tuple: Tuple { way: index, index: tuple } });
            }
        }
        None
    }

    /// The connection on `tuple` is gone since `now`.
    #[inline]
    pub(crate) fn release(&mut self, tuple: Tuple, now: Nanos) {
        if tuple.is_chosen() {
            let rest = Rest { since_ms: milliseconds(now), index: tuple.index };
            self.ways[usize::from(tuple.way)].resting.push_back(rest);
        }
    }

    /// The kernel says that somebody else has `tuple`.
    pub(crate) fn refuse(&mut self, tuple: Tuple, now: Nanos) {
        if tuple.is_chosen() {
            let rest = Rest { since_ms: milliseconds(now), index: tuple.index };
            self.ways[usize::from(tuple.way)].refused.push_back(rest);
        }
    }
}

impl AddressTuples {
    /// The best tuple there is: one that rested long, one never used, one that others may have given up, one
    /// that rested a little.
    fn take(&mut self, count: u32, now: Nanos) -> Option<u32> {
        let now = milliseconds(now);
        let full = self.resting.len() >= RESTING_MAX;
        pop(&mut self.resting, now, if full { REST_MS } else { REST_LONG_MS })
            .or_else(|| {
                let fresh = (self.used < count).then_some(self.used);
                self.used += u32::from(fresh.is_some());
                fresh
            })
            .or_else(|| pop(&mut self.refused, now, REST_LONG_MS))
            .or_else(|| pop(&mut self.resting, now, REST_MS))
    }
}

/// The first of `resting`, if it has rested for `ms`.
fn pop(resting: &mut VecDeque<Rest>, now: u32, ms: u32) -> Option<u32> {
    // The clock in milliseconds goes round after 49 days; ages do not mind.
    resting.pop_front_if(|rest| now.wrapping_sub(rest.since_ms) >= ms).map(|rest| rest.index)
}

fn milliseconds(now: Nanos) -> u32 {
    (now.0 / 1_000_000) as u32
}

#[cfg(test)]
mod tests;
