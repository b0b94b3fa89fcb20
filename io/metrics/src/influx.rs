//! Line protocol of InfluxDB.
//!
//! Source: "Line protocol reference" of InfluxDB 2. The escaped characters are those of version 1
//! as well.

use std::fmt::Write as _;

use crate::snapshot::{Labels, Snapshot, Value};

/// A snapshot as lines, one for each series, with time stamps in nanoseconds. Histograms have their
/// count and sum; percentiles are metrics of their own.
pub fn encode_influx(snapshot: &Snapshot) -> Vec<String> {
    let mut lines = Vec::new();
    for family in &snapshot.families {
        let name = family.metric.name();
        for point in &family.points {
            let fields = match &point.value {
                Value::Count(count) => format!("value={count}i"),
                Value::Gauge(value) => format!("value={value}"),
                Value::Buckets(buckets) => {
                    format!("count={}i,sum={}", buckets.count, buckets.sum_seconds())
                }
            };
            lines.push(format!("{name}{} {fields} {}\n", tags(&point.labels), snapshot.at_unix_ns));
        }
    }
    lines
}

/// Tags in the order of their names, which the database stores fastest.
fn tags(labels: &Labels) -> String {
    let mut sorted: Vec<_> = labels.iter().collect();
    sorted.sort_unstable();
    sorted.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = write!(text, ",{name}={}", escaped(value));
        text
    })
}

/// A tag value: comma, equals sign and space are escaped. A line feed would end the line, and a
/// backslash at the end would escape what follows, so both are replaced.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for char in value.chars() {
        match char {
            ',' | '=' | ' ' => text.extend(['\\', char]),
            '\n' | '\r' => text.push_str("\\ "),
            '\\' => text.push('/'),
            char => text.push(char),
        }
    }
    text
}
