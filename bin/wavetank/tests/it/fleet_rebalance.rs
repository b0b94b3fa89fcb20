//! The load of a lost agent, which the others take over at the next phase.

use std::time::Duration;

use wavetank_testkit::{Script, TimingMismatch, expect_time, is_left_to_long_form, retry_timing};

use crate::fleet_hosts::{FleetHosts, LIMIT, check_exit, is_all_sent, of_agent, target, with_hosts};

const FILE: &str = "\
wavetank: 1
target: TARGET
steps: [{get: /}]
phases:
  - {name: first, rate: 300/s, for: FIRST}
  - {name: second, rate: 300/s, for: 3s}
  - {name: third, rate: 300/s, for: 2s}
";

#[test]
fn the_others_send_the_load_of_a_lost_agent_from_the_next_phase_on() {
    let test = "the_others_send_the_load_of_a_lost_agent_from_the_next_phase_on";
    let returned = |hosts: &mut FleetHosts| check_taken_over(hosts, 8, "crashed");
    retry_timing(|| with_hosts(test, 3, returned).unwrap_or(Ok(())));
}

#[test]
fn the_others_send_the_load_of_an_agent_that_stays_silent() {
    let test = "the_others_send_the_load_of_an_agent_that_stays_silent";
    if is_left_to_long_form(test) {
        return;
    }
    let silent = |hosts: &mut FleetHosts| check_taken_over(hosts, 24, "lost");
    retry_timing(|| with_hosts(test, 3, silent).unwrap_or(Ok(())));
}

/// The requests that were offered in a phase.
fn offered(result: &wavetank_testkit::RunResult, phase: usize) -> u64 {
    result.at("phases")[phase]["requests"]["offered"].as_u64().expect("a count")
}

/// The first phase has this many seconds, in which the second agent is killed. It returns, or it
/// stays silent for longer than the lease and the time to end what it has begun.
fn check_taken_over(hosts: &mut FleetHosts, first_s: u64, end: &str) -> Result<(), TimingMismatch> {
    let target = target(Script::constant(Duration::from_millis(1)));
    let text = FILE.replace("TARGET", target.url("").trim_end_matches('/'));
    let text = text.replace("FIRST", &format!("{first_s}s"));
    let file = hosts.place.write("phases.yaml", text);
    let running = hosts.under_load(&file, "--lease 3s", &target, 300);
    hosts.kill_agent(2);
    if end == "crashed" {
        // It returns with its intervals, so it is certain that it sends no more.
        hosts.start_agent(2, &[], &[]);
    }
    let outcome = running.wait(LIMIT);
    let result = check_exit(&outcome, 4);
    assert_eq!(of_agent(&result, 2, "end"), end, "{result}");
    let rebalanced = &result.at("fleet")["rebalanced"];
    let names = rebalanced.as_array().map(Vec::len).unwrap_or_default();
    expect_time(names == 1 && rebalanced[0] == "second", || format!("it returned late: {result}"))?;
    assert!(offered(&result, 0) < 300 * first_s, "the rest of its first phase is missing: {result}");
    assert_eq!((offered(&result, 1), offered(&result, 2)), (900, 600), "{result}");
    let shares = [1, 3].map(|host| of_agent(&result, host, "share").clone());
    assert_eq!(shares, [serde_json::json!([0, 1, 2]), serde_json::json!([1, 1, 2])], "{result}");
    let sent = [1, 3].map(|host| of_agent(&result, host, "sent").as_u64().expect("a count"));
    assert!(sent == [100 * first_s + 750; 2] || !is_all_sent(&result), "{sent:?}: {result}");
    let events = result.at("events").to_string();
    assert!(events.contains("the other agents send the load of lost ones from phase second on"), "{result}");
    let report = hosts.program().args(["report", "latest"]).run();
    let line = "the other agents sent all load from second on";
    assert!(report.expect_exit(0).stdout.contains(line), "{report}");
    Ok(())
}
