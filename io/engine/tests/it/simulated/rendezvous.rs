//! Tests users that wait for each other.

use wavetank_engine::Command;
use wavetank_plan::{Action, Arrivals, Expr, Load, OnFailure, PopulationCurve, RateCurve, Rendezvous, Think};
use wavetank_units::{Nanos, Rate};

use super::{Peer, plan, run, run_with};
use crate::flow::meeting::{through_doors, with_doors};
use crate::flow::{get, journeys, ms, ok, scenario, sessions, users};

#[test]
fn users_that_arrive_over_time_leave_together() {
    let peer = Peer::with_status(ok);
    let load = Load::Closed {
        users: PopulationCurve::ramp(0, 20, ms(400)).expect("a ramp"),
        sessions_each: Some(1),
    };
    let doors = through_doors(None, Nanos::from_secs(20));
    let intervals = run(&peer, with_doors(plan(doors, vec![load, Load::Pause])));
    let at = |prefix: &str| {
        let seen = peer.seen().into_iter().filter(|one| one.path.starts_with(prefix));
        seen.map(|one| one.at).collect::<Vec<_>>()
    };
    let (came, left) = (at("/in"), at("/out"));
    assert_eq!((came.len(), left.len()), (20, 20));
    let (last, spread) = (came[19], left[19] - left[0]);
    assert!(left[0] > last && left[0] < last.after(ms(5)) && spread < ms(1), "{last} {left:?}");
    let met = journeys(&intervals).meetings;
    assert_eq!((met.len(), met[0].present, met[0].by_wait), (1, 20, false), "{met:?}");
}

#[test]
fn when_the_wait_is_over_those_present_go() {
    let load = Load::Closed {
        users: PopulationCurve::ramp(0, 20, ms(1_000)).expect("a ramp"),
        sessions_each: Some(1),
    };
    let peer = Peer::with_status(ok);
    let met = journeys(&run(&peer, with_doors(plan(through_doors(None, ms(420)), vec![load])))).meetings;
    // One arrives every 50 ms: nine within 420 ms after the first, nine more after the tenth. The
    // last two have no further users to wait for.
    let rounds: Vec<_> = met.iter().map(|met| (met.present, met.by_wait)).collect();
    assert_eq!(rounds, [(9, true), (9, true), (2, false)], "{met:?}");
}

#[test]
fn no_user_waits_for_users_that_failed_before() {
    let peer = Peer::with_status(|path| if path.ends_with("-3") { 500 } else { 200 });
    let mut doors = through_doors(None, Nanos::from_secs(20));
    doors.steps.push(get("/login", &[Expr::User]));
    doors.before = vec![Action::Request(2)];
    doors.on_failure = OnFailure::EndSession;
    let plan = plan(doors, vec![users(10, 300, Some(1)), Load::Pause]);
    let intervals = run(&peer, with_doors(plan));
    assert_eq!(peer.paths("/out").len(), 9);
    let counts = sessions(&intervals);
    assert_eq!((counts.done, counts.failed), (9, 1));
    let met = journeys(&intervals).meetings;
    assert_eq!((met.len(), met[0].present, met[0].of, met[0].by_wait), (1, 9, 9, false), "{met:?}");
}

#[test]
fn they_meet_again_in_every_round() {
    let peer = Peer::with_status(ok);
    let plan = plan(through_doors(None, Nanos::from_secs(20)), vec![users(6, 2_000, Some(5))]);
    let intervals = run(&peer, with_doors(plan));
    assert_eq!(peer.paths("/out").len(), 30);
    let met = journeys(&intervals).meetings;
    assert_eq!(met.len(), 5, "{met:?}");
    assert!(met.iter().all(|met| met.present == 6 && !met.by_wait && met.sent == 6), "{met:?}");
}

#[test]
fn a_number_of_them_goes_when_it_is_full() {
    let peer = Peer::with_status(ok);
    let plan = plan(through_doors(Some(4), Nanos::from_secs(20)), vec![users(12, 500, Some(1))]);
    let met = journeys(&run(&peer, with_doors(plan))).meetings;
    assert_eq!(met.iter().map(|met| (met.present, met.of)).collect::<Vec<_>>(), [(4, 4); 3], "{met:?}");
}

#[test]
fn who_is_wanted_no_more_goes_away_alone() {
    let peer = Peer::with_status(ok);
    // All but two leave while they wait for eleven users, of which only ten exist.
    let loads = vec![users(10, 300, None), users(2, 300, None)];
    let mut plan = plan(through_doors(Some(11), Nanos::from_secs(20)), loads);
    plan.drain = ms(300);
    let finish = vec![(Nanos::ZERO, Command::Finish(ms(1_000)))];
    let (intervals, _) = run_with(&peer, with_doors(plan), finish);
    assert_eq!((peer.paths("/in").len(), peer.paths("/out").len()), (10, 0));
    let last = intervals.last().expect("an interval");
    let open: u64 = last.journeys.sessions.iter().map(|series| series.open).sum();
    assert_eq!((last.users, open), (2, 2), "two are cut while they wait");
}

/// Stops a load of sessions that are stuck in their journey. Users leave; sessions of the open
/// model stay open.
fn check_stop(mut journey: Vec<Action>, load: Load, left_open: bool) {
    let peer = Peer::with_status(ok);
    journey.push(Action::Request(1));
    let steps = vec![get("/in", &[]), get("/out", &[])];
    let plan = with_doors(plan(scenario(steps, journey), vec![load]));
    let (intervals, _) = run_with(&peer, plan, vec![(Nanos::ZERO, Command::Drain(ms(300)))]);
    let last = intervals.last().expect("an interval");
    assert!(last.end() < ms(400), "it ended at {}", last.end());
    let open: u64 = last.journeys.sessions.iter().map(|series| series.open).sum();
    assert_eq!((last.users, open > 0), (0, left_open), "users and sessions at the end");
    assert_eq!(peer.paths("/out").len(), 0, "no user continues");
    assert!(!peer.paths("/in").is_empty());
}

#[test]
fn thinking_and_waiting_users_do_not_delay_a_stop() {
    let long = Nanos::from_secs(60);
    let doors = Action::Rendezvous(Rendezvous { place: 0, wait: long, of: Some(99) });
    let think = Action::Think(Think::Fixed(long));
    for waiting in [&doors, &think] {
        let journey = || vec![Action::Request(0), waiting.clone()];
        check_stop(journey(), users(6, 120_000, None), false);
        let held =
            Load::Hold { connections: PopulationCurve::constant(6, Some(ms(120_000))), sessions_each: None };
        check_stop(journey(), held, false);
        let rate = RateCurve::constant(Rate::per_second(20), Some(ms(120_000)));
        let arrivals = Load::Open { rate, arrivals: Arrivals::Even, requests_each: None };
        check_stop(journey(), arrivals, true);
    }
}
