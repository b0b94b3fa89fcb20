//! The controller's end, with processes that are no agents.

use std::path::Path;
use std::process::Command;

use wavetank_fleet::wire::encode_agent;
use wavetank_fleet::{AgentId, AgentMessage, AgentPayload, AgentSetup, AgentState, RunId};
use wavetank_link::{StreamEvent, StreamHost, StreamLink};

use crate::LONG;

fn hello() -> String {
    let report = AgentPayload::Hello(AgentSetup::local("0.1.0").identity.hello(AgentState::Idle));
    encode_agent(&AgentMessage { run: RunId::NONE, epoch: 0, report }, None).expect("nothing is attached")
}

/// A host with a shell in place of ssh. `$HELLO` is a greeting.
fn shell(name: &str, script: String) -> StreamHost {
    let command = move || {
        let mut command = Command::new("sh");
        command.args(["-c", &script]).env("HELLO", hello());
        command
    };
    StreamHost { name: name.to_owned(), command: Box::new(command) }
}

fn link(script: &str) -> StreamLink {
    StreamLink::start(vec![shell("load1", script.to_owned())], 1).expect("a link")
}

#[track_caller]
fn expect_unreachable(link: &StreamLink, part: &str) {
    match link.receive(LONG) {
        Some(StreamEvent::Unreachable { host: 0, reason }) => assert!(reason.contains(part), "{reason}"),
        other => panic!("{other:?}"),
    }
}

/// Waits for a connection and its greeting.
#[track_caller]
fn expect_greeting(link: &StreamLink, expected: AgentId) {
    assert_eq!(link.receive(LONG), Some(StreamEvent::Connected { agent: expected, host: 0 }));
    match link.receive(LONG) {
        Some(StreamEvent::Frame { agent, .. }) => assert_eq!(agent, expected),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn expect_disconnected(link: &StreamLink, part: &str) {
    match link.receive(LONG) {
        Some(StreamEvent::Disconnected { host: 0, reason, .. }) => {
            assert!(reason.contains(part), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_way_to_fail_has_its_reason() {
    let said = "echo 'cannot reach the agent: gone' >&2; echo 'hint: start it' >&2; exit 4";
    expect_unreachable(&link(said), "cannot reach the agent: gone");
    expect_unreachable(&link("exit 3"), "the process ended with exit code 3");
    expect_unreachable(&link("kill -9 $$"), "signal 9");
    expect_unreachable(&link("echo '{garbage'; exec sleep 1000"), "the message is damaged");
    expect_unreachable(&link("yes"), "lines that are no messages");
    let missing = StreamHost { name: "load1".to_owned(), command: Box::new(|| Command::new("/no/such/ssh")) };
    expect_unreachable(&StreamLink::start(vec![missing], 1).expect("a link"), "cannot start /no/such/ssh");
}

#[test]
fn a_connection_that_ends_is_made_again_with_another_number() {
    // Startup files of shells may write before the first message.
    let link = link("echo 'Welcome'; echo; echo \"$HELLO\"; echo late >&2; exit 1");
    for number in 0..3 {
        expect_greeting(&link, AgentId(number));
        expect_disconnected(&link, "late");
    }
}

#[test]
fn a_host_that_is_connected_has_no_failure() {
    let place = tempfile::tempdir().expect("a folder");
    let first = place.path().join("first");
    // The first attempt fails, the second one stays.
    let link = link(&format!("mkdir {} && exit 3; echo \"$HELLO\"; exec cat >/dev/null", first.display()));
    expect_unreachable(&link, "exit code 3");
    expect_greeting(&link, AgentId(0));
    assert_eq!(link.failures(), []);
}

#[test]
fn damage_and_other_versions() {
    let other = r#"{"v":9,"run":1,"epoch":1,"report":"cleared"}"#;
    let link = link(&format!("echo \"$HELLO\"; echo '{other}'; echo garbage; exec sleep 1000"));
    expect_greeting(&link, AgentId(0));
    assert_eq!(link.receive(LONG), Some(StreamEvent::OtherVersion { agent: AgentId(0), found: 9 }));
    expect_disconnected(&link, "the message is damaged");
}

#[test]
fn a_process_that_has_ended_is_noticed_while_another_one_holds_its_output() {
    let link = link("echo \"$HELLO\"; sleep 20 & exit 6");
    expect_greeting(&link, AgentId(0));
    expect_disconnected(&link, "exit code 6");
}

fn numbers(file: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[test]
fn the_end_of_the_link_ends_its_processes() {
    let place = tempfile::tempdir().expect("a folder");
    let file = place.path().join("numbers");
    let begin = format!("echo $$ >> {}; echo \"$HELLO\"", file.display());
    let hosts = vec![
        // One ends with its input, the other one has to be killed.
        shell("ends", format!("{begin}; exec cat > /dev/null")),
        shell("stays", format!("{begin}; trap '' TERM HUP; exec sleep 1000")),
    ];
    let link = StreamLink::start(hosts, 1).expect("a link");
    let mut connected = 0;
    while connected < 2 {
        let event = link.receive(LONG).expect("both connect");
        connected += usize::from(matches!(event, StreamEvent::Connected { .. }));
    }
    drop(link);
    let numbers = numbers(&file);
    assert_eq!(numbers.len(), 2);
    for number in numbers {
        assert!(!Path::new(&format!("/proc/{number}")).exists(), "{number} goes on");
    }
}

#[test]
fn a_link_can_end_while_it_waits() {
    // For a login, for the end of a pause, and for an agent that never speaks.
    let silent = |name| shell(name, "exec sleep 1000".to_owned());
    drop(StreamLink::start(vec![silent("a"), silent("b"), silent("c")], 1).expect("a link"));
    let failing = link("exit 1");
    for _ in 0..3 {
        expect_unreachable(&failing, "exit code 1");
    }
    let failures = failing.failures();
    assert!(failures[0].name == "load1" && failures[0].reason.contains("exit code 1"), "{failures:?}");
    drop(failing);
}

#[test]
fn logins_are_limited() {
    let place = tempfile::tempdir().expect("a folder");
    let (lock, overlaps) = (place.path().join("lock"), place.path().join("overlaps"));
    let (lock, found) = (lock.display(), overlaps.display());
    let script = format!("mkdir {lock} || echo x >> {found}; echo nothing; rmdir {lock}; exit 1");
    let hosts = (0..4).map(|number| shell(&format!("load{number}"), script.clone())).collect();
    let link = StreamLink::start(hosts, 1).expect("a link");
    let mut failures = [0; 4];
    while failures.iter().any(|count| *count < 2) {
        match link.receive(LONG) {
            Some(StreamEvent::Unreachable { host, .. }) => failures[host] += 1,
            other => panic!("{other:?}"),
        }
    }
    drop(link);
    assert!(!overlaps.exists(), "two logins at the same time");
}
