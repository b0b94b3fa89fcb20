//! [`Tuples`]: the pairs of source address and port that one load thread owns, by number.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use wavetank_pace::Partition;
use wavetank_plan::{SourceOrder, SourcesPlan};
use wavetank_units::SourceRange;

/// More addresses of one family than any run uses; further ones are left out.
const ADDRESSES_MAX: u64 = 1 << 40;
/// More tuples than a thread uses.
const COUNT_MAX: u64 = u32::MAX as u64 - 1;
/// Ports are used in leaps of about this fraction of them (the golden section). The tuples of other
/// programs are close together, so leaps avoid hitting all of them in a row.
const LEAP: (u64, u64) = (618, 1_000);

/// A numbering without gaps that is computed and not stored, so that a million addresses cost as
/// much as one.
///
/// All pairs of the host are numbered in the plan's order. A thread owns those in its share, so
/// threads and agents never collide. Numbers go through the ports in leaps from a start position of
/// the run. Within each leap they go through the addresses (round robin), or the other way round
/// (fill first).
pub(super) struct Tuples {
    ranges: Vec<(u64, SourceRange)>,
    addresses: u64,
    ports: Arc<[u16]>,
    leap: u64,
    order: SourceOrder,
    start: u64,
    share: Partition,
    count: u32,
}

impl Tuples {
    pub(super) fn new(
        plan: &SourcesPlan,
        v4: bool,
        ports: &Arc<[u16]>,
        start: u64,
        share: Partition,
    ) -> Self {
        let mut addresses = 0_u64;
        let mut ranges = Vec::new();
        for range in plan.ranges.iter().filter(|range| range.first.is_ipv4() == v4) {
            ranges.push((addresses, *range));
            let more = u64::try_from(range.len()).unwrap_or(u64::MAX);
            addresses = addresses.saturating_add(more).min(ADDRESSES_MAX);
        }
        let count = share.count_below(addresses * ports.len() as u64).min(COUNT_MAX) as u32;
        let leap = leap_over(ports.len() as u64);
        Self { ranges, addresses, ports: Arc::clone(ports), leap, order: plan.order, start, share, count }
    }

    /// Whether the kernel chooses, because the plan has no source addresses.
    pub(super) fn are_the_kernels(&self) -> bool {
        self.addresses == 0
    }

    /// The number of tuples.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the tuple with this number, below [`Tuples::count`].
    pub(super) fn get(&self, index: u32) -> SocketAddr {
        let number = self.share.nth(u64::from(index));
        let ports = self.ports.len() as u64;
        let (address, port) = match self.order {
            SourceOrder::InTurn => {
                let (round, place) = (number / self.addresses, number % self.addresses);
                // Each round starts one address further, so that a share of every second tuple
                // reaches all addresses.
                ((place + round + self.start % self.addresses) % self.addresses, round)
            }
            SourceOrder::FillFirst => (number / ports, number % ports),
        };
        let port = (port * self.leap + self.start) % ports;
        SocketAddr::new(self.address(address), self.ports[port as usize])
    }

    fn address(&self, index: u64) -> IpAddr {
        let range = self.ranges.partition_point(|&(before, _)| before <= index) - 1;
        let (before, range) = self.ranges[range];
        match range.first {
            IpAddr::V4(first) => {
                let last = u32::try_from(index - before).expect("an IPv4 range has at most 2^32 addresses");
                Ipv4Addr::from(u32::from(first) + last).into()
            }
            IpAddr::V6(first) => Ipv6Addr::from(u128::from(first) + u128::from(index - before)).into(),
        }
    }
}

/// Returns the step through `ports` ports: the smallest one above the golden section that reaches
/// each of them.
fn leap_over(ports: u64) -> u64 {
    let coprime = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    let golden = ports * LEAP.0 / LEAP.1 + 1;
    (golden..=ports).find(|&leap| coprime(leap, ports)).unwrap_or(ports + 1)
}
