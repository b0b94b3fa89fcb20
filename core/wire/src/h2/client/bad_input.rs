//! What a client does with each kind of bad input: RFC 9113, section by section.

use super::super::frame::{self, flag, kind, setting};
use super::tests::{Script, Transcript};
use super::*;

const OK: &[(&str, &str)] = &[(":status", "200")];

/// Opens two requests, and reads `script` whole and byte by byte. `expected` is the fault of the
/// connection, or what the requests report.
#[track_caller]
fn check(script: &Script, expected: &str) {
    for piece in [usize::MAX, 1] {
        let mut client = Client::new(Limits { body_bytes_max: 10_000, ..Limits::default() }, false);
        let mut said = Transcript::default();
        for tag in 0..2 {
            client.request(tag, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", false).unwrap();
        }
        client.out().clear();
        let read =
            script.0.chunks(piece.min(script.0.len())).try_for_each(|piece| client.read(piece, &mut said));
        let reported = match read {
            Ok(()) => said.events.trim_end().to_owned(),
            Err(fault) => {
                let goaway = [kind::GOAWAY, 0, 0, 0, 0, 0];
                assert!(client.out().windows(6).any(|six| six == goaway), "the server learns of {fault:?}");
                format!("{fault:?}")
            }
        };
        assert_eq!(reported, expected, "in pieces of {piece}");
    }
}

fn one(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Script {
    Script::new().frame(kind, flags, stream, payload)
}

fn with_setting(id: u16, value: u32) -> Script {
    let mut script = Script::new();
    frame::push_settings(&mut script.0, &[(id, value)]);
    script
}

/// §6.5
#[test]
fn settings() {
    check(&Script::default().frame(kind::PING, 0, 0, &[0; 8]), "NoSettings");
    check(&Script::default().frame(kind::SETTINGS, flag::ACK, 0, &[]), "NoSettings");
    check(&one(kind::SETTINGS, 0, 0, &[0; 5]), "FrameSize");
    check(&one(kind::SETTINGS, flag::ACK, 0, &[0; 6]), "FrameSize");
    check(&one(kind::SETTINGS, 0, 1, &[]), "WrongStream");
    check(&with_setting(setting::INITIAL_WINDOW_SIZE, 1 << 31), "WindowOverflow");
    check(&with_setting(setting::MAX_FRAME_SIZE, 16_383), "BadSetting");
    check(&with_setting(setting::MAX_FRAME_SIZE, 1 << 24), "BadSetting");
    check(&with_setting(setting::ENABLE_PUSH, 2), "BadSetting");
    // Unknown ones are ignored (§6.5.2).
    check(&with_setting(0xfafa, 7), "");
    let mut flood = Script::new();
    for _ in 0..10_001 {
        frame::push_settings(&mut flood.0, &[]);
    }
    check(&flood, "Flood");
}

/// §6.7
#[test]
fn pings() {
    check(&one(kind::PING, 0, 0, &[0; 7]), "FrameSize");
    check(&one(kind::PING, 0, 3, &[0; 8]), "WrongStream");
    // An answer that was not asked for is no violation.
    check(&one(kind::PING, flag::ACK, 0, &[0; 8]), "");
    let mut flood = Script::new();
    for _ in 0..10_001 {
        flood = flood.frame(kind::PING, flag::ACK, 0, &[0; 8]);
    }
    check(&flood, "Flood");
}

/// §10.5: who does not read must not demand answers without end, even among data.
#[test]
fn answers_that_are_not_read() {
    let ping = Script::default().frame(kind::PING, 0, 0, &[0; 8]).data(1, b"x", false);
    let settings = Script::default().frame(kind::SETTINGS, 0, 0, &[]).data(1, b"x", false);
    for demand in [ping, settings] {
        let (mut client, mut said) = (Client::new(Limits::default(), false), Transcript::default());
        client.request(0, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", false).unwrap();
        client.read(&Script::new().headers(1, OK, false).0, &mut said).unwrap();
        let mut times = |client: &mut Client<usize>, is_blocked, times: u32| {
            client.set_blocked(is_blocked);
            (0..times).try_for_each(|_| client.read(&demand.0, &mut said))
        };
        assert_eq!(times(&mut client, false, 2_000), Ok(()));
        assert_eq!(times(&mut client, true, 900), Ok(()));
        assert_eq!(times(&mut client, true, 100), Ok(()), "it is still blocked");
        assert_eq!(times(&mut client, false, 2_000), Ok(()));
        assert_eq!(times(&mut client, true, 1_001), Err(Fault::Flood));
    }
}

/// §5.2, §6.9
#[test]
fn windows() {
    let update = |stream, n: u32| one(kind::WINDOW_UPDATE, 0, stream, &n.to_be_bytes());
    check(&one(kind::WINDOW_UPDATE, 0, 0, &[0; 3]), "FrameSize");
    check(&update(0, 0), "EmptyWindowUpdate");
    check(&update(0, (1 << 31) - 1), "WindowOverflow");
    check(&update(1, 0), "0!Fault(EmptyWindowUpdate)");
    check(&update(1, (1 << 31) - 1), "0!Fault(WindowOverflow)");
    check(&update(2, 1), "UnknownStream");
    check(&update(99, 1), "UnknownStream");
    // The initial window grows by a setting, and the stream's with it.
    let mut grown = one(kind::WINDOW_UPDATE, 0, 1, &((1_u32 << 31) - 1 - 65_535).to_be_bytes());
    frame::push_settings(&mut grown.0, &[(setting::INITIAL_WINDOW_SIZE, 65_536)]);
    check(&grown, "WindowOverflow");
}

/// §4.1, §5.1, §6.1 to §6.4, §6.6, §6.8
#[test]
fn frames() {
    check(&one(kind::DATA, 0, 0, b"a"), "WrongStream");
    check(&one(kind::DATA, 0, 99, b"a"), "UnknownStream");
    check(&one(kind::DATA, 0, 1, b"a"), "0!Fault(Malformed)");
    check(&Script::new().headers(1, OK, false).frame(kind::DATA, flag::PADDED, 1, &[5, 0, 0]), "Padding");
    check(&one(kind::DATA, flag::PADDED, 1, &[]), "FrameSize");
    check(&one(kind::HEADERS, 0x24, 0, &[0x88]), "WrongStream");
    check(&one(kind::HEADERS, flag::END_HEADERS | flag::PADDED, 1, &[9, 0x88]), "Padding");
    check(&one(kind::HEADERS, flag::END_HEADERS, 2, &[0x88]), "UnknownStream");
    check(&one(kind::PRIORITY, 0, 1, &[0; 4]), "FrameSize");
    check(&one(kind::PRIORITY, 0, 0, &[0; 5]), "WrongStream");
    check(&one(kind::RST_STREAM, 0, 0, &[0; 4]), "WrongStream");
    check(&one(kind::RST_STREAM, 0, 1, &[0; 3]), "FrameSize");
    check(&one(kind::RST_STREAM, 0, 99, &[0; 4]), "UnknownStream");
    check(&one(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2, 0x82]), "Push");
    check(&one(kind::GOAWAY, 0, 1, &[0; 8]), "WrongStream");
    check(&one(kind::GOAWAY, 0, 0, &[0; 7]), "FrameSize");
    // A type that does not exist is ignored (§5.5), unless it is larger than allowed.
    check(&one(0xfa, 0xff, 77, &[0; 100]), "");
    let mut large = Script::new();
    large.0.extend_from_slice(&[0, 0x40, 1, 0xfa, 0, 0, 0, 0, 0]);
    check(&large, "FrameTooLarge");
    // After the end of a response (§5.1).
    let ended = Script::new().headers(1, OK, true);
    check(&ended.clone().data(1, b"a", false), "StreamClosed");
    check(&ended.headers(1, OK, true), "StreamClosed");
    let mut empty = Script::new().headers(1, OK, false);
    for _ in 0..10_001 {
        empty = empty.data(1, b"", false);
    }
    check(&empty, "Flood");
}

/// §4.3, §6.10
#[test]
fn header_blocks() {
    let begun = || Script::new().frame(kind::HEADERS, 0, 1, &[0x88]);
    check(&one(kind::CONTINUATION, flag::END_HEADERS, 1, &[]), "Continuation");
    check(&begun().frame(kind::CONTINUATION, flag::END_HEADERS, 3, &[]), "Continuation");
    check(&begun().frame(kind::PING, 0, 0, &[0; 8]), "Continuation");
    check(&begun().data(1, b"a", false), "Continuation");
    // One block in any number of frames, of nothing or of much.
    let mut empty = begun();
    let mut much = begun();
    for _ in 0..40 {
        empty = empty.frame(kind::CONTINUATION, 0, 1, &[]);
        much = much.frame(kind::CONTINUATION, 0, 1, &[0x40; 16_000]);
    }
    check(&empty, "HeadersTooLarge");
    check(&much, "HeadersTooLarge");
    let block = |bytes: &[u8]| one(kind::HEADERS, flag::END_HEADERS, 1, bytes);
    // An index that is not there, a string beyond the end, a number without end, and a table that
    // is larger than allowed.
    check(&block(&[0xff, 0x80]), "Compression");
    check(&block(&[0xbe]), "Compression");
    check(&block(&[0x80]), "Compression");
    check(&block(&[0x00, 0x7f, b'a']), "Compression");
    check(&block(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), "Compression");
    check(&block(&[0x3f, 0xe2, 0x1f]), "Compression");
    // A bomb: one long field in the table, named again and again.
    let mut bomb = vec![0x88, 0x40, 1, b'a', 0x7f, 0x80 + 32, 29];
    bomb.extend_from_slice(&[b'x'; 127 + 32 + 29 * 128]);
    bomb.extend_from_slice(&[0xbe; 10_000]);
    check(&block(&bomb), "0!Fault(HeadersTooLarge)");
}

/// §8
#[test]
fn messages() {
    let malformed = |fields: &[(&str, &str)]| {
        check(&Script::new().headers(1, fields, true), "0!Fault(Malformed)");
    };
    malformed(&[("a", "b")]);
    malformed(&[(":status", "200"), (":status", "200")]);
    malformed(&[("a", "b"), (":status", "200")]);
    malformed(&[(":status", "99")]);
    malformed(&[(":status", "2000")]);
    malformed(&[(":status", "200"), (":path", "/")]);
    malformed(&[(":status", "200"), ("Upper", "b")]);
    malformed(&[(":status", "200"), ("connection", "close")]);
    malformed(&[(":status", "200"), ("transfer-encoding", "chunked")]);
    malformed(&[(":status", "200"), ("a", "b\r\nc: d")]);
    malformed(&[(":status", "200"), ("a", "b\0")]);
    malformed(&[(":status", "200"), ("content-length", "1"), ("content-length", "2")]);
    malformed(&[(":status", "200"), ("content-length", "-1")]);
    malformed(&[(":status", "101")]);
    // An interim response that ends the stream, and trailers that do not.
    malformed(&[(":status", "103")]);
    check(&Script::new().headers(1, OK, false).headers(1, &[("a", "b")], false), "0:200 0!Fault(Malformed)");
    check(
        &Script::new().headers(1, OK, false).headers(1, &[(":status", "200")], true),
        "0:200 0!Fault(Malformed)",
    );
    let long = Script::new().headers(1, &[(":status", "200"), ("content-length", "1")], false);
    check(&long.clone().data(1, b"ab", true), "0:200[content-length 1] 0!Fault(BodyLength)");
    check(&long.data(1, b"", true), "0:200[content-length 1] 0!Fault(BodyLength)");
    let mut body = Script::new().headers(1, OK, false);
    for _ in 0..11 {
        body = body.data(1, &[0; 1_000], false);
    }
    check(&body, "0:200 0!Fault(BodyTooLarge)");
    let mut interim = Script::new();
    for _ in 0..200 {
        interim = interim.headers(1, &[(":status", "103")], false);
    }
    check(&interim, "0!Fault(TooManyInterim)");
}
