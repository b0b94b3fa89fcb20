//! Counters of metrics and of results, to be compared.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// Counters that metrics and results share: the metric, and the place in the result.
const SHARED: [(&str, &str); 14] = [
    ("wavetank_requests_offered_total", "/requests/offered"),
    ("wavetank_requests_sent_total", "/requests/sent"),
    ("wavetank_requests_done_total", "/requests/done"),
    ("wavetank_requests_failed_total", "/requests/failed"),
    ("wavetank_requests_late_total", "/requests/late"),
    ("wavetank_requests_dropped_total", "/requests/dropped"),
    ("wavetank_wire_sent_total", "/wire/sent"),
    ("wavetank_responses_total", "/status"),
    ("wavetank_response_seconds_count", "/response_us/count"),
    ("wavetank_connections_opened_total", "/connections/opened"),
    ("wavetank_connections_closed_total", "/connections/closed"),
    ("wavetank_connections_lost_total", "/connections/lost"),
    ("wavetank_sent_bytes_total", "/bytes/sent"),
    ("wavetank_received_bytes_total", "/bytes/received"),
];

/// Sums of the counters of a run over all series outside of the warm-up, by name.
#[derive(Debug, Default)]
pub(crate) struct Counters(BTreeMap<String, u64>);

impl Counters {
    /// Adds a series.
    pub(crate) fn add<'a>(&mut self, name: &str, mut labels: impl Iterator<Item = &'a str>, value: f64) {
        if !labels.any(|value| value == "warmup") {
            *self.0.entry(name.to_owned()).or_default() += value as u64;
        }
    }

    /// The sum for one metric.
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Panics unless the sums are those of the result.
    #[track_caller]
    pub(crate) fn expect_equal(&self, result: &Value) {
        for (metric, place) in SHARED {
            let expected = match result.pointer(place) {
                Some(Value::Object(all)) => all.values().filter_map(Value::as_u64).sum(),
                Some(one) => one.as_u64().expect("a count"),
                None => 0,
            };
            assert_eq!(self.get(metric), expected, "{metric}: {self:?}\n{result}");
        }
        assert!(self.get("wavetank_requests_done_total") > 0, "{self:?}");
    }
}

/// Reads the text format of Prometheus. Label values of the tests have no quotes and braces.
pub(crate) fn counters_of_text(text: &str) -> Counters {
    let mut counters = Counters::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((series, value)) = line.rsplit_once(' ') else { continue };
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        counters.add(name, labels.split('"'), value.parse().expect("a number"));
    }
    counters
}

/// Reads the last value of each series from JSON lines.
pub(crate) fn counters_of_json(text: &str) -> Counters {
    let mut latest = BTreeMap::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("each line is JSON");
        let name = line["metric"].as_str().expect("a name").to_owned();
        latest.insert((name, line["labels"].to_string()), line);
    }
    let mut counters = Counters::default();
    for ((name, _), line) in latest {
        let labels = line["labels"].as_object().expect("labels").clone();
        let labels = || labels.values().filter_map(Value::as_str);
        match line["type"].as_str() {
            Some("histogram") => {
                let count = line["count"].as_f64().expect("a count");
                counters.add(&format!("{name}_count"), labels(), count);
            }
            _ => counters.add(&name, labels(), line["value"].as_f64().expect("a value")),
        }
    }
    counters
}

/// `GET path`, and the body of the response; `None` if nothing listens on the port.
pub(crate) fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.1 200").then(|| body.to_owned())
}
