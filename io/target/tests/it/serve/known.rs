//! A request that came before is answered as one that did not.

use wavetank_target::ServeOptions;

use crate::serve::client::{Answer, Client, serve};

/// Sends one request many times: complete and several together, so that the cached form is used,
/// then in pieces, so that it is parsed again.
fn check(client: &mut Client, request: &str, status: u16, body: &str) {
    let dateless = |client: &mut Client| {
        let Answer { status, head, body } =
            if request.starts_with("HEAD") { client.head() } else { client.answer() };
        let lines = head.lines().filter(|line| !line.starts_with("Date: "));
        (status, lines.map(str::to_owned).collect::<Vec<_>>(), String::from_utf8(body).expect("text"))
    };
    client.send(request);
    let first = dateless(client);
    assert_eq!((first.0, &*first.2), (status, body), "{request}");
    client.send(request);
    assert_eq!(dateless(client), first, "again: {request}");
    client.send(request.repeat(3));
    for _ in 0..3 {
        assert_eq!(dateless(client), first, "three together: {request}");
    }
    for at in [1, 5, request.len() / 2, request.len() - 1] {
        client.send(&request[..at]);
        client.send(&request[at..]);
        assert_eq!(dateless(client), first, "in pieces: {request}");
    }
    client.send(format!("\r\n{request}").repeat(3));
    for _ in 0..3 {
        assert_eq!(dateless(client), first, "behind blank lines: {request}");
    }
}

#[test]
fn what_is_known_is_answered_as_what_is_new() {
    let (server, at) = serve(ServeOptions { threads: Some(1), ..ServeOptions::default() });
    let mut client = Client::connect(at);
    let requests = [
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 200, "Wavetank OK\n"),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 200, "Wavetank OK\n"),
        ("GET /status/404 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "Not Found"),
        ("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", 200, ""),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", 200, "ab"),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\ncd", 200, "cd"),
        ("POST /echo HTTP/1.1\r\nHost: x\r\n\r\n", 200, ""),
        ("GET /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/html\r\n\r\n", 200, ""),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200, "Wavetank OK\n"),
    ];
    for (request, status, body) in requests {
        check(&mut client, request, status, body);
    }
    // What was sent in between is not sent back for a second time.
    let [full, empty] = [requests[4].0, requests[6].0];
    client.send([empty, full, empty].concat());
    assert_eq!([(); 3].map(|()| client.answer().body), [&b""[..], b"ab", b""]);
    // Each was counted each time.
    let truth = server.truth();
    let each = 1 + 1 + 3 + 4 + 3;
    assert_eq!(truth.requests, each * requests.len() as u64 + 3);
    assert_eq!(truth.paths["/echo"], each * 4 + 3);
}
