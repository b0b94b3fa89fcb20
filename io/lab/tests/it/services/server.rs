//! nginx with static files, and the end of a killed service.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use wavetank_lab::service::ServiceState;

use crate::services::stand::{LIMIT, Stand, alone};

const ONE: &str = "  web1: {networks: [net], services: [{nginx: {listen: 8080, pages: {/1k: 1kB, /deep/er: 100kB}, workers: 2}}]}\n";

#[test]
fn files_are_served_and_counted() {
    alone("files_are_served_and_counted", &["nginx"], || {
        let mut stand = Stand::new(ONE);
        stand.start();
        // Each try of the health check was a connection too, which a worker accepts at some time.
        let before = wavetank_testkit::poll_until(LIMIT, || {
            let read = stand.hosts[0].handle(&json!({ "counters": true })).expect("it counts");
            let connections = read["counters"][0]["connections"].as_u64().expect("a count");
            let over = connections >= 1 && read["counters"][0]["open"] == 0;
            over.then_some(read)
        });
        let before = before.expect("it was asked");
        for (path, length) in [("/1k", 1_000), ("/deep/er", 100_000), ("/", 59)] {
            let answer = stand.get("web1", 8080, path);
            let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
            assert!(head.starts_with("HTTP/1.1 200 ") && body.len() >= length, "{path}: {head}");
        }
        assert!(stand.get("web1", 8080, "/nowhere").starts_with("HTTP/1.1 404 "));
        let after = stand.hosts[0].handle(&json!({ "counters": true })).expect("it counts");
        let grown = |key: &str| after["counters"][0][key].as_u64().zip(before["counters"][0][key].as_u64());
        let grown = |key: &str| grown(key).map(|(after, before)| after - before);
        assert_eq!((grown("connections"), grown("requests"), grown("dropped")), (Some(4), Some(4), Some(0)));
        let status = stand.status(0);
        assert_eq!(status.state, ServiceState::Up);
        assert!(status.pids.len() >= 3, "a master and two workers: {:?}", status.pids);
        assert!(status.version.is_some_and(|version| version.contains("nginx")));
    });
}

#[test]
fn a_killed_service_is_noticed_and_started_again() {
    alone("a_killed_service_is_noticed_and_started_again", &["nginx"], || {
        let mut stand = Stand::new(ONE);
        stand.start();
        let number = stand.hosts[0].pids("nginx")[0];
        let master = i32::try_from(number).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(master, Signal::KILL).expect("it runs");
        stand.wait_for(0, ServiceState::Failed, &[number]);
        assert!(stand.status(0).said.is_some_and(|said| said.contains("signal: 9")));
        stand.hosts[0].start_one("nginx").expect("its socket and its workers are out of the way");
        assert!(stand.get("web1", 8080, "/1k").starts_with("HTTP/1.1 200 "));
        stand.hosts[0].stop_one("nginx").expect("it is there");
        assert_eq!(
            (stand.status(0).state, stand.hosts[0].pids("nginx")),
            (ServiceState::Stopped, Vec::new())
        );
        assert_eq!(stand.hosts[0].stop_one("ngins").expect_err("there is none").hint, "did you mean nginx?");
    });
}

#[test]
fn a_service_that_hangs_is_down() {
    alone("a_service_that_hangs_is_down", &["nginx"], || {
        let mut stand = Stand::new(ONE);
        stand.start();
        for (signal, state) in [(Signal::STOP, ServiceState::Down), (Signal::CONT, ServiceState::Up)] {
            for pid in stand.hosts[0].pids("nginx") {
                let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process");
                kill_process(pid, signal).expect("it runs");
            }
            stand.wait_for(0, state, &[]);
        }
    });
}

#[test]
fn a_command_runs_with_what_it_was_given() {
    alone("a_command_runs_with_what_it_was_given", &[], || {
        let hosts = "  a1: {networks: [net], services: [{command: {run: 'echo \"$GREETING from $PWD\"; exec sleep 60', environment: {GREETING: hello}}}]}\n";
        let mut stand = Stand::new(hosts);
        stand.start();
        let said = wavetank_testkit::poll_until(LIMIT, || {
            let log = stand.file("a1/command.log");
            (!log.is_empty()).then_some(log)
        });
        let said = said.expect("it says something");
        assert!(said.starts_with("hello from ") && said.trim_end().ends_with("/a1/command"), "{said}");
    });
}
