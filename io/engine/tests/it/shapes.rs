//! Tests loads of every shape on real load threads, against scripted targets.

use crate::support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use support::{engines, plain_plan, run};
use wavetank_measure::{ConnCounts, Interval};
use wavetank_plan::{
    Action, Arrivals, EngineChoice, Load, Phase, Plan, PopulationCurve, RateCurve, ScenarioMix, Think,
};
use wavetank_testkit::{Accept, Script, ScriptAction, Target};
use wavetank_units::{Nanos, Rate};

const fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

/// Returns a plan of `loads`, one after the other, on two threads.
fn plan(address: SocketAddr, loads: Vec<(Load, Option<Nanos>)>) -> Plan {
    let mut plan = plain_plan(address);
    let base = plan.phases.remove(0);
    let mut start = Nanos::ZERO;
    for (load, length) in loads {
        let connections = load.levels().map_or(100, PopulationCurve::max);
        let open_before = false;
        plan.phases.push(Phase {
            load,
            start,
            length,
            connections,
            max_open: 1_000,
            open_before,
            ..base.clone()
        });
        start = start.after(length.unwrap_or(Nanos::ZERO));
    }
    plan
}

fn for_its_time(load: Load) -> (Load, Option<Nanos>) {
    let length = match &load {
        Load::Open { rate, .. } => Some(rate.length()),
        other => other.levels().map(PopulationCurve::length),
    };
    (load, length)
}

fn open(rate: RateCurve) -> Load {
    Load::Open { rate, arrivals: Arrivals::Even, requests_each: None }
}

fn users(users: PopulationCurve) -> Load {
    Load::Closed { users, sessions_each: None }
}

fn hold(connections: PopulationCurve) -> Load {
    Load::Hold { connections, sessions_each: None }
}

fn ramp(begin: u64, end: u64, millis: i64) -> PopulationCurve {
    PopulationCurve::ramp(begin, end, ms(millis)).expect("a ramp")
}

/// Returns offered and successful requests of a phase (or all), and of a scenario (or all).
fn offered(intervals: &[Interval], phase: Option<u16>, scenario: Option<u16>) -> (u64, u64) {
    let wanted = |phase_of: u16, scenario_of: u16| {
        phase.is_none_or(|phase| phase == phase_of) && scenario.is_none_or(|scenario| scenario == scenario_of)
    };
    let series = intervals.iter().flat_map(|interval| &interval.steps);
    let series = series.filter(|series| wanted(series.key.phase, series.key.scenario));
    series.fold((0, 0), |sum, series| (sum.0 + series.counters.offered, sum.1 + series.counters.done))
}

fn conns(intervals: &[Interval]) -> ConnCounts {
    let mut all = ConnCounts::default();
    for interval in intervals {
        all.merge(&interval.conns);
    }
    all
}

/// Returns the interval sealed at `at`.
fn sealed_at(intervals: &[Interval], at: Nanos) -> &Interval {
    intervals.iter().find(|interval| interval.end() == at).expect("a seal at the phase's end")
}

fn quick() -> Script {
    Script::constant(Duration::from_millis(5))
}

#[test]
fn users_come_and_go_and_carry_over() {
    let target = Target::start(quick());
    let loads = [ramp(0, 20, 500), PopulationCurve::constant(20, Some(ms(500))), ramp(20, 5, 500)];
    let intervals = run(plan(target.address(), loads.map(users).map(for_its_time).into()));
    let at = |millis| sealed_at(&intervals, ms(millis)).users;
    assert_eq!((at(500), at(1_000)), (20, 20));
    // They leave after their current request.
    assert!((5..=9).contains(&at(1_500)), "{} users", at(1_500));
    let conns = conns(&intervals);
    assert_eq!((conns.opened, conns.lost, conns.failed), (20, 0, 0), "{conns:?}");
    let truth = target.truth();
    assert_eq!((truth.connections, truth.requests), (20, offered(&intervals, None, None).1));
    for phase in 0..3 {
        assert!(offered(&intervals, Some(phase), None).0 > 100, "phase {phase} has its own requests");
    }
}

#[test]
fn silent_connections_are_opened_held_and_let_go() {
    engines().into_iter().for_each(check_silent);
}

fn check_silent(engine: EngineChoice) {
    let target = Target::start(quick());
    let loads = [ramp(0, 30, 500), PopulationCurve::constant(30, Some(ms(700))), ramp(30, 10, 500)];
    let mut plan = plan(target.address(), loads.map(hold).map(for_its_time).into());
    plan.engine = engine;
    plan.scenarios[0].steps.clear();
    plan.scenarios[0].journey.clear();
    let intervals = run(plan);
    let at = |millis| sealed_at(&intervals, ms(millis)).conns.open;
    assert!((25..=30).contains(&at(500)), "{} open", at(500));
    assert_eq!((at(1_000), at(1_200)), (30, 30));
    assert!((10..=14).contains(&at(1_700)), "{} open", at(1_700));
    let conns = conns(&intervals);
    assert_eq!((conns.offered, conns.opened, conns.lost, conns.reopened), (30, 30, 0, 0), "{conns:?}");
    let last = intervals.last().expect("an interval");
    assert_eq!((conns.closed, last.conns.open, last.users), (30, 0, 0), "all are let go at the end");
    assert_eq!((target.truth().connections, target.truth().requests), (30, 0));
}

#[test]
fn held_connections_repeat_their_scenario() {
    let target = Target::start(quick());
    let loads = vec![
        for_its_time(hold(ramp(0, 10, 300))),
        for_its_time(hold(PopulationCurve::constant(10, Some(ms(500))))),
    ];
    let intervals = run(plan(target.address(), loads));
    let (offered, done) = offered(&intervals, None, None);
    assert!(offered == done && offered > 300, "{offered} offered, {done} done");
    let (truth, conns) = (target.truth(), conns(&intervals));
    assert_eq!((truth.connections, truth.requests, conns.opened, conns.lost), (10, done, 10, 0));
}

#[test]
fn lost_connections_are_opened_again_once_a_second() {
    engines().into_iter().for_each(check_lost);
}

fn check_lost(engine: EngineChoice) {
    // Each connection ends 200 ms after it was opened: at 0.2 s, and, reopened at 1 s, at 1.2 s.
    let ending = vec![ScriptAction::Wait(Duration::from_millis(200)), ScriptAction::Close];
    let target = Target::start(quick().greeting(ending));
    let mut plan =
        plan(target.address(), vec![for_its_time(hold(PopulationCurve::constant(5, Some(ms(1_600)))))]);
    plan.engine = engine;
    plan.scenarios[0].steps.clear();
    plan.scenarios[0].journey.clear();
    let intervals = run(plan);
    let conns = conns(&intervals);
    assert_eq!((conns.opened, conns.reopened, conns.lost), (10, 5, 10), "{conns:?}");
    // A connection that cannot be opened is tried again as well, and does not count as lost.
    let target = Target::start(quick().accepting(Accept::Refuse));
    let refused =
        self::plan(target.address(), vec![for_its_time(hold(PopulationCurve::constant(3, Some(ms(1_500)))))]);
    let intervals = run(Plan { engine, ..refused });
    let conns = self::conns(&intervals);
    assert_eq!((conns.offered, conns.failed, conns.opened, conns.lost), (6, 6, 0, 0), "{conns:?}");
    assert_eq!(offered(&intervals, None, None), (0, 0), "no user sends without its connection");
}

#[test]
fn a_user_dismissed_in_a_request_does_not_think_after_it() {
    let target = Target::start(Script::constant(Duration::from_millis(400)));
    let loads = [PopulationCurve::constant(10, Some(ms(200))), ramp(10, 0, 100)];
    let mut plan = plan(target.address(), loads.map(hold).map(for_its_time).into());
    plan.scenarios[0].journey.push(Action::Think(Think::Fixed(Nanos::from_secs(60))));
    let intervals = run(plan);
    let last = intervals.last().expect("an interval");
    assert!(last.end() < Nanos::from_secs(10), "they thought until {:?}", last.end());
    let conns = conns(&intervals);
    assert_eq!((offered(&intervals, None, None), conns.closed, last.conns.open), ((10, 10), 10, 0));
}

#[test]
fn users_of_a_later_phase_find_their_connections_open() {
    let target = Target::start(quick());
    let loads =
        vec![(Load::Pause, Some(ms(500))), for_its_time(users(PopulationCurve::constant(10, Some(ms(200)))))];
    let mut plan = plan(target.address(), loads);
    // The first connection is opened 200 ms before the phase, the last one 20 ms before it.
    (plan.phases[1].open_before, plan.open_rate) = (true, Rate::per_second(50));
    let intervals = run(plan);
    assert_eq!(sealed_at(&intervals, ms(500)).conns.open, 10);
    let (conns, (_, done)) = (conns(&intervals), offered(&intervals, None, None));
    assert_eq!((conns.opened, conns.lost, target.truth().requests), (10, 0, done));
}

#[test]
fn arrivals_follow_curves_traces_and_pauses() {
    let target = Target::start(quick());
    let times: Arc<[Nanos]> = [0, 0, 10, 90, 400].map(ms).into();
    let climb = RateCurve::ramp(Rate::per_second(0), Rate::per_second(400), ms(500)).expect("a ramp");
    let wave = RateCurve::wave(Rate::per_second(0), Rate::per_second(400), ms(250), ms(500)).expect("a wave");
    let loads = vec![
        for_its_time(open(climb)),
        (Load::Pause, Some(ms(100))),
        for_its_time(open(wave)),
        (Load::Trace { times }, Some(ms(300))),
    ];
    let mut plan = plan(target.address(), loads);
    // Runs in parallel to all of them.
    let beside = RateCurve::constant(Rate::per_second(100), Some(ms(1_000)));
    let beside =
        Phase { load: open(beside), start: ms(50), length: Some(ms(1_000)), ..plan.phases[0].clone() };
    plan.phases.push(Phase { sessions_max: Some(70), ..beside });
    let intervals = run(plan);
    let phases: Vec<u64> = (0..5).map(|phase| offered(&intervals, Some(phase), None).0).collect();
    assert_eq!(phases, [100, 0, 100, 4, 70]);
    assert_eq!(target.truth().requests, 274);
}

#[test]
fn counted_sessions_end_a_phase() {
    let target = Target::start(quick());
    let each = Load::Closed { users: PopulationCurve::constant(4, None), sessions_each: Some(3) };
    let intervals = run(plan(target.address(), vec![(each, None)]));
    assert_eq!(offered(&intervals, None, None), (12, 12));
    let mut capped = plan(target.address(), vec![(users(PopulationCurve::constant(4, None)), None)]);
    capped.phases[0].sessions_max = Some(10);
    assert_eq!(offered(&run(capped), None, None), (10, 10));
    // Users that have run all their sessions return in the next phase.
    let each = Load::Closed { users: PopulationCurve::constant(4, Some(ms(300))), sessions_each: Some(3) };
    let twice = run(plan(target.address(), vec![(each.clone(), Some(ms(300))), (each, Some(ms(300)))]));
    assert_eq!(offered(&twice, None, None), (24, 24));
    assert_eq!(twice.iter().map(|interval| interval.users).max(), Some(0), "they are gone at each seal");
}

#[test]
fn held_connections_may_have_a_number_of_sessions_each() {
    engines().into_iter().for_each(check_each);
}

fn check_each(engine: EngineChoice) {
    let target = Target::start(quick());
    let each = |length: Option<Nanos>| {
        let connections = PopulationCurve::constant(6, length);
        (Load::Hold { connections, sessions_each: Some(4) }, length)
    };
    let intervals = run(Plan { engine, ..plan(target.address(), vec![each(None)]) });
    let counted = conns(&intervals);
    assert_eq!(offered(&intervals, None, None), (24, 24), "{engine:?}");
    assert_eq!((counted.opened, counted.closed, counted.lost, counted.reopened), (6, 6, 0, 0), "{engine:?}");
    assert_eq!((target.truth().connections, target.truth().requests), (6, 24));
    // A user that has run all its sessions closes its connection long before the end of the phase.
    // It is not reopened.
    let long = run(Plan { engine, ..plan(target.address(), vec![each(Some(ms(1_500)))]) });
    assert_eq!(sealed_at(&long, ms(1_000)).conns.open, 0, "{engine:?}");
    let counted = conns(&long);
    assert_eq!((counted.opened, counted.closed, counted.lost, counted.reopened), (6, 6, 0, 0), "{engine:?}");
    assert_eq!(offered(&long, None, None), (24, 24), "{engine:?}");
}

#[test]
fn a_mix_is_the_same_on_any_number_of_threads() {
    let target = Target::start(quick());
    let mix = ScenarioMix::new(vec![(0, 3), (1, 1)]).expect("a mix");
    let counts = |load: Load, threads: u32| {
        let mut plan = plan(target.address(), vec![for_its_time(load)]);
        plan.scenarios.push(plan.scenarios[0].clone());
        (plan.threads, plan.phases[0].mix) = (threads, mix.clone());
        let intervals = run(plan);
        [0, 1].map(|scenario| offered(&intervals, None, Some(scenario)).0)
    };
    let rate = || open(RateCurve::constant(Rate::per_second(400), Some(ms(500))));
    let sessions = counts(rate(), 1);
    assert_eq!((sessions[0] + sessions[1], counts(rate(), 2)), (200, sessions));
    assert!((120..=175).contains(&sessions[0]), "{sessions:?}");
    let each =
        || Load::Closed { users: PopulationCurve::constant(40, Some(ms(500))), sessions_each: Some(1) };
    let sessions = counts(each(), 1);
    assert_eq!((sessions[0] + sessions[1], counts(each(), 2)), (40, sessions));
    assert!((20..=38).contains(&sessions[0]), "{sessions:?}");
}
