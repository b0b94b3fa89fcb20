//! From totals to series: names, bounds on their number, and sums.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use wavetank_experiment::plan_url;
use wavetank_measure::{ErrorClass, Interval, SessionSeries, ThreadStats, Totals};
use wavetank_metrics::{Labels, RunIdentity, Snapshot, SnapshotBuilder, Value};
use wavetank_plan::{HostFacts, HostLimits, Key, LoadOrigin, Plan, RunOptions, SocketSupport, TargetUrl};
use wavetank_units::Nanos;

/// Steps of the plan, more than have series of their own.
const STEPS: u16 = 400;

/// A plan with a warm-up and a scenario of [`STEPS`] steps, some of which have the same name.
fn plan() -> Plan {
    let host = HostFacts {
        cpus: vec![0],
        memory_available_bytes: 1 << 30,
        files_max: 1 << 20,
        sockets: SocketSupport::plain(),
        limits: HostLimits::default(),
        port_range: (32_768, 60_999),
        ports: wavetank_units::Ports::range(32_768, 60_999),
        addresses: Vec::new(),
        local_networks: vec![([127, 0, 0, 0].into(), 8)],
        kernel: "6.18.44".to_owned(),
        hostname: "load01".to_owned(),
        cpu_model: "test".to_owned(),
        origin: LoadOrigin::ThisHost,
        observed_hosts: Vec::new(),
        agent_hosts: Vec::new(),
    };
    let options = RunOptions { warmup: Some(Nanos::SECOND), ..RunOptions::default() };
    let url = TargetUrl::parse("localhost:8080/").expect("a URL");
    let address = SocketAddr::from(([127, 0, 0, 1], 8080));
    let mut plan = plan_url(&options, &url, &[address], &host).expect("the options are valid").plan;
    let step = plan.scenarios[0].steps[0].clone();
    let named = |index| {
        let mut step = step.clone();
        step.name = format!("GET /{}", index / 2);
        step
    };
    plan.scenarios[0].steps = (0..STEPS).map(named).collect();
    plan
}

/// An interval of the second `from` in which each step in each phase is done once and fails once.
fn interval(from: i64, steps: u16) -> Interval {
    let mut interval = Interval { from: Nanos::from_secs(from), len: Nanos::SECOND, ..Interval::default() };
    for phase in 0..2 {
        for step in 0..steps {
            let series = interval.step_mut(Key { phase, scenario: 0, step });
            (series.counters.offered, series.counters.done) = (2, 1);
            series.counters.errors[ErrorClass::Reset as usize] = 1;
            series.response.record(1_000_000);
            series.status.add(200, 1);
        }
        let mut sessions = SessionSeries { phase, ..SessionSeries::default() };
        (sessions.counts.offered, sessions.counts.started, sessions.counts.done) = (1, 1, 1);
        interval.journeys.sessions.push(sessions);
    }
    let thread = |thread| ThreadStats { thread, turns: 1, busy_ns: 500_000_000, ..ThreadStats::default() };
    interval.threads = (0..200).map(thread).collect();
    interval
}

/// The counters by metric and labels. Panics if two series have the same ones.
fn counters(snapshot: &Snapshot) -> BTreeMap<(String, Labels), u64> {
    let mut counters = BTreeMap::new();
    let mut names = BTreeSet::new();
    for family in &snapshot.families {
        for point in &family.points {
            assert!(names.insert((family.metric.base, point.labels.clone())), "{point:?} occurs twice");
            let count = match &point.value {
                Value::Count(count) => *count,
                Value::Buckets(buckets) => buckets.count,
                Value::Gauge(_) => continue,
            };
            counters.insert((family.metric.base.to_owned(), point.labels.clone()), count);
        }
    }
    counters
}

#[test]
fn series_are_bounded_and_sums_are_exact() {
    let plan = plan();
    let (mut totals, mut last) = (Totals::new(&plan), BTreeMap::new());
    let identity = RunIdentity { id: "7f".to_owned(), ..RunIdentity::default() };
    let mut builder = SnapshotBuilder::new(&plan, identity);
    let mut expected = 0;
    // Steps occur later and later, and in an order that is not theirs.
    for (second, steps) in [(0, 10), (1, 200), (2, STEPS), (3, 20)] {
        let latest = interval(second, steps);
        totals.add(&latest);
        expected += u64::from(steps);
        let snapshot = builder.build(&totals, &latest, 1_700_000_000_000_000_000, &[]);
        assert_eq!(snapshot.at_unix_ns, 1_700_000_001_000_000_000 + second.unsigned_abs() * 1_000_000_000);
        let found = counters(&snapshot);
        for (series, count) in &last {
            assert!(found.get(series) >= Some(count), "{series:?} fell from {count}");
        }
        let sum = |metric: &str, is_warmup: bool| -> u64 {
            let own = found.iter().filter(|((base, labels), _)| {
                base == metric && labels.iter().any(|(_, value)| value.contains("warm")) == is_warmup
            });
            own.map(|(_, count)| count).sum()
        };
        for is_warmup in [false, true] {
            for metric in ["requests_done", "requests_failed", "responses", "response_seconds"] {
                assert_eq!(sum(&format!("wavetank_{metric}"), is_warmup), expected, "{metric}");
            }
        }
        assert_eq!(sum("wavetank_generator_turns", false), 200 * (second.unsigned_abs() + 1));
        last = found;
    }
    let series = |metric: &str| last.keys().filter(|(base, _)| base == metric).count();
    // 256 of their own, and one for the others of each kind of phase.
    assert_eq!(series("wavetank_requests_done"), 256 + 2);
    assert_eq!(series("wavetank_generator_turns"), 128 + 1);
    assert_eq!(series("wavetank_sessions_done"), 2);
}

#[test]
fn labels_are_the_names_of_the_plan() {
    let plan = plan();
    let mut totals = Totals::new(&plan);
    let latest = interval(0, 2);
    totals.add(&latest);
    let identity = RunIdentity { id: "7f".to_owned(), name: "shop".to_owned(), version: "1".to_owned() };
    let lost = [("statsd h:1".to_owned(), 3)];
    let snapshot = SnapshotBuilder::new(&plan, identity).build(&totals, &latest, 0, &lost);
    let found = counters(&snapshot);
    let label = |names: &[(&'static str, &str)]| -> Labels {
        names.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    };
    let series = |base: &str, labels| found.get(&(base.to_owned(), labels)).copied();
    let second = [("run", "7f"), ("phase", "main"), ("step", "GET /0 #2"), ("class", "reset")];
    assert_eq!(series("wavetank_requests_failed", label(&second)), Some(1), "{found:?}");
    let output = [("run", "7f"), ("output", "statsd h:1")];
    assert_eq!(series("wavetank_metrics_lost_intervals", label(&output)), Some(3));
    let info = &snapshot.families[0];
    assert_eq!(info.metric.base, "wavetank_run_info");
    assert_eq!(info.points[0].labels, label(&[("run", "7f"), ("name", "shop"), ("version", "1")]));
}
