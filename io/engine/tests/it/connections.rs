//! Which connection a session uses, counted reliably by the targets.

use crate::support;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use support::{engines, plain_plan, run};
use wavetank_measure::{ConnCounts, Interval};
use wavetank_plan::{
    Action, Arrivals, ConnectionOwner, EngineChoice, Escape, Expr, Hole, Load, OnFailure, PickOrder, Plan,
    PopulationCurve, RateCurve, RequestPlan, Scenario, ScenarioMix, Step, TargetSelection, TemplatePart,
    Think,
};
use wavetank_testkit::{Accept, Script, ScriptAction, Target, TimingMismatch, expect_time, retry_timing};
use wavetank_units::{Nanos, Rate};

/// Requests of a session.
const REQUESTS: u64 = 3;

fn get(target: usize) -> Step {
    let request = RequestPlan { method: "GET".to_owned(), path: "/".into(), ..RequestPlan::default() };
    Step::plain("GET /", target, request)
}

/// Returns a scenario with sessions of `requests` requests, each to the next of `targets` targets.
fn scenario(connection: ConnectionOwner, targets: usize, requests: u64) -> Scenario {
    let steps = (0..requests as usize).map(|step| get(step % targets)).collect();
    Scenario::from_steps("s", connection, steps)
}

fn plan(addresses: &[SocketAddr], scenario: Scenario, load: Load, engine: EngineChoice) -> Plan {
    let mut plan = plain_plan(addresses[0]);
    let first = plan.targets[0].clone();
    let target = |address: &SocketAddr| wavetank_plan::Target {
        name: address.to_string(),
        addresses: vec![*address],
        ..first.clone()
    };
    plan.targets = addresses.iter().map(target).collect();
    (plan.engine, plan.scenarios) = (engine, vec![scenario]);
    let phase = &mut plan.phases[0];
    phase.length = Some(match &load {
        Load::Open { rate, .. } => rate.length(),
        other => other.levels().map_or(Nanos::SECOND, PopulationCurve::length),
    });
    phase.connections = load.levels().map_or(50, PopulationCurve::max);
    (phase.mix, phase.load, phase.open_before, phase.max_open) = (ScenarioMix::one(0), load, false, 1_000);
    plan
}

fn users(count: u64, millis: i64) -> Load {
    let users = PopulationCurve::constant(count, Some(Nanos::from_millis(millis)));
    Load::Closed { users, sessions_each: None }
}

fn arrivals(per_second: u64, millis: i64) -> Load {
    let rate = RateCurve::constant(Rate::per_second(per_second), Some(Nanos::from_millis(millis)));
    Load::Open { rate, arrivals: Arrivals::Even, requests_each: None }
}

fn conns(intervals: &[Interval]) -> ConnCounts {
    let mut all = ConnCounts::default();
    for interval in intervals {
        all.merge(&interval.conns);
    }
    all
}

fn done(intervals: &[Interval]) -> u64 {
    intervals.iter().flat_map(|interval| &interval.steps).map(|series| series.counters.done).sum()
}

/// The effects of a load: the connections that each target saw, and the requests that all of them
/// saw.
struct Seen {
    connections: Vec<u64>,
    requests: u64,
    counted: ConnCounts,
}

/// Checks that every connection is accounted for and that none was lost.
fn seen(
    connection: ConnectionOwner,
    targets: usize,
    requests: u64,
    load: Load,
    engine: EngineChoice,
) -> Result<Seen, TimingMismatch> {
    let all: Vec<Target> =
        (0..targets).map(|_| Target::start(Script::constant(Duration::from_millis(3)))).collect();
    let addresses: Vec<SocketAddr> = all.iter().map(Target::address).collect();
    let intervals = run(plan(&addresses, scenario(connection, targets, requests), load, engine));
    let truths: Vec<_> = all.iter().map(Target::truth).collect();
    let counted = conns(&intervals);
    let seen = Seen {
        connections: truths.iter().map(|truth| truth.connections).collect(),
        requests: truths.iter().map(|truth| truth.requests).sum(),
        counted,
    };
    assert_eq!(seen.requests, done(&intervals), "{connection:?}: all were answered");
    let series = intervals.iter().flat_map(|interval| &interval.steps);
    let dropped: u64 = series.map(|series| series.counters.dropped_by.iter().sum::<u64>()).sum();
    // A session that starts more than a second late is dropped.
    expect_time(dropped == 0, || format!("{connection:?}: {dropped} were dropped"))?;
    assert_eq!(seen.requests % requests, 0, "{connection:?}: every session ran to its end");
    assert_eq!(counted.opened, seen.connections.iter().sum::<u64>(), "{connection:?}: {counted:?}");
    assert_eq!((counted.lost, counted.failed), (0, 0), "{connection:?}: {counted:?}");
    assert_eq!(intervals.last().expect("an interval").conns.open, 0, "{connection:?}: none is left");
    assert_eq!(counted.closed, counted.opened, "{connection:?}: {counted:?}");
    Ok(seen)
}

fn on_both(test: fn(EngineChoice)) {
    engines().into_iter().for_each(test);
}

#[test]
fn sessions_that_arrive() {
    on_both(|engine| {
        retry_timing(|| {
            for requests in [1, REQUESTS] {
                let seen = |connection| seen(connection, 1, requests, arrivals(200, 400), engine);
                for (connection, each) in [
                    (ConnectionOwner::User, 1),
                    (ConnectionOwner::Session, 1),
                    (ConnectionOwner::Request, requests),
                ] {
                    let seen = seen(connection)?;
                    assert_eq!(
                        (seen.requests, seen.connections),
                        (80 * requests, vec![80 * each]),
                        "{connection:?}"
                    );
                }
                let shared = seen(ConnectionOwner::Shared)?;
                assert_eq!(shared.requests, 80 * requests);
                assert!(shared.connections[0] <= 50, "{:?} of 50", shared.connections);
            }
            Ok(())
        });
    });
}

#[test]
fn users_who_repeat_their_sessions() {
    on_both(|engine| {
        retry_timing(|| {
            for requests in [1, REQUESTS] {
                let seen = |connection| seen(connection, 1, requests, users(6, 300), engine);
                let user = seen(ConnectionOwner::User)?;
                assert_eq!(user.connections, [6]);
                expect_time(user.requests > 6 * requests, || format!("{}: no user repeats", user.requests))?;
                let session = seen(ConnectionOwner::Session)?;
                assert_eq!(session.connections, [session.requests / requests]);
                let request = seen(ConnectionOwner::Request)?;
                assert_eq!(request.connections, [request.requests]);
                let shared = seen(ConnectionOwner::Shared)?;
                assert!(shared.connections[0] <= 6, "{:?} of 6", shared.connections);
                assert!(shared.counted.peak <= 6, "{:?}", shared.counted);
            }
            Ok(())
        });
    });
}

#[test]
fn each_target_has_its_own_connections() {
    on_both(|engine| {
        retry_timing(|| {
            let seen_by = |connection, load| seen(connection, 2, 4, load, engine);
            assert_eq!(seen_by(ConnectionOwner::User, arrivals(200, 200))?.connections, [40, 40]);
            assert_eq!(seen_by(ConnectionOwner::Request, arrivals(200, 200))?.connections, [80, 80]);
            assert_eq!(seen_by(ConnectionOwner::User, users(5, 200))?.connections, [5, 5]);
            let session = seen_by(ConnectionOwner::Session, users(5, 200))?;
            assert_eq!(session.connections, [session.requests / 4; 2]);
            let request = seen_by(ConnectionOwner::Request, users(5, 200))?;
            assert_eq!(request.connections, [request.requests / 2; 2]);
            let shared = seen_by(ConnectionOwner::Shared, arrivals(200, 200))?;
            assert!(shared.counted.peak <= 50 && shared.connections.iter().all(|&count| count > 0));
            Ok(())
        });
    });
}

#[test]
fn a_pool_too_small_for_all_targets_goes_from_one_to_the_other() {
    on_both(|engine| {
        let all: Vec<Target> =
            (0..3).map(|_| Target::start(Script::constant(Duration::from_millis(1)))).collect();
        let addresses: Vec<SocketAddr> = all.iter().map(Target::address).collect();
        let mut plan = plan(&addresses, scenario(ConnectionOwner::Shared, 3, 6), arrivals(100, 300), engine);
        (plan.threads, plan.phases[0].connections) = (1, 2);
        let intervals = run(plan);
        let counted = conns(&intervals);
        assert_eq!(done(&intervals), 180, "no session starves: {counted:?}");
        assert!(counted.peak <= 2 && counted.lost == 0, "{counted:?}");
        let truths: Vec<_> = all.iter().map(Target::truth).collect();
        assert!(truths.iter().all(|truth| truth.requests == 60), "{truths:?}");
    });
}

/// Returns the target of each session, from the Host of its requests: (target, session), sorted.
fn gone(order: PickOrder, threads: u32, connection: ConnectionOwner) -> Vec<(String, String)> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let target = |name: &'static str| {
        let all = Arc::clone(&seen);
        Target::start(Script::new(move |seen| {
            assert_eq!(seen.field("host"), Some(name), "the Host is that of the target");
            all.lock().expect("no thread panics with it").push((name.to_owned(), seen.path.clone()));
            vec![ScriptAction::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec())]
        }))
    };
    let all = ["one", "two", "three"].map(target);
    let addresses = all.each_ref().map(Target::address);
    let mut scenario = scenario(connection, 1, 2);
    for step in &mut scenario.steps {
        step.request
            .path
            .pieces
            .push(TemplatePart::Hole(Hole { value: Expr::Session, escape: Escape::Plain }));
    }
    let mut plan = plan(&addresses, scenario, arrivals(300, 200), EngineChoice::Epoll);
    for (target, name) in plan.targets.iter_mut().zip(["one", "two", "three"]) {
        name.clone_into(&mut target.host);
    }
    let named = plan.targets[0].clone();
    let of = ScenarioMix::new(vec![(1, 1), (2, 1), (3, 2)]).expect("a mix");
    plan.targets.insert(0, wavetank_plan::Target { pick: Some(TargetSelection { order, of }), ..named });
    plan.threads = threads;
    let intervals = run(plan);
    assert_eq!(done(&intervals), 120);
    drop(all);
    let mut seen = seen.lock().expect("no thread panics with it").clone();
    seen.sort_unstable();
    seen
}

#[test]
fn which_target_a_session_goes_to_is_no_matter_of_threads() {
    for order in [PickOrder::InTurn, PickOrder::Random] {
        let one = gone(order, 1, ConnectionOwner::User);
        let of = |name: &str| one.iter().filter(|(target, _)| target == name).count();
        if order == PickOrder::InTurn {
            assert_eq!((of("one"), of("two"), of("three")), (40, 40, 40));
        } else {
            // 60 sessions with weights 1, 1, 2.
            assert!(of("one") > 0 && of("two") > 0 && of("three") > 30, "{one:?}");
        }
        for pair in one.chunks(2) {
            assert_eq!(pair[0], pair[1], "both requests of a session go to one target");
        }
        assert_eq!(gone(order, 2, ConnectionOwner::Shared), one);
        assert_eq!(gone(order, 7, ConnectionOwner::Request), one);
    }
}

#[test]
fn who_leaves_closes_all_that_he_has() {
    let all = [(); 2].map(|()| Target::start(Script::constant(Duration::from_millis(1))));
    let addresses = all.each_ref().map(Target::address);
    let mut scenario = scenario(ConnectionOwner::User, 2, 2);
    scenario.journey.push(Action::Think(Think::Fixed(Nanos::from_secs(2))));
    let falling = PopulationCurve::ramp(20, 0, Nanos::from_millis(400)).expect("a ramp");
    let load = Load::Closed { users: falling, sessions_each: None };
    let intervals = run(plan(&addresses, scenario, load, EngineChoice::Epoll));
    let early = intervals.iter().filter(|interval| interval.end() <= Nanos::SECOND);
    let closed: u64 = early.map(|interval| interval.conns.closed).sum();
    assert!(closed >= 36, "{closed} of 40 connections were closed while their users thought");
}

/// Runs `sessions` of two requests, all of which fail, against a target with this script. Nothing
/// may be left afterwards.
fn check_failing(what: &str, script: Script, connection: ConnectionOwner, engine: EngineChoice) {
    const SESSIONS: u64 = 10_000;
    let target = Target::start(script);
    let mut scenario = scenario(connection, 1, 2);
    scenario.on_failure = OnFailure::EndSession;
    let mut plan = plan(&[target.address()], scenario, arrivals(5_000, 2_000), engine);
    plan.http.timeout = Nanos::from_millis(100);
    plan.http.connect_timeout = Nanos::from_millis(100);
    plan.phases[0].max_open = SESSIONS;
    let intervals = run(plan);
    let counted = conns(&intervals);
    let first: Vec<_> =
        intervals.iter().flat_map(|interval| &interval.steps).filter(|series| series.key.step == 0).collect();
    let sum = |count: fn(&wavetank_measure::StepSeries) -> u64| {
        first.iter().map(|series| count(series)).sum::<u64>()
    };
    let (offered, failed) = (sum(|series| series.counters.offered), sum(|series| series.counters.failed()));
    let dropped = sum(|series| series.counters.dropped_by.iter().sum());
    assert_eq!((offered, failed + dropped), (SESSIONS, SESSIONS), "{what}, {engine:?}: {counted:?}");
    assert!(failed > SESSIONS / 2, "{what}, {engine:?}: {failed} failed");
    let last = intervals.last().expect("an interval").conns;
    assert_eq!((last.open, last.opening), (0, 0), "{what}, {engine:?}: {counted:?}");
    // A session's own connections are closed before the end of the load.
    let before = intervals.iter().rev().nth(1).expect("a second before the last").conns;
    assert!(before.open <= 1_500, "{what}, {engine:?}: {before:?}");
    assert_eq!(counted.offered, counted.opened + counted.failed, "{what}, {engine:?}: {counted:?}");
    assert_eq!(counted.opened, counted.closed + counted.lost, "{what}, {engine:?}: {counted:?}");
    assert!(counted.offered <= failed, "{what}, {engine:?}: one connection for each session: {counted:?}");
}

#[test]
fn nothing_is_left_of_ten_thousand_journeys_that_fail() {
    on_both(|engine| {
        let cut = Script::new(|_| {
            vec![
                ScriptAction::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".to_vec()),
                ScriptAction::Reset,
            ]
        });
        check_failing("reset in the answer", cut, ConnectionOwner::User, engine);
        check_failing("silence", Script::silence(), ConnectionOwner::Session, engine);
    });
    let refused = Script::reset().accepting(Accept::Refuse);
    check_failing("refused", refused, ConnectionOwner::User, EngineChoice::Epoll);
}

#[test]
fn a_step_has_its_own_time() {
    on_both(|engine| {
        let target = Target::start(Script::silence());
        for connection in [ConnectionOwner::User, ConnectionOwner::Shared] {
            let mut scenario = scenario(connection, 1, 2);
            scenario.steps[0].timeout = Some(Nanos::from_millis(50));
            scenario.steps[1].timeout = Some(Nanos::from_millis(200));
            retry_timing(|| {
                let intervals = run(plan(&[target.address()], scenario.clone(), arrivals(100, 100), engine));
                for (step, low, high) in [(0, 50, 150), (1, 200, 350)] {
                    let all: Vec<_> = intervals.iter().flat_map(|interval| &interval.steps).collect();
                    let mine: Vec<_> = all.iter().filter(|series| series.key.step == step).collect();
                    let timed_out: u64 = mine.iter().map(|series| series.counters.failed()).sum();
                    assert_eq!(timed_out, 10, "step {step}");
                    let (least, most) = mine.iter().filter(|series| series.response.count() > 0).fold(
                        (u64::MAX, 0),
                        |(least, most), series| {
                            (least.min(series.response.min()), most.max(series.response.max()))
                        },
                    );
                    let (least, most) = (least / 1_000_000, most / 1_000_000);
                    assert!(least >= low, "{connection:?}, step {step}: {least} to {most} ms");
                    expect_time(most <= high, || {
                        format!("{connection:?}, step {step}: {least} to {most} ms")
                    })?;
                }
                Ok(())
            });
        }
    });
}
