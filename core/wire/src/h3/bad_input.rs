//! What a client does with each kind of bad input: RFC 9114 and RFC 9204, section by section.

use super::records::{self, RecordKind};
use super::tests::{GET, Read, client, cut};
use super::{Client, frame, push_frame_header, varint};
use crate::h1::Limits;
use crate::h2::ErrorCode;

/// `:status 200`, as a whole HEADERS frame.
const OK: &[u8] = &[1, 3, 0, 0, 0xd9];
/// The control stream of a server, with empty SETTINGS.
const CONTROL: &[u8] = &[0, 4, 0];

/// What a server sends.
#[derive(Clone, Default)]
struct Script(Vec<u8>);

impl Script {
    fn on(mut self, stream: u64, kind: RecordKind, bytes: &[u8]) -> Self {
        records::push(&mut self.0, stream, kind, bytes);
        self
    }
}

/// The records of a good control stream, and then these.
fn good() -> Script {
    Script::default().on(3, RecordKind::Data, CONTROL)
}

/// A frame.
fn one(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_frame_header(&mut bytes, kind, payload.len());
    bytes.extend_from_slice(payload);
    bytes
}

/// Numbers of variable length.
fn numbers(values: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        varint::encode(&mut bytes, *value);
    }
    bytes
}

/// Opens two requests, and reads `script` whole, byte by byte and in pieces of three. `expected` is
/// the fault of the connection with the code that the server gets, or what the requests report.
#[track_caller]
fn check(script: &Script, expected: &str) {
    check_with(client(&[GET, GET]), script, expected, usize::MAX);
    for bytes_max in [1, 3] {
        check_with(client(&[GET, GET]), script, expected, bytes_max);
    }
}

#[track_caller]
fn check_with(mut client: Client<u32>, script: &Script, expected: &str, bytes_max: usize) {
    client.out().clear();
    let mut said = Read::default();
    let read = client.read(&cut(&script.0, bytes_max), &mut said);
    let result = match read {
        Ok(()) => {
            said.0.iter().filter(|line| !line.contains(" head ")).cloned().collect::<Vec<_>>().join("; ")
        }
        Err(fault) => {
            assert_eq!(client.read(&[], &mut said), Err(fault), "it stays broken");
            let close = records::read(client.out()).last().filter(|record| record.kind == RecordKind::Close);
            let code = close.expect("the connection is closed").code();
            format!("{fault:?} {}", ErrorCode(u32::try_from(code).unwrap()))
        }
    };
    assert_eq!(result, expected, "in pieces of {bytes_max}");
}

/// A response on the first stream that ends, or not.
#[track_caller]
fn response(kind: RecordKind, frames: &[&[u8]], expected: &str) {
    check(&good().on(0, kind, &frames.concat()), expected);
}

/// What follows on the control stream after SETTINGS.
#[track_caller]
fn control(frames: &[u8], expected: &str) {
    check(&good().on(3, RecordKind::Data, frames), expected);
}

/// §4.1
#[test]
fn frames_of_a_response() {
    use RecordKind::{Data, End};
    const UNEXPECTED: &str = "Http3Frame H3_FRAME_UNEXPECTED";
    let trailers: &[u8] = &[1, 6, 0, 0, 0x21, b't', 1, b'u'];
    let body = one(frame::DATA, b"x");
    let none = one(frame::DATA, b"");
    response(End, &[OK, &body], "0 body x; 0 answered 200 1");
    response(End, &[OK, &body, &none, trailers], "0 body x; 0 trailers t: u; 0 answered 200 1");
    response(Data, &[&body], UNEXPECTED);
    response(Data, &[&none], UNEXPECTED);
    // An interim response is no head.
    response(Data, &[&[1, 3, 0, 0, 0xd8], &body], UNEXPECTED);
    response(Data, &[OK, trailers, &body], UNEXPECTED);
    response(Data, &[OK, trailers, trailers], UNEXPECTED);
    for kind in [frame::SETTINGS, frame::GOAWAY, frame::CANCEL_PUSH, frame::MAX_PUSH_ID, 2, 6, 8, 9] {
        response(Data, &[&one(kind, &[0])], UNEXPECTED);
        response(Data, &[OK, &one(kind, &[0])], UNEXPECTED);
    }
    response(Data, &[&one(frame::PUSH_PROMISE, &[0, 0, 0])], "Push H3_ID_ERROR");
    // Types that do not exist are skipped, anywhere (§9).
    let grease = one(0x21 + 0x1f * 7, b"grease");
    response(End, &[&grease, OK, &grease, &none, &grease], "0 answered 200 0");
    // The stream ends inside a frame, or its header (§7.1).
    for cut in [&[0][..], &[0, 3, b'h'], &[1, 3, 0], &[0x21, 0x40], &[0x21, 2, 9]] {
        response(End, &[OK, cut], "Http3FrameSize H3_FRAME_ERROR");
    }
    response(End, &[], "0 failed Fault(Http3Incomplete)");
    response(End, &[&[1, 3, 0, 0, 0xd8]], "0 failed Fault(Http3Incomplete)");
}

/// §4.1.1, §4.1.2, §4.2, §4.3: one response is malformed, and the others go on.
#[test]
fn malformed_responses() {
    let text = |name: &[u8], value: &[u8]| {
        let (names, values) = (name.len() as u8, value.len() as u8);
        assert!(names < 7 && values < 127);
        [&[0x20 | names], name, &[values], value].concat()
    };
    let malformed = |fields: &[&[u8]]| {
        let block = [&[0, 0][..], &fields.concat()].concat();
        let script = good().on(0, RecordKind::End, &one(frame::HEADERS, &block)).on(4, RecordKind::End, OK);
        check(&script, "0 failed Fault(Malformed); 1 answered 200 0");
    };
    let ok: &[u8] = &[0xd9];
    malformed(&[]);
    malformed(&[&text(b"a", b"b")]);
    malformed(&[ok, ok]);
    malformed(&[&text(b"a", b"b"), ok]);
    malformed(&[&text(b":path", b"/"), ok]);
    malformed(&[ok, &text(b"A", b"b")]);
    malformed(&[ok, &text(b"a b", b"b")]);
    malformed(&[ok, &text(b"", b"b")]);
    malformed(&[ok, &text(b"a", b"b\r\nc: d")]);
    malformed(&[ok, &text(b"a", b"\0")]);
    malformed(&[ok, &text(b"a", b" b")]);
    // `connection` has a name too long for one byte; `te` and others are for requests.
    malformed(&[ok, &[&[0x27, 3][..], b"connection", &[1, b'x']].concat()]);
    // `content-length` is entry 4 of the static table.
    malformed(&[ok, &[0x54, 2, b'-', b'1']]);
    malformed(&[ok, &[0x54, 1, b'1'], &[0x54, 1, b'2']]);
    // `:status` is entry 24, with 103.
    malformed(&[&[0x5f, 9, 3, b'1', b'0', b'1']]);
    malformed(&[&[0x5f, 9, 2, b'9', b'9']]);
    malformed(&[&[0x5f, 9, 3, b'2', b'0', b'x']]);
    let length = |body: &[u8]| {
        let head = one(frame::HEADERS, &[0, 0, 0xd9, 0x54, 1, b'2']);
        let text = String::from_utf8_lossy(body);
        let read = if body.is_empty() { String::new() } else { format!("0 body {text}; ") };
        let failed = format!("{read}0 failed Fault(BodyLength)");
        response(RecordKind::End, &[&head, &one(frame::DATA, body)], &failed);
    };
    length(b"");
    length(b"a");
    length(b"abc");
    let interims = [1, 3, 0, 0, 0xd8].repeat(33);
    response(RecordKind::Data, &[&interims], "0 failed Fault(TooManyInterim)");
}

/// §4.1.2 and the limits of a client: the others go on.
#[test]
fn large_responses() {
    // More than is read as a whole; the rest of the stream is not wanted.
    let announced = [&[1, 0x80, 1, 0, 1][..], &[0; 10]].concat();
    let script = good().on(0, RecordKind::Data, &announced).on(4, RecordKind::End, OK);
    check(&script, "0 failed Fault(HeadersTooLarge); 1 answered 200 0");
    // Many fields in few bytes.
    let block = [&[0, 0, 0xd9][..], &[0xd1; 300]].concat();
    let script = good().on(0, RecordKind::Data, &one(frame::HEADERS, &block)).on(4, RecordKind::End, OK);
    check(&script, "0 failed Fault(HeadersTooLarge); 1 answered 200 0");
    let mut limited = Client::new(Limits { body_bytes_max: 10, ..Limits::default() });
    limited.request(0, GET.as_bytes()).unwrap();
    let body = one(frame::DATA, &[b'x'; 11]);
    let script = good().on(0, RecordKind::Data, &[OK, &body].concat());
    check_with(limited, &script, "0 failed Fault(BodyTooLarge)", usize::MAX);
    // Frames without end that carry nothing.
    let flood = "Flood H3_EXCESSIVE_LOAD";
    response(RecordKind::Data, &[OK, &one(frame::DATA, b"").repeat(10_001)], flood);
    response(RecordKind::Data, &[OK, &one(0x21, b"").repeat(10_001)], flood);
    control(&one(0x21, b"").repeat(10_001), flood);
    control(&one(frame::GOAWAY, &[4]).repeat(10_001), flood);
    // A type that is skipped has a limit, too.
    response(RecordKind::Data, &[&[0x21, 0x80, 0x10, 0, 1]], "Http3FrameSize H3_FRAME_ERROR");
}

/// §6.2
#[test]
fn streams_of_a_server() {
    use RecordKind::{Data, End, Reset, Stop};
    let missing = "NoHttp3Settings H3_MISSING_SETTINGS";
    let first = |bytes: &[u8], expected: &str| {
        check(&Script::default().on(3, Data, &[&[0], bytes].concat()), expected);
    };
    first(&one(frame::GOAWAY, &[0]), missing);
    first(&one(frame::DATA, b""), missing);
    first(&one(frame::HEADERS, &[0, 0, 0xd9]), missing);
    first(&one(0x21, b""), missing);
    first(&one(2, b""), "Http3Frame H3_FRAME_UNEXPECTED");
    // Every critical stream: closed, reset, opened twice.
    let none = Vec::new();
    let code = 0_u64.to_le_bytes();
    for (kind, settings) in [(0_u8, one(frame::SETTINGS, b"")), (2, none.clone()), (3, none)] {
        let begun = [&[kind][..], &settings].concat();
        let closed = "Http3CriticalStream H3_CLOSED_CRITICAL_STREAM";
        check(&Script::default().on(7, End, &begun), closed);
        check(&Script::default().on(7, Data, &begun).on(7, End, b""), closed);
        check(&Script::default().on(7, Data, &begun).on(7, Reset, &code), closed);
        let twice = Script::default().on(7, Data, &begun).on(11, Data, &begun);
        check(&twice, "Http3SecondStream H3_STREAM_CREATION_ERROR");
    }
    check(&good().on(2, Stop, &code), "Http3CriticalStream H3_CLOSED_CRITICAL_STREAM");
    // A push stream, and a stream of a server in both directions.
    check(&good().on(7, Data, &[1, 0]), "Push H3_ID_ERROR");
    check(&good().on(1, Data, b"x"), "UnknownStream H3_STREAM_CREATION_ERROR");
    check(&good().on(8, Data, OK), "UnknownStream H3_STREAM_CREATION_ERROR");
    // Other types are discarded, however they end, also before their type is known.
    let other = good()
        .on(7, Data, &[&numbers(&[0x21 + 0x1f * 99_999]), &[7; 5_000][..]].concat())
        .on(7, End, b"x")
        .on(11, End, &[0xc0, 0])
        .on(15, Data, &[0x40])
        .on(15, Reset, &code);
    check(&other.on(0, End, OK), "0 answered 200 0");
    let mut many = good();
    for at in 0..32 {
        many = many.on(7 + 4 * at, Data, &[0x21]);
    }
    check(&many, "Flood H3_EXCESSIVE_LOAD");
}

/// §7.2
#[test]
fn frames_of_the_control_stream() {
    for kind in [frame::DATA, frame::HEADERS, frame::SETTINGS, frame::PUSH_PROMISE, 2, 6, 8, 9] {
        control(&one(kind, b""), "Http3Frame H3_FRAME_UNEXPECTED");
    }
    control(&one(frame::MAX_PUSH_ID, &[0]), "Http3Frame H3_FRAME_UNEXPECTED");
    control(&one(frame::CANCEL_PUSH, &[0]), "Http3Id H3_ID_ERROR");
    let malformed = "Http3FrameSize H3_FRAME_ERROR";
    control(&one(frame::CANCEL_PUSH, b""), malformed);
    for payload in [&b""[..], &[0x40], &[0, 0]] {
        control(&one(frame::GOAWAY, payload), malformed);
    }
    control(&[7, 0x80, 1, 0, 1], malformed);
    // The number of a stream that no request has, and numbers that grow (§5.2).
    for id in [1, 2, 3] {
        control(&one(frame::GOAWAY, &[id]), "Http3Id H3_ID_ERROR");
    }
    let twice =
        |first: u64, second: u64| [first, second].map(|id| one(frame::GOAWAY, &numbers(&[id]))).concat();
    control(&twice(4, 8), "Http3Id H3_ID_ERROR");
    let gone = |tag| format!("{tag} failed GoneAway(ErrorCode(256))");
    control(&twice((1 << 62) - 4, 4), &gone(1));
    control(&twice(0, 0), &format!("{}; {}", gone(1), gone(0)));
}

/// §7.2.4
#[test]
fn settings() {
    let settings = |payload: &[u8], expected: &str| {
        check(
            &Script::default().on(3, RecordKind::Data, &[&[0], &one(frame::SETTINGS, payload)[..]].concat()),
            expected,
        );
    };
    for id in [0, 2, 3, 4, 5] {
        settings(&[id, 0], "Http3Setting H3_SETTINGS_ERROR");
    }
    settings(&numbers(&[6, 100, 0x4242, 1, 6, 100]), "Http3Setting H3_SETTINGS_ERROR");
    settings(&[6], "Http3FrameSize H3_FRAME_ERROR");
    settings(&[6, 0x80, 1], "Http3FrameSize H3_FRAME_ERROR");
    // All that exist, and unknown ones.
    settings(&numbers(&[1, 4_096, 6, 1 << 20, 7, 100, 8, 1, 0x33, 1, 0x21 + 0x1f * 5, 1 << 40]), "");
}

/// RFC 9204 §2.2, §4.4, §4.5
#[test]
fn header_blocks() {
    let block = |bytes: &[u8]| {
        let broken = "Compression QPACK_DECOMPRESSION_FAILED";
        response(RecordKind::Data, &[&one(frame::HEADERS, bytes)], broken);
    };
    block(&[]);
    block(&[0]);
    // A required insert count; a base that is negative; the dynamic table in every form.
    block(&[1, 0, 0xd9]);
    block(&[0, 0x80, 0xd9]);
    block(&[0, 0, 0x80]);
    block(&[0, 0, 0x10]);
    block(&[0, 0, 0x40, 1, b'a']);
    block(&[0, 0, 0x00, 1, b'a']);
    // An entry beyond the static table, a number without end, strings beyond the block.
    block(&[0, 0, 0xff, 36]);
    block(&[0, 0, 0x5f, 84, 0]);
    block(&[0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    block(&[0, 0, 0xff]);
    block(&[0, 0, 0x23, b'a', b'b']);
    block(&[0, 0, 0x54, 5, b'1']);
    // Huffman's code: padding that is too long or of zeros, and its end inside (RFC 7541 §5.2).
    block(&[0, 0, 0x54, 0x82, 0xff, 0xff]);
    block(&[0, 0, 0x54, 0x81, 0x00]);
    block(&[0, 0, 0x54, 0x84, 0xff, 0xff, 0xff, 0xff]);
}

/// RFC 9204 §4.2 to §4.4: there is no dynamic table, so there is nothing to say about it.
#[test]
fn streams_of_qpack() {
    let on = |kind: u8, bytes: &[u8], expected: &str| {
        check(&good().on(7, RecordKind::Data, &[&[kind], bytes].concat()), expected);
    };
    let encoder = "Qpack(true) QPACK_ENCODER_STREAM_ERROR";
    on(2, &[0x20, 0x20], "");
    // A capacity; insertions by a name of a table, and by text; a duplicate.
    on(2, &[0x3f, 0xe1, 0x1f], encoder);
    on(2, &[0x21], encoder);
    on(2, &[0xc4, 1, b'a'], encoder);
    on(2, &[0x41, b'a', 1, b'b'], encoder);
    on(2, &[0x00], encoder);
    let decoder = "Qpack(false) QPACK_DECODER_STREAM_ERROR";
    // Cancellations of streams; acknowledgements of what was not sent; a number without end.
    on(3, &[0x44, 0x7f, 0xff, 0x01, 0x40], "");
    on(3, &[0x80], decoder);
    on(3, &[0x44, 0x84], decoder);
    on(3, &[0x00], decoder);
    on(3, &[0x01], decoder);
    on(3, &[&[0x7f][..], &[0xff; 11]].concat(), decoder);
}
