//! The series of connections, traffic and load threads.

use wavetank_measure::{Interval, ThreadStats, Totals};

use crate::admission::Admission;
use crate::label_names::OTHER;
use crate::metric;
use crate::snapshot::{Labels, Snapshot, with};

/// Adds connections, bytes and users of the whole run.
pub(crate) fn add_connections(snapshot: &mut Snapshot, run: &Labels, totals: &Totals, users: u64) {
    let conns = &totals.conns;
    for (metric, count) in [
        (metric::CONNS_OFFERED, conns.offered),
        (metric::CONNS_OPENED, conns.opened),
        (metric::CONNS_FAILED, conns.failed),
        (metric::CONNS_CLOSED, conns.closed),
        (metric::CONNS_LOST, conns.lost),
        (metric::CONNS_REOPENED, conns.reopened),
    ] {
        snapshot.count(metric, run.clone(), count);
    }
    snapshot.gauge(metric::CONNS_OPEN, run.clone(), conns.open as f64);
    snapshot.gauge(metric::CONNS_OPENING, run.clone(), conns.opening as f64);
    for (part, bytes) in [("measured", totals.bytes), ("warmup", totals.bytes_warmup)] {
        snapshot.count(metric::BYTES_SENT, with(run, "part", part), bytes.sent);
        snapshot.count(metric::BYTES_RECEIVED, with(run, "part", part), bytes.received);
    }
    for (part, packets) in [("measured", totals.packets), ("warmup", totals.packets_warmup)] {
        if packets.sent > 0 {
            snapshot.count(metric::PACKETS_SENT, with(run, "part", part), packets.sent);
            snapshot.count(metric::PACKETS_LOST, with(run, "part", part), packets.lost);
        }
    }
    snapshot.gauge(metric::USERS, run.clone(), users as f64);
}

/// Adds the load threads: counters of the whole run, and shares of the latest interval. Threads
/// beyond the limit share one series, with the highest share of them.
pub(crate) fn add_threads(
    snapshot: &mut Snapshot,
    run: &Labels,
    admitted: &mut Admission<(u16, u16)>,
    totals: &Totals,
    interval: &Interval,
) {
    let mut rest: Option<ThreadStats> = None;
    let mut rest_latest: Option<(f64, f64)> = None;
    let shares = |thread: &ThreadStats| {
        let cpu = if interval.len.0 > 0 { thread.cpu_ns as f64 / interval.len.0 as f64 } else { 0.0 };
        (thread.busy_share(interval.len), cpu)
    };
    for thread in &totals.threads {
        if admitted.admit(thread.name()) {
            add_thread(snapshot, &labels(run, thread), thread);
        } else {
            rest.get_or_insert_default().merge(thread);
        }
    }
    for thread in &interval.threads {
        let (busy, cpu) = shares(thread);
        if admitted.admit(thread.name()) {
            add_shares(snapshot, &labels(run, thread), (busy, cpu));
        } else {
            let (most_busy, most_cpu) = rest_latest.unwrap_or_default();
            rest_latest = Some((most_busy.max(busy), most_cpu.max(cpu)));
        }
    }
    let other = with(&with(run, "agent", OTHER), "thread", OTHER);
    if let Some(rest) = rest {
        add_thread(snapshot, &other, &rest);
    }
    if let Some(latest) = rest_latest {
        add_shares(snapshot, &other, latest);
    }
}

fn labels(run: &Labels, thread: &ThreadStats) -> Labels {
    with(&with(run, "agent", &thread.agent.to_string()), "thread", &thread.thread.to_string())
}

fn add_thread(snapshot: &mut Snapshot, labels: &Labels, thread: &ThreadStats) {
    snapshot.count(metric::TURNS, labels.clone(), thread.turns);
    snapshot.count(metric::STALLED, labels.clone(), thread.stalled_turns);
    snapshot.count(metric::STARVED, labels.clone(), thread.starved_turns);
}

fn add_shares(snapshot: &mut Snapshot, labels: &Labels, (busy, cpu): (f64, f64)) {
    snapshot.gauge(metric::BUSY, labels.clone(), busy);
    snapshot.gauge(metric::CPU, labels.clone(), cpu);
}
