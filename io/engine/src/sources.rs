//! [`Sources`]: which source address the next connection binds.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use wavetank_plan::SourceRange;

/// Source addresses of one load thread, used in turn. The kernel chooses the port at connect time.
pub(crate) struct Sources {
    ranges: Vec<SourceRange>,
    total: u128,
    next: u128,
    step: u128,
}

impl Sources {
    /// Thread `thread` of `threads` starts at its own place and goes round in steps of `threads`.
    pub(crate) fn new(ranges: &[SourceRange], thread: u64, threads: u64) -> Self {
        let total = ranges.iter().map(size).sum();
        Self { ranges: ranges.to_vec(), total, next: u128::from(thread), step: u128::from(threads) }
    }

    /// The next address for connecting to `to`; `None`: let the kernel choose.
    pub(crate) fn next_for(&mut self, to: SocketAddr) -> Option<SocketAddr> {
        if self.total == 0 {
            return None;
        }
        let mut place = self.next % self.total;
        // Going round once, move on by one so that a step dividing the total still reaches every address.
        self.next += self.step;
        if self.next / self.total != (self.next - self.step) / self.total
            && self.total.is_multiple_of(self.step)
        {
            self.next += 1;
        }
        for range in &self.ranges {
            let size = size(range);
            if place < size {
                let address = at(range, place);
                return (address.is_ipv4() == to.is_ipv4()).then(|| SocketAddr::new(address, 0));
            }
            place -= size;
        }
        unreachable!("place is below the total of the sizes")
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(u32::from(v4)),
        IpAddr::V6(v6) => u128::from(v6),
    }
}

fn size(range: &SourceRange) -> u128 {
    (bits(range.last) - bits(range.first)).saturating_add(1)
}

fn at(range: &SourceRange, place: u128) -> IpAddr {
    let bits = bits(range.first) + place;
    match range.first {
        IpAddr::V4(_) => Ipv4Addr::from(u32::try_from(bits).expect("an IPv4 range stays in 32 bits")).into(),
        IpAddr::V6(_) => Ipv6Addr::from(bits).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ranges: &[(&str, &str)], threads: u64, expect: usize) {
        let parse = |text: &str| text.parse().expect("an address");
        let ranges: Vec<_> = ranges
            .iter()
            .map(|(first, last)| SourceRange { first: parse(first), last: parse(last) })
            .collect();
        let to: SocketAddr = "127.0.0.1:80".parse().expect("an address");
        let mut seen = std::collections::BTreeSet::new();
        for thread in 0..threads {
            let mut sources = Sources::new(&ranges, thread, threads);
            seen.extend((0..expect * 4).filter_map(|_| sources.next_for(to)));
        }
        assert_eq!(seen.len(), expect, "{ranges:?} over {threads}");
    }

    #[test]
    fn every_address_has_its_turn() {
        check(&[], 2, 0);
        check(&[("127.0.0.1", "127.0.0.1")], 2, 1);
        check(&[("127.1.0.0", "127.1.0.9"), ("127.2.0.5", "127.2.0.5")], 1, 11);
        check(&[("127.1.0.0", "127.1.0.9")], 3, 10);
        check(&[("127.1.0.0", "127.1.0.7")], 2, 8);
    }
}
