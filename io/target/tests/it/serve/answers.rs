//! What each path is answered with.

use crate::serve::client::{Client, serve};
use wavetank_target::ServeOptions;

#[track_caller]
fn check(client: &mut Client, path: &str, status: u16, body: &[u8]) {
    let answer = client.get(path);
    assert_eq!((answer.status, &answer.body[..]), (status, body), "{path}: {}", answer.head);
    assert!(answer.field("date").is_some_and(|date| date.len() == 29), "{path}: {}", answer.head);
    // The same head for HEAD, and nothing after it.
    client.send(format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
    let head = client.head();
    assert_eq!(head.status, answer.status, "{path}");
    assert_eq!(head.field("content-length"), answer.field("content-length"), "{path}");
}

#[test]
fn every_path_is_answered() {
    let (_server, at) = serve(ServeOptions { threads: Some(1), ..ServeOptions::default() });
    let mut client = Client::connect(at);
    let home = b"Wavetank OK\n";
    check(&mut client, "/", 200, home);
    check(&mut client, "/?a=b", 200, home);
    check(&mut client, "http://elsewhere:99/", 200, home);
    check(&mut client, "/delay/1ms", 200, home);
    check(&mut client, "/sleep0", 200, home);
    check(&mut client, "/bytes/0", 200, b"");
    check(&mut client, "/bytes/3", 200, b"012");
    check(&mut client, "/status/200", 200, b"OK");
    check(&mut client, "/status/418", 418, b"I'm a teapot");
    check(&mut client, "/status/599", 599, b"");
    check(&mut client, "/status/204", 204, b"");
    check(&mut client, "/status/205", 205, b"");
    check(&mut client, "/status/304", 304, b"");
    check(&mut client, "/status/99", 400, b"/status needs a final status: /status/200 to /status/599\n");
    check(&mut client, "/nowhere", 404, b"nothing is here\n");
    check(&mut client, "/echo", 200, b"");
}

#[test]
fn the_small_answer_is_114_bytes() {
    let (_server, at) = serve(ServeOptions::default());
    let mut client = Client::connect(at);
    let answer = client.get("/");
    assert_eq!(answer.head.len() + answer.body.len(), 114, "{}", answer.head);
}

#[test]
fn statuses_carry_what_explains_them() {
    let (_server, at) = serve(ServeOptions::default());
    let mut client = Client::connect(at);
    assert_eq!(client.get("/status/302").field("location"), Some("/"));
    assert!(client.get("/status/401").field("www-authenticate").is_some());
    assert_eq!(client.get("/status/304").field("content-length"), None);
    assert_eq!(client.get("/status/204").field("content-length"), None);
    client.send("DELETE /truth HTTP/1.1\r\nHost: x\r\n\r\n");
    let answer = client.answer();
    assert_eq!((answer.status, answer.field("allow")), (405, Some("GET, HEAD")));
}

#[test]
fn any_path_is_home_if_asked_for() {
    let (_server, at) = serve(ServeOptions { any: true, ..ServeOptions::default() });
    let mut client = Client::connect(at);
    assert_eq!(client.get("/api/users").status, 200);
    assert_eq!(client.get("/bytes/x").status, 400);
}

#[test]
fn bytes_are_as_many_as_asked_for() {
    let (_server, at) = serve(ServeOptions::default());
    let mut client = Client::connect(at);
    let mut longest = Vec::new();
    for len in [1, 63, 64, 65_535, 65_536, 65_537, 262_144, 262_145, 5_000_000] {
        let body = client.get(&format!("/bytes/{len}")).body;
        assert_eq!(body.len(), len);
        assert!(body.starts_with(&longest[..longest.len().min(65_536)]), "one text, however long");
        longest = body;
    }
    assert!(longest.iter().all(|byte| byte.is_ascii_graphic() || *byte == b'\n'));
}

#[test]
fn echoes_come_back() {
    let (_server, at) = serve(ServeOptions::default());
    let mut client = Client::connect(at);
    for len in [0, 1, 1_000, 70_000, 1 << 20] {
        let body: Vec<u8> = (0..len).map(|at: usize| (at ^ (at >> 8)) as u8).collect();
        client.send(format!(
            "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Length: {len}\r\n\r\n"
        ));
        client.send(&body);
        let answer = client.answer();
        assert!(answer.status == 200 && answer.body == body, "{len} bytes");
        assert_eq!(answer.field("content-type"), Some("a/b"));
    }
    client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x\r\ndefg\r\n0\r\n\r\n");
    let answer = client.answer();
    assert_eq!((answer.body, answer.head.contains("Content-Type")), (b"abcdefg".to_vec(), false));
}

#[test]
fn what_does_not_fit_the_echo_is_refused() {
    let (_server, at) = serve(ServeOptions::default());
    // Announced: refused without reading it.
    let mut client = Client::connect(at);
    client.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1048577\r\n\r\n");
    assert_eq!(client.answer().status, 413);
    assert_eq!(client.rest(), b"");
    // Found out on the way; the client goes on sending, and still reads the answer.
    let mut client = Client::connect(at);
    client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n");
    client.send(vec![b'x'; 0x0020_0000]);
    client.send("\r\n0\r\n\r\n");
    assert_eq!(client.answer().status, 413);
    assert_eq!(client.rest(), b"");
}

#[test]
fn who_waits_for_leave_gets_it() {
    let (_server, at) = serve(ServeOptions::default());
    let mut client = Client::connect(at);
    for path in ["/echo", "/delay/1ms"] {
        client.send(format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        ));
        assert_eq!(client.head().head, "HTTP/1.1 100 Continue\r\n\r\n");
        client.send("abc");
        assert_eq!(client.answer().status, 200);
    }
    // Who does not wait needs none.
    client.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!(client.answer().body, b"abc");
}
