//! Composing a record: every measured number is in its place, and no decision is made.

use wavetank_diagnose::{Blame, Diagnosis, Finding, FindingCode, HookResult, Status, Verdict};
use wavetank_measure::{
    ConnCounts, DropReason, ErrorClass, HandshakeParams, HostSample, Interval, Ledger, PhaseSeries,
    RequestCounters, StatusCounts, StepSeries, TargetSeries, ThreadStats, ThresholdResult, Totals,
    WireCounters,
};
use wavetank_plan::{
    Action, Arrivals, Choice, Condition, EngineChoice, Key, Load, Phase, Plan, PopulationCurve, RateCurve,
    Target, Think,
};
use wavetank_record::{EnvironmentDoc, EventLine, Number, Requests, RunRecord, Setup};
use wavetank_report::{Composition, compose, load_doc};
use wavetank_units::{ExitCode, Nanos, Rate, Sentence};

use crate::common;

fn plan(load: &Load) -> Plan {
    let phase = |name, start, length| Phase {
        load: load.clone(),
        max_open: 60_000,
        open_before: true,
        ..common::phase(name, start, length)
    };
    Plan {
        name: "shop".to_owned(),
        seed: 7,
        targets: vec![Target {
            name: "localhost:8080".to_owned(),
            url: "http://localhost:8080/".to_owned(),
            host: "localhost:8080".to_owned(),
            server_name: None,
            tls: None,
            pick: None,
            addresses: vec!["127.0.0.1:8080".parse().expect("a good address")],
        }],
        phases: vec![Phase { warmup: true, ..phase("warmup", -2, 2) }, phase("main", 0, 4)],
        threads: 2,
        engine: EngineChoice::Epoll,
        tags: [("k".to_owned(), "v".to_owned())].into(),
        ..common::plan(4)
    }
}

/// One second: 100 offered, 90 done, 6 failed (2 timed out), 3 dropped, 1 more open than before.
fn second(from: i64, open: u64) -> Interval {
    let key = Key { phase: u16::from(from >= 0), scenario: 0, step: 0 };
    let mut step = StepSeries { key, open, ..StepSeries::default() };
    step.counters =
        RequestCounters { offered: 100, sent: 97, done: 90, late: 5, ..RequestCounters::default() };
    step.counters.errors[ErrorClass::RequestTimeout as usize] = 2;
    step.counters.errors[ErrorClass::Reset as usize] = 4;
    step.counters.dropped_by[DropReason::MaxOpen as usize] = 3;
    step.status = StatusCounts(vec![(200, 90)]);
    step.wire = WireCounters { sent: 98, retried: 1, ..WireCounters::default() };
    step.response.record_n(2_000_000, 90);
    step.response.record_n(60_000_000_000, 2);
    step.service.record_n(1_500_000, 90);
    let mut phase = PhaseSeries { phase: key.phase, ..PhaseSeries::default() };
    phase.lag.record_n(30_500, 97);
    phase.wait.record_n(1_000, 97);
    phase.ttfb.record_n(1_200_000, 90);
    phase.transfer.record_n(300_000, 90);
    phase.failed.record_n(5_000_000, 4);
    let mut target = TargetSeries { phase: key.phase, ..TargetSeries::default() };
    target.connect.record(80_000);
    let agreed =
        HandshakeParams { version: "TLSv1.2".to_owned(), resumed: from > 0, ..HandshakeParams::default() };
    target.handshakes.add(&agreed, 1);
    target.handshakes.failed = 2;
    Interval {
        from: Nanos::from_secs(from),
        len: Nanos::SECOND,
        steps: vec![step],
        phases: vec![phase],
        targets: vec![target],
        conns: ConnCounts { offered: 1, opened: 1, open: open + 1, peak: open + 1, ..ConnCounts::default() },
        bytes: wavetank_measure::Bytes { sent: 10, received: 1_000 },
        threads: vec![ThreadStats { turns: 10, busy_ns: 250_000_000, ..ThreadStats::default() }],
        ..Interval::default()
    }
}

fn diagnosis() -> Diagnosis {
    let (status, blame, reasons) = (Status::Fail, Blame::Target, vec!["p99 < 5ms".to_owned()]);
    let [message, evidence, hint] =
        ["8 requests ended at exactly 60.0 s", "2 a second", "raise the timeout"].map(Sentence::quoted);
    let (code, decisive, fix) = (FindingCode::BalancerTimeout, true, Vec::new());
    Diagnosis {
        verdict: Verdict { status, reasons, blame },
        exit: ExitCode::Fail,
        headline: Sentence::quoted("p99 60.0 s, not < 5ms"),
        findings: vec![Finding { code, blame, decisive, message, evidence, hint, fix }],
        notes: vec![Sentence::quoted("same machine")],
        cut_short: None,
    }
}

fn result(text: &str, value: Option<f64>, ok: Option<bool>) -> ThresholdResult {
    let condition = Condition::parse(text).expect("a good condition");
    ThresholdResult {
        expr: text.to_owned(),
        condition,
        value,
        ok,
        why: value.is_none().then(|| Sentence::quoted("no sample")),
        implicit: false,
        at: None,
        holds_without_lag: None,
        lag_ns: None,
        holds_without_generator: None,
    }
}

fn composed(load: &Load) -> RunRecord {
    composed_with(load, &diagnosis())
}

fn composed_with(load: &Load, diagnosis: &Diagnosis) -> RunRecord {
    let seconds: Vec<Interval> = (-2..4).map(|from| second(from, (from + 3) as u64)).collect();
    composed_of(load, &seconds, diagnosis)
}

fn composed_of(load: &Load, seconds: &[Interval], diagnosis: &Diagnosis) -> RunRecord {
    composed_within(load, seconds, diagnosis, &[])
}

/// The same with the memory found by samples of this host.
fn composed_within(load: &Load, seconds: &[Interval], diagnosis: &Diagnosis, found: &[u64]) -> RunRecord {
    let plan = plan(load);
    let mut ledger = Ledger::new(&plan);
    for &rss_bytes in found {
        ledger.observe_host(&HostSample { rss_bytes, ..HostSample::default() });
    }
    let mut totals = Totals::new(&plan);
    for second in seconds {
        totals.add(second);
    }
    let environment = EnvironmentDoc {
        id: "7f3a21".to_owned(),
        command: "wavetank run localhost:8080".to_owned(),
        load: load_doc(&plan, true),
        engine: "epoll".to_owned(),
        ..EnvironmentDoc::default()
    };
    let thresholds = [
        result("p99 < 5ms", Some(6e10), Some(false)),
        result("done_rate > 1/s", Some(90.0), Some(true)),
        result("failed < 50%", Some(0.06), Some(true)),
        result("offered > 5", Some(400.0), Some(true)),
        result("p50(tls) < 1s", None, None),
    ];
    let events = [EventLine { kind: "phase_started".to_owned(), ..EventLine::default() }];
    compose(&Composition {
        plan: &plan,
        plan_hash: "ab12",
        environment: &environment,
        totals: &totals,
        observed: ledger.observed(),
        thresholds: &thresholds,
        diagnosis,
        cpu_s: (1.5, 0.25),
        peak_rss_bytes: 9_000_000,
        connection_memory: None,
        setup: Setup { sent: 1, done: 1, failed: 0 },
        before: &HookResult::default(),
        after: &HookResult::default(),
        samples: &[],
        events: &events,
        impacts: &[],
    })
}

fn closed() -> Load {
    Load::Closed { users: PopulationCurve::constant(50, None), sessions_each: None }
}

fn open() -> Load {
    let rate = RateCurve::constant(Rate::per_second(100), None);
    Load::Open { rate, arrivals: Arrivals::Even, requests_each: None }
}

#[test]
fn counts_and_rates_leave_the_warm_up_out() {
    let record = composed(&open());
    // Open: 4 seconds of main leave four more open than the two of warm-up; the gauge is per key.
    let expected =
        Requests { offered: 400, sent: 388, done: 360, failed: 24, late: 20, dropped: 12, open: 6 };
    assert_eq!(record.requests, expected);
    assert_eq!((record.rate.offered_per_s, record.rate.done_per_s), (Number(100.0), Number(90.0)));
    assert_eq!(record.duration_s, Number(4.0));
    assert_eq!(record.errors, [("request_timeout".to_owned(), 8), ("reset".to_owned(), 16)].into());
    assert_eq!(record.dropped_by, [("max_open".to_owned(), 12)].into());
    assert_eq!(record.status, [(200, 360)].into());
    assert_eq!((record.wire.sent, record.wire.retried), (392, 4));
    assert_eq!((record.bytes.sent, record.bytes.received), (40, 4_000));
    let warmup = record.warmup;
    assert_eq!(warmup.requests.expect("there was one").offered, 200);
    assert_eq!(warmup.wire.expect("there was one").sent, 196);
    assert_eq!((record.setup.sent, record.plan_hash.as_str(), record.seed), (1, "ab12", 7));
}

#[test]
fn times_are_microseconds_with_their_warnings() {
    let record = composed(&open());
    let response = record.response_us.spread.expect("there are some");
    assert_eq!((record.response_us.count, response.censored), (368, 8));
    assert_eq!((response.min, response.max), (Number(2_000.0), Number(60_000_000.0)));
    assert_eq!(response.mean, Number((360.0 * 2e6 + 8.0 * 6e10) / 368.0 / 1e3));
    // 12 of 400 dropped is 3 %, so everything above 97 % is unknown.
    assert_eq!(response.unknown, ["p99", "p99_9", "p99_99"]);
    assert_eq!(response.uncertain, ["p99", "p99_9", "p99_99"]);
    assert!(response.p50.0 >= 2_000.0 && response.p50.0 < 2_016.0, "{:?}", response.p50);
    assert_eq!((record.service_us.count, record.failed_us.count, record.connect_us.count), (360, 16, 4));
    assert_eq!(record.lag_us.spread.expect("there are some").max, Number(30.5));
    assert_eq!(record.wait_us.spread.expect("there are some").unknown, [""; 0]);
    assert_eq!((record.tls_us.count, record.tls_us.spread), (0, None));
}

/// The counts are of the whole run, including warm-up. Parameters not negotiated are in no map.
#[test]
fn the_fewest_held_are_those_of_whole_seconds() {
    let hold = Load::Hold { connections: PopulationCurve::constant(50, None), sessions_each: None };
    let check = |from: Nanos, expected: Option<u64>| {
        let mut part = Interval { from, len: Nanos::SECOND, ..Interval::default() };
        part.conns =
            ConnCounts { offered: 50, opened: 50, open: 48, lost: 2, peak: 50, ..ConnCounts::default() };
        let record = composed_of(&hold, &[part], &diagnosis());
        let phase = record.phases.last().and_then(|phase| phase.connections).expect("it holds");
        assert_eq!((phase.counts.opened, phase.counts.lost), (50, 2), "whatever time it had");
        assert_eq!((record.connections.held_min, phase.counts.held_min), (expected, expected), "{from:?}");
        let json = record.to_json();
        assert_eq!(json.contains("held_min"), expected.is_some(), "absent, and not 0: {json}");
    };
    check(Nanos::from_secs(3), Some(48));
    // The phase ended during it.
    check(Nanos::from_millis(3_500), None);
    assert_eq!(composed_of(&open(), &[], &diagnosis()).connections.held_min, Some(0), "none is to be held");
}

#[test]
fn handshakes_are_those_of_the_whole_run() {
    let tls = composed(&open()).tls.expect("there were handshakes");
    assert_eq!((tls.handshakes, tls.resumed, tls.failed), (6, 3, 12));
    assert_eq!(tls.version, [("TLSv1.2".to_owned(), 6)].into());
    assert!(tls.cipher.is_empty() && tls.group.is_empty() && tls.alpn.is_empty(), "{tls:?}");
}

#[test]
fn scopes_and_judgements_are_carried_over() {
    let record = composed(&closed());
    assert_eq!(record.phases.iter().map(|phase| phase.name.as_str()).collect::<Vec<_>>(), ["main"]);
    assert_eq!((record.phases[0].requests, record.phases[0].rate), (record.requests, record.rate));
    assert_eq!((record.steps.len(), record.scenarios.len()), (1, 1));
    assert_eq!((record.steps[0].name.as_str(), record.steps[0].requests), ("GET /", record.requests));
    let shown: Vec<_> =
        record.thresholds.iter().map(|shown| (shown.value, shown.unit.as_str(), shown.ok)).collect();
    assert_eq!(
        shown,
        [
            (Some(Number(6e7)), "us", Some(false)),
            (Some(Number(90.0)), "per_s", Some(true)),
            (Some(Number(0.06)), "share", Some(true)),
            (Some(Number(400.0)), "count", Some(true)),
            (None, "us", None),
        ]
    );
    assert_eq!(record.thresholds[4].why, "no sample");
    assert_eq!((record.verdict.exit, record.verdict.headline.as_str()), (1, "p99 60.0 s, not < 5ms"));
    assert_eq!((record.findings.len(), record.findings[0].hint.as_str()), (1, "raise the timeout"));
    assert_eq!((record.notes.len(), record.events.len()), (1, 1));
    let generator = record.generator;
    assert_eq!(
        (generator.busiest_thread, generator.threads, generator.engine.as_str()),
        (Number(0.25), 2, "epoll")
    );
    assert_eq!((record.connections.planned, record.connections.opened, record.connections.peak), (50, 6, 7));
}

#[test]
fn the_load_is_shown_as_text() {
    for (load, defaults, model, text) in [
        (closed(), true, "closed", "50 connections, 4 s, closed loop, after 2 s of warm-up"),
        (
            open(),
            false,
            "open",
            "100 req/s evenly, 4 s, open loop over at most 50 connections, after 2 s of warm-up",
        ),
    ] {
        let doc = load_doc(&plan(&load), defaults);
        assert_eq!((doc.model.as_str(), doc.text.as_str(), doc.defaults), (model, text, defaults));
    }
}

/// The think time, and the response time, determine how often each user sends.
#[test]
fn think_time_is_shown_where_the_load_waits_for_it() {
    let check = |load: &Load, thoughts: &[Think], shown: &str| {
        let mut plan = plan(load);
        plan.scenarios[0].journey.extend(thoughts.iter().copied().map(Action::Think));
        assert_eq!(load_doc(&plan, false).text, format!("{shown}, after 2 s of warm-up"));
    };
    let mean = Nanos::from_secs(1);
    let (second, drawn) = (Think::Fixed(mean), Think::Exponential { mean });
    check(&closed(), &[second, second], "50 connections, 4 s, closed loop, each session thinks 2 s");
    check(&closed(), &[second, drawn], "50 connections, 4 s, closed loop");
    check(&open(), &[second], "100 req/s evenly, 4 s, open loop over at most 50 connections");
}

/// A rate of sessions must not be read as a rate of requests.
#[test]
fn sessions_of_several_requests_are_shown_as_sessions() {
    let check = |journey: &[Action], text: &str| {
        let mut plan = plan(&open());
        plan.scenarios[0].journey = journey.to_vec();
        let open = "4 s, open loop over at most 50 connections, after 2 s of warm-up";
        assert_eq!(load_doc(&plan, false).text, format!("{text}, {open}"));
    };
    let request = || vec![Action::Request(0)];
    check(&request(), "100 req/s evenly");
    check(&[request(), request()].concat(), "sessions at 100/s evenly, each of 2 requests");
    check(&[Action::Repeat(3, request())], "sessions at 100/s evenly, each of 3 requests");
    let ways = [(1, request()), (2, Vec::new())].map(|(weight, steps)| Choice { weight, steps });
    check(&[Action::Choose(ways.into())], "sessions at 100/s evenly");
}

#[test]
fn several_phases_are_shown_with_their_names() {
    let mut plan = plan(&closed());
    let last = plan.phases.last().expect("the measured phase").clone();
    plan.phases.push(Phase { name: "again".to_owned(), ..last });
    let expected = "main: 50 connections, 4 s, closed loop; again: 50 connections, 4 s, closed loop; after 2 s of warm-up";
    assert_eq!(load_doc(&plan, false).text, expected);
}

/// A run that passed suggests what to try next; one that failed has its findings.
#[test]
fn advice_follows_a_pass_only() {
    assert_eq!(composed(&closed()).next, [""; 0]);
    let verdict = Verdict { status: Status::Pass, reasons: Vec::new(), blame: Blame::None };
    let passed = Diagnosis { verdict, exit: ExitCode::Pass, ..diagnosis() };
    let next = composed_with(&closed(), &passed).next;
    assert_eq!(next, ["response times at a fixed rate: wavetank run localhost:8080 -r 45/s"]);
    assert_eq!(composed_with(&open(), &passed).next, [""; 0], "its rate is fixed already");
}

/// The kernel updates its own peak later than the current value.
#[test]
fn no_sample_found_more_memory_than_the_most() {
    let check = |found: &[u64], expected: u64| {
        let record = composed_within(&open(), &[second(0, 1)], &diagnosis(), found);
        assert_eq!(record.generator.peak_rss_bytes, expected, "{found:?}");
    };
    check(&[], 9_000_000);
    check(&[8_000_000, 8_900_000], 9_000_000);
    check(&[9_225_472, 9_000_000], 9_225_472);
}
