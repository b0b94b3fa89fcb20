//! Faults by command: clients notice each, and it is reverted on request and when the command that
//! started it is killed.

use std::time::Duration;

use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Outcome, Signal, skip};

use crate::lab::felt::{reaches, status};
use crate::lab::place::Place;
use crate::lab::routing::PATIENCE;

/// A client, and a server with a service.
const HOSTS: &str = "\
networks:
  front: 10.92.0.0/24
hosts:
  load1: {role: load, networks: [front]}
  app1:
    role: server
    networks: [front]
    services:
      - serve: {listen: 8080, options: [--engine, epoll]}
";

/// Its service. With epoll its sockets are files.
const SERVE: &str = "serve: {listen: 8080, options: [--engine, epoll]}";

#[track_caller]
fn fault(place: &Place, words: &str) -> Outcome {
    let words: Vec<&str> = ["fault", "app1"].into_iter().chain(words.split_whitespace()).collect();
    let done = place.lab(&words).run();
    done.expect_exit(0);
    done
}

/// Returns the number that the lab gave a fault.
fn number(begun: &Outcome) -> String {
    let (_, rest) = begun.stdout.split_once(" undo ").unwrap_or_else(|| panic!("no number: {begun}"));
    rest.chars().take_while(char::is_ascii_digit).collect()
}

/// Starts a fault, after which the server does not respond. Then reverts it, after which the server
/// responds again.
#[track_caller]
fn check(place: &Place, words: &str, reported: &str) {
    reaches(place, "200", &format!("before {words}"));
    let begun = fault(place, words);
    assert!(begun.stdout.starts_with(&format!("app1: {reported}, until")), "{begun}");
    reaches(place, "000", words);
    fault(place, &format!("undo {}", number(&begun)));
    reaches(place, "200", &format!("after {words}"));
}

#[test]
fn each_is_felt_and_taken_back() {
    let Some(place) = Place::new("faults", HOSTS) else { return };
    place.up();
    check(&place, "kill", "kill serve");
    check(&place, "stop serve", "stop serve");
    check(&place, "pause", "pause serve");
    check(&place, "cut", "cut eth0");
    check(&place, "cut front", "cut eth0");
    check(&place, "drop 100%", "drop 100% eth0");
    assert_eq!(place.said("app1", "nft list tables"), "", "no filter is left");

    let limits = "cat /proc/[0-9]*/limits | grep -c '^Max open files *77 ' || true";
    let begun = fault(&place, "files 77");
    assert_ne!(place.said("app1", limits), "0");
    fault(&place, &format!("undo {}", number(&begun)));
    assert_eq!(place.said("app1", limits), "0");

    let slowest = "for i in 1 2 3 4 5 6 7 8; do curl -s -m 5 -o /dev/null -w '%{time_total}\\n' http://app1:8080/; done \
                   | sort -n | tail -1";
    let begun = fault(&place, "slow 300ms");
    let seconds: f64 = place.said("load1", slowest).parse().expect("a time");
    assert!(seconds >= 0.1, "the slowest of eight took {seconds} s");
    fault(&place, &format!("undo {}", number(&begun)));
    assert_eq!(place.said("app1", "grep -h ') T ' /proc/[0-9]*/stat || true"), "", "no process is stopped");
    reaches(&place, "200", "after slow");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

/// Starts two faults, either of which alone keeps the server from responding. Then reverts the
/// first and the second.
#[track_caller]
fn overlap(place: &Place, (first, second): (&str, &str)) {
    reaches(place, "200", &format!("before {first} and {second}"));
    let numbers = [first, second].map(|words| number(&fault(place, words)));
    reaches(place, "000", &format!("{first} and {second}"));
    fault(place, &format!("undo {}", numbers[0]));
    assert_eq!(status(place), "000", "{second} without {first}");
    fault(place, &format!("undo {}", numbers[1]));
    reaches(place, "200", &format!("after {first} and {second}"));
}

#[test]
fn one_that_ends_does_not_end_another() {
    let Some(place) = Place::new("faults-two", HOSTS) else { return };
    place.up();
    overlap(&place, ("pause", "pause"));
    overlap(&place, ("slow 20ms", "pause"));
    overlap(&place, ("kill", "kill"));
    overlap(&place, ("kill", "stop"));
    overlap(&place, ("pause", "kill"));
    overlap(&place, ("cut", "drop 100%"));
    // A restarted process is paused as the one before it was.
    let paused = number(&fault(&place, "pause"));
    let killed = number(&fault(&place, "kill"));
    fault(&place, &format!("undo {killed}"));
    reaches(&place, "000", "it is still paused");
    fault(&place, &format!("undo {paused}"));
    reaches(&place, "200", "after all");

    let limits = "grep -h '^Max open files' /proc/[0-9]*/limits | awk '{print $4}' | grep -x -e 66 -e 77 | sort -u | paste -sd ' '";
    let numbers = ["files 66", "files 77"].map(|words| number(&fault(&place, words)));
    assert_eq!(place.said("app1", limits), "66");
    fault(&place, &format!("undo {}", numbers[0]));
    assert_eq!(place.said("app1", limits), "77");
    fault(&place, &format!("undo {}", numbers[1]));
    assert_eq!(place.said("app1", limits), "");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn what_lasts_for_a_time_ends_by_itself_or_with_its_command() {
    let Some(place) = Place::new("faults-for", HOSTS) else { return };
    place.up();
    let whole = place.lab(&["fault", "app1", "pause", "--for", "300ms"]).run();
    assert!(whole.expect_exit(0).stdout.ends_with("app1: pause serve is reverted\n"), "{whole}");
    reaches(&place, "200", "after its time");
    for signal in [Signal::INT, Signal::KILL] {
        let command = place.lab(&["fault", "app1", "kill", "--for", "10m"]).start();
        reaches(&place, "000", "while it lasts");
        command.signal(signal);
        command.wait(Duration::from_mins(1));
        reaches(&place, "200", "after its command");
    }
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn one_that_came_up_too_late_can_be_ended_again() {
    let wavetank = env!("CARGO_BIN_EXE_wavetank");
    let run =
        format!("test ! -p /run/gate || read -r go < /run/gate; exec {wavetank} serve --listen 0.0.0.0:8080");
    let command = format!("command: {{run: '{run}', listen: 8080, health: {{within: 4s}}}}");
    let Some(place) = Place::new("faults-late", &HOSTS.replace(SERVE, &command)) else { return };
    place.up();
    reaches(&place, "200", "before it is killed");
    let killed = number(&fault(&place, "kill"));
    place.said("app1", "mkfifo /run/gate");
    let late = place.lab(&["fault", "app1", "undo", &killed]).run();
    assert!(late.expect_exit(5).stderr.contains("[lab_health]"), "{late}");
    place.said("app1", "echo go > /run/gate; rm /run/gate");
    reaches(&place, "200", "when it has come up");
    let killed = number(&fault(&place, "kill"));
    reaches(&place, "000", "killed again");
    fault(&place, &format!("undo {killed}"));
    reaches(&place, "200", "after all");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

/// The host's own process may open fewer files than the service has processes, so it cannot hold
/// all of them.
#[test]
fn a_service_is_paused_as_a_whole_or_not_at_all() {
    let crowd = "command: {run: 'for i in $(seq 200); do sleep 600 & done; wait'}";
    let hosts = HOSTS.replace(SERVE, crowd);
    let Some(place) = Place::new("faults-half", &hosts) else { return };
    place.up();
    // A resumed process counts as runnable until it has had a CPU.
    let sleeping = "grep -l '^.* (sleep) [SRD]' /proc/[0-9]*/stat | wc -l";
    let whole = poll_until(PATIENCE, || (place.said("app1", sleeping) == "200").then_some(()));
    assert!(whole.is_some(), "the service was never complete");
    let still = "grep -l ') T ' /proc/[0-9]*/stat | wc -l";
    place.said("app1", "prlimit --pid 1 --nofile=100:");
    for words in ["pause", "kill", "slow 20ms"] {
        let refused =
            place.lab(&[&["fault", "app1"], words.split(' ').collect::<Vec<_>>().as_slice()].concat()).run();
        assert!(refused.expect_exit(5).stderr.contains("[lab_fault_failed]"), "{refused}");
        assert_eq!([place.said("app1", still), place.said("app1", sleeping)], ["0", "200"], "{words}");
    }
    place.said("app1", "prlimit --pid 1 --nofile=1000:");
    fault(&place, "pause");
    assert_ne!(place.said("app1", still), "0");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn nothing_is_started_again_for_the_end() {
    let starts = tempfile::NamedTempFile::new().expect("temporary files can be made");
    let command = format!("command: {{run: 'echo begun >> {}; exec sleep 1000'}}", starts.path().display());
    let Some(place) = Place::new("faults-down", &HOSTS.replace(SERVE, &command)) else { return };
    place.up();
    fault(&place, "kill");
    place.lab(&["down"]).run().expect_exit(0);
    assert_eq!(std::fs::read_to_string(starts.path()).expect("it is there"), "begun\n");
    place.nothing_left("down");
}

#[test]
fn files_that_would_not_be_felt_are_not_limited() {
    let test = "files_that_would_not_be_felt_are_not_limited";
    let Some(place) = Place::new("faults-ring", &HOSTS.replace("epoll", "auto")) else { return };
    place.up();
    let rings =
        place.said("app1", "ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c 'anon_inode:.io_uring.' || true");
    let refused = place.lab(&["fault", "app1", "files", "77"]).run();
    if rings == "0" {
        skip(test, "this machine has no io_uring");
        refused.expect_exit(0);
    } else {
        assert!(refused.expect_exit(5).stderr.contains("[--engine, epoll]"), "{refused}");
    }
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn what_cannot_be_is_reported() {
    let Some(place) = Place::new("faults-bad", HOSTS) else { return };
    place.up();
    let check = |words: &[&str], exit: i32, reported: &str| {
        let refused = place.lab(&[&["fault"], words].concat()).run();
        assert!(refused.expect_exit(exit).stderr.contains(reported), "{refused}");
    };
    check(&["app2", "kill"], 2, "did you mean app1?");
    check(&["app1", "kil"], 2, "did you mean kill?");
    check(&["app1", "kill", "nginx"], 2, "one of: serve");
    check(&["app1", "drop", "20"], 2, "20%?");
    check(&["app1", "undo", "99"], 2, "[lab_fault_unknown]");
    check(&["app1", "undo", "x"], 2, "[lab_fault_words]");
    check(&["app1", "undo", "1", "--for", "1s"], 2, "--for");
    check(&["load1", "kill"], 2, "no service");
    fault(&place, "kill");
    check(&["app1", "pause"], 5, "[lab_fault_vacant]");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}
