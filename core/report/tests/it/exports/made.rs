//! A run of two steps with known numbers.

use std::net::SocketAddr;

use wavetank_experiment::plan_url;
use wavetank_measure::{
    DropReason, ErrorClass, Histogram, Interval, PhaseSeries, RequestCounters, StatusCounts, StepSeries,
    ThreadStats, WireCounters,
};
use wavetank_plan::{EngineChoice, HostFacts, Key, Plan, RequestPlan, RunOptions, Step, TargetUrl};
use wavetank_units::{Nanos, Rate};

/// One second of warm-up and three of load, 100/s; `names` are those of its two steps.
pub(crate) fn plan(names: [&str; 2]) -> Plan {
    let address: SocketAddr = "127.0.0.1:8080".parse().expect("an address");
    let url = TargetUrl::parse("http://127.0.0.1:8080/").expect("a URL");
    let options = RunOptions {
        engine: Some(EngineChoice::Epoll),
        rate: Some(Rate::per_second(100)),
        duration: Some(Nanos::from_secs(3)),
        warmup: Some(Nanos::from_secs(1)),
        ..RunOptions::default()
    };
    let mut plan = plan_url(&options, &url, &[address], &HostFacts::for_tests(2)).expect("a plan").plan;
    let request = || RequestPlan { method: "GET".to_owned(), path: "/".into(), ..RequestPlan::default() };
    plan.scenarios[0].steps = names.map(|name| Step::plain(name, 0, request())).to_vec();
    plan
}

/// The intervals of its four seconds: values of all sizes, the same at every call.
pub(crate) fn intervals() -> Vec<Interval> {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        // Xorshift: the values are arbitrary, but the same each time.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let mut interval = |second: i64| {
        let mut one = Interval { from: Nanos::from_secs(second), len: Nanos::SECOND, ..Interval::default() };
        let phase = u16::from(second >= 0);
        for step in 0..2 {
            let mut times = Histogram::default();
            // From 20 ns to some 70 s: every octave has its own rounding.
            (0..90).for_each(|_| times.record(20 + (next() >> 28) % (1 << (next() % 37))));
            let series = one.step_mut(Key { phase, scenario: 0, step });
            *series = StepSeries { response: times.clone(), service: times, ..series.clone() };
            series.counters =
                RequestCounters { offered: 100, sent: 96, done: 89, late: 3, ..RequestCounters::default() };
            series.counters.errors[ErrorClass::RequestTimeout as usize] = 1;
            series.counters.errors[ErrorClass::Status as usize] = 2;
            series.counters.dropped_by[DropReason::MaxOpen as usize] = 4;
            series.open = 4;
            series.status = StatusCounts(vec![(200, 80), (301, 9), (503, 2)]);
            series.wire = WireCounters { sent: 97, retried: 1, ..WireCounters::default() };
        }
        let mut lag = Histogram::default();
        lag.record_n(2_500, 96);
        one.phases = vec![PhaseSeries { phase, lag, ..PhaseSeries::default() }];
        one.threads = vec![ThreadStats { turns: 10, busy_ns: 250_000_000, ..ThreadStats::default() }; 2];
        (one.conns.open, one.users, one.bytes.received) = (7, 5, 1_000);
        one
    };
    (-1..3).map(&mut interval).collect()
}

/// The response times of its measured seconds, all steps together.
pub(crate) fn response() -> Histogram {
    let mut sum = Histogram::default();
    let measured = intervals().into_iter().filter(|one| one.from >= Nanos::ZERO);
    measured.flat_map(|one| one.steps).for_each(|series| sum.merge(&series.response));
    sum
}
