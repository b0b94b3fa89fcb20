//! Tests loads of every shape: users that come and go, held connections, curves of rates.

use std::sync::Arc;

use wavetank_plan::{Action, Load, Phase, Plan, PopulationCurve, RateCurve, Think};
use wavetank_units::{Nanos, Rate};

use super::{Accept, Peer, run};
use crate::flow::ms;
use crate::shapes::{conns, for_its_time, hold, offered, open, ramp, sealed_at, users};

fn quick() -> Peer {
    Peer::constant(ms(5))
}

fn plan(loads: Vec<(Load, Option<Nanos>)>) -> Plan {
    crate::shapes::plan(Peer::ADDRESS, loads)
}

#[test]
fn users_come_and_go_and_carry_over() {
    let peer = quick();
    let loads = [ramp(0, 20, 500), PopulationCurve::constant(20, Some(ms(500))), ramp(20, 5, 500)];
    let intervals = run(&peer, plan(loads.map(users).map(for_its_time).into()));
    let at = |millis| sealed_at(&intervals, ms(millis)).users;
    assert_eq!((at(500), at(1_000)), (20, 20));
    // They leave after their current request.
    assert!((5..=6).contains(&at(1_500)), "{} users", at(1_500));
    let conns = conns(&intervals);
    assert_eq!((conns.opened, conns.lost, conns.failed), (20, 0, 0), "{conns:?}");
    assert_eq!((peer.connections(), peer.requests()), (20, offered(&intervals, None, None).1));
    for phase in 0..3 {
        assert!(offered(&intervals, Some(phase), None).0 > 100, "phase {phase} has its own requests");
    }
}

#[test]
fn held_connections_repeat_their_scenario() {
    let peer = quick();
    let loads = vec![
        for_its_time(hold(ramp(0, 10, 300))),
        for_its_time(hold(PopulationCurve::constant(10, Some(ms(500))))),
    ];
    let intervals = run(&peer, plan(loads));
    let (offered, done) = offered(&intervals, None, None);
    assert!(offered == done && offered > 300, "{offered} offered, {done} done");
    let conns = conns(&intervals);
    assert_eq!((peer.connections(), peer.requests(), conns.opened, conns.lost), (10, done, 10, 0));
}

#[test]
fn lost_connections_are_opened_again_once_a_second() {
    // Each connection ends 200 ms after it was opened: at 0.2 s, and, reopened at 1 s, at 1.2 s.
    let peer = quick().ending_after(ms(200));
    let mut held = plan(vec![for_its_time(hold(PopulationCurve::constant(5, Some(ms(1_600)))))]);
    held.scenarios[0].steps.clear();
    held.scenarios[0].journey.clear();
    let counted = conns(&run(&peer, held));
    assert_eq!((counted.opened, counted.reopened, counted.lost), (10, 5, 10), "{counted:?}");
    // A connection that cannot be opened is tried again as well, and does not count as lost.
    let peer = quick().accepting(|_| Accept::Refuse(Peer::LATENCY));
    let refused = plan(vec![for_its_time(hold(PopulationCurve::constant(3, Some(ms(1_500)))))]);
    let intervals = run(&peer, refused);
    let counted = conns(&intervals);
    assert_eq!((counted.offered, counted.failed, counted.opened, counted.lost), (6, 6, 0, 0), "{counted:?}");
    assert_eq!(offered(&intervals, None, None), (0, 0), "no user sends without its connection");
}

#[test]
fn a_user_dismissed_in_a_request_does_not_think_after_it() {
    let peer = Peer::constant(ms(400));
    let loads = [PopulationCurve::constant(10, Some(ms(200))), ramp(10, 0, 100)];
    let mut made = plan(loads.map(hold).map(for_its_time).into());
    made.scenarios[0].journey.push(Action::Think(Think::Fixed(Nanos::from_secs(60))));
    let intervals = run(&peer, made);
    let last = intervals.last().expect("an interval");
    assert!(last.end() < ms(600), "they thought until {:?}", last.end());
    let conns = conns(&intervals);
    assert_eq!((offered(&intervals, None, None), conns.closed, last.conns.open), ((10, 10), 10, 0));
}

#[test]
fn users_of_a_later_phase_find_their_connections_open() {
    let peer = quick();
    let loads =
        vec![(Load::Pause, Some(ms(500))), for_its_time(users(PopulationCurve::constant(10, Some(ms(200)))))];
    let mut made = plan(loads);
    // The first connection is opened 200 ms before the phase, the last one 20 ms before it.
    (made.phases[1].open_before, made.open_rate) = (true, Rate::per_second(50));
    let intervals = run(&peer, made);
    assert_eq!(sealed_at(&intervals, ms(500)).conns.open, 10);
    let (conns, (_, done)) = (conns(&intervals), offered(&intervals, None, None));
    assert_eq!((conns.opened, conns.lost, peer.requests()), (10, 0, done));
}

#[test]
fn arrivals_follow_curves_traces_and_pauses() {
    let peer = quick();
    let times: Arc<[Nanos]> = [0, 0, 10, 90, 400].map(ms).into();
    let climb = RateCurve::ramp(Rate::per_second(0), Rate::per_second(400), ms(500)).expect("a ramp");
    let wave = RateCurve::wave(Rate::per_second(0), Rate::per_second(400), ms(250), ms(500)).expect("a wave");
    let loads = vec![
        for_its_time(open(climb)),
        (Load::Pause, Some(ms(100))),
        for_its_time(open(wave)),
        (Load::Trace { times }, Some(ms(300))),
    ];
    let mut made = plan(loads);
    // Runs in parallel to all of them.
    let alongside = RateCurve::constant(Rate::per_second(100), Some(ms(1_000)));
    let alongside =
        Phase { load: open(alongside), start: ms(50), length: Some(ms(1_000)), ..made.phases[0].clone() };
    made.phases.push(Phase { sessions_max: Some(70), ..alongside });
    let intervals = run(&peer, made);
    let phases: Vec<u64> = (0..5).map(|phase| offered(&intervals, Some(phase), None).0).collect();
    assert_eq!(phases, [100, 0, 100, 4, 70]);
    assert_eq!(peer.requests(), 274);
}

#[test]
fn counted_sessions_end_a_phase() {
    let peer = quick();
    let each = Load::Closed { users: PopulationCurve::constant(4, None), sessions_each: Some(3) };
    let intervals = run(&peer, plan(vec![(each, None)]));
    assert_eq!(offered(&intervals, None, None), (12, 12));
    let mut capped = plan(vec![(users(PopulationCurve::constant(4, None)), None)]);
    capped.phases[0].sessions_max = Some(10);
    assert_eq!(offered(&run(&peer, capped), None, None), (10, 10));
    // Users that have run all their sessions return in the next phase.
    let each = Load::Closed { users: PopulationCurve::constant(4, Some(ms(300))), sessions_each: Some(3) };
    let twice = run(&peer, plan(vec![(each.clone(), Some(ms(300))), (each, Some(ms(300)))]));
    assert_eq!(offered(&twice, None, None), (24, 24));
    assert_eq!(twice.iter().map(|interval| interval.users).max(), Some(0), "they are gone at each seal");
}

#[test]
fn held_connections_may_have_a_number_of_sessions_each() {
    let peer = quick();
    let each = |length: Option<Nanos>| {
        let connections = PopulationCurve::constant(6, length);
        (Load::Hold { connections, sessions_each: Some(4) }, length)
    };
    let intervals = run(&peer, plan(vec![each(None)]));
    let counted = conns(&intervals);
    assert_eq!(offered(&intervals, None, None), (24, 24));
    assert_eq!((counted.opened, counted.closed, counted.lost, counted.reopened), (6, 6, 0, 0));
    assert_eq!((peer.connections(), peer.requests()), (6, 24));
    // A user that has run all its sessions closes its connection long before the end of the phase.
    // It is not reopened.
    let long = run(&peer, plan(vec![each(Some(ms(1_500)))]));
    assert_eq!(sealed_at(&long, ms(1_000)).conns.open, 0);
    let counted = conns(&long);
    assert_eq!((counted.opened, counted.closed, counted.lost, counted.reopened), (6, 6, 0, 0));
    assert_eq!(offered(&long, None, None), (24, 24));
}
