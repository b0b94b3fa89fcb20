//! The text formats of Prometheus.
//!
//! Sources: "Exposition formats" of Prometheus (text, version 0.0.4) and OpenMetrics 1.0.0.

use std::fmt::Write as _;

use crate::metric::{Kind, Metric};
use crate::snapshot::{BOUNDS_NS, Buckets, Labels, Snapshot, Value, seconds};

/// Which of the two text formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Text, version 0.0.4.
    Prometheus,
    /// OpenMetrics, version 1.0.0.
    OpenMetrics,
}

impl TextFormat {
    /// The format for the value of an Accept header.
    pub fn accepted(accept: &str) -> Self {
        if accept.contains("application/openmetrics-text") { Self::OpenMetrics } else { Self::Prometheus }
    }

    /// The value of Content-Type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// A snapshot as text.
pub fn encode_text(snapshot: &Snapshot, format: TextFormat) -> String {
    let mut text = String::new();
    for family in &snapshot.families {
        header(&mut text, family.metric, format);
        let name = family.metric.name();
        for point in &family.points {
            match &point.value {
                Value::Count(count) => sample(&mut text, &name, &point.labels, None, count),
                Value::Gauge(value) => sample(&mut text, &name, &point.labels, None, value),
                Value::Buckets(buckets) => histogram(&mut text, &name, &point.labels, buckets),
            }
        }
    }
    if format == TextFormat::OpenMetrics {
        text.push_str("# EOF\n");
    }
    text
}

fn header(text: &mut String, metric: Metric, format: TextFormat) {
    let kind = match metric.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    };
    // OpenMetrics names the family of a counter without the suffix of its samples.
    let name = match format {
        TextFormat::Prometheus => metric.name(),
        TextFormat::OpenMetrics => metric.base.to_owned(),
    };
    let _ = writeln!(text, "# HELP {name} {}", metric.help.replace('\\', r"\\").replace('\n', r"\n"));
    let _ = writeln!(text, "# TYPE {name} {kind}");
    if format == TextFormat::OpenMetrics && !metric.unit.is_empty() {
        let _ = writeln!(text, "# UNIT {name} {}", metric.unit);
    }
}

fn histogram(text: &mut String, name: &str, labels: &Labels, buckets: &Buckets) {
    let bucket = format!("{name}_bucket");
    for (bound, count) in BOUNDS_NS.iter().zip(buckets.cumulative) {
        sample(text, &bucket, labels, Some(&seconds(*bound).to_string()), &count);
    }
    sample(text, &bucket, labels, Some("+Inf"), &buckets.count);
    sample(text, &format!("{name}_sum"), labels, None, &buckets.sum_seconds());
    sample(text, &format!("{name}_count"), labels, None, &buckets.count);
}

fn sample(
    text: &mut String,
    name: &str,
    labels: &Labels,
    bound: Option<&str>,
    value: &dyn std::fmt::Display,
) {
    text.push_str(name);
    let all = labels.iter().map(|(name, value)| (*name, value.as_str()));
    let mut before = '{';
    for (name, value) in all.chain(bound.map(|bound| ("le", bound))) {
        let _ = write!(text, "{before}{name}=\"");
        escape(text, value);
        text.push('"');
        before = ',';
    }
    if before == ',' {
        text.push('}');
    }
    let _ = writeln!(text, " {value}");
}

/// Appends a label value: backslash, quote and line feed are escaped, everything else is UTF-8.
fn escape(text: &mut String, value: &str) {
    for char in value.chars() {
        match char {
            '\\' => text.push_str(r"\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str(r"\n"),
            char => text.push(char),
        }
    }
}
