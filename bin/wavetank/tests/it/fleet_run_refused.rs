//! Runs that a fleet cannot carry out are refused before anything is sent.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use wavetank_testkit::{Script, Target, poll_until};

use crate::fleet_hosts::{FleetHosts, LIMIT, target, with_hosts};

/// Root may raise its limits, unless it has lost this right.
const FEW_FILES: [&str; 4] = ["prlimit", "--nofile=64:64", "setpriv", "--bounding-set=-sys_resource"];

/// Greets as an agent of another version does.
const OLD_AGENT: &str = r#"#!/bin/sh
echo '{"v":1,"run":0,"epoch":0,"report":{"hello":{"version":"9.9.9","name":"load2","instance":1,
"capabilities":{"cores":1,"files":99,"ports":99,"calibration":null,"rebalance":false},"state":"idle"}}}' | tr -d '\n'
echo
exec cat
"#;

/// Checks that a run ends with one error with all `parts`, before anything is sent.
#[track_caller]
fn check_refused(hosts: &FleetHosts, target: &Target, (url, words): (&str, &str), exit: i32, parts: &[&str]) {
    let outcome = hosts.run(url, words.split_whitespace()).run();
    outcome.expect_exit(exit);
    let error = outcome.json();
    assert_eq!((&error["schema"], &error["exit"]), (&"wavetank.error/1".into(), &exit.into()), "{outcome}");
    for part in parts {
        assert!(error.to_string().contains(part), "`{part}` is not mentioned: {outcome}");
    }
    assert!(error["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{outcome}");
    assert_eq!(target.truth().requests, 0, "nothing is sent: {outcome}");
    let is_clean = || (1..=2).all(|host| hosts.spools(host).is_empty());
    assert!(poll_until(LIMIT, || is_clean().then_some(())).is_some(), "a spool is left: {outcome}");
}

#[test]
fn a_fleet_that_cannot_start_says_why() {
    with_hosts("a_fleet_that_cannot_start_says_why", 2, |hosts| {
        let target = target(Script::constant(Duration::from_millis(1)));
        let url = target.url("/");
        let short = "-r 10/s -d 1s";
        check_refused(hosts, &target, ("http://127.0.0.1:9/", short), 2, &["each load host itself"]);
        let none = format!("{short} --without load[1-2]");
        check_refused(hosts, &target, (&url, &none), 2, &["no host under `load` is left"]);
        let closed = "http://10.99.0.1:9/";
        let reason = "cannot connect to 10.99.0.1:9: connection refused";
        check_refused(hosts, &target, (closed, short), 5, &["load1", "load2", reason]);
        hosts.kill_agent(2);
        hosts.start_agent(2, &FEW_FILES, &[]);
        check_refused(
            hosts,
            &target,
            (&url, "-c 400 -d 1s --engine epoll --threads 1"),
            5,
            &["load2", "files"],
        );
        hosts.kill_agent(2);
        hosts.start_agent(2, &[], &["--allow", "10.1.0.0/16"]);
        check_refused(hosts, &target, (&url, short), 5, &["load2", "allow"]);
        hosts.kill_agent(2);
        let program = hosts.folder(2).join("wavetank");
        std::fs::remove_file(&program).expect("it is there");
        hosts.place.write("load2/.wavetank/agent/wavetank", OLD_AGENT);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        check_refused(hosts, &target, (&url, short), 5, &["cannot use load2: it has version 9.9.9"]);
        hosts.relink(2);
        check_refused(hosts, &target, (&url, short), 5, &["cannot use load2: ", "fleet up"]);
        hosts.place.write("fleet.yaml", "wavetank_fleet: 1\nload:\n  load1: {}\n  load9: {}\n");
        check_refused(hosts, &target, (&url, short), 5, &["cannot use load9: ", "refused"]);
    });
}
