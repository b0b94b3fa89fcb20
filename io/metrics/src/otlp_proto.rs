//! OTLP over HTTP, in protobuf.
//!
//! Source: the OpenTelemetry protocol 1.3, `opentelemetry/proto/metrics/v1/metrics.proto` and
//! `opentelemetry/proto/common/v1/common.proto`. Fields that are never set are left out.

use prost::{Message, Oneof};

use crate::metric::Kind;
use crate::otlp::{CUMULATIVE, bucket_counts, resource_attributes, unit};
use crate::snapshot::{BOUNDS_NS, Family, Point, Snapshot, Value, seconds};

/// `ExportMetricsServiceRequest`.
#[derive(Clone, PartialEq, Message)]
struct ExportRequest {
    #[prost(message, repeated, tag = "1")]
    resource_metrics: Vec<ResourceMetrics>,
}

/// `ResourceMetrics`.
#[derive(Clone, PartialEq, Message)]
struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_metrics: Vec<ScopeMetrics>,
}

/// `Resource`.
#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

/// `ScopeMetrics`.
#[derive(Clone, PartialEq, Message)]
struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    metrics: Vec<MetricMessage>,
}

/// `InstrumentationScope`.
#[derive(Clone, PartialEq, Message)]
struct Scope {
    #[prost(string, tag = "1")]
    name: String,
}

/// `Metric`.
#[derive(Clone, PartialEq, Message)]
struct MetricMessage {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    description: String,
    #[prost(string, tag = "3")]
    unit: String,
    #[prost(oneof = "Data", tags = "5, 7, 9")]
    data: Option<Data>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
    #[prost(message, tag = "9")]
    Histogram(Histogram),
}

/// `Gauge`.
#[derive(Clone, PartialEq, Message)]
struct Gauge {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberPoint>,
}

/// `Sum`.
#[derive(Clone, PartialEq, Message)]
struct Sum {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
    #[prost(bool, tag = "3")]
    is_monotonic: bool,
}

/// `Histogram`.
#[derive(Clone, PartialEq, Message)]
struct Histogram {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<HistogramPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
}

/// `NumberDataPoint`.
#[derive(Clone, PartialEq, Message)]
struct NumberPoint {
    #[prost(fixed64, tag = "2")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(oneof = "Number", tags = "4, 6")]
    value: Option<Number>,
    #[prost(message, repeated, tag = "7")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Number {
    #[prost(double, tag = "4")]
    Double(f64),
    #[prost(sfixed64, tag = "6")]
    Int(i64),
}

/// `HistogramDataPoint`.
#[derive(Clone, PartialEq, Message)]
struct HistogramPoint {
    #[prost(fixed64, tag = "2")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(fixed64, tag = "4")]
    count: u64,
    #[prost(double, optional, tag = "5")]
    sum: Option<f64>,
    #[prost(fixed64, repeated, tag = "6")]
    bucket_counts: Vec<u64>,
    #[prost(double, repeated, tag = "7")]
    explicit_bounds: Vec<f64>,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
}

/// `KeyValue`.
#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

/// `AnyValue`, of which only texts are used.
#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(string, optional, tag = "1")]
    string_value: Option<String>,
}

/// A snapshot as the body of a request to `/v1/metrics`.
pub fn encode_otlp_proto(snapshot: &Snapshot) -> Vec<u8> {
    let attributes = resource_attributes(snapshot).map(|(name, value)| attribute(name, value)).to_vec();
    let metrics = snapshot.families.iter().map(|family| metric(snapshot, family)).collect();
    let scope = Some(Scope { name: "wavetank".to_owned() });
    let resource = Some(Resource { attributes });
    let scope_metrics = vec![ScopeMetrics { scope, metrics }];
    ExportRequest { resource_metrics: vec![ResourceMetrics { resource, scope_metrics }] }.encode_to_vec()
}

fn metric(snapshot: &Snapshot, family: &Family) -> MetricMessage {
    let metric = family.metric;
    let numbers = || family.points.iter().filter_map(|point| number_point(snapshot, point)).collect();
    let data = match metric.kind {
        Kind::Counter => Data::Sum(Sum {
            data_points: numbers(),
            aggregation_temporality: CUMULATIVE.into(),
            is_monotonic: true,
        }),
        Kind::Gauge => Data::Gauge(Gauge { data_points: numbers() }),
        Kind::Histogram => Data::Histogram(Histogram {
            data_points: family.points.iter().filter_map(|point| histogram_point(snapshot, point)).collect(),
            aggregation_temporality: CUMULATIVE.into(),
        }),
    };
    MetricMessage {
        name: metric.base.to_owned(),
        description: metric.help.to_owned(),
        unit: unit(metric).to_owned(),
        data: Some(data),
    }
}

/// A point of a counter or a gauge.
fn number_point(snapshot: &Snapshot, point: &Point) -> Option<NumberPoint> {
    let value = match &point.value {
        Value::Count(count) => Number::Int(i64::try_from(*count).unwrap_or(i64::MAX)),
        Value::Gauge(value) => Number::Double(*value),
        Value::Buckets(_) => return None,
    };
    Some(NumberPoint {
        start_time_unix_nano: snapshot.start_unix_ns,
        time_unix_nano: snapshot.at_unix_ns,
        value: Some(value),
        attributes: attributes(point),
    })
}

fn histogram_point(snapshot: &Snapshot, point: &Point) -> Option<HistogramPoint> {
    let Value::Buckets(buckets) = &point.value else { return None };
    Some(HistogramPoint {
        start_time_unix_nano: snapshot.start_unix_ns,
        time_unix_nano: snapshot.at_unix_ns,
        count: buckets.count,
        sum: Some(buckets.sum_seconds()),
        bucket_counts: bucket_counts(buckets),
        explicit_bounds: BOUNDS_NS.map(seconds).to_vec(),
        attributes: attributes(point),
    })
}

fn attributes(point: &Point) -> Vec<KeyValue> {
    point.labels.iter().map(|(name, value)| attribute(name, value)).collect()
}

fn attribute(name: &str, value: &str) -> KeyValue {
    let value = Some(AnyValue { string_value: Some(value.to_owned()) });
    KeyValue { key: name.to_owned(), value }
}
