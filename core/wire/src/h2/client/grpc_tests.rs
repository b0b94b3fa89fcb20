//! Responses to gRPC calls: statuses, trailers and frames.

use std::fmt::Write;

use super::super::frame::kind;
use super::tests::{Script, Transcript};
use super::*;

const CALL: &[u8] = b"POST /shop.Orders/Place HTTP/2\r\nHost: a\r\nContent-Type: application/grpc+proto\r\n\
    TE: trailers\r\n\r\n\0\0\0\0\0";

/// Compares what two calls report of `script` with `expected`, whole and byte by byte.
fn check(script: &Script, expected: &str) {
    for piece in [usize::MAX, 1] {
        let mut client = Client::new(Limits::default(), false);
        let mut said = Transcript::default();
        for tag in 0..2 {
            client.request(tag, CALL, true).unwrap();
        }
        for piece in script.0.chunks(piece.min(script.0.len())) {
            client.read(piece, &mut said).unwrap();
        }
        assert_eq!(said.events.trim_end(), expected);
    }
}

const OK: &[(&str, &str)] = &[(":status", "200")];

fn with_trailers(body: &[u8], trailers: &[(&str, &str)]) -> Script {
    Script::new().headers(1, OK, false).data(1, body, false).headers(1, trailers, true)
}

#[test]
fn the_status_is_in_the_trailers_or_in_the_head() {
    let message = b"\0\0\0\0\x02ab";
    let body = message.escape_ascii();
    let ok = with_trailers(message, &[("grpc-status", "0")]);
    check(&ok, &format!("0:200 0+(grpc-status: 0) 0=0({body})"));
    let failed = with_trailers(message, &[("grpc-status", "14"), ("grpc-message", "down")]);
    check(&failed, &format!("0:200 0+(grpc-status: 14;grpc-message: down) 0=14({body})"));
    let only = |fields: &[(&str, &str)], expected: &str| {
        let (script, mut shown) = (Script::new().headers(1, fields, true), String::from("0:"));
        for (name, value) in fields {
            match *name {
                ":status" => shown.push_str(value),
                name => write!(shown, "[{name} {value}]").unwrap(),
            }
        }
        check(&script, &format!("{shown} 0={expected}()"));
    };
    only(&[(":status", "200"), ("grpc-status", "12")], "12");
    // A status without a meaning, and none at all.
    only(&[(":status", "200"), ("grpc-status", "17")], "2");
    only(&[(":status", "200"), ("grpc-status", "x")], "2");
    only(OK, "2");
    only(&[(":status", "503")], "503");
    only(&[(":status", "503"), ("grpc-status", "8")], "8");
    // The same block twice is not decoded again.
    let unavailable: &[(&str, &str)] = &[(":status", "200"), ("grpc-status", "14")];
    let twice = Script::new().headers(1, unavailable, true).headers(3, unavailable, true);
    check(&twice, "0:200[grpc-status 14] 0=14() 1:200[grpc-status 14] 1=14()");
}

#[test]
fn a_response_ends_between_two_messages() {
    let bad = |body: &[u8], status: &str, expected: &str| {
        let script = with_trailers(body, &[("grpc-status", status)]);
        check(&script, &format!("0:200 0+(grpc-status: {status}) {expected}"));
    };
    bad(b"\0\0\0\0\x03ab", "0", "0!Fault(GrpcFrame)");
    bad(b"\0\0\0", "0", "0!Fault(GrpcFrame)");
    bad(b"\0\0\0\0\x01a\0\0\0\0\0", "0", "0=0(\\x00\\x00\\x00\\x00\\x01a\\x00\\x00\\x00\\x00\\x00)");
    // The server may give up inside a message.
    bad(b"\0\0\0", "13", "0=13(\\x00\\x00\\x00)");
    let reset = Script::new().headers(1, OK, false).frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]);
    check(&reset, "0:200 0!Reset(ErrorCode(8))");
}

/// PROTOCOL-HTTP2, "Responses": a head has a status only if it is the whole response.
#[test]
fn the_status_of_a_head_counts_without_body_and_trailers() {
    let head: &[(&str, &str)] = &[(":status", "200"), ("grpc-status", "9")];
    let body = Script::new().headers(1, head, false).data(1, b"\0\0\0\0\0", true);
    check(&body, "0:200[grpc-status 9] 0=2(\\x00\\x00\\x00\\x00\\x00)");
    let empty = Script::new().headers(1, head, false).data(1, b"", true);
    check(&empty, "0:200[grpc-status 9] 0=9()");
    let trailers = Script::new().headers(1, head, false).headers(1, &[("x", "y")], true);
    check(&trailers, "0:200[grpc-status 9] 0+(x: y) 0=2()");
}

/// A request that is no call keeps its HTTP status, whatever the server sends.
#[test]
fn other_requests_keep_the_http_status() {
    let mut client = Client::new(Limits::default(), false);
    let mut said = Transcript::default();
    client.request(0, b"POST / HTTP/2\r\nHost: a\r\n\r\nx", true).unwrap();
    let script = Script::new().headers(1, &[(":status", "200"), ("grpc-status", "5")], true);
    client.read(&script.0, &mut said).unwrap();
    assert_eq!(said.events.trim_end(), "0:200[grpc-status 5] 0=200()");
}

/// PROTOCOL-HTTP2, "Responses" and "Compression".
#[test]
fn bad_responses_fail_their_call() {
    let typed = |media_type: &str, body: &[u8], expected: &str| {
        let fields = [(":status", "200"), ("content-type", media_type)];
        let script = Script::new().headers(1, &fields, false).data(1, body, true);
        check(&script, &format!("0:200[content-type {media_type}] {expected}"));
    };
    // A page is no answer, whatever its status of HTTP says.
    typed("text/html", b"<html>", "0=2(<html>)");
    typed("application/json", b"{}", "0=2({})");
    typed("application/grpcish", b"\0\0\0\0\0", "0=2(\\x00\\x00\\x00\\x00\\x00)");
    let page = [(":status", "200"), ("content-type", "text/html"), ("grpc-status", "0")];
    check(&Script::new().headers(1, &page, true), "0:200[content-type text/html][grpc-status 0] 0=2()");
    typed("application/grpc+proto", b"\0\0\0\0\0", "0=2(\\x00\\x00\\x00\\x00\\x00)");
    // Flags that do not exist.
    for flag in [2, 0x80, 0xff] {
        typed("application/grpc", &[flag, 0, 0, 0, 0], "0!Fault(GrpcFlag)");
    }
    // Compressed, and no encoding is named, or none that compresses.
    typed("application/grpc", b"\x01\0\0\0\x01a", "0!Fault(GrpcCompression)");
    let encoded = |encoding: &str, expected: &str| {
        let fields = [(":status", "200"), ("grpc-encoding", encoding)];
        let body = Script::new().headers(1, &fields, false).data(1, b"\x01\0\0\0\x01a", false);
        let script = body.headers(1, &[("grpc-status", "0")], true);
        check(&script, &format!("0:200[grpc-encoding {encoding}] {expected}"));
    };
    encoded("identity", "0!Fault(GrpcCompression)");
    encoded("gzip", "0+(grpc-status: 0) 0=0(\\x01\\x00\\x00\\x00\\x01a)");
    // The last status counts; trailers twice are none.
    let twice = Script::new().headers(1, &[(":status", "200"), ("grpc-status", "0")], false).headers(
        1,
        &[("grpc-status", "13")],
        true,
    );
    check(&twice, "0:200[grpc-status 0] 0+(grpc-status: 13) 0=13()");
    // A message that is announced to be longer than any, and a body that is longer than allowed.
    let endless = with_trailers(b"\0\xff\xff\xff\xffa", &[("grpc-status", "0")]);
    check(&endless, "0:200 0+(grpc-status: 0) 0!Fault(GrpcFrame)");
    let mut client = Client::new(Limits { body_bytes_max: 8, ..Limits::default() }, false);
    let mut said = Transcript::default();
    client.request(0, CALL, true).unwrap();
    client.read(&with_trailers(b"\0\0\0\0\x04abcd", &[("grpc-status", "0")]).0, &mut said).unwrap();
    assert_eq!(said.events.trim_end(), "0:200 0!Fault(BodyTooLarge)");
}

/// A stream of no messages is a call as well.
#[test]
fn a_call_without_messages_has_a_status() {
    let mut client = Client::new(Limits::default(), false);
    let mut said = Transcript::default();
    client.request(0, CALL.strip_suffix(b"\0\0\0\0\0").expect("one empty message"), true).unwrap();
    let fields = [(":status", "200"), ("grpc-status", "12")];
    client.read(&Script::new().headers(1, &fields, true).0, &mut said).unwrap();
    assert!(said.events.trim_end().ends_with("0=12()"), "{}", said.events);
}
