//! Groups 1 to 5: framing, pings and pongs, reserved bits, opcodes, fragmentation.

use super::super::Fault;
use super::{HELLO, binary, case, check_all, frame, ping, pong, rest, text};

const NOT_TEXT: &[u8] = b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff";
const RESERVED: &str = "reserved opcode payload";
const NOTHING_TO_CONTINUE: &str = "non-continuation payload";

/// Where the suite cuts differently (1.1.8, 2.6, 5.4 and others), the number is there all the same,
/// because every row is cut in all ways.
#[test]
fn framing() {
    let mut rows = Vec::new();
    for (at, length) in [0, 125, 126, 127, 128, 65_535, 65_536, 65_536].into_iter().enumerate() {
        let (stars, bytes) = ("*".repeat(length), vec![0xfe; length]);
        rows.push(case(format!("1.1.{}", at + 1), [text(&stars)]).text(&stars));
        rows.push(case(format!("1.2.{}", at + 1), [binary(&bytes)]).binary(&bytes));
    }
    check_all(rows, 16);
}

#[test]
fn pings_and_pongs() {
    let long = [0xfe; 125];
    let ten = || (0..10).map(|number| format!("payload-{number}"));
    let mut many = case("2.10", ten().map(ping).collect::<Vec<_>>());
    many.pongs = ten().map(pong).collect();
    let mut rows = vec![
        case("2.1", [ping("")]).pong(""),
        case("2.2", [ping(HELLO)]).pong(HELLO),
        case("2.3", [ping(NOT_TEXT)]).pong(NOT_TEXT),
        case("2.4", [ping(long)]).pong(long),
        case("2.5", [ping([0xfe; 126])]).fails(Fault::BadControl, 1002),
        case("2.6", [ping(long)]).pong(long),
        case("2.7", [pong("")]),
        case("2.8", [pong("unsolicited pong payload")]),
        case("2.9", [pong("unsolicited pong payload"), ping("ping payload")]).pong("ping payload"),
    ];
    rows.push(many.clone());
    many.number = "2.11".to_owned();
    rows.push(many);
    check_all(rows, 11);
}

#[test]
fn reserved_bits() {
    let after_hello = |number: &str, bits| {
        let frames = [text(HELLO), text(HELLO).reserved(bits), ping("")];
        case(number, frames).text(HELLO).fails(Fault::ReservedBit, 1002)
    };
    let alone = |number: &str, frame| case(number, [frame]).fails(Fault::ReservedBit, 1002);
    let rows = [
        alone("3.1", text(HELLO).reserved(1)),
        after_hello("3.2", 2),
        after_hello("3.3", 3),
        after_hello("3.4", 4),
        alone("3.5", binary(NOT_TEXT).reserved(5)),
        alone("3.6", ping(HELLO).reserved(6)),
        alone("3.7", frame(0x88, "").reserved(7)),
    ];
    check_all(rows, 7);
}

#[test]
fn opcodes() {
    let alone = |number: &str, opcode: u8, payload: &str| {
        case(number, [frame(0x80 | opcode, payload)]).fails(Fault::ReservedOpcode, 1002)
    };
    let after_hello = |number: &str, opcode: u8, payload: &str| {
        let frames = [text(HELLO), frame(0x80 | opcode, payload), ping("")];
        case(number, frames).text(HELLO).fails(Fault::ReservedOpcode, 1002)
    };
    let rows = [
        alone("4.1.1", 3, ""),
        alone("4.1.2", 4, RESERVED),
        after_hello("4.1.3", 5, ""),
        after_hello("4.1.4", 6, HELLO),
        after_hello("4.1.5", 7, HELLO),
        alone("4.2.1", 11, ""),
        alone("4.2.2", 12, RESERVED),
        after_hello("4.2.3", 13, ""),
        after_hello("4.2.4", 14, HELLO),
        after_hello("4.2.5", 15, HELLO),
    ];
    check_all(rows, 10);
}

#[test]
fn fragmentation() {
    let mut rows = vec![
        case("5.1", [ping("fragment1").more(), rest("fragment2")]).fails(Fault::BadControl, 1002),
        case("5.2", [pong("fragment1").more(), rest("fragment2")]).fails(Fault::BadControl, 1002),
    ];
    let (one, two) = (text("fragment1").more(), rest("fragment2"));
    for number in 3..=5 {
        rows.push(case(format!("5.{number}"), [one.clone(), two.clone()]).text("fragment1fragment2"));
    }
    for number in 6..=8 {
        let frames = [one.clone(), ping("ping payload"), two.clone()];
        rows.push(case(format!("5.{number}"), frames).pong("ping payload").text("fragment1fragment2"));
    }
    for number in 9..=14 {
        let stray = rest(NOTHING_TO_CONTINUE);
        let stray = if number < 12 { stray } else { stray.more() };
        rows.push(case(format!("5.{number}"), [stray, text(HELLO)]).fails(Fault::Fragmentation, 1002));
    }
    let frames = [one.clone(), two, rest("fragment3").more(), text("fragment4")];
    rows.push(case("5.15", frames).text("fragment1fragment2").fails(Fault::Fragmentation, 1002));
    for (number, stray) in [("5.16", rest("fragment1").more()), ("5.17", rest("fragment1"))] {
        let three = [stray, text("fragment2").more(), rest("fragment3")];
        rows.push(case(number, [three.clone(), three].concat()).fails(Fault::Fragmentation, 1002));
    }
    rows.push(case("5.18", [one, text("fragment2")]).fails(Fault::Fragmentation, 1002));
    for number in ["5.19", "5.20"] {
        let frames = [
            text("fragment1").more(),
            rest("fragment2").more(),
            ping("pongme 1!"),
            rest("fragment3").more(),
            rest("fragment4").more(),
            ping("pongme 2!"),
            rest("fragment5"),
        ];
        let whole = "fragment1fragment2fragment3fragment4fragment5";
        rows.push(case(number, frames).pong("pongme 1!").pong("pongme 2!").text(whole));
    }
    check_all(rows, 20);
}
