//! OTLP over HTTP, in JSON.
//!
//! Source: the OpenTelemetry protocol 1.3, `opentelemetry/proto/metrics/v1/metrics.proto` and its
//! JSON encoding: 64-bit integers are strings, enumerations are numbers.

use serde_json::{Value as Json, json};

use crate::metric::{Kind, Metric};
use crate::snapshot::{BOUNDS_NS, Buckets, Family, Labels, Point, Snapshot, Value, seconds};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
pub(crate) const CUMULATIVE: u8 = 2;

/// A snapshot as the body of a request to `/v1/metrics`.
pub fn encode_otlp(snapshot: &Snapshot) -> String {
    let metrics: Vec<Json> = snapshot.families.iter().map(|family| metric(snapshot, family)).collect();
    let resource = resource_attributes(snapshot);
    let body = json!({"resourceMetrics": [{
        "resource": {"attributes": resource.map(|(name, value)| attribute(name, value))},
        "scopeMetrics": [{"scope": {"name": "wavetank"}, "metrics": metrics}],
    }]});
    body.to_string()
}

/// What the metrics are of.
pub(crate) fn resource_attributes(snapshot: &Snapshot) -> [(&'static str, &str); 2] {
    [("service.name", "wavetank"), ("service.instance.id", &snapshot.run)]
}

fn metric(snapshot: &Snapshot, family: &Family) -> Json {
    let points: Vec<Json> = family.points.iter().map(|one| point(snapshot, one)).collect();
    let Metric { base, kind, help, .. } = family.metric;
    let mut metric = json!({"name": base, "description": help, "unit": unit(family.metric)});
    match kind {
        Kind::Counter => {
            metric["sum"] =
                json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true});
        }
        Kind::Gauge => metric["gauge"] = json!({"dataPoints": points}),
        Kind::Histogram => {
            metric["histogram"] = json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE});
        }
    }
    metric
}

/// The unit by UCUM, as OpenTelemetry asks.
pub(crate) fn unit(metric: Metric) -> &'static str {
    match metric.unit {
        "seconds" => "s",
        "bytes" => "By",
        "ratio" => "1",
        _ => "",
    }
}

fn point(snapshot: &Snapshot, point: &Point) -> Json {
    let mut json = json!({
        "attributes": attributes(&point.labels),
        "startTimeUnixNano": snapshot.start_unix_ns.to_string(),
        "timeUnixNano": snapshot.at_unix_ns.to_string(),
    });
    match &point.value {
        Value::Count(count) => json["asInt"] = count.to_string().into(),
        Value::Gauge(value) => json["asDouble"] = (*value).into(),
        Value::Buckets(buckets) => {
            json["count"] = buckets.count.to_string().into();
            json["sum"] = buckets.sum_seconds().into();
            let counts = bucket_counts(buckets).into_iter();
            json["bucketCounts"] = counts.map(|count| count.to_string()).collect::<Vec<_>>().into();
            json["explicitBounds"] = BOUNDS_NS.map(seconds).to_vec().into();
        }
    }
    json
}

/// The count of each bucket alone; the last one has no upper bound.
pub(crate) fn bucket_counts(buckets: &Buckets) -> Vec<u64> {
    let mut before = 0;
    let all = buckets.cumulative.iter().chain([&buckets.count]);
    all.map(|&count| count - std::mem::replace(&mut before, count)).collect()
}

fn attributes(labels: &Labels) -> Vec<Json> {
    labels.iter().map(|(name, value)| attribute(name, value)).collect()
}

fn attribute(name: &str, value: &str) -> Json {
    json!({"key": name, "value": {"stringValue": value}})
}
