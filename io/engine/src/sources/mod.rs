//! [`Sources`]: the addresses to which connections lead, and the local (address, port) pairs that
//! they use.
//!
//! If a plan has source addresses, each load thread owns some pairs and binds one before it
//! connects. The kernel then never searches for a free port, which takes milliseconds once most
//! ports are in use.
//!
//! A pair and the target's address form a *tuple*. A tuple is used for one connection at a time and
//! then rests. The kernel accepts a tuple again during its own `TIME_WAIT`, because every owner had
//! `SO_REUSEADDR` set. The rest is for the peer: its `TIME_WAIT` uses timestamps to distinguish old
//! segments from new ones, which works only after a while.

mod tuples;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_pace::Partition;
use wavetank_plan::{Plan, SourcesPlan};
use wavetank_units::{Nanos, Ports, SourceRange};

use tuples::Tuples;

/// The minimum rest of a tuple: `tcp_tw_reuse_delay`, after which Linux distinguishes old segments
/// from new ones.
const REST_MS: u32 = 1_000;
/// After this rest (Linux's `TIME_WAIT`) a tuple is as good as new. A tuple that the kernel refused
/// is tried again.
const REST_LONG_MS: u32 = 60_000;
/// With this many resting tuples (8 MB), tuples are reused after the short rest, even if others
/// were never used.
const RESTING_MAX: usize = 1 << 20;

/// The ports that a run binds on this host, and the position at which it starts.
#[derive(Clone, Debug)]
pub struct SourcePorts {
    ports: Arc<[u16]>,
    start: u64,
    /// The subset of the plan's source addresses to use; `None`: all of them.
    own: Option<Arc<[SourceRange]>>,
}

impl SourcePorts {
    /// Creates the ports of this host.
    ///
    /// `run` is any number of the run, the same for all parts of the run on this host. Consecutive
    /// runs then start at different positions and do not hit each other's `TIME_WAIT`.
    pub fn new(ports: &Ports, run: u64) -> Self {
        // The numbers of runs may be close to each other (instants), so they are spread (Fibonacci
        // hashing, Knuth).
        let start = run.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
        Self { ports: ports.iter().collect(), start, own: None }
    }

    /// Returns the ports for a namespace that has the addresses `own` and no other source addresses
    /// of a plan. If `own` is empty, the kernel chooses there.
    #[must_use]
    pub fn at(self, own: &[SourceRange]) -> Self {
        Self { own: Some(own.into()), ..self }
    }

    /// Returns the usable ones of a plan's source addresses.
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

/// One pair of address and port, for one address of a target. It is the address alone if the kernel
/// chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuple {
    way: u16,
    index: u32,
}

impl Tuple {
    /// The kernel chooses, and no address is known.
    pub(crate) const KERNELS: Self = Self { way: 0, index: u32::MAX };

    /// Whether the pair was chosen here.
    pub(crate) fn is_chosen(self) -> bool {
        self.index != u32::MAX
    }
}

/// The destination of one connection, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) to: SocketAddr,
    pub(crate) from: Option<SocketAddr>,
    pub(crate) tuple: Tuple,
}

/// The tuples of one load thread; see the module documentation.
pub(crate) struct Sources {
    v4: Tuples,
    v6: Tuples,
    /// By target, its addresses as indices into `ways`.
    targets: Vec<Vec<u16>>,
    ways: Vec<AddressTuples>,
    /// The position of the next address of a target.
    turn: usize,
}

/// One address of a target, with its tuples.
struct AddressTuples {
    to: SocketAddr,
    /// The number of tuples that were used already, in order.
    used: u32,
    /// Tuples that were used before, in order of release.
    resting: VecDeque<Rest>,
    /// Tuples that the kernel refused because other programs use them.
    refused: VecDeque<Rest>,
}

#[derive(Clone, Copy)]
struct Rest {
    since_ms: u32,
    index: u32,
}

impl Sources {
    /// Creates the tuples of the load thread that owns `share` of everything. `turn` is the first
    /// address of a target that it uses.
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

    /// Returns a seed that differs between load threads.
    pub(crate) const fn seed(&self, run: u64) -> u64 {
        run.wrapping_add((self.turn as u64) << 40)
    }

    /// Replaces the addresses of each target; a target with an empty list keeps its addresses.
    ///
    /// Tuples in use or resting for replaced addresses are kept, because the addresses may return.
    pub(crate) fn lead(&mut self, to: &[Vec<SocketAddr>]) {
        for (at, addresses) in to.iter().enumerate().take(self.targets.len()) {
            let places = self.places(addresses);
            if !places.is_empty() {
                self.targets[at] = places;
            }
        }
    }

    /// Returns indices into the table of addresses. Addresses that do not fit into it are left out.
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

    /// Returns the number of addresses of `target`.
    pub(crate) fn address_count(&self, target: u16) -> u32 {
        self.targets[usize::from(target)].len() as u32
    }

    /// Returns the address of a route of `target` with `tuple`, if the target has several.
    pub(crate) fn one_of_several(&self, target: u16, tuple: Tuple) -> Option<SocketAddr> {
        (self.address_count(target) > 1).then(|| self.ways[usize::from(tuple.way)].to)
    }

    /// Returns the source and destination of the next connection to `target`; `None`: every tuple
    /// is in use or resting.
    #[inline]
    pub(crate) fn allocate(&mut self, target: u16, now: Nanos) -> Option<Route> {
        let addresses = &self.targets[usize::from(target)];
        for _ in 0..addresses.len() {
            let index = addresses[self.turn % addresses.len()];
            self.turn = self.turn.wrapping_add(1);
            let way = &mut self.ways[usize::from(index)];
            let tuples = if way.to.is_ipv4() { &self.v4 } else { &self.v6 };
            if tuples.are_the_kernels() {
                let tuple = Tuple { way: index, ..Tuple::KERNELS };
                return Some(Route { to: way.to, from: None, tuple });
            }
            if let Some(tuple) = way.take(tuples.count(), now) {
                let from = Some(tuples.get(tuple));
                return Some(Route { to: way.to, from, tuple: Tuple { way: index, index: tuple } });
            }
        }
        None
    }

    /// Records that the connection on `tuple` is gone since `now`.
    #[inline]
    pub(crate) fn release(&mut self, tuple: Tuple, now: Nanos) {
        if tuple.is_chosen() {
            let rest = Rest { since_ms: milliseconds(now), index: tuple.index };
            self.ways[usize::from(tuple.way)].resting.push_back(rest);
        }
    }

    /// Records that the kernel refused `tuple` because another program uses it.
    pub(crate) fn refuse(&mut self, tuple: Tuple, now: Nanos) {
        if tuple.is_chosen() {
            let rest = Rest { since_ms: milliseconds(now), index: tuple.index };
            self.ways[usize::from(tuple.way)].refused.push_back(rest);
        }
    }
}

impl AddressTuples {
    /// Takes the best available tuple. The order is: one that rested long, one never used, a
    /// refused one that may be free by now, one that rested briefly.
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

/// Takes the first of `resting`, if it has rested for `ms`.
fn pop(resting: &mut VecDeque<Rest>, now: u32, ms: u32) -> Option<u32> {
    // The clock in milliseconds wraps after 49 days, which does not affect ages.
    resting.pop_front_if(|rest| now.wrapping_sub(rest.since_ms) >= ms).map(|rest| rest.index)
}

fn milliseconds(now: Nanos) -> u32 {
    (now.0 / 1_000_000) as u32
}

#[cfg(test)]
mod tests;
