//! The life of a lab without failures.

use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Program, skip};

use crate::lab::place::{HOSTS, Place};

const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn hosts_are_machines_of_their_own() {
    let Some(place) = Place::new("hosts", HOSTS) else { return };
    let up = place.up();
    assert!(up.stdout.starts_with(&format!("lab {}: up, of lab.yaml\n", place.name)), "{up}");
    assert_eq!(place.said("load1", "hostname"), "load1");
    assert_eq!(place.said("app", "hostname"), "app");
    // It sees only its own processes and links, and its mounts are not visible outside.
    assert!(place.said("load1", "tr '\\0' ' ' < /proc/1/cmdline").contains("lab-host"));
    assert_eq!(place.said("load1", "ls /sys/class/net").lines().collect::<Vec<_>>(), ["eth0", "lo"]);
    place.said("load1", "mount -t tmpfs tmpfs /mnt && touch /mnt/mine");
    assert_eq!(place.said("load1", "ls /mnt"), "mine");
    assert!(!place.said("load2", "ls /mnt").contains("mine"), "another host sees it");
    assert!(!std::path::Path::new("/mnt/mine").exists(), "this machine sees it");
    // The host's first process reaps orphans.
    place.said("load1", "sh -c 'sleep 0.01 & exit' ; true");
    let zombies = || place.said("load1", "grep -l 'State:.Z' /proc/[0-9]*/status || true");
    assert!(poll_until(PATIENCE, || zombies().is_empty().then_some(())).is_some(), "{}", zombies());
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn hosts_reach_each_other_by_name() {
    let Some(place) = Place::new("reach", HOSTS) else { return };
    place.up();
    for (from, to) in [("load1", "app"), ("app", "load2"), ("load2", "load2")] {
        // Nothing listens on that port. The host refuses the connection (curl's exit code 7), so
        // the packet reached it.
        place.said(from, &format!("getent hosts {to} && {{ curl -s -m 3 http://{to}:9/; test $? = 7; }}"));
    }
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn a_command_has_its_input_output_folder_and_exit_code() {
    let Some(place) = Place::new("exec", HOSTS) else { return };
    place.up();
    let exec = |words: &[&str]| place.lab(&[&["exec", "app", "--"], words].concat());
    assert_eq!(exec(&["cat"]).input("hello").run().expect_exit(0).stdout, "hello");
    assert_eq!(exec(&["sh", "-c", "echo no >&2; exit 7"]).run().expect_exit(7).stderr, "no\n");
    exec(&["sh", "-c", "kill -9 $$"]).run().expect_exit(128 + 9);
    let here = place.lab(&["exec", "app", "--", "ls"]).run();
    assert!(here.expect_exit(0).stdout.contains("lab.yaml"), "{here}");
    let unknown = exec(&["no-such-program"]).run();
    assert!(unknown.expect_exit(2).stderr.contains("no program `no-such-program` in host app"), "{unknown}");
    let host = place.lab(&["exec", "ap", "--", "true"]).run();
    assert!(host.expect_exit(2).stderr.contains("did you mean app?"), "{host}");
    let bare = place.lab(&["exec", "app"]).run();
    assert!(bare.expect_exit(2).stderr.contains("[lab_command]"), "{bare}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn status_lists_what_exists() {
    let Some(place) = Place::new("status", HOSTS) else { return };
    let none = place.lab(&["status"]).run();
    assert!(none.expect_exit(0).stdout.starts_with("there is no lab"), "{none}");
    place.up();
    let status = place.lab(&["status", "--format", "json"]).run().json();
    let lab = &status["labs"][0];
    assert_eq!(
        (&status["schema"], &lab["name"], &lab["stands"]),
        (&"wavetank.labs/1".into(), &place.name.clone().into(), &"up".into())
    );
    let hosts: Vec<&str> =
        lab["hosts"].as_array().expect("a list").iter().filter_map(|host| host["name"].as_str()).collect();
    assert_eq!(hosts, ["load1", "load2", "app"]);
    assert!(lab["hosts"][0]["pid"].is_u64() && lab["hosts"][0]["role"] == "load", "{lab}");
    // A host with a killed first process is gone as a whole and reported as such. The others stay.
    let pid = lab["hosts"][2]["pid"].to_string();
    Program::foreign("kill").map_or_else(
        || kill(&pid),
        |kill| {
            kill.args(["-9", &pid]).run().expect_exit(0);
        },
    );
    let gone = place.lab(&["status"]).run();
    assert!(gone.expect_exit(0).stdout.contains("its process has ended"), "{gone}");
    let exec = place.lab(&["exec", "app", "--", "true"]).run();
    assert!(exec.expect_exit(5).stderr.contains("[lab_host_dead]"), "{exec}");
    assert_eq!(place.said("load1", "echo here"), "here");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
    let down = place.lab(&["down"]).run();
    assert!(down.expect_exit(2).stderr.contains("[lab_none]"), "{down}");
}

fn kill(pid: &str) {
    let pid = rustix::process::Pid::from_raw(pid.parse().expect("a number")).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("root may");
}

#[test]
fn missing_privileges_are_reported_before_anything_is_created() {
    let Some(place) = Place::new("root", HOSTS) else { return };
    let Some(setpriv) = Program::foreign("setpriv") else {
        return skip(
            "lab::life::missing_privileges_are_reported_before_anything_is_created",
            "`setpriv` is not installed",
        );
    };
    let setpriv = setpriv.arguments()[0].clone();
    for verb in [&["up", "lab.yaml"][..], &["up", "lab.yaml", "--lab", "other"]] {
        let refused = place.lab(verb).under([&setpriv, "--bounding-set=-sys_admin"]).run();
        assert!(refused.expect_exit(5).stderr.contains("[lab_root]"), "{refused}");
        place.nothing_left("a refusal");
    }
    let json: Value = place.lab(&["status", "--format", "json"]).run().json();
    assert_eq!(json["labs"], Value::Array(Vec::new()));
}

#[test]
fn a_folder_of_another_user_is_left_alone() {
    let Some(place) = Place::new("folder", HOSTS) else { return };
    let theirs = place.labs().join("theirs");
    std::fs::create_dir_all(theirs.join("thesis")).expect("can be made");
    // Other programs lock their folders, too.
    for lock in [false, true] {
        if lock {
            std::fs::write(theirs.join("lock"), "").expect("can be written");
        }
        for words in [&["up", "lab.yaml", "--lab", "theirs"][..], &["down", "--lab", "theirs"], &["down"]] {
            let refused = place.lab(words).run();
            refused.expect_exit(2);
            assert!(theirs.join("thesis").is_dir(), "{refused}");
        }
    }
    std::fs::remove_dir_all(place.labs()).expect("can be removed");
}

/// Each of five hosts gets a file. A lab that is too large to be transferred creates nothing.
#[track_caller]
fn check_texts(name: &str, text: &str) {
    let hosts = HOSTS.replace("load[1-2]: {", "load[1-5]: {files: {/etc/big: {from: big}}, ");
    let Some(place) = Place::new(name, &hosts) else { return };
    place.file("big", text);
    let refused = place.lab(&["up", "lab.yaml"]).run();
    assert!(refused.expect_exit(2).stderr.contains("[lab_too_many]"), "{refused}");
    place.nothing_left("a refusal");
}

#[test]
fn excessive_lab_limits_are_reported_together() {
    check_texts("texts", &"x".repeat(2 << 20));
    // Newlines take twice the space when they are transferred.
    check_texts("lines", &"\n".repeat(1 << 20));
}

#[test]
fn a_host_that_hangs_holds_up_no_other() {
    let Some(place) = Place::new("still", HOSTS) else { return };
    place.up();
    let status = || place.lab(&["status", "--format", "json"]).run().expect_exit(0).json()["labs"][0].clone();
    let pid = status()["hosts"][1]["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
    let pid = pid.and_then(rustix::process::Pid::from_raw).expect("it has a process");
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("root may");
    // Twice, since the response to the first request comes when no process waits for it any more.
    // The others may be slow for a while, too.
    for _ in 0..2 {
        let only_that = || {
            let lab = status();
            let hosts = lab["hosts"].as_array().expect("a list");
            let reported: Vec<_> = hosts.iter().map(|host| host["silent"] == true).collect();
            (reported == [false, true, false] && lab["stands"] == "up").then_some(())
        };
        assert!(poll_until(PATIENCE, only_that).is_some(), "{}", status());
    }
    let text = place.lab(&["status"]).run();
    assert!(text.expect_exit(0).stdout.contains("it does not respond"), "{text}");
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).expect("root may");
    let reported = poll_until(PATIENCE, || Some(status()).filter(|lab| lab["hosts"][1]["silent"] == false));
    assert!(reported.is_some_and(|lab| lab["hosts"][1]["services"].is_array()), "it answers again");
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("root may");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn a_request_to_a_hanging_host_does_not_wait_forever() {
    if wavetank_testkit::is_left_to_long_form("a_request_to_a_hanging_host_does_not_wait_forever") {
        return;
    }
    let hosts = HOSTS.replace(
        "app: {role: server, networks: [front]}",
        "app:\n    role: server\n    networks: [front]\n    services: [{command: {run: sleep 1000, health: {within: 1s}}}]",
    );
    let Some(place) = Place::new("silent", &hosts) else { return };
    place.up();
    let status = || place.lab(&["status", "--format", "json"]).run().expect_exit(0).json()["labs"][0].clone();
    let app = || status()["hosts"][2].clone();
    let pid = app()["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
    let pid = pid.and_then(rustix::process::Pid::from_raw).expect("it has a process");
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("root may");
    let refused = place.lab(&["fault", "app", "pause"]).run();
    assert!(refused.expect_exit(5).stderr.contains("[lab_silent]"), "{refused}");
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).expect("root may");
    // No process waits for the fault that starts now, before the next request is handled, so it is
    // reverted.
    let up = poll_until(PATIENCE, || (app()["services"][0]["state"] == "up").then_some(()));
    assert!(up.is_some(), "{}", app());
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn a_log_is_followed_until_the_lab_is_gone() {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let said = folder.path().join("said");
    let run = format!(
        "trap \"echo last words; sleep 0.3; touch {}; exit\" TERM; echo begun; \
         while ! test -e /run/go; do sleep 0.02; done; echo went on; while :; do sleep 0.02; done",
        said.display()
    );
    let app = format!("\n    services: [{{command: {{run: '{run}'}}}}]");
    let hosts = HOSTS.replace(
        "app: {role: server, networks: [front]}",
        &format!("app:\n    role: server\n    networks: [front]{app}"),
    );
    let Some(place) = Place::new("follow", &hosts) else { return };
    place.up();
    let follow = place.lab(&["logs", "app", "command", "--follow"]).start();
    let shows = |words: &str| poll_until(PATIENCE, || (follow.stdout() == words).then_some(()));
    assert!(shows("begun\n").is_some(), "{}", follow.stdout());
    place.said("app", "touch /run/go");
    assert!(shows("begun\nwent on\n").is_some(), "{}", follow.stdout());
    place.lab(&["down"]).run().expect_exit(0);
    let follow = follow.wait(PATIENCE);
    let reported = &follow.expect_exit(0).stdout;
    assert!(reported.starts_with("begun\nwent on\n"), "{follow}");
    // On a busy machine the second until it is killed may be too short for its last line.
    assert!(reported.contains("\nlast words\n") || !said.exists(), "{follow}");
    place.nothing_left("down");
}
