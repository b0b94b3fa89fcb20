//! The agent's end: its socket, its connections, and bytes of any kind.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use wavetank_fleet::wire::{AgentFrame, ControllerFrame, encode_controller};
use wavetank_fleet::{
    AgentMessage, AgentPayload, AgentSetup, AgentState, ControllerMessage, ControllerPayload, DenialReason,
    RunId,
};
use wavetank_link::{AgentLinkEvent, AgentListener, BindError, Closed, HelloSocket, read_hello};

use crate::LONG;

fn lease(seen: u64) -> ControllerMessage {
    ControllerMessage { run: RunId(7), epoch: 1, order: ControllerPayload::Lease { seen } }
}

fn sealed(seq: u64, interval: &str) -> AgentFrame {
    let message = AgentMessage { run: RunId(7), epoch: 1, report: AgentPayload::Sealed { seq } };
    AgentFrame { message, interval: Some(interval.to_owned()) }
}

fn connect(folder: &Path) -> UnixStream {
    UnixStream::connect(folder.join("agent.sock")).expect("the agent listens")
}

#[track_caller]
fn expect_connected(listener: &AgentListener) {
    assert_eq!(listener.receive(LONG), Some(AgentLinkEvent::Connected));
}

#[track_caller]
fn expect_disconnected(listener: &AgentListener, part: &str) {
    match listener.receive(LONG) {
        Some(AgentLinkEvent::Disconnected { reason }) => assert!(reason.contains(part), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_socket_is_private_and_one_process_has_it() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("a/b");
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    {
        let listener = AgentListener::bind(&folder).expect("the first one listens");
        assert_eq!((mode(&folder), mode(listener.path())), (0o700, 0o600));
        assert!(matches!(AgentListener::bind(&folder), Err(BindError::InUse(_))));
    }
    assert!(!folder.join("agent.sock").exists());
    // The socket of a process that was killed.
    drop(UnixListener::bind(folder.join("agent.sock")).expect("a socket"));
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).expect("our folder");
    let listener = AgentListener::bind(&folder).expect("a stale socket is replaced");
    assert_eq!(mode(&folder), 0o700);
    drop(connect(&folder));
    expect_connected(&listener);
    let long = place.path().join("x".repeat(120));
    assert!(matches!(AgentListener::bind(&long), Err(BindError::TooLong(_))));
}

#[test]
fn messages_arrive_for_any_split_of_the_bytes() {
    let place = tempfile::tempdir().expect("a folder");
    let listener = AgentListener::bind(place.path()).expect("it listens");
    assert_eq!(listener.send(sealed(0, "{}")), Err(Closed));
    let mut controller = connect(place.path());
    expect_connected(&listener);
    let plan = "cGxhbg==".repeat(40_000);
    let lines: Vec<String> =
        (0..20).map(|seen| encode_controller(&lease(seen), (seen == 3).then_some(&plan)) + "\n").collect();
    let bytes = lines.concat().into_bytes();
    let send = std::thread::spawn(move || {
        let mut rest = bytes.as_slice();
        for length in [1, 2, 3, 5, 70, 1_000, 65_536, 99_999].into_iter().cycle() {
            let (piece, after) = rest.split_at(usize::min(length, rest.len()));
            controller.write_all(piece).expect("the agent reads");
            rest = after;
            if rest.is_empty() {
                return controller;
            }
        }
        controller
    });
    for seen in 0..20 {
        let plan = (seen == 3).then(|| plan.as_str().into());
        let expected = AgentLinkEvent::Frame(ControllerFrame { message: lease(seen), plan });
        assert!(listener.receive(LONG) == Some(expected), "message {seen}");
    }
    let controller = send.join().expect("all bytes are sent");
    for seq in 0..3 {
        assert_eq!(listener.send(sealed(seq, r#"{"a":[ 1 ]}"#)), Ok(()));
    }
    assert_eq!(listener.send(sealed(3, "{ damaged")), Ok(()));
    assert_eq!(listener.send(sealed(4, "{}")), Ok(()));
    let mut lines = BufReader::new(controller).lines().map(|line| line.expect("the agent writes"));
    let received: Vec<String> = lines.by_ref().take(4).collect();
    assert!(received[2].contains(r#""seq":2"#) && received[2].contains(r#"{"a":[ 1 ]}"#), "{received:?}");
    assert!(received[3].contains(r#""seq":4"#) && listener.overflowed() == 1, "{received:?}");
}

#[test]
fn the_newest_connection_is_active() {
    let place = tempfile::tempdir().expect("a folder");
    let listener = AgentListener::bind(place.path()).expect("it listens");
    let mut former = connect(place.path());
    expect_connected(&listener);
    let newest = connect(place.path());
    expect_disconnected(&listener, "another connection replaced it");
    expect_connected(&listener);
    assert_eq!(former.read(&mut [0]).expect("it is closed in order"), 0);
    assert_eq!(listener.send(sealed(9, "{}")), Ok(()));
    let mut line = String::new();
    BufReader::new(&newest).read_line(&mut line).expect("the agent writes");
    assert!(line.contains(r#""sealed":{"seq":9}"#), "{line}");
    drop(newest);
    expect_disconnected(&listener, "the other end closed the connection");
    assert_eq!(listener.send(sealed(9, "{}")), Err(Closed));
    // Many connections of which no event is read: each waits for the one before it.
    let waiting: Vec<UnixStream> = (0..8).map(|_| connect(place.path())).collect();
    drop(waiting);
    for _ in 0..8 {
        expect_connected(&listener);
        assert!(matches!(listener.receive(LONG), Some(AgentLinkEvent::Disconnected { .. })));
    }
}

#[test]
fn damage_ends_the_connection_and_other_versions_do_not() {
    let place = tempfile::tempdir().expect("a folder");
    let listener = AgentListener::bind(place.path()).expect("it listens");
    let mut controller = connect(place.path());
    expect_connected(&listener);
    let other = encode_controller(&lease(1), None).replacen("\"v\":1", "\"v\":9", 1);
    let denied = ControllerPayload::Denied { reason: DenialReason::TooLate };
    let denied = ControllerMessage { order: denied, ..lease(0) };
    let denial = encode_controller(&denied, None).replacen("\"v\":1", "\"v\":9", 1);
    controller.write_all(format!("{other}\n{denial}\n{{garbage\n").as_bytes()).expect("the agent reads");
    assert_eq!(listener.receive(LONG), Some(AgentLinkEvent::OtherVersion { found: 9 }));
    let frame = ControllerFrame { message: denied, plan: None };
    assert_eq!(listener.receive(LONG), Some(AgentLinkEvent::Frame(frame)));
    expect_disconnected(&listener, "the message is damaged");
    let mut controller = connect(place.path());
    expect_connected(&listener);
    controller.write_all(b"{\"v\":1").expect("the agent reads");
    drop(controller);
    expect_disconnected(&listener, "6 bytes into a message");
}

#[test]
fn a_slow_agent_makes_its_controller_wait_and_can_end() {
    let place = tempfile::tempdir().expect("a folder");
    let listener = AgentListener::bind(place.path()).expect("it listens");
    let mut controller = connect(place.path());
    expect_connected(&listener);
    let sent = std::thread::spawn(move || {
        let line = encode_controller(&lease(1), None) + "\n";
        (0_u32..100_000_000).find(|_| controller.write_all(line.as_bytes()).is_err())
    });
    for _ in 0..5_000 {
        assert!(matches!(listener.receive(LONG), Some(AgentLinkEvent::Frame(_))));
    }
    // The other thread waits for room, and the end of the listener ends it.
    drop(listener);
    assert!(sent.join().expect("the thread ended") >= Some(5_000));
}

#[test]
fn a_controller_that_does_not_read_loses_messages() {
    let place = tempfile::tempdir().expect("a folder");
    let listener = AgentListener::bind(place.path()).expect("it listens");
    let _controller = connect(place.path());
    expect_connected(&listener);
    let sent = (0..100_000_000).find(|seq| {
        assert_eq!(listener.send(sealed(*seq, "{}")), Ok(()));
        listener.overflowed() > 10
    });
    assert!(sent > Some(1_000));
    assert_eq!(listener.receive(Duration::ZERO), None, "the connection is kept");
}

#[test]
fn a_greeting_is_read_without_a_connection() {
    let place = tempfile::tempdir().expect("a folder");
    assert!(read_hello(place.path()).is_err());
    let identity = AgentSetup::local("0.1.0").identity;
    let hello = |state| AgentMessage {
        run: RunId::NONE,
        epoch: 0,
        report: AgentPayload::Hello(identity.hello(state)),
    };
    let socket = HelloSocket::bind(place.path(), &hello(AgentState::Idle)).expect("it listens");
    assert_eq!(read_hello(place.path()).expect("an answer"), hello(AgentState::Idle));
    socket.set(&hello(AgentState::Running));
    assert_eq!(read_hello(place.path()).expect("an answer"), hello(AgentState::Running));
    drop(socket);
    assert!(read_hello(place.path()).is_err());
}
