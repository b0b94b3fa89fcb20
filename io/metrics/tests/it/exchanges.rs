//! Exchanges with receivers, byte by byte.

use std::net::UdpSocket;
use std::time::Duration;

use crate::support::{output, receiver, request, respond, snapshot};

/// A socket that receives datagrams.
fn socket() -> (UdpSocket, String) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has free ports");
    socket.set_read_timeout(Some(Duration::from_secs(30))).expect("it can be set");
    let address = socket.local_addr().expect("it is bound").to_string();
    (socket, address)
}

fn datagram(socket: &UdpSocket) -> String {
    let mut bytes = [0; 2048];
    let length = socket.recv(&mut bytes).expect("a datagram");
    String::from_utf8(bytes[..length].to_vec()).expect("text")
}

#[test]
fn statsd_receives_differences() {
    let (socket, address) = socket();
    let mut outputs = output(&format!("statsd={address}"));
    outputs.give(snapshot(10));
    outputs.give(snapshot(17));
    assert_eq!(outputs.finish(false), []);
    let open = "wavetank.requests_open.main.GET__a_b:2|g\n";
    assert_eq!(datagram(&socket), format!("wavetank.requests_done.main.GET__a_b:10|c\n{open}"));
    assert_eq!(datagram(&socket), format!("wavetank.requests_done.main.GET__a_b:7|c\n{open}"));
}

#[test]
fn influx_receives_datagrams() {
    let (socket, address) = socket();
    let mut outputs = output(&format!("influx=udp://{address}"));
    outputs.give(snapshot(10));
    assert_eq!(outputs.finish(false), []);
    let text = datagram(&socket);
    let first =
        r"wavetank_requests_done_total,phase=main,run=7f,step=GET\ /a\ b value=10i 1700000001000000000";
    assert_eq!((text.lines().next(), text.lines().count()), (Some(first), 3));
}

/// Gives one snapshot to the output and returns the request that it makes.
fn exchange(kind: &str, place: &str) -> (String, Vec<u8>) {
    let (address, received) = receiver(1, |mut stream| {
        let request = request(&mut stream);
        respond(&mut stream, "HTTP/1.1 204 No Content\r\n\r\n");
        request
    });
    let mut outputs = output(&format!("{kind}=http://{}", place.replace("HOST", &address.to_string())));
    outputs.give(snapshot(417));
    assert_eq!(outputs.finish(false), []);
    let (head, body) = received.join().expect("the receiver ends").remove(0);
    (head.replace(&address.to_string(), "HOST"), body)
}

/// The lines of a head, sorted, in lower case up to the colon.
fn lines(head: &str) -> Vec<String> {
    let mut lines: Vec<_> = head.trim_end().lines().map(str::to_owned).collect();
    lines.iter_mut().skip(1).for_each(|line| {
        let at = line.find(':').unwrap_or(0);
        line[..at].make_ascii_lowercase();
    });
    lines[1..].sort();
    lines
}

#[test]
fn influx_receives_a_post() {
    let (head, body) = exchange("influx", "me:p%40ss@HOST/load");
    assert_eq!(
        lines(&head),
        [
            "POST /write?db=load HTTP/1.1",
            "accept: */*",
            "authorization: Basic bWU6cEBzcw==",
            "content-length: 280",
            "content-type: text/plain; charset=utf-8",
            "host: HOST",
            "user-agent: wavetank/0.1.0",
        ]
    );
    assert_eq!(body.len(), 280);
    assert!(body.ends_with(b" count=2i,sum=100.001 1700000001000000000\n"));
}

#[test]
fn otlp_receives_json() {
    let (head, body) = exchange("otlp", "HOST");
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
    assert!(lines(&head).contains(&"content-type: application/json".to_owned()), "{head}");
    assert_eq!(body, wavetank_metrics::encode_otlp(&snapshot(417)).into_bytes());
}

#[test]
fn otlp_receives_protobuf() {
    let (head, body) = exchange("otlp-proto", "HOST");
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
    assert!(lines(&head).contains(&"content-type: application/x-protobuf".to_owned()), "{head}");
    assert_eq!(body, wavetank_metrics::encode_otlp_proto(&snapshot(417)));
}

#[test]
fn remote_write_receives_snappy() {
    let (head, body) = exchange("prometheus-write", "HOST");
    assert!(head.starts_with("POST /api/v1/write HTTP/1.1\r\n"), "{head}");
    let all = lines(&head);
    for line in [
        "content-encoding: snappy",
        "content-type: application/x-protobuf",
        "x-prometheus-remote-write-version: 0.1.0",
    ] {
        assert!(all.contains(&line.to_owned()), "{head}");
    }
    assert_eq!(Ok(body), wavetank_metrics::encode_remote_write(&snapshot(417)));
}
