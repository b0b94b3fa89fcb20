//! The series of an interval: requests of one step, times of one phase, set-up towards one target.

use wavetank_plan::Key;

use crate::{Handshakes, Histogram, MessageCounters, RequestCounters, StatusCounts, WireCounters};

/// Requests of one key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepSeries {
    /// The key under which they are counted.
    pub key: Key,
    /// Counts.
    pub counters: RequestCounters,
    /// Gauge at the seal: offered and unresolved.
    pub open: u64,
    /// Answers by status.
    pub status: StatusCounts,
    /// Requests on the wire.
    pub wire: WireCounters,
    /// complete − intended of done requests, and the time waited of censored ones.
    pub response: Histogram,
    /// complete − sent of done requests.
    pub service: Histogram,
}

impl StepSeries {
    /// Adds the counts and times of `other`. The gauge `open` is left unchanged: it adds up over
    /// threads, not over time.
    pub fn merge(&mut self, other: &Self) {
        self.counters.merge(&other.counters);
        self.status.merge(&other.status);
        self.wire.merge(&other.wire);
        self.response.merge(&other.response);
        self.service.merge(&other.service);
    }
}

/// Times of one phase. Response and service are kept per step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseSeries {
    /// Index into the plan's phases.
    pub phase: u16,
    /// Begun − intended, of every begun request.
    pub lag: Histogram,
    /// Sent − begun, of every sent request.
    pub wait: Histogram,
    /// first byte − sent.
    pub ttfb: Histogram,
    /// complete − first byte.
    pub transfer: Histogram,
    /// End − intended of failed requests that are not censored.
    pub failed: Histogram,
}

impl PhaseSeries {
    /// Adds the times of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.lag.merge(&other.lag);
        self.wait.merge(&other.wait);
        self.ttfb.merge(&other.ttfb);
        self.transfer.merge(&other.transfer);
        self.failed.merge(&other.failed);
    }
}

/// Connection set-up towards one target, by the phase of the connection's planned instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetSeries {
    /// Index into the plan's phases.
    pub phase: u16,
    /// Index into the plan's targets.
    pub target: u16,
    /// TCP connect times of connections that got that far.
    pub connect: Histogram,
    /// TLS handshake, of complete ones: from the end of the connect on.
    pub tls: Histogram,
    /// Negotiated parameters of TLS handshakes.
    pub handshakes: Handshakes,
    /// Greeting of a protocol, of complete ones: from the end of the connect or handshake on.
    pub hello: Histogram,
    /// Round trips of pings.
    pub ping: Histogram,
    /// Pings sent.
    pub pings_sent: u64,
    /// Messages.
    pub messages: MessageCounters,
}

impl TargetSeries {
    /// Adds the times of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.connect.merge(&other.connect);
        self.tls.merge(&other.tls);
        self.handshakes.merge(&other.handshakes);
        self.hello.merge(&other.hello);
        self.ping.merge(&other.ping);
        self.pings_sent += other.pings_sent;
        self.messages.merge(&other.messages);
    }
}
