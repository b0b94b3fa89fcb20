//! What agents keep after a crash comes into the archive: each interval once, and nothing else.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wavetank_testkit::{Outcome, RunResult, Script, Signal, Target, poll_until};

use crate::fleet_hosts::{FleetHosts, LIMIT, is_all_sent, of_agent, target, with_hosts};

fn script() -> Script {
    Script::constant(Duration::from_millis(1))
}

/// Settles the last run once no agent carries it out any more.
#[track_caller]
fn settle_when_over(hosts: &FleetHosts) -> Outcome {
    let settled = poll_until(LIMIT, || {
        let outcome = hosts.fleet("settle latest --format json");
        let is_running = outcome.stdout.contains("still carries it out");
        if is_running {
            outcome.expect_exit(5);
        }
        (!is_running).then_some(outcome)
    });
    settled.expect("the agents end")
}

/// The stored result of the last run.
#[track_caller]
fn result(hosts: &FleetHosts) -> RunResult {
    let report = hosts.program().args(["report", "latest", "--format", "json"]).run();
    let result = report.expect_exit(0).result();
    result.conserved();
    result
}

/// The intervals in a file of an agent.
fn intervals(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| line.starts_with("{\"v\":")).map(str::to_owned).collect()
}

/// Gives the only spool of a host a second name, which settling does not remove.
fn keep(hosts: &FleetHosts, host: usize) -> PathBuf {
    let kept = PathBuf::from(hosts.place.file(&format!("kept{host}")));
    std::fs::hard_link(&hosts.spools(host)[0], &kept).expect("one folder has both");
    kept
}

/// The intervals of a host in the archive of the last run.
fn archived(hosts: &FleetHosts, host: usize) -> Vec<String> {
    intervals(&hosts.archive().join(format!("intervals/load{host}.jsonl")))
}

fn killed_controller(hosts: &FleetHosts, words: &str, target: &Target, after: u64) {
    let running = hosts.under_load(&target.url("/"), words, target, after);
    running.signal(Signal::KILL);
    assert_eq!(running.wait(LIMIT).signal, Some(9));
}

#[test]
fn a_run_without_its_controller_is_completed() {
    with_hosts("a_run_without_its_controller_is_completed", 2, |hosts| {
        let target = target(script());
        killed_controller(hosts, "-r 200/s -d 8s", &target, 300);
        let early = hosts.fleet("settle latest");
        assert!(early.expect_exit(5).stderr.contains("load[1-2] still carries it out"), "{early}");
        // A second name of each spool, which remains.
        let kept = [1, 2].map(|host| keep(hosts, host));
        // The plan ends before the agents give up their controller.
        let unsettled = poll_until(LIMIT, || {
            let status = hosts.fleet("status --format json").expect_exit(0).json();
            let all = |host: &serde_json::Value| host["agent"]["unsettled"] == 1;
            status["hosts"].as_array().is_some_and(|hosts| hosts.iter().all(all)).then_some(())
        });
        assert!(unsettled.is_some(), "the agents end");
        let outcome = settle_when_over(hosts);
        let settled = &outcome.expect_exit(0).json()["runs"][0];
        assert_eq!(
            (&settled["status"], settled["ok"].as_bool()),
            (&"complete".into(), Some(true)),
            "{outcome}"
        );
        assert!(settled["added"].as_u64() > Some(4), "{outcome}");
        let result = result(hosts);
        result.agrees_with(&target.settled());
        assert_eq!((result.count("requests.offered"), result.text("fleet.status")), (1_600, "complete"));
        assert_ne!(result.text("verdict.status"), "incomplete", "{result}");
        for host in 1..=2 {
            assert_eq!(archived(hosts, host), intervals(&kept[host - 1]), "each interval once");
            assert!(of_agent(&result, host, "sent") == 800 || !is_all_sent(&result), "{result}");
            assert_eq!(hosts.spools(host).len(), 0);
        }
        let again = hosts.fleet("settle latest");
        assert!(again.expect_exit(5).stderr.contains("it is settled already"), "{again}");
        let nothing = hosts.fleet("settle");
        assert!(nothing.expect_exit(0).stderr.contains("no intervals of unsettled runs"), "{nothing}");
        // The agents are free, without a restart.
        let is_idle = |hosts: &FleetHosts| {
            let status = hosts.fleet("status --format json").json();
            [0, 1].iter().all(|&host| status["hosts"][host]["agent"]["state"] == "idle")
        };
        assert!(poll_until(LIMIT, || is_idle(hosts).then_some(())).is_some());
    });
}

#[test]
fn controller_and_agent_are_lost_and_nothing_that_was_sealed() {
    if wavetank_testkit::is_left_to_long_form("controller_and_agent_are_lost_and_nothing_that_was_sealed") {
        return;
    }
    with_hosts("controller_and_agent_are_lost_and_nothing_that_was_sealed", 2, |hosts| {
        let target = target(script());
        killed_controller(hosts, "-r 200/s -d 8s", &target, 300);
        target.wait_for("more load", LIMIT, |truth| truth.requests >= 900);
        let spool = hosts.spools(2)[0].clone();
        hosts.kill_agent(2);
        hosts.fleet("up -w load2").expect_exit(0);
        let kept = intervals(&spool);
        let outcome = settle_when_over(hosts);
        let settled = &outcome.expect_exit(0).json()["runs"][0];
        assert_eq!(settled["status"], "incomplete", "{outcome}");
        let result = result(hosts);
        assert_eq!(
            (of_agent(&result, 1, "end"), of_agent(&result, 2, "end")),
            (&"plan".into(), &"crashed".into())
        );
        assert_eq!(archived(hosts, 2), kept, "each interval once");
        assert_eq!(of_agent(&result, 2, "intervals"), kept.len() as u64, "{result}");
        assert_eq!(
            (of_agent(&result, 1, "sent"), result.text("verdict.status")),
            (&800.into(), "incomplete")
        );
        // What was sent after the last seal is in no interval.
        assert!(result.sent_total() <= target.settled().requests, "{result}");
        assert!(result.at("events").to_string().contains("came from its spool"), "{result}");
        assert_eq!(hosts.spools(2).len(), 0);
    });
}

#[test]
fn a_lost_agent_is_settled_and_what_is_missing_stays_named() {
    with_hosts("a_lost_agent_is_settled_and_what_is_missing_stays_named", 2, |hosts| {
        let target = target(script());
        let running = hosts.under_load(&target.url("/"), "-r 100/s -d 7s --lease 5s", &target, 250);
        hosts.kill_agent(2);
        running.wait(LIMIT);
        let early = result(hosts);
        let spool = hosts.spools(2)[0].clone();
        let whole = std::fs::read_to_string(&spool).expect("it is there");
        // A damaged first line: nothing is taken, and nothing is deleted.
        std::fs::write(&spool, whole.replacen("{\"spool\"", "{\"spoon\"", 1)).expect("it is writable");
        let damaged = hosts.fleet("settle latest");
        assert!(damaged.expect_exit(1).stdout.contains("load2  failed: its spool is damaged"), "{damaged}");
        // An interval that differs from that in the archive.
        std::fs::write(&spool, whole.replacen("\"from_ns\":", "\"from_ns\": ", 1)).expect("it is writable");
        let damaged = hosts.fleet("settle latest");
        assert!(damaged.expect_exit(1).stdout.contains("differs from that in the archive"), "{damaged}");
        assert_eq!(hosts.spools(2).len(), 1);
        // A line that cannot be read: the rest is taken, and the file stays.
        std::fs::write(&spool, format!("{whole}{{\"v\":2,\"damaged\n")).expect("it is writable");
        let damaged = hosts.fleet("settle latest");
        assert!(damaged.expect_exit(1).stdout.contains("1 of its lines cannot be read"), "{damaged}");
        assert_eq!(hosts.spools(2).len(), 1);
        std::fs::write(&spool, whole).expect("it is writable");
        let outcome = hosts.fleet("settle --format json");
        assert_eq!(outcome.expect_exit(0).json()["runs"][0]["hosts"][1]["state"], "settled", "{outcome}");
        let late = result(hosts);
        assert_eq!(
            (late.text("verdict.status"), of_agent(&late, 2, "end")),
            ("incomplete", &"crashed".into())
        );
        let lack = late.at("findings").to_string();
        assert!(lack.contains("load2: its process ended early"), "{late}");
        assert!(late.sent_total() >= early.sent_total(), "{late}");
        assert_eq!((hosts.spools(2).len(), late.text("started_at")), (0, early.text("started_at")));
    });
}

#[test]
fn what_cannot_be_settled_is_refused() {
    with_hosts("what_cannot_be_settled_is_refused", 1, |hosts| {
        let target = target(script());
        let unknown = hosts.fleet("settle nothing");
        assert!(unknown.expect_exit(2).stderr.contains("run_unknown"), "{unknown}");
        hosts.program().args(["run", &target.url("/"), "-n", "3"]).run();
        let single = hosts.fleet("settle latest");
        assert!(single.expect_exit(2).stderr.contains("is not a run of a fleet"), "{single}");
        let running = hosts.under_load(&target.url("/"), "-r 50/s -d 60s", &target, 20);
        let written = hosts.fleet("settle latest");
        assert!(written.expect_exit(5).stderr.contains("a process writes to it"), "{written}");
        // Without a name, a run in progress is left alone.
        let others = hosts.fleet("settle");
        assert!(others.expect_exit(0).stdout.trim().is_empty(), "{others}");
        running.signal(Signal::INT);
        running.wait(LIMIT);
        let settled = hosts.fleet("settle latest");
        assert!(settled.expect_exit(5).stderr.contains("it is settled already"), "{settled}");
    });
}

#[test]
fn an_interrupted_settlement_is_repeated() {
    with_hosts("an_interrupted_settlement_is_repeated", 1, |hosts| {
        let target = target(script());
        killed_controller(hosts, "-r 100/s -d 4s", &target, 100);
        let kept = keep(hosts, 1);
        let program = hosts.program().arguments()[0].clone();
        // The program on the host, with another end of this subcommand.
        let replace = |pattern: &str, command: &str| {
            let place = hosts.folder(1).join("wavetank");
            let _ = std::fs::remove_file(&place);
            let text = format!(
                "#!/bin/sh\ncase \"$*\" in\n*'{pattern}'*) {command};;\n*) exec {program} \"$@\";;\nesac\n"
            );
            std::fs::write(&place, text).expect("it is writable");
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        };
        let unsettled = poll_until(LIMIT, || {
            let status = hosts.fleet("status --format json").json();
            (status["hosts"][0]["agent"]["unsettled"] == 1).then_some(())
        });
        assert!(unsettled.is_some(), "the agent ends");
        let before = archived(hosts, 1);
        // The connection ends in the middle of the spool: the archive has no part of it.
        replace("spool send", &format!("{program} \"$@\" | head -c 3000"));
        let cut = hosts.fleet("settle latest");
        assert!(cut.expect_exit(1).stdout.contains("its spool was not read to the end"), "{cut}");
        assert_eq!((archived(hosts, 1), hosts.spools(1).len()), (before, 1));
        assert_eq!(result(hosts).text("verdict.status"), "incomplete");
        // The spool cannot be deleted once the archive has it.
        replace("spool delete", "exit 9");
        let undeleted = hosts.fleet("settle latest");
        assert!(undeleted.expect_exit(1).stdout.contains("load1  failed: exit 9"), "{undeleted}");
        assert_eq!((archived(hosts, 1), hosts.spools(1).len()), (intervals(&kept), 1));
        hosts.relink(1);
        hosts.fleet("settle latest").expect_exit(0);
        assert_eq!((archived(hosts, 1), hosts.spools(1).len()), (intervals(&kept), 0));
        let result = result(hosts);
        result.agrees_with(&target.settled());
        assert_eq!((result.count("requests.offered"), result.text("fleet.status")), (400, "complete"));
        assert!(!result.at("events").to_string().contains("is silent"), "{result}");
    });
}
