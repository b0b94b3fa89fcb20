//! [`Metric`]: the exported metrics, the only list of their names.

/// What a metric's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A count since the start of the run.
    Counter,
    /// A value at the end of the interval, or of the interval.
    Gauge,
    /// Times since the start of the run, in buckets.
    Histogram,
}

/// One metric. Its series differ in their labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Name without the suffix `_total` of counters.
    pub base: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Base unit, which is also the end of `base`; empty for counts.
    pub unit: &'static str,
    /// One sentence.
    pub help: &'static str,
}

impl Metric {
    /// The name of its samples: counters end in `_total`.
    pub fn name(&self) -> String {
        match self.kind {
            Kind::Counter => format!("{}_total", self.base),
            Kind::Gauge | Kind::Histogram => self.base.to_owned(),
        }
    }
}

macro_rules! metrics {
    ($($name:ident $kind:ident $base:literal $unit:literal $help:literal;)*) => {
        $(pub(crate) const $name: Metric =
            Metric { base: $base, kind: Kind::$kind, unit: $unit, help: $help };)*
        /// Every metric, in the order in which they are exported.
        pub const ALL: &[Metric] = &[$($name),*];
    };
}

metrics! {
    RUN_INFO Gauge "wavetank_run_info" "" "1, with the name of the run and the version of wavetank as labels.";
    INTERVAL_END Gauge "wavetank_interval_end_seconds" "seconds" "End of the latest interval, in Unix time.";
    ELAPSED Gauge "wavetank_elapsed_seconds" "seconds" "End of the latest interval, from the start of the measured load.";
    OFFERED Counter "wavetank_requests_offered" "" "Requests intended by the plan.";
    SENT Counter "wavetank_requests_sent" "" "Requests of which the first byte was sent.";
    DONE Counter "wavetank_requests_done" "" "Requests with a complete response as expected.";
    FAILED Counter "wavetank_requests_failed" "" "Failed requests, by error class.";
    LATE Counter "wavetank_requests_late" "" "Requests that the generator began too late; they are also done or failed.";
    DROPPED Counter "wavetank_requests_dropped" "" "Requests that were never sent, by reason.";
    OPEN Gauge "wavetank_requests_open" "" "Requests that are offered and not resolved yet.";
    RESPONSES Counter "wavetank_responses" "" "Responses by status.";
    WIRE_SENT Counter "wavetank_wire_sent" "" "Messages written to connections, with repeated, redirected and embedded ones.";
    WIRE_RETRIED Counter "wavetank_wire_retried" "" "Repeated messages.";
    WIRE_REDIRECTED Counter "wavetank_wire_redirected" "" "Messages that follow a redirect.";
    WIRE_RESOURCES Counter "wavetank_wire_resources" "" "Messages for embedded resources.";
    RESPONSE Histogram "wavetank_response_seconds" "seconds" "Response time from the intended start.";
    SERVICE Histogram "wavetank_service_seconds" "seconds" "Service time from the first sent byte.";
    RESPONSE_PERCENTILE Gauge "wavetank_response_percentile_seconds" "seconds" "Exact percentile of the response times in the latest interval.";
    LAG Histogram "wavetank_lag_seconds" "seconds" "Delay by the generator itself, from the intended start.";
    WAIT Histogram "wavetank_wait_seconds" "seconds" "Wait for a connection.";
    TTFB Histogram "wavetank_ttfb_seconds" "seconds" "Time from the first sent to the first received byte.";
    TRANSFER Histogram "wavetank_transfer_seconds" "seconds" "Time from the first to the last received byte.";
    FAILED_TIME Histogram "wavetank_failed_seconds" "seconds" "Time until failed requests failed, except timeouts.";
    LAG_PERCENTILE Gauge "wavetank_lag_percentile_seconds" "seconds" "Exact percentile of the generator's delay in the latest interval.";
    CONNECT Histogram "wavetank_connect_seconds" "seconds" "TCP connect times.";
    TLS Histogram "wavetank_tls_seconds" "seconds" "TLS handshake times.";
    HELLO Histogram "wavetank_hello_seconds" "seconds" "Times of the greeting of a protocol.";
    PING Histogram "wavetank_ping_seconds" "seconds" "Round trips of pings.";
    MESSAGES_SENT Counter "wavetank_messages_sent" "" "Messages handed to the kernel.";
    MESSAGES_RECEIVED Counter "wavetank_messages_received" "" "Messages received.";
    SESSIONS_OFFERED Counter "wavetank_sessions_offered" "" "Sessions intended by the plan.";
    SESSIONS_STARTED Counter "wavetank_sessions_started" "" "Sessions that started.";
    SESSIONS_DONE Counter "wavetank_sessions_done" "" "Sessions that ended without a failed request.";
    SESSIONS_FAILED Counter "wavetank_sessions_failed" "" "Sessions with a failed request.";
    SESSIONS_DROPPED Counter "wavetank_sessions_dropped" "" "Sessions that never started, by reason.";
    SESSIONS_OPEN Gauge "wavetank_sessions_open" "" "Sessions in progress.";
    CONNS_OFFERED Counter "wavetank_connections_offered" "" "Started openings of connections.";
    CONNS_OPENED Counter "wavetank_connections_opened" "" "Opened connections.";
    CONNS_FAILED Counter "wavetank_connections_failed" "" "Connections that could not be opened.";
    CONNS_CLOSED Counter "wavetank_connections_closed" "" "Connections that ended as planned or announced.";
    CONNS_LOST Counter "wavetank_connections_lost" "" "Connections that ended although the plan still needed them.";
    CONNS_REOPENED Counter "wavetank_connections_reopened" "" "Opened connections that replace lost ones.";
    CONNS_OPEN Gauge "wavetank_connections_open" "" "Open connections.";
    CONNS_OPENING Gauge "wavetank_connections_opening" "" "Connections that are being opened.";
    BYTES_SENT Counter "wavetank_sent_bytes" "bytes" "Bytes handed to the kernel.";
    BYTES_RECEIVED Counter "wavetank_received_bytes" "bytes" "Bytes received from the kernel.";
    PACKETS_SENT Counter "wavetank_packets_sent" "" "Packets of QUIC connections.";
    PACKETS_LOST Counter "wavetank_packets_lost" "" "Packets of QUIC connections that were declared lost.";
    USERS Gauge "wavetank_users" "" "Virtual users.";
    BUSY Gauge "wavetank_generator_busy_ratio" "ratio" "Share of the latest interval in which a load thread worked.";
    CPU Gauge "wavetank_generator_cpu_ratio" "ratio" "Share of the latest interval in which a load thread used a CPU.";
    TURNS Counter "wavetank_generator_turns" "" "Loop turns of a load thread that did work.";
    STALLED Counter "wavetank_generator_stalled_turns" "" "Turns that worked longer than the late tolerance.";
    STARVED Counter "wavetank_generator_starved_turns" "" "Turns that found no buffer or submission slot.";
    LOST Counter "wavetank_metrics_lost_intervals" "" "Intervals that an output of metrics lost.";
}
