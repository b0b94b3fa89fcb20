//! A link that is cut and a controller that is stopped, under load: agents go on for as long as
//! they may, and nothing that they counted is lost.

use std::time::Duration;

use wavetank_testkit::{Program, RunResult, Script, Signal, is_left_to_long_form, skip};

use crate::fleet_hosts::{FleetHosts, LIMIT, check, is_all_sent, of_agent, target, with_hosts};

fn script() -> Script {
    Script::constant(Duration::from_millis(1))
}

/// A rule that drops all packets of the ssh connections to one host, until it is dropped.
struct CutLink;

impl CutLink {
    fn new(host: usize) -> Self {
        let port = 2_200 + host;
        let rules = format!(
            "table inet cut {{\n chain out {{\n type filter hook output priority 0\n \
             tcp dport {port} drop\n tcp sport {port} drop\n }}\n}}\n"
        );
        nft(&["-f", "-"], &rules);
        Self
    }
}

impl Drop for CutLink {
    fn drop(&mut self) {
        nft(&["delete", "table", "inet", "cut"], "");
    }
}

fn nft(words: &[&str], input: &str) {
    let program = Program::foreign("nft").expect("asked for before").args(words).input(input);
    program.run().expect_exit(0);
}

/// As [`with_hosts`], where links can be cut.
fn with_links(test: &str, body: impl FnOnce(&mut FleetHosts) + Send) {
    if Program::foreign("nft").is_none() {
        return skip(test, "`nft` is not installed");
    }
    with_hosts(test, 2, body);
}

/// Checks that the agents have no spool left, and the archive says the same as the result.
#[track_caller]
fn check_settled(hosts: &FleetHosts, result: &RunResult) {
    let report = hosts.program().args(["report", "latest", "--format", "json"]).run();
    assert_eq!(&report.expect_exit(0).result(), result, "the archive says the same");
    for host in 1..=2 {
        assert_eq!(hosts.spools(host).len(), 0, "load{host} keeps a spool: {result}");
    }
}

#[test]
fn a_link_that_is_cut_for_seconds_loses_nothing() {
    with_links("a_link_that_is_cut_for_seconds_loses_nothing", |hosts| {
        let target = target(script());
        let running = hosts.under_load(&target.url("/"), "-r 200/s -d 14s", &target, 300);
        let cut = CutLink::new(2);
        // Five seconds of the load of both.
        target.wait_for("load without a link", LIMIT, |truth| truth.requests >= 1_300);
        drop(cut);
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 0);
        assert_eq!((result.count("requests.offered"), result.text("fleet.status")), (2_800, "complete"));
        assert_eq!(of_agent(&result, 2, "end"), "plan", "{result}");
        assert_eq!(of_agent(&result, 2, "losses")[0]["phase"], "main", "{result}");
        assert!(result.at("events").to_string().contains("agent load2 is back"), "{result}");
        check_settled(hosts, &result);
    });
}

/// Longer than agents go on without their controller.
#[test]
fn a_link_that_is_cut_for_a_minute_ends_the_load_of_its_agent() {
    let test = "a_link_that_is_cut_for_a_minute_ends_the_load_of_its_agent";
    if is_left_to_long_form(test) {
        return;
    }
    with_links(test, |hosts| {
        let target = target(script());
        let running = hosts.under_load(&target.url("/"), "-r 50/s -d 90s", &target, 100);
        let cut = CutLink::new(2);
        // Half a minute of both, and half a minute of one.
        target.wait_for("load without a link", LIMIT, |truth| truth.requests >= 100 + 30 * 50 + 30 * 25);
        drop(cut);
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 4);
        assert_eq!(result.text("fleet.status"), "incomplete", "{result}");
        assert_eq!(
            (of_agent(&result, 1, "end"), of_agent(&result, 2, "end")),
            (&"plan".into(), &"orphaned".into()),
            "{result}"
        );
        // It was cut off in its third second, and stopped 30 s after the last message.
        let sent = |host: usize| of_agent(&result, host, "sent").as_u64().expect("a count");
        assert!(sent(1) == 2_250 || !is_all_sent(&result), "{result}");
        assert!((25 * 20..=25 * 34).contains(&sent(2)), "{result}");
        check_settled(hosts, &result);
    });
}

#[test]
fn a_controller_that_is_stopped_for_seconds_continues() {
    with_hosts("a_controller_that_is_stopped_for_seconds_continues", 2, |hosts| {
        let target = target(script());
        let running = hosts.under_load(&target.url("/"), "-r 200/s -d 12s", &target, 300);
        running.signal(Signal::STOP);
        target.wait_for("load without a controller", LIMIT, |truth| truth.requests >= 1_300);
        running.signal(Signal::CONT);
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 0);
        assert_eq!((result.count("requests.offered"), result.text("fleet.status")), (2_400, "complete"));
        for host in 1..=2 {
            assert_eq!(of_agent(&result, host, "end"), "plan", "{result}");
        }
        check_settled(hosts, &result);
    });
}

/// Longer than agents go on without it.
#[test]
fn a_controller_that_is_stopped_for_long_finds_its_agents_stopped() {
    let test = "a_controller_that_is_stopped_for_long_finds_its_agents_stopped";
    if is_left_to_long_form(test) {
        return;
    }
    with_hosts(test, 2, |hosts| {
        let target = target(script());
        let running = hosts.under_load(&target.url("/"), "-r 100/s -d 100s", &target, 200);
        running.signal(Signal::STOP);
        // Both drain when they have heard nothing for 30 s.
        let truth =
            target.wait_for("end of the load", LIMIT, |truth| truth.requests > 200 && truth.open == 0);
        assert!(truth.requests <= 100 * 35, "{} requests without a controller", truth.requests);
        running.signal(Signal::CONT);
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 4);
        assert_eq!(result.text("fleet.status"), "incomplete", "{result}");
        for host in 1..=2 {
            assert_eq!(of_agent(&result, host, "end"), "orphaned", "{result}");
        }
        check_settled(hosts, &result);
    });
}
