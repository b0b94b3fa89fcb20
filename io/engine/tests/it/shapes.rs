//! Tests loads of every shape on real load threads, against scripted targets.

use crate::support;

use std::net::SocketAddr;
use std::time::Duration;

use support::{engines, plain_plan, run};
use wavetank_measure::{ConnCounts, Interval};
use wavetank_plan::{Arrivals, EngineChoice, Load, Phase, Plan, PopulationCurve, RateCurve, ScenarioMix};
use wavetank_testkit::{Script, Target};
use wavetank_units::{Nanos, Rate};

const fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

/// Returns a plan of `loads`, one after the other, on two threads.
pub(crate) fn plan(address: SocketAddr, loads: Vec<(Load, Option<Nanos>)>) -> Plan {
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

pub(crate) fn for_its_time(load: Load) -> (Load, Option<Nanos>) {
    let length = match &load {
        Load::Open { rate, .. } => Some(rate.length()),
        other => other.levels().map(PopulationCurve::length),
    };
    (load, length)
}

pub(crate) fn open(rate: RateCurve) -> Load {
    Load::Open { rate, arrivals: Arrivals::Even, requests_each: None }
}

pub(crate) fn users(users: PopulationCurve) -> Load {
    Load::Closed { users, sessions_each: None }
}

pub(crate) fn hold(connections: PopulationCurve) -> Load {
    Load::Hold { connections, sessions_each: None }
}

pub(crate) fn ramp(begin: u64, end: u64, millis: i64) -> PopulationCurve {
    PopulationCurve::ramp(begin, end, ms(millis)).expect("a ramp")
}

/// Returns offered and successful requests of a phase (or all), and of a scenario (or all).
pub(crate) fn offered(intervals: &[Interval], phase: Option<u16>, scenario: Option<u16>) -> (u64, u64) {
    let wanted = |phase_of: u16, scenario_of: u16| {
        phase.is_none_or(|phase| phase == phase_of) && scenario.is_none_or(|scenario| scenario == scenario_of)
    };
    let series = intervals.iter().flat_map(|interval| &interval.steps);
    let series = series.filter(|series| wanted(series.key.phase, series.key.scenario));
    series.fold((0, 0), |sum, series| (sum.0 + series.counters.offered, sum.1 + series.counters.done))
}

pub(crate) fn conns(intervals: &[Interval]) -> ConnCounts {
    let mut all = ConnCounts::default();
    for interval in intervals {
        all.merge(&interval.conns);
    }
    all
}

/// Returns the interval sealed at `at`.
pub(crate) fn sealed_at(intervals: &[Interval], at: Nanos) -> &Interval {
    intervals.iter().find(|interval| interval.end() == at).expect("a seal at the phase's end")
}

fn quick() -> Script {
    Script::constant(Duration::from_millis(5))
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
