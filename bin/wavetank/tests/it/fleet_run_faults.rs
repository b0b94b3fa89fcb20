//! Faults of a fleet under load: what is missing is said, and nothing goes on that should not.

use std::time::Duration;

use wavetank_testkit::{RunResult, Script, Signal, TimingMismatch, expect_time, retry_timing};

use crate::fleet_hosts::{FleetHosts, LIMIT, check, check_exit, is_all_sent, of_agent, target, with_hosts};

fn script() -> Script {
    Script::constant(Duration::from_millis(1))
}

/// The number of intervals that arrived from a host, by the lines of the archive.
fn lines_of(hosts: &FleetHosts, host: usize) -> usize {
    let file = hosts.archive().join(format!("intervals/load{host}.jsonl"));
    std::fs::read_to_string(file).unwrap_or_default().lines().count()
}

/// Checks that the archive of the last run says the same as its result.
#[track_caller]
fn check_archive(hosts: &FleetHosts, result: &RunResult) {
    let report = hosts.program().args(["report", "latest", "--format", "json"]).run();
    assert_eq!(&report.expect_exit(0).result(), result, "the archive says the same");
}

/// Checks that the report of the last run says what is missing of `load2`.
#[track_caller]
fn check_text(hosts: &FleetHosts, part: &str) {
    let report = hosts.program().args(["report", "latest"]).run();
    let text = &report.expect_exit(0).stdout;
    assert!(text.lines().any(|line| line.contains("load2") && line.contains(part)), "{report}");
}

#[test]
fn a_killed_agent_is_missing_from_then_on() {
    let test = "a_killed_agent_is_missing_from_then_on";
    retry_timing(|| with_hosts(test, 3, check_killed).unwrap_or(Ok(())));
}

fn check_killed(hosts: &mut FleetHosts) -> Result<(), TimingMismatch> {
    let target = target(script());
    let running = hosts.under_load(&target.url("/"), "-r 300/s -d 9s --lease 5s", &target, 700);
    hosts.kill_agent(2);
    let killed_after = target.truth().requests;
    let outcome = running.wait(LIMIT);
    let result = check_exit(&outcome, 4);
    let truth = target.settled();
    assert_eq!(result.text("fleet.status"), "incomplete", "{result}");
    assert_eq!((of_agent(&result, 2, "end"), of_agent(&result, 1, "end")), (&"lost".into(), &"plan".into()));
    // The others send their shares. Of the third, what it sent after its last interval is missing.
    let sent = |host: usize| of_agent(&result, host, "sent").as_u64().expect("a count");
    assert!((sent(1), sent(3)) == (900, 900) || !is_all_sent(&result), "{result}");
    assert_eq!(result.sent_total(), sent(1) + sent(2) + sent(3), "{result}");
    assert!(sent(2) >= 100 && truth.requests >= result.sent_total(), "{result}");
    assert_eq!(of_agent(&result, 2, "intervals").as_u64(), Some(lines_of(hosts, 2) as u64), "{result}");
    let loss = &of_agent(&result, 2, "losses")[0];
    assert_eq!(loss["phase"], "main", "{result}");
    check_archive(hosts, &result);
    check_text(hosts, "lost at");
    // Its spool outlives it, and the next run takes nothing from it.
    assert_eq!(hosts.spools(2).len(), 1);
    hosts.fleet("up -w load2").expect_exit(0);
    let outcome = hosts.outcome(&target.url("/"), "-r 300/s -d 1s", &target);
    let again = check(&outcome, &target, 0);
    assert_eq!((again.count("requests.offered"), again.text("fleet.status")), (300, "complete"), "{again}");
    assert_eq!(hosts.spools(2).len(), 1, "the spool of the run that was not settled");
    // It was killed when the run was as old as its requests.
    let noticed = Duration::from_nanos(loss["at_ns"].as_u64().unwrap_or(0));
    let killed = Duration::from_secs_f64(killed_after as f64 / 300.0);
    let late = || format!("killed at {killed:?}, noticed at {noticed:?}: {result}");
    expect_time(noticed < killed + Duration::from_secs(5), late)
}

#[test]
fn the_loss_of_an_agent_may_end_the_run_or_change_nothing() {
    with_hosts("the_loss_of_an_agent_may_end_the_run_or_change_nothing", 3, |hosts| {
        let target = target(script());
        let mut run = |policy: &str, exit: i32| {
            let words = format!("-r 300/s -d 9s --lease 5s --on-loss {policy}");
            let running = hosts.under_load(&target.url("/"), &words, &target, 600);
            hosts.kill_agent(2);
            let outcome = running.wait(LIMIT);
            let result = check_exit(&outcome, exit);
            assert_eq!(of_agent(&result, 2, "end"), "lost", "{result}");
            check_archive(hosts, &result);
            check_text(hosts, "lost at");
            hosts.start_agent(2, &[], &[]);
            result
        };
        let aborted = run("abort", 4);
        assert_eq!(aborted.text("fleet.status"), "aborted", "{aborted}");
        assert_eq!(of_agent(&aborted, 1, "end"), "command", "{aborted}");
        let offered = aborted.count("requests.offered");
        assert!((600..2_500).contains(&offered), "the others stopped, too: {aborted}");
        let events = aborted.at("events").to_string();
        assert!(events.contains("the loss of agent load2 ends the run"), "{aborted}");
        // A third of the load is lost.
        let tolerated = run("40%", 0);
        assert_eq!(tolerated.text("fleet.status"), "tolerated", "{tolerated}");
        let beyond = run("30%", 4);
        assert_eq!(beyond.text("fleet.status"), "incomplete", "{beyond}");
    });
}

#[test]
fn a_stopped_agent_comes_back() {
    with_hosts("a_stopped_agent_comes_back", 2, |hosts| {
        let target = target(script());
        let running = hosts.under_load(&target.url("/"), "-r 100/s -d 10s", &target, 150);
        hosts.agent(2).signal(Signal::STOP);
        assert!(!running.ends_within(Duration::from_secs(6)), "the other agent goes on");
        hosts.agent(2).signal(Signal::CONT);
        // What it did not send in the meantime was not sent by this side.
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 3);
        let dropped = result.count("requests.dropped");
        assert!(result.count("requests.offered") == 1_000 && dropped > 100, "{result}");
        let sent = of_agent(&result, 1, "sent").as_u64().expect("a count");
        assert!(sent == 500 || 1_000 - dropped - sent < 400, "{result}");
        // It had lost nothing: all its intervals arrived.
        assert_eq!((of_agent(&result, 2, "end"), result.text("fleet.status")), (&"plan".into(), "complete"));
        assert_eq!(of_agent(&result, 2, "losses")[0]["phase"], "main", "{result}");
        assert!(result.at("events").to_string().contains("agent load2 is back"), "{result}");
        check_archive(hosts, &result);
    });
}

#[test]
fn an_interrupt_drains_all_agents() {
    with_hosts("an_interrupt_drains_all_agents", 2, |hosts| {
        let target = target(Script::constant(Duration::from_millis(100)));
        let running = hosts.under_load(&target.url("/"), "-r 100/s -d 60s", &target, 120);
        running.signal(Signal::INT);
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 130);
        assert_eq!(result.count("requests.open"), 0, "{result}");
        for host in 1..=2 {
            assert_eq!((of_agent(&result, host, "end"), hosts.spools(host).len()), (&"command".into(), 0));
        }
        check_archive(hosts, &result);
    });
}

#[test]
fn a_second_interrupt_stops_all_agents() {
    with_hosts("a_second_interrupt_stops_all_agents", 2, |hosts| {
        let target = target(Script::silence());
        let running = hosts.under_load(&target.url("/"), "-c 6 -d 60s", &target, 6);
        running.signal(Signal::INT);
        assert!(!running.ends_within(Duration::from_millis(700)), "six requests are in flight");
        running.signal(Signal::INT);
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 130);
        assert_eq!(result.count("requests.open"), 6, "{result}");
        check_archive(hosts, &result);
    });
}

#[test]
fn agents_stop_without_their_controller() {
    with_hosts("agents_stop_without_their_controller", 2, |hosts| {
        let target = target(script());
        let running = hosts.under_load(&target.url("/"), "-r 100/s -d 100s --lease 10s", &target, 100);
        running.signal(Signal::KILL);
        assert_eq!(running.wait(LIMIT).signal, Some(9));
        // Each of the two then ends what it has begun.
        let truth =
            target.wait_for("end of the load", LIMIT, |truth| truth.requests > 100 && truth.open == 0);
        assert!(truth.requests < 3_000, "{} of 10,000 requests", truth.requests);
        for host in 1..=2 {
            assert_eq!(hosts.spools(host).len(), 1, "nothing has its intervals");
        }
        let outcome = hosts.outcome(&target.url("/"), "-r 100/s -d 1s", &target);
        let result = check(&outcome, &target, 0);
        assert_eq!(
            (result.count("requests.offered"), result.text("fleet.status")),
            (100, "complete"),
            "{result}"
        );
    });
}

#[test]
fn a_full_disk_of_an_agent_does_not_slow_its_load() {
    with_hosts("a_full_disk_of_an_agent_does_not_slow_its_load", 2, |hosts| {
        hosts.kill_agent(2);
        // The agent's own mounts hide a file system of two pages there.
        let folder = hosts.folder(2).join("spools");
        std::fs::create_dir_all(&folder).expect("a folder");
        let script_text = format!("mount -t tmpfs -o size=8k none {}; exec \"$@\"", folder.display());
        hosts.start_agent(2, &["unshare", "--mount", "sh", "-ec", &script_text, "sh"], &[]);
        let target = target(script());
        let outcome = hosts.outcome(&target.url("/"), "-r 200/s -d 6s", &target);
        let truth = target.settled();
        // An interval without its line leaves gaps in all counts.
        let result = outcome.result();
        assert!([Some(4), Some(3)].contains(&outcome.exit), "{outcome}");
        assert_eq!(result.text("fleet.status"), "incomplete", "{result}");
        assert!(truth.requests == 1_200 || !is_all_sent(&result), "{}: {result}", truth.requests);
        let unstored = of_agent(&result, 2, "unstored").as_u64().expect("a count");
        assert!(unstored > 0 && of_agent(&result, 2, "end") == "plan", "{result}");
        assert_eq!(of_agent(&result, 2, "intervals"), lines_of(hosts, 2) as u64 + unstored, "{result}");
        check_text(hosts, "in the archive");
        check_archive(hosts, &result);
    });
}
