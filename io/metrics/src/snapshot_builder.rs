//! [`SnapshotBuilder`]: from totals and the latest interval to metrics.

use std::collections::BTreeMap;

use wavetank_measure::{Interval, SessionSeries, StepSeries, Totals};
use wavetank_plan::{Key, Plan};
use wavetank_units::Nanos;

use crate::admission::Admission;
use crate::connection_points::{add_connections, add_threads};
use crate::label_names::LabelNames;
use crate::metric;
use crate::request_points::{add_sessions, add_step};
use crate::snapshot::{Snapshot, push, seconds};

/// Most (phase, scenario, step) with series of their own, and most (phase, scenario).
const STEPS_MAX: usize = 256;
/// Most phases with histograms, and most (phase, target).
const PHASES_MAX: usize = 64;
/// Most load threads with series of their own.
const THREADS_MAX: usize = 128;

/// Names the run in labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunIdentity {
    /// Its id, the label `run` of every series.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The version of the program.
    pub version: String,
}

/// Makes the snapshots of one run.
#[derive(Debug)]
pub struct SnapshotBuilder {
    identity: RunIdentity,
    /// Start of the first interval.
    start: Option<Nanos>,
    names: LabelNames,
    steps: Admission<Key>,
    sessions: Admission<(u16, u16)>,
    phases: Admission<u16>,
    targets: Admission<(u16, u16)>,
    threads: Admission<(u16, u16)>,
}

impl SnapshotBuilder {
    /// For a run of `plan`.
    pub fn new(plan: &Plan, identity: RunIdentity) -> Self {
        Self {
            names: LabelNames::new(plan, &identity.id),
            identity,
            start: None,
            steps: Admission::new(STEPS_MAX),
            sessions: Admission::new(STEPS_MAX),
            phases: Admission::new(PHASES_MAX),
            targets: Admission::new(PHASES_MAX),
            threads: Admission::new(THREADS_MAX),
        }
    }

    /// All metrics after `interval`, which `totals` include. `zero_unix_ns`: the zero of the run's
    /// clock in Unix time. `lost`: for each output its name, and the intervals that it lost.
    pub fn build(
        &mut self,
        totals: &Totals,
        interval: &Interval,
        zero_unix_ns: i64,
        lost: &[(String, u64)],
    ) -> Snapshot {
        let end = interval.end();
        let unix = |at: Nanos| zero_unix_ns.saturating_add(at.0).unsigned_abs();
        let start = *self.start.get_or_insert(interval.from);
        let mut snapshot = Snapshot {
            run: self.identity.id.clone(),
            at_unix_ns: unix(end),
            start_unix_ns: unix(start),
            elapsed: end,
            families: Vec::new(),
        };
        let run = self.names.run();
        let mut info = run.clone();
        push(&mut info, "name", &self.identity.name);
        push(&mut info, "version", &self.identity.version);
        snapshot.gauge(metric::RUN_INFO, info, 1.0);
        snapshot.gauge(metric::INTERVAL_END, run.clone(), seconds(snapshot.at_unix_ns));
        snapshot.gauge(metric::ELAPSED, run.clone(), end.0 as f64 / 1e9);
        self.add_steps(&mut snapshot, totals, interval);
        self.add_phases(&mut snapshot, totals, interval);
        self.add_sessions(&mut snapshot, totals);
        add_connections(&mut snapshot, &run, totals, interval.users);
        add_threads(&mut snapshot, &run, &mut self.threads, totals, interval);
        for (output, lost) in lost {
            let mut labels = run.clone();
            push(&mut labels, "output", output);
            snapshot.count(metric::LOST, labels, *lost);
        }
        snapshot.families.sort_by_key(|family| place(family.metric));
        snapshot
    }

    fn add_steps(&mut self, snapshot: &mut Snapshot, totals: &Totals, interval: &Interval) {
        // Warm-up is apart: false comes first.
        let mut rest: BTreeMap<bool, (StepSeries, wavetank_measure::Histogram)> = BTreeMap::new();
        for series in &totals.steps {
            let latest = interval.steps.iter().find(|one| one.key == series.key).map(|one| &one.response);
            if self.steps.admit(series.key) {
                add_step(snapshot, &self.names.step(series.key), series, latest);
                continue;
            }
            let (sum, times) = rest.entry(self.names.is_warmup(series.key.phase)).or_default();
            sum.merge(series);
            sum.open += series.open;
            if let Some(latest) = latest {
                times.merge(latest);
            }
        }
        for (warmup, (sum, times)) in &rest {
            let mut labels = self.names.other(*warmup);
            push(&mut labels, "step", crate::label_names::OTHER);
            add_step(snapshot, &labels, sum, Some(times));
        }
    }

    fn add_phases(&mut self, snapshot: &mut Snapshot, totals: &Totals, interval: &Interval) {
        for series in &totals.phases {
            if !self.phases.admit(series.phase) {
                continue;
            }
            let labels = self.names.phase(series.phase);
            for (metric, times) in [
                (metric::LAG, &series.lag),
                (metric::WAIT, &series.wait),
                (metric::TTFB, &series.ttfb),
                (metric::TRANSFER, &series.transfer),
                (metric::FAILED_TIME, &series.failed),
            ] {
                snapshot.times(metric, &labels, times);
            }
            if let Some(latest) = interval.phases.iter().find(|one| one.phase == series.phase) {
                snapshot.percentiles(metric::LAG_PERCENTILE, &labels, &latest.lag);
            }
        }
        for series in &totals.targets {
            if self.targets.admit((series.phase, series.target)) {
                let labels = self.names.target(series.phase, series.target);
                snapshot.times(metric::CONNECT, &labels, &series.connect);
                snapshot.times(metric::TLS, &labels, &series.tls);
                snapshot.times(metric::HELLO, &labels, &series.hello);
                snapshot.times(metric::PING, &labels, &series.ping);
                snapshot.count(metric::MESSAGES_SENT, labels.clone(), series.messages.sent);
                snapshot.count(metric::MESSAGES_RECEIVED, labels, series.messages.received);
            }
        }
    }

    fn add_sessions(&mut self, snapshot: &mut Snapshot, totals: &Totals) {
        let mut rest: BTreeMap<bool, SessionSeries> = BTreeMap::new();
        for series in &totals.journeys.sessions {
            if self.sessions.admit((series.phase, series.scenario)) {
                add_sessions(snapshot, &self.names.scenario(series.phase, series.scenario), series);
            } else {
                let sum = rest.entry(self.names.is_warmup(series.phase)).or_default();
                sum.merge(series);
                sum.open += series.open;
            }
        }
        for (warmup, sum) in &rest {
            add_sessions(snapshot, &self.names.other(*warmup), sum);
        }
    }
}

/// The place of a metric among all.
fn place(metric: metric::Metric) -> usize {
    metric::ALL.iter().position(|one| one.base == metric.base).unwrap_or(usize::MAX)
}
