//! Tests users that wait for each other.

use wavetank_engine::Command;
use wavetank_measure::RendezvousRelease;
use wavetank_plan::{Action, EngineChoice, Load, OnFailure, Plan, PopulationCurve, Rendezvous};
use wavetank_testkit::{TimingMismatch, expect_time, retry_timing};
use wavetank_units::Nanos;

use super::support::{engines, run};
use super::{Seen, get, journeys, ms, ok, plan, scenario, server, sessions, users};

/// `/in`, wait for others, `/out`.
fn through_doors(of: Option<u64>, wait: Nanos) -> wavetank_plan::Scenario {
    let doors = Rendezvous { place: 0, wait, of };
    let journey = vec![Action::Request(0), Action::Rendezvous(doors), Action::Request(1)];
    scenario(vec![get("/in", &[]), get("/out", &[])], journey)
}

fn with_doors(mut plan: Plan) -> Plan {
    plan.shared.rendezvous = vec!["doors".to_owned()];
    plan
}

/// Returns the time from the last `/in` to the first `/out`, and from the first to the last `/out`.
fn gaps(seen: &Seen) -> (Nanos, Nanos) {
    let seen = seen.lock().expect("no thread panics with it");
    let of = |prefix: &str| {
        let all = seen.iter().filter(|(_, path)| path.starts_with(prefix)).map(|&(at, _)| at);
        let all: Vec<_> = all.collect();
        (all[0], all[all.len() - 1])
    };
    let ((_, last_in), (first_out, last_out)) = (of("/in"), of("/out"));
    assert!(last_in <= first_out, "no user leaves before the last one has arrived");
    (first_out - last_in, last_out - first_out)
}

/// Twenty users that arrive within 400 ms are released together.
fn check_together(threads: u32, engine: EngineChoice) -> Result<(), TimingMismatch> {
    let (address, seen) = server(ok);
    let load = Load::Closed {
        users: PopulationCurve::ramp(0, 20, ms(400)).expect("a ramp"),
        sessions_each: Some(1),
    };
    // Longer than the last users take to arrive.
    let doors = through_doors(None, Nanos::from_secs(20));
    let plan = Plan { engine, ..plan(address, doors, vec![load, Load::Pause], threads) };
    let intervals = run(with_doors(plan));
    let (_, spread) = gaps(&seen);
    let journeys = journeys(&intervals);
    let [meeting] = journeys.meetings.as_slice() else { panic!("{:?}", journeys.meetings) };
    let RendezvousRelease { of, present, by_wait, sent, .. } = *meeting;
    assert_eq!((of, present, by_wait, sent), (20, 20, false, 20), "{threads} threads");
    let skew = meeting.skew().expect("all were sent");
    assert!(meeting.first_sent > ms(350), "{threads} threads: {meeting:?}");
    let counts = sessions(&intervals);
    assert_eq!((counts.offered, counts.started, counts.done), (20, 20, 20));
    let is_together = spread < ms(300) && skew < ms(300);
    expect_time(is_together, || format!("{threads} threads: {spread:?}, {meeting:?}"))
}

#[test]
fn all_users_of_a_phase_go_simultaneously_on_any_number_of_threads() {
    for engine in engines() {
        for threads in [1, 2, 7] {
            retry_timing(|| check_together(threads, engine));
        }
    }
}

#[test]
fn when_the_wait_is_over_those_present_go() {
    let (address, _) = server(ok);
    let load = Load::Closed {
        users: PopulationCurve::ramp(0, 20, ms(1_000)).expect("a ramp"),
        sessions_each: Some(1),
    };
    let plan = with_doors(plan(address, through_doors(None, ms(420)), vec![load], 2));
    retry_timing(|| {
        let intervals = run(plan.clone());
        let met = journeys(&intervals).meetings;
        assert_eq!(met.iter().map(|meeting| meeting.present).sum::<u64>(), 20, "{met:?}");
        assert_eq!(met[0].of, 20, "{met:?}");
        // One arrives every 50 ms. A thread that was late has more or fewer of them present.
        let is_on_time = met.len() >= 2 && met[0].by_wait && (6..=11).contains(&met[0].present);
        expect_time(is_on_time, || format!("{met:?}"))
    });
}

#[test]
fn no_user_waits_for_users_that_failed_before() {
    let (address, seen) = server(|path| if path.ends_with("-3") { 500 } else { 200 });
    let mut doors = through_doors(None, Nanos::from_secs(20));
    doors.steps.push(get("/login", &[wavetank_plan::Expr::User]));
    doors.before = vec![Action::Request(2)];
    doors.on_failure = OnFailure::EndSession;
    let plan = plan(address, doors, vec![users(10, 300, Some(1)), Load::Pause], 2);
    let intervals = run(with_doors(plan));
    assert_eq!(super::paths(&seen, "/out").len(), 9);
    let counts = sessions(&intervals);
    assert_eq!((counts.done, counts.failed), (9, 1));
    let met = journeys(&intervals).meetings;
    assert_eq!((met.len(), met[0].present, met[0].of, met[0].by_wait), (1, 9, 9, false), "{met:?}");
}

#[test]
fn they_meet_again_in_every_round() {
    let (address, seen) = server(ok);
    let plan = plan(address, through_doors(None, Nanos::from_secs(20)), vec![users(6, 2_000, Some(5))], 2);
    let intervals = run(with_doors(plan));
    assert_eq!(super::paths(&seen, "/out").len(), 30);
    let met = journeys(&intervals).meetings;
    assert_eq!(met.len(), 5, "{met:?}");
    assert!(met.iter().all(|met| met.present == 6 && !met.by_wait && met.sent == 6), "{met:?}");
}

#[test]
fn a_number_of_them_goes_when_it_is_full() {
    let (address, _) = server(ok);
    let plan = plan(address, through_doors(Some(4), Nanos::from_secs(20)), vec![users(12, 500, Some(1))], 2);
    let met = journeys(&run(with_doors(plan))).meetings;
    assert_eq!(met.iter().map(|met| (met.present, met.of)).collect::<Vec<_>>(), [(4, 4); 3], "{met:?}");
}

#[test]
fn who_is_wanted_no_more_goes_away_alone() {
    let (address, seen) = server(ok);
    // All but two leave while they wait for eleven users, of which only ten exist.
    let loads = vec![users(10, 300, None), users(2, 300, None)];
    let mut plan = plan(address, through_doors(Some(11), Nanos::from_secs(20)), loads, 2);
    plan.drain = ms(300);
    let intervals = run_to_the_drain(plan);
    assert_eq!((super::paths(&seen, "/in").len(), super::paths(&seen, "/out").len()), (10, 0));
    let last = intervals.last().expect("an interval");
    let open: u64 = last.journeys.sessions.iter().map(|series| series.open).sum();
    assert_eq!((last.users, open), (2, 2), "two are cut while they wait");
}

/// Stops a load of sessions that are stuck in their journey. Users leave; sessions of the open
/// model stay open.
fn check_stop(mut journey: Vec<Action>, load: Load, left_open: bool, engine: EngineChoice) {
    let (address, seen) = server(ok);
    journey.push(Action::Request(1));
    let steps = vec![get("/in", &[]), get("/out", &[])];
    let mut plan = with_doors(plan(address, scenario(steps, journey), vec![load], 2));
    plan.engine = engine;
    let (intervals, _) = super::support::run_early(plan, Vec::new(), Some(Command::Drain(ms(300))));
    let last = intervals.last().expect("an interval");
    assert!(last.end() < Nanos::from_secs(8), "it ended at {}", last.end());
    let open: u64 = last.journeys.sessions.iter().map(|series| series.open).sum();
    assert_eq!((last.users, open > 0), (0, left_open), "users and sessions at the end");
    assert_eq!(super::paths(&seen, "/out").len(), 0, "no user continues");
    assert!(!super::paths(&seen, "/in").is_empty());
}

#[test]
fn thinking_and_waiting_users_do_not_delay_a_stop() {
    let long = Nanos::from_secs(60);
    let doors = Action::Rendezvous(Rendezvous { place: 0, wait: long, of: Some(99) });
    let think = Action::Think(wavetank_plan::Think::Fixed(long));
    for engine in engines() {
        for waiting in [&doors, &think] {
            let journey = || vec![Action::Request(0), waiting.clone()];
            check_stop(journey(), users(6, 120_000, None), false, engine);
            let held = Load::Hold {
                connections: PopulationCurve::constant(6, Some(ms(120_000))),
                sessions_each: None,
            };
            check_stop(journey(), held, false, engine);
            let rate =
                wavetank_plan::RateCurve::constant(wavetank_units::Rate::per_second(20), Some(ms(120_000)));
            let arrivals = Load::Open { rate, arrivals: wavetank_plan::Arrivals::Even, requests_each: None };
            check_stop(journey(), arrivals, true, engine);
        }
    }
}

/// Runs like the controller: the drain is cut when its time is over.
fn run_to_the_drain(plan: Plan) -> Vec<wavetank_measure::Interval> {
    super::support::run_early(with_doors(plan), Vec::new(), Some(Command::Finish(ms(1_000)))).0
}
