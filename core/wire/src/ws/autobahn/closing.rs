//! Group 7: closing.

use super::super::Fault;
use super::text::WRONG;
use super::{Case, case, check_all, close, frame, ping, rest, text};

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
