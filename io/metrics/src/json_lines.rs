//! JSON lines: one object for each series of an interval.

use serde_json::{Map, Value as Json, json};
use wavetank_record::WallTime;

use crate::metric::Kind;
use crate::snapshot::{BOUNDS_NS, Snapshot, Value, seconds};

/// A snapshot as lines. `docs/metrics.md` describes the fields.
pub fn encode_json_lines(snapshot: &Snapshot) -> String {
    let time = WallTime(snapshot.at_unix_ns).rfc3339();
    let elapsed_s = snapshot.elapsed.0 as f64 / 1e9;
    let mut text = String::new();
    for family in &snapshot.families {
        let name = family.metric.name();
        for point in &family.points {
            let labels: Map<String, Json> = point
                .labels
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Json::from(value.as_str())))
                .collect();
            let kind = match family.metric.kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram => "histogram",
            };
            let mut line = json!({
                "time": time, "elapsed_s": elapsed_s, "metric": name, "type": kind, "labels": labels,
            });
            match &point.value {
                Value::Count(count) => line["value"] = json!(count),
                Value::Gauge(value) => line["value"] = json!(value),
                Value::Buckets(buckets) => {
                    let bounds = BOUNDS_NS.iter().zip(buckets.cumulative);
                    let pairs: Vec<_> = bounds.map(|(bound, n)| json!([seconds(*bound), n])).collect();
                    line["count"] = json!(buckets.count);
                    line["sum"] = json!(buckets.sum_seconds());
                    line["buckets"] = json!(pairs);
                }
            }
            text.push_str(&line.to_string());
            text.push('\n');
        }
    }
    text
}
