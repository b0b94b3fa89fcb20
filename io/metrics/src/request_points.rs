//! The series of requests and sessions.

use wavetank_measure::{DropReason, ErrorClass, Histogram, SessionSeries, StepSeries};

use crate::metric;
use crate::snapshot::{Labels, Snapshot, with};

/// Adds all series of one step. `latest` are its response times in the latest interval.
pub(crate) fn add_step(
    snapshot: &mut Snapshot,
    labels: &Labels,
    series: &StepSeries,
    latest: Option<&Histogram>,
) {
    let counters = &series.counters;
    for (metric, count) in [
        (metric::OFFERED, counters.offered),
        (metric::SENT, counters.sent),
        (metric::DONE, counters.done),
        (metric::LATE, counters.late),
        (metric::WIRE_SENT, series.wire.sent),
        (metric::WIRE_RETRIED, series.wire.retried),
        (metric::WIRE_REDIRECTED, series.wire.redirected),
        (metric::WIRE_RESOURCES, series.wire.resources),
    ] {
        snapshot.count(metric, labels.clone(), count);
    }
    for class in ErrorClass::ALL {
        let count = counters.errors[class as usize];
        if count > 0 {
            snapshot.count(metric::FAILED, with(labels, "class", class.name()), count);
        }
    }
    add_dropped(snapshot, metric::DROPPED, labels, &counters.dropped_by);
    for &(status, count) in &series.status.0 {
        snapshot.count(metric::RESPONSES, with(labels, "status", &status.to_string()), count);
    }
    snapshot.gauge(metric::OPEN, labels.clone(), series.open as f64);
    snapshot.times(metric::RESPONSE, labels, &series.response);
    snapshot.times(metric::SERVICE, labels, &series.service);
    if let Some(latest) = latest {
        snapshot.percentiles(metric::RESPONSE_PERCENTILE, labels, latest);
    }
}

/// Adds all series of the sessions of one scenario in one phase.
pub(crate) fn add_sessions(snapshot: &mut Snapshot, labels: &Labels, series: &SessionSeries) {
    let counts = &series.counts;
    for (metric, count) in [
        (metric::SESSIONS_OFFERED, counts.offered),
        (metric::SESSIONS_STARTED, counts.started),
        (metric::SESSIONS_DONE, counts.done),
        (metric::SESSIONS_FAILED, counts.failed),
    ] {
        snapshot.count(metric, labels.clone(), count);
    }
    add_dropped(snapshot, metric::SESSIONS_DROPPED, labels, &counts.dropped_by);
    snapshot.gauge(metric::SESSIONS_OPEN, labels.clone(), series.open as f64);
}

fn add_dropped(
    snapshot: &mut Snapshot,
    metric: metric::Metric,
    labels: &Labels,
    counts: &[u64; DropReason::ALL.len()],
) {
    for reason in DropReason::ALL {
        let count = counts[reason as usize];
        if count > 0 {
            snapshot.count(metric, with(labels, "reason", reason.name()), count);
        }
    }
}
