//! Tests which tuples exist, which thread owns them, and when they are reused.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use wavetank_plan::{SourceOrder, SourcesPlan};
use wavetank_units::SourceRange;

use super::*;

fn ranges(ranges: &[(&str, &str)]) -> Vec<SourceRange> {
    let parse = |text: &str| text.parse().expect("an address");
    ranges.iter().map(|(first, last)| SourceRange { first: parse(first), last: parse(last) }).collect()
}

fn tuples(sources: &SourcesPlan, ports: &SourcePorts, share: Partition) -> Tuples {
    Tuples::new(sources, true, &ports.ports, ports.start, share)
}

/// `threads` threads own all pairs of the ranges and `ports` ports, each one once.
fn check(text: &[(&str, &str)], ports: u16, threads: u64, addresses: usize) {
    for order in [SourceOrder::InTurn, SourceOrder::FillFirst] {
        for run in [0, 1, 77] {
            let sources = SourcesPlan { ranges: ranges(text), order };
            let own = SourcePorts::new(&Ports::range(40_000, 40_000 + ports - 1), run);
            let mut seen = BTreeSet::new();
            for thread in 0..threads {
                let tuples = tuples(&sources, &own, Partition::WHOLE.split(threads, thread));
                for index in 0..tuples.count() {
                    let tuple = tuples.get(index);
                    assert!(seen.insert(tuple), "{tuple} twice: {text:?}, {threads} threads");
                }
            }
            assert_eq!(seen.len(), addresses * usize::from(ports), "{text:?}, {threads} threads");
            let met: BTreeSet<IpAddr> = seen.iter().map(SocketAddr::ip).collect();
            assert_eq!(met.len(), addresses);
        }
    }
}

#[test]
fn threads_share_all_tuples_and_none_twice() {
    check(&[("127.0.0.1", "127.0.0.1")], 1, 1, 1);
    check(&[("127.0.0.1", "127.0.0.1")], 100, 3, 1);
    check(&[("127.1.0.0", "127.1.0.9"), ("127.2.0.5", "127.2.0.5")], 7, 2, 11);
    check(&[("127.1.0.0", "127.1.0.7")], 16, 4, 8);
    check(&[("127.1.0.0", "127.1.0.7")], 1, 11, 8);
}

#[test]
fn in_turn_means_all_addresses_alike_and_fill_first_one_after_the_other() {
    let own = SourcePorts::new(&Ports::range(1, 1_000), 5);
    let of = |order, thread| {
        let sources = SourcesPlan { ranges: ranges(&[("127.1.0.1", "127.1.0.8")]), order };
        let tuples = tuples(&sources, &own, Partition::WHOLE.split(2, thread));
        let mut seen = BTreeMap::new();
        for index in 0..400 {
            *seen.entry(tuples.get(index).ip()).or_insert(0) += 1;
        }
        seen.into_values().collect::<Vec<_>>()
    };
    for thread in [0, 1] {
        assert_eq!(of(SourceOrder::InTurn, thread), [50; 8]);
        assert_eq!(of(SourceOrder::FillFirst, thread), [400]);
    }
}

#[test]
fn all_of_loopback_and_all_of_a_prefix_cost_no_more_than_one_address() {
    let own = SourcePorts::new(&Ports::range(32_768, 60_999), 9);
    let everything =
        SourcesPlan { ranges: ranges(&[("127.0.0.1", "127.255.255.254")]), ..Default::default() };
    let half = tuples(&everything, &own, Partition::WHOLE.split(2, 1));
    assert_eq!(u64::from(half.count()), u64::from(u32::MAX) - 1, "as many as can be named");
    assert!(half.get(half.count() - 1).ip().is_loopback());
    let prefix = SourcesPlan { ranges: ranges(&[("fd00::", "fd00::ffff:ffff:ffff:ffff")]), ..everything };
    let v6 = Tuples::new(&prefix, false, &own.ports, own.start, Partition::WHOLE);
    assert!(v6.get(v6.count() - 1).is_ipv6());
    assert!(tuples(&prefix, &own, Partition::WHOLE).are_the_kernels(), "no IPv4 in it");
}

/// One target with two addresses, three ports.
fn two_ways() -> Sources {
    let family = |v4| {
        let sources = SourcesPlan { ranges: ranges(&[("127.0.0.1", "127.0.0.1")]), ..Default::default() };
        let own = SourcePorts::new(&Ports::range(50_000, 50_002), 3);
        Tuples::new(&sources, v4, &own.ports, own.start, Partition::WHOLE)
    };
    let way = |to: &str| AddressTuples {
        to: to.parse().expect("an address"),
        used: 0,
        resting: VecDeque::new(),
        refused: VecDeque::new(),
    };
    let ways = vec![way("127.0.0.1:80"), way("127.0.0.2:80")];
    Sources { v4: family(true), v6: family(false), targets: vec![vec![0, 1]], ways, turn: 0 }
}

#[test]
fn a_tuple_is_one_for_each_address_of_the_target() {
    let mut sources = two_ways();
    let mut seen = BTreeSet::new();
    while let Some(route) = sources.allocate(0, Nanos::ZERO) {
        assert!(seen.insert((route.from, route.to)));
    }
    assert_eq!(seen.len(), 6);
    assert_eq!(seen.iter().map(|(from, _)| from).collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn a_tuple_rests_before_it_comes_again() {
    let at = Nanos::from_millis;
    let mut sources = two_ways();
    let mut taken: Vec<Tuple> =
        std::iter::from_fn(|| sources.allocate(0, at(0))).map(|route| route.tuple).collect();
    let last = taken.pop().expect("six");
    let first = taken.remove(0);
    sources.release(last, at(100));
    sources.release(first, at(200));
    assert_eq!(sources.allocate(0, at(1_099)), None, "both rest");
    assert_eq!(sources.allocate(0, at(1_100)).map(|route| route.tuple), Some(last));
    assert_eq!(sources.allocate(0, at(1_100)), None);
    // Refused tuples rest longer, and released ones are used first.
    sources.refuse(last, at(1_200));
    assert_eq!(sources.allocate(0, at(1_300)).map(|route| route.tuple), Some(first));
    assert_eq!(sources.allocate(0, at(61_199)), None);
    assert_eq!(sources.allocate(0, at(61_200)).map(|route| route.tuple), Some(last));
}

#[test]
fn a_fresh_tuple_comes_before_one_that_rested_a_little_and_after_one_that_rested_long() {
    let at = Nanos::from_millis;
    let mut sources = two_ways();
    sources.targets[0].truncate(1);
    let first = sources.allocate(0, at(0)).expect("three").tuple;
    sources.release(first, at(0));
    let second = sources.allocate(0, at(30_000)).expect("two").tuple;
    assert_ne!(first, second);
    assert_eq!(sources.allocate(0, at(60_000)).map(|route| route.tuple), Some(first));
    let third = sources.allocate(0, at(60_000)).expect("one").tuple;
    assert!(third != first && third != second);
}
