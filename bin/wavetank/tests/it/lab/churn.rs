//! Direct routing under churn: servers leave and return every second while connections stay open.

use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Running, TimingMismatch, expect_time, retry_timing_of};

use crate::lab::place::Place;
use crate::lab::routing::tools;

const LAB: &str = "\
networks: {web: 10.97.0.0/24}
hosts:
  load1: {role: load, networks: [web]}
  lb1:
    role: balancer
    networks: [web]
    services:
      - direct_routing:
          {address: 10.97.0.100, listen: 80, servers: \"web[1-4]\", slots: 4099, check: {every: 200ms, timeout: 10s}}
  web[1-4]:
    role: server
    networks: [web]
    services:
      - serve: {listen: 80}
";

const SERVERS: [&str; 4] = ["web1", "web2", "web3", "web4"];
/// Connections that stay open, each with a request every two seconds.
const LIVE: u64 = 2_000;
/// Seconds of churn. In each second another server leaves and returns.
const CHURN: u32 = 30;
/// Seconds of churn in the short form of the test.
const CHURN_SHORT: u32 = 10;
/// The server that is killed in the middle, and the second in which that happens.
const DEAD: (usize, u32) = (3, 10);
/// How often the load may start too late.
const TRIES_MAX: u32 = 5;
const PATIENCE: Duration = Duration::from_mins(1);

fn churn() -> u32 {
    if wavetank_testkit::is_long() { CHURN } else { CHURN_SHORT }
}

fn experiment() -> String {
    let event = |second: u32| {
        let server = SERVERS[second as usize % SERVERS.len()];
        format!("  - {{when: {}s, host: lb1, run: pool {server} drain, for: 800ms}}\n", second + 6)
    };
    let events: String = (0..churn()).map(event).collect();
    let (dead, when) = DEAD;
    format!(
        "wavetank: 1\nname: churn\ntarget: http://10.97.0.100\nhttp: {{timeout: 20s}}\n\
         steps: [{{get: /}}, {{think: 2s}}]\n\
         phases:\n  - {{name: open, hold: 0 to {LIVE}, at: 1k/s}}\n  - {{name: keep, hold: {LIVE}, for: {}s}}\n\
         events:\n{events}  - {{when: {when}s, host: {}, run: fault kill serve, for: 3s}}\n",
        churn() + 6,
        SERVERS[dead],
    )
}

/// Returns the connections of each server at the virtual address, port 80, by the kernel's list
/// (state 01, see proc(5)).
fn connections(place: &Place) -> Vec<u64> {
    let count = |host: &&str| {
        let reported = place.said(host, "grep -c '6400610A:0050 [0-9A-F:]* 01 ' /proc/net/tcp || true");
        reported.parse::<u64>().expect("a count")
    };
    SERVERS.iter().map(count).collect()
}

/// Starts the load and waits until all of its connections are open. Returns it with the number of
/// connections of each server. If the machine is so busy that the load misses its own start (exit
/// 4, nothing sent), it tries again. A machine that is even busier does not see the connections
/// while all of them are open.
#[track_caller]
fn opened(place: &Place) -> Result<(Running, Vec<u64>), TimingMismatch> {
    for _ in 0..TRIES_MAX {
        let words = ["run", "lab.yaml", "load.yaml", "--format", "json", "--quiet"];
        let run = place.lab(&words).start();
        let all = poll_until(PATIENCE, || {
            let now = connections(place);
            let all = now.iter().sum::<u64>() == LIVE;
            (all || run.ends_within(Duration::ZERO)).then_some((all, now))
        });
        if let Some((true, now)) = all {
            return Ok((run, now));
        }
        let ended = run.wait(Duration::from_mins(2));
        let is_run = ended.json()["connections"]["offered"].as_u64() > Some(0);
        expect_time(!is_run, || format!("never seen with all connections open: {ended}"))?;
        assert_eq!(ended.expect_exit(4).json()["connections"]["offered"], 0, "not all were open: {ended}");
    }
    Err(TimingMismatch(format!("the load missed its start {TRIES_MAX} times")))
}

#[test]
fn only_connections_of_a_dead_server_end() {
    let test = "only_connections_of_a_dead_server_end";
    if !tools(test) {
        return;
    }
    let Some(place) = Place::new("churn", LAB) else { return };
    place.up();
    place.file("load.yaml", &experiment());
    let made = retry_timing_of(|| {
        let (run, all) = opened(&place)?;
        let outcome = run.wait(Duration::from_mins(2));
        // A busy machine may see all of them open only when the server is dead.
        expect_time(all[DEAD.0] > 0, || format!("opened too late: {all:?}: {outcome}"))?;
        Ok((outcome, all))
    });
    let Some((outcome, all)) = made else { return };
    let record = outcome.json();
    let lost = record["connections"]["lost"].as_u64().unwrap_or_default();
    // Only the kill ends connections, and it ends all connections of the killed server. Some that
    // are opened again while that process ends are lost a second time, more on a busy machine.
    // Those of another server would be about as many again.
    let ended = all[DEAD.0]..=all[DEAD.0] + all[DEAD.0] / 2;
    assert!(ended.contains(&lost), "{lost}: {all:?}: {outcome}");
    let impacts = record["impacts"].as_array().unwrap_or_else(|| panic!("no impacts: {outcome}"));
    let of = |what: &str| {
        let its = impacts.iter().filter(|one| one["what"].as_str().is_some_and(|own| own.contains(what)));
        its.collect::<Vec<&Value>>()
    };
    assert_eq!((of("drain").len(), of("kill").len()), (churn() as usize, 1), "{outcome}");
    assert!(impacts.iter().all(|one| one["outcome"] == "undone"), "{outcome}");
    let log = place.lab(&["logs", "lb1", "direct_routing"]).run();
    let swaps = log.expect_exit(0).stdout.matches("take connections").count();
    assert!(swaps > 2 * churn() as usize, "{swaps} swaps: {log}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}
