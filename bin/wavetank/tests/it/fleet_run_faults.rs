//! Faults of a fleet under load: what is missing is said, and nothing goes on that should not.

use std::time::Duration;

use wavetank_testkit::{RunResult, Script, Signal};

use crate::fleet_hosts::{FleetHosts, LIMIT, check, check_exit, of_agent, target, under_load, with_hosts};

fn script() -> Script {
    Script::constant(Duration::from_millis(1))
}

/// The number of requests whose intervals arrived from a host, by the lines of the archive.
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

#[test]
fn a_killed_agent_is_missing_from_then_on() {
    with_hosts("a_killed_agent_is_missing_from_then_on", 3, |hosts| {
        let target = target(script());
        let running = hosts.run(&target.url("/"), "-r 300/s -d 9s".split(' ')).start();
        under_load(&running, &target, 700);
        hosts.kill_agent(2);
        let killed_at = target.truth().requests;
        let outcome = running.wait(LIMIT);
        let result = check_exit(&outcome, 4);
        let truth = target.settled();
        assert_eq!(result.text("fleet.status"), "incomplete", "{result}");
        assert_eq!(
            (of_agent(&result, 2, "end"), of_agent(&result, 1, "end")),
            (&"lost".into(), &"plan".into())
        );
        // The others send their shares. Of the third only the last second may be missing.
        assert_eq!((of_agent(&result, 1, "sent"), of_agent(&result, 3, "sent")), (&900.into(), &900.into()));
        let sent = of_agent(&result, 2, "sent").as_u64().expect("a count");
        assert_eq!(result.sent_total(), 1_800 + sent, "{result}");
        assert!(sent >= 100 && truth.requests >= 1_800 + sent, "killed after {killed_at}: {result}");
        assert_eq!(
            lines_of(hosts, 2) as u64,
            of_agent(&result, 2, "intervals").as_u64().unwrap(),
            "{result}"
        );
        let loss = &of_agent(&result, 2, "losses")[0];
        assert_eq!(loss["phase"], "main", "{result}");
        check_archive(hosts, &result);
        // Its spool outlives it, and the next run takes nothing from it.
        assert_eq!(hosts.spools(2).len(), 1);
        hosts.start_agent(2, &[], &[]);
        target.reset();
        let outcome = hosts.run(&target.url("/"), "-r 300/s -d 1s".split(' ')).run();
        let result = check(&outcome, &target, 0);
        assert_eq!((target.truth().requests, result.text("fleet.status")), (300, "complete"), "{result}");
        assert_eq!(hosts.spools(2).len(), 1, "the spool of the run that was not settled");
    });
}

#[test]
fn a_stopped_agent_comes_back() {
    with_hosts("a_stopped_agent_comes_back", 2, |hosts| {
        let target = target(script());
        let running = hosts.run(&target.url("/"), "-r 100/s -d 10s".split(' ')).start();
        under_load(&running, &target, 150);
        hosts.agent(2).signal(Signal::STOP);
        assert!(!running.ends_within(Duration::from_secs(6)), "the other agent goes on");
        hosts.agent(2).signal(Signal::CONT);
        let outcome = running.wait(LIMIT);
        let truth = target.settled();
        let result = outcome.result();
        result.conserved().agrees_with(&truth);
        assert_eq!(of_agent(&result, 1, "sent"), 500, "{result}");
        assert!(!of_agent(&result, 2, "losses").as_array().unwrap().is_empty(), "{result}");
        println!("{outcome}");
        check_archive(hosts, &result);
        assert_eq!(0, 1);
    });
}

#[test]
fn an_interrupt_drains_all_agents() {
    with_hosts("an_interrupt_drains_all_agents", 2, |hosts| {
        let target = target(Script::constant(Duration::from_millis(100)));
        let running = hosts.run(&target.url("/"), "-r 100/s -d 60s".split(' ')).start();
        under_load(&running, &target, 120);
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
        let running = hosts.run(&target.url("/"), "-c 6 -d 60s".split(' ')).start();
        under_load(&running, &target, 6);
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
        let running = hosts.run(&target.url("/"), "-r 100/s -d 100s".split(' ')).start();
        under_load(&running, &target, 100);
        running.signal(Signal::KILL);
        assert_eq!(running.wait(LIMIT).signal, Some(9));
        // The grace is 30 s, and each of the two then ends what it has begun.
        let truth =
            target.wait_for("end of the load", LIMIT, |truth| truth.requests > 100 && truth.open == 0);
        assert!(truth.requests < 5_000, "{} of 10,000 requests", truth.requests);
        for host in 1..=2 {
            assert_eq!(hosts.spools(host).len(), 1, "nothing has its intervals");
        }
        target.reset();
        let outcome = hosts.run(&target.url("/"), "-r 100/s -d 1s".split(' ')).run();
        let result = check(&outcome, &target, 0);
        assert_eq!((target.truth().requests, result.text("fleet.status")), (100, "complete"), "{result}");
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
        let outcome = hosts.run(&target.url("/"), "-r 200/s -d 6s".split(' ')).run();
        let truth = target.settled();
        let result = check_exit(&outcome, 4);
        assert_eq!((truth.requests, result.text("fleet.status")), (1_200, "incomplete"), "{result}");
        assert!(of_agent(&result, 2, "unstored").as_u64() > Some(0), "{result}");
        assert_eq!(
            (of_agent(&result, 2, "end"), of_agent(&result, 1, "sent")),
            (&"plan".into(), &600.into())
        );
        check_archive(hosts, &result);
    });
}
