//! Random loads and journeys against peers that refuse, delay, break and fall silent.

use wavetank_engine::Command;
use wavetank_pace::Philox;
use wavetank_plan::Load;
use wavetank_testkit::is_long;
use wavetank_units::Nanos;

use super::{Accept, Peer, Reply, run_with};
use crate::flow::chaos::{check_counts, one_in, random_plan};
use crate::flow::ms;

/// Seeds that are tried, and in the long form of the tests.
const SEEDS: u64 = 300;
const SEEDS_LONG: u64 = 20_000;

/// A peer that misbehaves in one of ten cases.
fn random_peer(seed: u64) -> Peer {
    let mut random = Philox::keyed(seed, 0xbad, 0);
    let mut accepting = Philox::keyed(seed, 0xacc, 0);
    let peer = Peer::new(move |request| {
        let delay = ms(random.below(20) as i64);
        match random.below(40) {
            0 => Reply::Never,
            1 => Reply::Close(delay),
            2 => Reply::Break(delay),
            3 => Reply::Status(200, Nanos::from_secs(2)),
            _ if request.path.starts_with("/bad") => Reply::Status(500, delay),
            _ => Reply::Status(200, delay),
        }
    });
    peer.accepting(move |_| match accepting.below(20) {
        0 => Accept::Refuse(ms(1)),
        1 => Accept::Ignore,
        _ => Accept::After(ms(accepting.below(5) as i64)),
    })
}

/// The run ends on its own, or soon after it was stopped, and everything adds up.
fn check(seed: u64) {
    let mut random = Philox::keyed(seed, 0xf10, 0);
    let mut plan = random_plan(&mut random, Peer::ADDRESS);
    (plan.http.timeout, plan.http.connect_timeout) = (ms(700), ms(300));
    let early = one_in(&mut random, 3).then(|| Command::Drain(ms(random.below(300) as i64)));
    let arrives = plan.phases.iter().any(|phase| matches!(phase.load, Load::Open { .. }));
    let shown = format!("WAVETANK_SEED={seed}: {:?} {:?} {early:?}", plan.scenarios[0], plan.phases);
    let caught = std::panic::catch_unwind(|| {
        let peer = random_peer(seed);
        let stopped = early.is_some();
        let planned = early.map(|command| (Nanos::ZERO, command)).into_iter().collect();
        let (intervals, _) = run_with(&peer, plan, planned);
        check_counts(&intervals, peer.requests(), arrives && stopped);
    });
    assert!(caught.is_ok(), "{shown}");
}

#[test]
fn every_user_ends_whatever_its_peer_does() {
    if let Some(seed) = std::env::var("WAVETANK_SEED").ok().and_then(|seed| seed.parse().ok()) {
        return check(seed);
    }
    for seed in 0..if is_long() { SEEDS_LONG } else { SEEDS } {
        check(seed);
    }
}
