//! Metrics of a run for other systems, while it runs.
//!
//! Each sealed interval makes one [`Snapshot`]: the counters of the whole run so far, which are
//! those of the report, and the percentiles of that interval. [`Outputs`] passes it to one thread
//! for each receiver through a bounded queue. A receiver that is slow or gone loses intervals. They
//! are counted, and the run never waits. `docs/metrics.md` describes the metrics.

#[cfg(target_os = "linux")]
mod admission;
#[cfg(target_os = "linux")]
mod connection_points;
#[cfg(target_os = "linux")]
mod datagrams;
#[cfg(target_os = "linux")]
mod http_client;
#[cfg(target_os = "linux")]
mod influx;
#[cfg(target_os = "linux")]
mod json_lines;
#[cfg(target_os = "linux")]
mod label_names;
#[cfg(target_os = "linux")]
mod metric;
#[cfg(target_os = "linux")]
mod otlp;
#[cfg(target_os = "linux")]
mod otlp_proto;
#[cfg(target_os = "linux")]
mod output_thread;
#[cfg(target_os = "linux")]
mod outputs;
#[cfg(target_os = "linux")]
mod prometheus_text;
#[cfg(target_os = "linux")]
mod remote_write;
#[cfg(target_os = "linux")]
mod request_points;
#[cfg(target_os = "linux")]
mod scrape_server;
#[cfg(target_os = "linux")]
mod snapshot;
#[cfg(target_os = "linux")]
mod snapshot_builder;
mod spec;
#[cfg(target_os = "linux")]
mod statsd;

#[cfg(target_os = "linux")]
pub use influx::encode_influx;
#[cfg(target_os = "linux")]
pub use json_lines::encode_json_lines;
#[cfg(target_os = "linux")]
pub use metric::{ALL, Kind, Metric};
#[cfg(target_os = "linux")]
pub use otlp::encode_otlp;
#[cfg(target_os = "linux")]
pub use otlp_proto::encode_otlp_proto;
#[cfg(target_os = "linux")]
pub use output_thread::Loss;
#[cfg(target_os = "linux")]
pub use outputs::{OpenOutputs, Outputs};
#[cfg(target_os = "linux")]
pub use prometheus_text::{TextFormat, encode_text};
#[cfg(target_os = "linux")]
pub use remote_write::encode_remote_write;
#[cfg(target_os = "linux")]
pub use snapshot::{BOUNDS_NS, Buckets, Family, Labels, Point, Snapshot, Value};
#[cfg(target_os = "linux")]
pub use snapshot_builder::{RunIdentity, SnapshotBuilder};
pub use spec::{HttpReceiver, OutputSpec, UdpReceiver, redact_output};
#[cfg(target_os = "linux")]
pub use statsd::StatsdEncoder;
