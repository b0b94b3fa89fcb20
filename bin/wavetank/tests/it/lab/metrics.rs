//! `wavetank lab run --metrics`: receivers are in the network of the machine, not of the lab.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wavetank_testkit::{free_port, poll_until};

use crate::lab::place::Place;
use crate::metrics_support::get;

/// A load host and a server.
const LAB: &str = "\
networks:
  front: 10.93.0.0/24
hosts:
  load1: {role: load, networks: [front]}
  app:
    role: server
    networks: [front]
    services:
      - serve: {listen: 8080, any: true}
";

/// Reads requests with a length and answers each with 204, until the client closes.
fn answer(mut stream: TcpStream, bodies: &Mutex<Vec<String>>) -> std::io::Result<()> {
    loop {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body)?;
        bodies.lock().expect("no test panics with it").push(String::from_utf8_lossy(&body).into_owned());
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")?;
    }
}

#[test]
fn receivers_of_metrics_are_outside_of_the_lab() {
    let Some(place) = Place::new("metrics", LAB) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let influx = format!("influx=http://{}/load", listener.local_addr().expect("it is bound"));
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&bodies);
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            // It ends when the client closes the connection.
            let _ = answer(stream, &received);
        }
    });
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has free ports");
    let statsd = format!("statsd={}", socket.local_addr().expect("it is bound"));
    let port = free_port();
    let endpoint = format!("prometheus=127.0.0.1:{port}");
    let always = ["run", "lab.yaml", "http://app:8080/", "-r", "100/s", "-d", "2s", "--format", "json"];
    let outputs = ["--metrics", &influx, "--metrics", &statsd, "--metrics", &endpoint];
    let running = place.lab(&[&always[..], &["--no-archive"], &outputs].concat()).start();
    let scraped = poll_until(Duration::from_mins(1), || {
        let over = running.ends_within(Duration::ZERO);
        get(port, "/metrics").filter(|text| text.contains("wavetank_run_info")).or(over.then(String::new))
    });
    let outcome = running.wait(Duration::from_mins(1));
    assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
    assert!(scraped.is_some_and(|text| text.contains("wavetank_run_info")), "{outcome}");
    assert!(!outcome.stderr.contains("metrics to"), "{outcome}");
    let done = outcome.json()["requests"]["done"].as_u64().expect("a count");
    let bodies = bodies.lock().expect("no test panics with it");
    let last = bodies.last().expect("a body arrived");
    let value = format!(" value={done}i ");
    let line = last.lines().find(|line| line.starts_with("wavetank_requests_done_total,"));
    assert!(done > 0 && line.is_some_and(|line| line.contains(&value)), "{line:?}: {outcome}");
    socket.set_read_timeout(Some(Duration::from_millis(200))).expect("it can be set");
    let (mut sum, mut bytes) = (0, [0; 2048]);
    while let Ok(length) = socket.recv(&mut bytes) {
        let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
        let counts = text.lines().filter_map(|line| line.strip_prefix("wavetank.requests_done."));
        sum += counts
            .filter_map(|line| line.split_once(':')?.1.strip_suffix("|c")?.parse::<u64>().ok())
            .sum::<u64>();
    }
    assert_eq!(sum, done, "{outcome}");
    place.nothing_left("metrics");
}
