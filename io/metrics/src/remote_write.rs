//! Remote write of Prometheus, version 1.0: protobuf in the block format of Snappy.
//!
//! Source: "Prometheus Remote-Write 1.0 specification", and `prompb/remote.proto`.

use prost::Message;

use crate::snapshot::{BOUNDS_NS, Buckets, Labels, Snapshot, Value, seconds};

/// `prometheus.WriteRequest`.
#[derive(Clone, PartialEq, Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
}

/// `prometheus.TimeSeries`.
#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
}

/// `prometheus.Label`.
#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// `prometheus.Sample`; the time is in milliseconds.
#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    #[prost(int64, tag = "2")]
    timestamp: i64,
}

/// A snapshot as the body of a request, compressed.
///
/// # Errors
/// If the snapshot is larger than Snappy allows, 4 GiB.
pub fn encode_remote_write(snapshot: &Snapshot) -> Result<Vec<u8>, String> {
    let timestamp = i64::try_from(snapshot.at_unix_ns / 1_000_000).unwrap_or(i64::MAX);
    let mut request = WriteRequest::default();
    let mut add = |name: &str, labels: &Labels, bound: Option<String>, value: f64| {
        request.timeseries.push(series(name, labels, bound, Sample { value, timestamp }));
    };
    for family in &snapshot.families {
        let name = family.metric.name();
        for point in &family.points {
            match &point.value {
                Value::Count(count) => add(&name, &point.labels, None, *count as f64),
                Value::Gauge(value) => add(&name, &point.labels, None, *value),
                Value::Buckets(buckets) => add_histogram(&mut add, &name, &point.labels, buckets),
            }
        }
    }
    snap::raw::Encoder::new().compress_vec(&request.encode_to_vec()).map_err(|error| error.to_string())
}

fn add_histogram(
    add: &mut impl FnMut(&str, &Labels, Option<String>, f64),
    name: &str,
    labels: &Labels,
    buckets: &Buckets,
) {
    let bucket = format!("{name}_bucket");
    for (bound, count) in BOUNDS_NS.iter().zip(buckets.cumulative) {
        add(&bucket, labels, Some(seconds(*bound).to_string()), count as f64);
    }
    add(&bucket, labels, Some("+Inf".to_owned()), buckets.count as f64);
    add(&format!("{name}_sum"), labels, None, buckets.sum_seconds());
    add(&format!("{name}_count"), labels, None, buckets.count as f64);
}

/// One series with its labels in the order of their names, as the specification requires.
fn series(name: &str, labels: &Labels, bound: Option<String>, sample: Sample) -> TimeSeries {
    let label = |name: &str, value: &str| Label { name: name.to_owned(), value: value.to_owned() };
    let mut all = vec![label("__name__", name)];
    all.extend(labels.iter().map(|(name, value)| label(name, value)));
    all.extend(bound.map(|bound| label("le", &bound)));
    all.sort_by(|one, other| one.name.cmp(&other.name));
    TimeSeries { labels: all, samples: vec![sample] }
}
