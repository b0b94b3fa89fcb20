//! A client of HTTP/3 that does not read one of its responses.

use crate::serve::http3_client::{Http3Client, serve_http3};

/// The bytes of a response that is not read.
const UNREAD: usize = 5_000_000;
/// The bytes that the server may have taken from it ahead of the client.
const AHEAD_MAX: u64 = 1_000_000;
const REQUESTS: u32 = 20;

/// The others come, and the server keeps little of it.
#[test]
fn an_unread_response_keeps_back_no_other() {
    let (server, at) = serve_http3();
    let mut client = Http3Client::connect(at);
    client.unread = Some(0);
    client.ask(0, &format!("GET /bytes/{UNREAD} HTTP/3\r\nHost: x\r\n\r\n"), 0);
    for tag in 1..=REQUESTS {
        client.ask(tag, "GET /bytes/100000 HTTP/3\r\nHost: x\r\n\r\n", 0);
        client.turn_until(|client| client.seen.ends.len() == tag as usize);
    }
    let expected: Vec<_> = (1..=REQUESTS).map(|tag| format!("{tag} 200 100000")).collect();
    assert_eq!(client.seen.ends, expected);
    let sent = server.truth().bytes.sent;
    assert!(sent < u64::from(REQUESTS) * 100_000 + AHEAD_MAX, "{sent} bytes");
    client.read_all();
    client.turn_until(|client| client.seen.ends.len() > expected.len());
    assert_eq!(client.seen.ends.last(), Some(&format!("0 200 {UNREAD}")));
}
