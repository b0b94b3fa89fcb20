//! Changes of the load of a running phase: which phase takes them, and what it is then.

use std::net::SocketAddr;

use wavetank_plan::{
    Arrivals, Load, LoadChange, LoadChangeError, MaxOpenLimit, Phase, Plan, PopulationCurve, RateCurve,
    ScenarioMix, TargetUrl,
};
use wavetank_units::{Nanos, Rate};

const fn s(seconds: i64) -> Nanos {
    Nanos::from_secs(seconds)
}

fn plan() -> Plan {
    let url = TargetUrl::parse("127.0.0.1:8080/").expect("a URL");
    let addresses = [SocketAddr::from(([127, 0, 0, 1], 8_080))];
    Plan::for_tests(&url, &addresses)
}

fn phase(name: &str, start: i64, load: Load) -> Phase {
    Phase {
        name: name.to_owned(),
        warmup: false,
        start: s(start),
        length: Some(s(10)),
        requests_max: None,
        sessions_max: None,
        load,
        mix: ScenarioMix::one(0),
        max_open: 100,
        max_open_by: MaxOpenLimit::Plan,
        connections: 10,
        open_before: false,
    }
}

fn open(rate: u64, requests_each: Option<u64>) -> Load {
    let rate = RateCurve::constant(Rate::per_second(rate), Some(s(10)));
    Load::Open { rate, arrivals: Arrivals::Even, requests_each }
}

fn closed(users: u64) -> Load {
    Load::Closed { users: PopulationCurve::constant(users, Some(s(10))), sessions_each: None }
}

fn hold(connections: u64) -> Load {
    Load::Hold { connections: PopulationCurve::constant(connections, Some(s(10))), sessions_each: None }
}

/// Changes the load at `at` and expects the phase that takes it, or the error.
fn check(phases: &[Phase], at: i64, change: LoadChange, expected: Result<&str, &str>) -> Plan {
    check_named(phases, at, None, change, expected)
}

/// The same with the name of a phase.
fn check_named(
    phases: &[Phase],
    at: i64,
    name: Option<&str>,
    change: LoadChange,
    expected: Result<&str, &str>,
) -> Plan {
    let mut plan = plan();
    plan.phases = phases.to_vec();
    let phase = name.map(|name| plan.phase_named(name, s(at)).expect("the plan has it"));
    let before = plan.clone();
    let found = plan.change_load(s(at), phase, change);
    match expected {
        Ok(name) => {
            let index = usize::from(found.expect("a phase takes it"));
            assert_eq!(plan.phases[index].name, name);
        }
        Err(text) => {
            assert_eq!(found.expect_err("no phase takes it").to_string(), text);
            assert_eq!(plan, before, "the plan is as before");
        }
    }
    plan
}

const RATE: LoadChange = LoadChange::Rate(Rate::per_second(500));

#[test]
fn the_active_phase_of_its_kind_takes_a_change() {
    let phases = [
        phase("open", 0, open(100, None)),
        phase("users", 10, closed(20)),
        phase("held", 10, hold(1_000)),
        phase("one", 20, open(100, None)),
        phase("other", 20, open(100, None)),
        phase("trace", 30, Load::Trace { times: vec![s(1)].into() }),
    ];
    let plan = check(&phases, 4, RATE, Ok("open"));
    let Load::Open { rate, .. } = &plan.phases[0].load else { panic!("an open load") };
    assert_eq!((rate.per_second_at(s(3)), rate.per_second_at(s(4))), (100.0, 500.0));
    let plan = check(&phases, 15, LoadChange::Users(5), Ok("users"));
    assert_eq!((plan.phases[1].users_at(s(14)), plan.phases[1].users_at(s(15))), (Some(20), Some(5)));
    check(&phases, 15, LoadChange::Users(20), Ok("users"));
    check(&phases, 15, LoadChange::Users(21), Err("phase users is planned for at most 20 users"));
    check(&phases, 4, LoadChange::Users(5), Err("no phase with users is active; active: open"));
    check(&phases, 15, RATE, Err("no phase with a rate is active; active: users, held"));
    check(&phases, 25, RATE, Err("one and other are active at the same time"));
    check(&phases, 35, RATE, Err("phase trace replays recorded arrivals"));
    check(&phases, 99, RATE, Err("no phase with a rate is active"));
    let plan = check(&phases, 15, LoadChange::Connections(7), Ok("held"));
    assert_eq!((plan.held_at(s(14)), plan.held_at(s(15))), (1_000, 7));
    let most = "phase held is planned for at most 1,000 held connections";
    check(&phases, 15, LoadChange::Connections(1_001), Err(most));
    check(
        &phases,
        25,
        LoadChange::Connections(1),
        Err("no phase with held connections is active; active: one, other"),
    );
}

#[test]
fn one_of_several_phases_is_changed_by_name() {
    let phases = [
        phase("one", 0, open(100, None)),
        phase("other", 0, open(200, Some(4))),
        phase("users", 0, closed(20)),
        phase("later", 20, open(100, None)),
        phase("one", 20, open(100, None)),
    ];
    let plan = check_named(&phases, 4, Some("other"), RATE, Ok("other"));
    let rate = |index: usize| match &plan.phases[index].load {
        Load::Open { rate, .. } => rate.per_second_at(s(5)),
        _ => panic!("an open load"),
    };
    assert_eq!((rate(0), rate(1)), (100.0, 500.0));
    check_named(&phases, 4, Some("users"), RATE, Err("phase users does not have a rate"));
    check_named(&phases, 4, Some("users"), LoadChange::Users(3), Ok("users"));
    let active = "no phase with a rate is active; active: one, other, users";
    check_named(&phases, 4, Some("later"), RATE, Err(active));
    // Of two phases with one name, the active one is changed.
    let mut plan = check_named(&phases, 25, Some("one"), RATE, Ok("one"));
    assert_eq!(plan.phase_named("one", s(25)), Some(4));
    assert_eq!(plan.phase_named("nothing", s(25)), None);
    let LoadChange::Rate(sessions) = plan.change_in_sessions(s(4), Some(1), RATE) else { panic!("a rate") };
    assert_eq!((sessions.count, sessions.per), (500, s(4)));
    assert_eq!(plan.change_in_sessions(s(4), Some(0), RATE), RATE);
    assert_eq!(plan.change_load(s(4), Some(0), RATE), Ok(0));
}

#[test]
fn a_rate_in_requests_becomes_one_in_sessions() {
    let mut plan = plan();
    plan.phases = vec![phase("open", 0, open(100, Some(4))), phase("plain", 10, open(100, None))];
    let LoadChange::Rate(rate) = plan.change_in_sessions(s(1), None, RATE) else { panic!("a rate") };
    assert_eq!((rate.count, rate.per), (500, s(4)));
    assert_eq!(plan.change_in_sessions(s(11), None, RATE), RATE);
    assert_eq!(plan.change_in_sessions(s(1), None, LoadChange::Users(3)), LoadChange::Users(3));
    assert!(matches!(plan.change_load(s(99), None, RATE), Err(LoadChangeError::NotActive(..))));
}
