//! Commands in hosts: what happens to them when the calling process is ended, stopped or killed.

use std::time::Duration;

use rustix::process::{Signal, kill_process};
use wavetank_lab::crash::SENT;
use wavetank_testkit::Running;
use wavetank_testkit::clock::poll_until;

use crate::lab::place::{HOSTS, Place};

const PATIENCE: Duration = Duration::from_mins(1);

/// Starts a shell's command in a host, and waits until it has run `first`.
fn begun(place: &Place, first: &str, command: &str) -> Running {
    let file = place.labs().with_file_name("begun");
    let words = format!("{first}; touch {}; {command}", file.display());
    // A shell cannot trap a signal that was ignored when it started, as under nohup or in the
    // background of a script.
    let obeying = ["exec", "app", "--", "env", "--default-signal=HUP,INT", "sh", "-c", &words];
    let exec = place.lab(&obeying).start();
    let there = poll_until(PATIENCE, || file.exists().then_some(()));
    assert!(there.is_some(), "it has started: {}", exec.stderr());
    std::fs::remove_file(file).expect("it is there");
    exec
}

/// Whether a process in the host has `word` in its command line, other than the search itself.
fn runs(place: &Place, word: &str) -> bool {
    let (first, rest) = word.split_at(1);
    let found = format!("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '[{first}]{rest}' || true");
    place.said("app", &found) != "0"
}

#[test]
fn what_the_asker_is_sent_the_command_is_sent() {
    let Some(place) = Place::new("sent", HOSTS) else { return };
    place.up();
    for (signal, name, code) in [(Signal::TERM, "TERM", 7), (Signal::INT, "INT", 8), (Signal::HUP, "HUP", 9)]
    {
        let exec = begun(&place, &format!("trap 'exit {code}' {name}"), "while :; do sleep 0.01; done");
        exec.signal(signal);
        exec.wait(PATIENCE).expect_exit(code);
    }
    let exec = begun(&place, ":", "exec sleep 1000");
    exec.signal(Signal::TERM);
    exec.wait(PATIENCE).expect_exit(128 + 15);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn a_killed_client_leaves_no_process_behind() {
    let Some(place) = Place::new("left", HOSTS) else { return };
    place.up();
    let exec = begun(&place, ":", "exec sleep 4711");
    assert!(runs(&place, "sleep 4711"));
    exec.signal(Signal::KILL);
    exec.wait(PATIENCE);
    let gone = poll_until(PATIENCE, || (!runs(&place, "sleep 4711")).then_some(()));
    assert!(gone.is_some(), "the command is still there");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn a_hanging_client_does_not_keep_the_lab() {
    let Some(place) = Place::new("still", HOSTS) else { return };
    place.up();
    let exec = begun(&place, ":", "exec sleep 1000");
    exec.signal(Signal::STOP);
    place.lab(&["down"]).run().expect_exit(0);
    exec.signal(Signal::CONT);
    exec.wait(PATIENCE).expect_exit(128 + 9);
    place.nothing_left("down");
}

#[test]
fn a_hanging_client_does_not_block_a_script() {
    let Some(place) = Place::new("hangup", HOSTS) else { return };
    let asked = place.lab(&["exec", "app", "--", "true"]);
    // The lab, the stopped process and the calling process are in one session.
    let script = "\"$1\" lab up lab.yaml >up.log || exit; sleep 1000 & kill -STOP $!; \"$@\"; echo ended $?; \
                  kill -KILL $!";
    let reported = asked.under(["setsid", "--wait", "sh", "-c", script, "sh"]).run();
    assert_eq!(reported.expect_exit(0).stdout, "ended 0\n", "{reported}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn much_goes_in_and_out_as_it_is() {
    let Some(place) = Place::new("much", HOSTS) else { return };
    place.up();
    let text = "0123456789abcdef\n".repeat(40_000);
    let reported = place.lab(&["exec", "app", "--", "cat"]).input(text.clone()).run();
    assert!(reported.expect_exit(0).stdout == text, "{} of {} bytes", reported.stdout.len(), text.len());
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn a_killed_command_blocks_no_other() {
    let Some(place) = Place::new("errand", HOSTS) else { return };
    place.up();
    let reported = place.lab(&["exec", "app", "--", "true"]).environment("WAVETANK_LAB_CRASH", SENT).run();
    assert!(reported.expect_exit(5).stderr.contains("it was killed at its start"), "{reported}");
    // The command ends together with the process that waits for it.
    let exec = begun(&place, ":", "exec sleep 1000");
    let errand = place.running("lab-errand").expect("a process waits for the command");
    kill_process(errand, Signal::KILL).expect("root may");
    exec.wait(PATIENCE).expect_exit(128 + 9);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}
