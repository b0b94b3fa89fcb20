//! Shared by the tests of this crate: a plan, intervals, and an archive in progress.
#![allow(dead_code, reason = "each test binary uses its own part")]

#[path = "../../../../../core/measure/tests/it/common/mod.rs"]
mod common;

use std::path::Path;

use wavetank_measure::{
    Interval, PhaseSeries, RequestCounters, StatusCounts, StepSeries, ThreadStats, Totals, WireCounters,
};
use wavetank_plan::{Arrivals, EngineChoice, Key, Load, Phase, Plan, RateCurve, Target};
use wavetank_record::{EnvironmentDoc, PlanDoc, RUN_SCHEMA, RunRecord, WallTime};
use wavetank_store::{ArchiveWriter, RunMeta, RunsDir};
use wavetank_units::{Nanos, Rate};

/// An open run of one step, 1,000/s for 20 s.
pub(crate) fn plan() -> Plan {
    let phase = Phase {
        load: Load::Open {
            rate: RateCurve::constant(Rate::per_second(1_000), Some(Nanos::from_secs(20))),
            arrivals: Arrivals::Even,
            requests_each: None,
        },
        max_open: 60_000,
        connections: 100,
        ..common::phase("main", 0, 20)
    };
    Plan {
        name: "localhost:8080/".to_owned(),
        targets: vec![Target {
            name: "localhost:8080".to_owned(),
            url: "http://localhost:8080/".to_owned(),
            host: "localhost:8080".to_owned(),
            server_name: None,
            tls: None,
            pick: None,
            addresses: vec!["127.0.0.1:8080".parse().expect("a good address")],
        }],
        phases: vec![phase],
        engine: EngineChoice::Epoll,
        ..common::plan(20)
    }
}

/// Second number `second` of that run; every one is different.
pub(crate) fn interval(second: u64) -> Interval {
    let mut step = StepSeries { key: Key::default(), open: 10 + second, ..StepSeries::default() };
    // The first second leaves its gauge open, each further one opens one more.
    let done = if second == 0 { 990 } else { 999 };
    step.counters =
        RequestCounters { offered: 1_000, sent: 1_000, done, late: second % 3, ..RequestCounters::default() };
    step.status = StatusCounts(vec![(200, done)]);
    step.wire = WireCounters { sent: 1_000, ..WireCounters::default() };
    // Nine values, so that lines stay short: every one of their bytes is cut at.
    for ninth in 0..9 {
        step.response.record_n(1_000_000 + second * 100_000 + ninth * 50_000, done / 9);
    }
    let mut phase = PhaseSeries::default();
    phase.lag.record_n(20_000 + second, 1_000);
    let mut interval = Interval {
        from: Nanos::from_secs(second as i64),
        len: Nanos::SECOND,
        steps: vec![step],
        phases: vec![phase],
        threads: vec![ThreadStats { turns: 100, busy_ns: 1_000_000 * second, ..ThreadStats::default() }],
        users: 0,
        ..Interval::default()
    };
    interval.conns.open = 5 + second;
    interval.conns.peak = 7 + second % 4;
    (interval.conns.offered, interval.conns.opened) = if second == 0 { (5, 5) } else { (1, 1) };
    interval.bytes.sent = 50 * second;
    interval
}

/// What the first `seconds` add up to.
pub(crate) fn sum(seconds: u64) -> Totals {
    let mut totals = Totals::new(&plan());
    (0..seconds).for_each(|second| totals.add(&interval(second)));
    totals
}

pub(crate) fn meta() -> RunMeta {
    RunMeta {
        name: plan().name,
        id: "7f3a21".to_owned(),
        started: WallTime(1_795_287_600_000_000_000),
        agent: "local".to_owned(),
        epoch: 1,
        plan_yaml: PlanDoc::new(&plan()).to_yaml(),
        environment: EnvironmentDoc { id: "7f3a21".to_owned(), ..EnvironmentDoc::default() },
    }
}

/// An archive in progress in `dir`, with the first `seconds` in it.
pub(crate) fn in_progress(dir: &Path, seconds: u64) -> ArchiveWriter {
    let mut writer = ArchiveWriter::create(&RunsDir::new(dir), &meta()).expect("the folder is writable");
    for second in 0..seconds {
        let problem = writer.interval(Nanos::from_secs(second as i64 + 1), &interval(second));
        assert!(problem.is_none(), "{problem:?}");
    }
    writer
}

pub(crate) fn record() -> RunRecord {
    RunRecord { schema: RUN_SCHEMA.to_owned(), id: "7f3a21".to_owned(), ..RunRecord::default() }
}
