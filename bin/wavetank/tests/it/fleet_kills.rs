//! Processes of a fleet that are killed at any time: whatever an agent sealed comes into the
//! archive, once.

use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};

use wavetank_testkit::{Script, Signal, is_long, poll_until};

use crate::fleet_hosts::{FleetHosts, LIMIT, target, with_hosts};

/// Runs with processes killed: usually, and in the long form.
const SCHEDULES: u64 = 2;
const SCHEDULES_LONG: u64 = 200;
/// The first seed of the usual form. The long form has fresh seeds.
const SEED: u64 = 1_000;
/// Requests of a run, which takes four seconds.
const REQUESTS: u64 = 800;

/// Decisions of a schedule, from its seed (xorshift).
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % count
    }
}

/// The complete intervals in a file of an agent. The last one may be cut off where it was killed.
fn intervals(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    lines.filter(|line| line.starts_with("{\"v\":")).map(str::to_owned).collect()
}

/// Gives the only spool of a host a second name, which outlives its deletion.
fn keep(hosts: &FleetHosts, host: usize, seed: u64) -> PathBuf {
    let kept = PathBuf::from(hosts.place.file(&format!("kept{host}-{seed}")));
    let spools = hosts.spools(host);
    assert_eq!(spools.len(), 1, "seed {seed}: {spools:?}");
    std::fs::hard_link(&spools[0], &kept).expect("one folder has both");
    kept
}

fn play(hosts: &mut FleetHosts, seed: u64) {
    let mut choices = Choices(seed | 1);
    let target = target(Script::constant(std::time::Duration::from_millis(1)));
    let from = 1 + choices.below(REQUESTS - 100);
    let running = hosts.under_load(&target.url("/"), "-r 200/s -d 4s", &target, from);
    let kept = [1, 2].map(|host| keep(hosts, host, seed));
    // Any of the three processes, at least one of them.
    let victims = 1 + choices.below(7);
    let dead: Vec<usize> = (1..=2).filter(|host| victims >> host & 1 == 1).collect();
    for &host in &dead {
        hosts.kill_agent(host);
    }
    if victims & 1 == 1 {
        running.signal(Signal::KILL);
    }
    let returns_early = choices.below(2) == 0;
    let start_again =
        |hosts: &mut FleetHosts| dead.iter().for_each(|&host| hosts.start_agent(host, &[], &[]));
    if returns_early {
        start_again(hosts);
    }
    let outcome = running.wait(LIMIT);
    assert!(victims & 1 == 1 || matches!(outcome.exit, Some(0 | 3 | 4)), "seed {seed}: {outcome}");
    if !returns_early {
        start_again(hosts);
    }
    let settled = poll_until(LIMIT, || {
        let outcome = hosts.fleet("settle latest --format json");
        (!outcome.stdout.contains("still carries it out")).then_some(outcome)
    });
    let settled = settled.expect("the agents end");
    // The controller may have fetched everything itself.
    let is_settled = settled.exit == Some(0) || settled.stdout.contains("it is settled already");
    assert!(is_settled, "seed {seed}: {settled}");
    for (host, kept) in (1..).zip(&kept) {
        let archived = intervals(&hosts.archive().join(format!("intervals/load{host}.jsonl")));
        assert_eq!(archived, intervals(kept), "seed {seed}: load{host}");
        assert_eq!(hosts.spools(host).len(), 0, "seed {seed}: load{host} keeps a spool: {settled}");
        std::fs::remove_file(kept).expect("it is ours");
    }
    let report = hosts.program().args(["report", "latest", "--format", "json"]).run();
    let result = report.expect_exit(0).result();
    result.conserved();
    let truth = target.settled();
    let sent = result.count("wire.sent");
    // What a killed agent sent after its last interval is in no interval.
    let is_exact = dead.is_empty();
    assert!(sent == truth.requests || !is_exact && sent < truth.requests, "seed {seed}: {sent}, {truth:?}");
}

#[test]
fn nothing_sealed_is_lost_whatever_process_is_killed() {
    let count = if is_long() { SCHEDULES_LONG } else { SCHEDULES };
    let chosen = std::env::var("WAVETANK_SEED").ok().and_then(|seed| seed.parse().ok());
    let fresh = || std::hash::RandomState::new().build_hasher().finish() >> 16;
    let first: u64 = chosen.unwrap_or_else(|| if is_long() { fresh() } else { SEED });
    with_hosts("nothing_sealed_is_lost_whatever_process_is_killed", 2, |hosts| {
        let count = if chosen.is_some() { 1 } else { count };
        for seed in first..first + count {
            play(hosts, seed);
            println!("seed {seed}: nothing lost");
        }
    });
}
