//! A snapshot with known values, and scripted receivers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;

use wavetank_measure::Histogram;
use wavetank_metrics::{
    ALL, Buckets, Family, Labels, Metric, OpenOutputs, OutputSpec, Outputs, Point, Snapshot, Value,
};
use wavetank_units::Nanos;

/// The metric with this name, without the suffix of counters.
pub(crate) fn metric(base: &str) -> Metric {
    *ALL.iter().find(|metric| metric.base == base).expect("the metric exists")
}

/// A snapshot with one counter, one gauge and one histogram.
pub(crate) fn snapshot(done: u64) -> Snapshot {
    let labels: Labels =
        vec![("run", "7f".to_owned()), ("phase", "main".to_owned()), ("step", "GET /a b".to_owned())];
    let mut times = Histogram::default();
    times.record(1_000_000);
    times.record(100_000_000_000);
    let family = |base: &str, value| Family {
        metric: metric(base),
        points: vec![Point { labels: labels.clone(), value }],
    };
    Snapshot {
        run: "7f".to_owned(),
        at_unix_ns: 1_700_000_001_000_000_000,
        start_unix_ns: 1_700_000_000_000_000_000,
        elapsed: Nanos::from_secs(1),
        families: vec![
            family("wavetank_requests_done", Value::Count(done)),
            family("wavetank_requests_open", Value::Gauge(2.0)),
            family("wavetank_response_seconds", Value::Buckets(Box::new(Buckets::from(&times)))),
        ],
    }
}

/// The started output of `--metrics text`.
pub(crate) fn output(text: &str) -> Outputs {
    let spec = OutputSpec::parse(text).expect("the value is valid");
    let open = OpenOutputs::open(&[spec], false).expect("it can be opened");
    open.start().expect("threads can be started")
}

/// Accepts `connections` one after the other, and lets `answer` handle each.
pub(crate) fn receiver<T: Send + 'static>(
    connections: usize,
    mut answer: impl FnMut(TcpStream) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<Vec<T>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let address = listener.local_addr().expect("it is bound");
    let thread = std::thread::spawn(move || {
        (0..connections).map(|_| answer(listener.accept().expect("a client connects").0)).collect()
    });
    (address, thread)
}

/// Reads one request: its head as text, and its body.
pub(crate) fn request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a whole head");
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).expect("a head is text");
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.expect("it has a length")];
    stream.read_exact(&mut body).expect("a whole body");
    (head, body)
}

/// Writes a response.
pub(crate) fn respond(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).expect("the client reads");
}
