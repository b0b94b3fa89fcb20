//! What a client does with each kind of bad input: WHATWG HTML §9.2.2, §9.2.5 and §9.2.6.

use super::tests::{HEAD, check, read};

fn response(head: &str, body: &str) -> String {
    read(format!("{head}\r\n\r\n{body}").as_bytes())
}

/// §9.2.2: what is no stream ends the connection.
#[test]
fn responses() {
    let typed = |value: &str| response(&format!("HTTP/1.1 200 OK\r\n{value}"), "data: a\n\n");
    assert_eq!(typed("content-TYPE: Text/Event-Stream ; charset=UTF-8"), "open 200 message#[a]");
    for wrong in ["text/plain", "text/event-streams", "application/json", "", "text/html, text/event-stream"]
    {
        assert_eq!(typed(&format!("Content-Type: {wrong}")), "NotEvents", "{wrong}");
    }
    for coding in ["gzip", "br", "zstd", "deflate", "identity, gzip"] {
        let head = format!("Content-Type: text/event-stream\r\nContent-Encoding: {coding}");
        assert_eq!(typed(&head), "Encoded", "{coding}");
    }
    // A client must not reconnect after 204; other statuses are answers, too.
    for status in ["204", "205", "206", "301", "400", "401", "403", "404", "429", "500", "503"] {
        let head = format!("HTTP/1.1 {status} x\r\nContent-Type: text/event-stream");
        assert_eq!(response(&head, ""), format!("refused {status}"));
    }
    let http = |bytes: &[u8], reason: &str| {
        let said = read(bytes);
        assert!(said.ends_with(&format!("reason: {reason} }})")), "{said}");
    };
    http(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "UnaskedUpgrade");
    http(b"\x15\x03\x03\0\x02", "Tls");
    http(b"\0\0\0\x04\0\0\0\0\0", "Http2");
    http(b"data: a\n\n", "NotHttp");
    http("HTTP/1.1 103 \r\n\r\n".repeat(17).as_bytes(), "TooManyInterim");
    let chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    http(format!("{chunked}x\r\n").as_bytes(), "BadChunkSize");
    http(format!("{chunked}8\r\ndata: a\n!").as_bytes(), "MissingChunkEnd");
    // The stream ends inside an event, which is not passed on.
    assert_eq!(read(format!("{chunked}8\r\ndata: a\n\r\n0\r\n\r\n").as_bytes()), "open 200 ended");
}

/// §9.2.5, §9.2.6
#[test]
fn lines() {
    check("data: a\r\rdata: b\n\ndata: c\r\n\r\n", "message#[a] message#[b] message#[c]");
    // A CR, and an LF that belongs to it; then one that does not.
    check("data: a\r\ndata: b\r\n\r\n", "message#[a\nb]");
    check("data: a\n\rdata: b\n\n", "message#[a] message#[b]");
    check("data: a\r\n\ndata: b\r\r\n", "message#[a] message#[b]");
    check("\n\r\n\r\ndata: a\n\n", "message#[a]");
    // Only one mark is discarded, and only at the start.
    check("\u{feff}\u{feff}data: a\n\ndata: b\n\n", "message#[b]");
    check("\u{feff}: x\n\ndata: a\n\n", "message#[a]");
    check("id: 1\ndata: \u{feff}a\n\n", "message#1[\u{feff}a]");
    // Names are exact.
    check("Data: a\ndata : b\n data: c\ndata:d\n\n", "message#[d]");
    check("DATA\nevents: x\ndata: e\n\n", "message#[e]");
    // An id with a NUL is ignored, and the one before is kept.
    check("id: 1\nid: a\0\nid: \0\ndata: a\n\n", "message#1[a]");
    check("id: 1\ndata: a\n\nid:\ndata: b\n\n", "message#1[a] message#[b]");
    check("retry: x\nretry: -1\nretry: 99999999999999999999\ndata: a\n\n", "message#[a]");
    check("event: a\nevent:\ndata: x\n\n", "message#[x]");
    check("data: a\0b\n\n", "message#[a\0b]");
}

/// Memory: an event, or a line of one, that is longer than allowed.
#[test]
fn endless_input() {
    let long = "x".repeat(100);
    for line in [&long, &format!("data: {long}"), &format!(": {long}"), &format!("event: {long}")] {
        check(line, "EventTooLarge");
        check(&format!("data: a\n\n{line}"), "message#[a] EventTooLarge");
    }
    check(&"data\n".repeat(100), "EventTooLarge");
    check(&format!("event: {}\n{}", "e".repeat(20), "data: aaaa\n".repeat(9)), "EventTooLarge");
    // Lines that are not kept have no limit together.
    check(&": x\n".repeat(200), "");
    check(&format!("{}data: a\n\n", "retry: 1\nid: 7\nother: field\n".repeat(50)), "message#7[a]");
    check(&"event: x\n\n".repeat(100), "");
    assert_eq!(read(format!("{HEAD}{}", "\r".repeat(500)).as_bytes()), "open 200");
}
