//! Group 7: closing.

use super::super::{Client, CloseCode, Fault, Limits, Server};
use super::text::WRONG;
use super::{
    Case, Event, Frame, Machine, bytes_of, case, check_all, close, frame, ping, pong, rest, run, text,
};

/// What follows a Close frame is ignored (RFC 6455 §5.5.1).
#[test]
fn order() {
    let message = "BAsd7&jh23".repeat(26_215)[..256 << 10].to_owned();
    let rows = [
        case("7.1.1", [text("Hello World!")]).text("Hello World!"),
        case("7.1.2", [close(1000, ""), close(1005, "")]).closed(1000, ""),
        case("7.1.3", [close(1000, ""), ping("")]).closed(1000, ""),
        case("7.1.4", [close(1000, ""), text("Hello World!")]).closed(1000, ""),
        case("7.1.5", [text("fragment1").more(), close(1000, ""), rest("fragment2")]).closed(1000, ""),
        case("7.1.6", [text(&message), text("Hello World!"), close(1000, ""), ping("")])
            .text(&message)
            .text("Hello World!")
            .closed(1000, ""),
    ];
    check_all(rows, 6);
}

#[test]
fn payloads() {
    let longest = "*".repeat(123);
    let rows = [
        case("7.3.1", [close(1005, "")]).closed(1005, ""),
        case("7.3.2", [frame(0x88, "a")]).fails(Fault::BadClose, 1002),
        case("7.3.3", [close(1000, "")]).closed(1000, ""),
        case("7.3.4", [close(1000, "Hello World!")]).closed(1000, "Hello World!"),
        case("7.3.5", [close(1000, &longest)]).closed(1000, &longest),
        case("7.3.6", [close(1000, "*".repeat(124))]).fails(Fault::BadControl, 1002),
        case("7.5.1", [close(1000, WRONG)]).fails(Fault::NotUtf8, 1007),
    ];
    check_all(rows, 7);
}

#[test]
fn codes() {
    let mut rows: Vec<Case> = Vec::new();
    let sent = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999];
    for (at, code) in sent.into_iter().enumerate() {
        rows.push(case(format!("7.7.{}", at + 1), [close(code, "")]).closed(code, ""));
    }
    let forbidden = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999];
    for (at, code) in forbidden.into_iter().enumerate() {
        let frame = frame(0x88, u16::to_be_bytes(code));
        rows.push(case(format!("7.9.{}", at + 1), [frame]).fails(Fault::BadClose, 1002));
    }
    // The specification leaves these open (§7.4.2); they are errors here.
    for (number, code) in [("7.13.1", 5000), ("7.13.2", 65_535)] {
        rows.push(case(number, [close(code, "")]).fails(Fault::BadClose, 1002));
    }
    check_all(rows, 24);
}

/// Closes `machine`, which then reads `frames`.
#[track_caller]
fn check_closing<M: Machine>(start: impl Fn() -> M, frames: &[Frame], expected: &[Event]) {
    let bytes = bytes_of(frames, M::IS_SERVER);
    for size in 1..=bytes.len() {
        let outcome = run(start(), bytes.chunks(size), false);
        assert_eq!(outcome.events, expected, "in pieces of {size}, server {}", M::IS_SERVER);
        // No Pong, and no second Close frame.
        assert_eq!(outcome.written, [close(1001, "")]);
    }
}

/// The suite closes first in all its cases. Here our side has (RFC 6455 §5.5.1, §7.1.2): messages
/// that were on their way are taken, and nothing more is sent.
#[test]
fn our_side_closes_first() {
    let message = || Event::Message(text("late"));
    for (frames, expected) in [
        (vec![close(1000, "")], vec![Event::Closed(1000)]),
        (vec![close(1005, ""), ping("")], vec![Event::Closed(1005)]),
        (vec![text("late"), close(1001, "")], vec![message(), Event::Closed(1001)]),
        (vec![ping("a"), pong("b"), text("late")], vec![message()]),
        (
            vec![text("la").more(), ping("a"), rest("te"), close(1000, "")],
            vec![message(), Event::Closed(1000)],
        ),
        (vec![text("late"), text([0xff])], vec![message(), Event::Fault(Fault::NotUtf8)]),
        (vec![frame(0x88, "a")], vec![Event::Fault(Fault::BadClose)]),
    ] {
        let client = || {
            let mut client = Client::resume(Limits::default(), 7);
            client.close(CloseCode(1001));
            client
        };
        let server = || {
            let mut server = Server::new(Limits::default(), false);
            server.close(CloseCode(1001));
            server
        };
        check_closing(client, &frames, &expected);
        check_closing(server, &frames, &expected);
    }
}
