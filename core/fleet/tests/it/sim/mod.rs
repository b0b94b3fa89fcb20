//! The whole fleet on one thread, a virtual clock and one seed: controllers, agents, their hosts,
//! clocks, disks and the links between them, with faults. A failing seed is printed with its last
//! events. Replay it alone with `WAVETANK_SEED=<seed> cargo test -p wavetank-fleet`.
//!
//! The promises of the fleet are named P1 to P14. P8, P11 to P13 are shown here as far as the
//! machines decide them; the rest needs real processes.

mod agents;
mod clock;
mod controller_host;
mod due_agents;
mod effects;
mod host;
mod judge;
mod large;
mod meetings;
mod promises;
mod scenario;
mod users;
mod world;

use std::hash::{BuildHasher as _, Hasher as _};

use scenario::{Scenario, stormy};
use wavetank_pace::Philox;
use world::World;

/// Seeds of stormy runs that once found a defect, one per line; they stay in the test.
const CORPUS: &str = include_str!("../../corpus/stormy.txt");
/// Stormy runs: usually, with the same seeds each time, and in the long form, with new ones.
const SEEDS: u64 = 1_000;
const SEEDS_LONG: u64 = 10_000;

/// Runs worlds made by `scenario` for many seeds, with 1 and with 3 agents (and some with 7), and
/// judges each.
/// Returns whether all seeds were run. If a single seed is replayed, shares of runs have no
/// meaning.
fn check(
    seeds: impl IntoIterator<Item = u64>,
    scenario: impl Fn(&mut Philox, usize) -> Scenario,
    mut judge: impl FnMut(&mut World),
) -> bool {
    let chosen: Option<u64> = std::env::var("WAVETANK_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut seeds: Vec<u64> = seeds.into_iter().collect();
    if let Some(chosen) = chosen {
        seeds = vec![chosen];
    }
    for seed in seeds {
        let sizes: &[usize] = if seed % 16 == 3 { &[1, 3, 7] } else { &[1, 3] };
        for &agents in sizes {
            let mut random = Philox::keyed(seed, 1, agents as u64);
            let scenario = scenario(&mut random, agents);
            let mut world = World::new(seed, agents, scenario);
            world.run();
            world.judge_always();
            judge(&mut world);
        }
    }
    chosen.is_none()
}

/// A seed that no earlier run had.
fn fresh_seed() -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish() >> 16
}

/// Every promise that holds whatever happens, in runs with random faults; then the archive is
/// completed from the disks.
#[test]
fn whatever_happens_the_run_ends_and_no_load_is_orphaned() {
    let corpus = CORPUS.lines().filter(|line| !line.starts_with('#')).map(|line| line.trim().parse());
    let corpus: Vec<u64> = corpus.collect::<Result<_, _>>().expect("the corpus has one seed per line");
    let is_long = std::env::var_os("WAVETANK_LONG").is_some();
    // The usual form judges a change, so it tries the same runs; the long form looks for new ones.
    let (first, count) = if is_long { (fresh_seed(), SEEDS_LONG) } else { (0, SEEDS) };
    let (mut runs, mut complete, mut committed) = (0, 0, 0);
    let all = check(corpus.into_iter().chain(first..first + count), stormy, |world| {
        runs += 1;
        complete += u32::from(world.outcome.as_ref().is_some_and(wavetank_fleet::Outcome::is_complete));
        committed += u32::from(world.hosts.iter().any(|host| host.load_from.is_some()));
        world.fetch_rest();
        world.judge_archive();
    });
    // The faults must stop some runs but not most of them, or the test would prove nothing.
    assert!(!all || (complete * 10 > runs && complete * 10 < runs * 9), "{complete} of {runs} complete");
    assert!(!all || committed * 4 > runs, "{committed} of {runs} under load");
}
