//! Tests the first and last steps of users, the distance between their sessions, and early ends.

use wavetank_engine::Command;
use wavetank_plan::{
    Action, Arrivals, ConnectionOwner, Escape, Expr, Hole, Load, OnFailure, PopulationCurve, RateCurve,
    Scenario, Secret, Template, TemplatePart, Think,
};
use wavetank_units::{Nanos, Rate};

use super::{Peer, plan, run, run_with};
use crate::flow::{get, journeys, ms, ok, scenario, sessions, users};

/// `/first` once, `/work` in each session, `/last` once, each with its user and session.
fn working() -> Scenario {
    let who = [Expr::User, Expr::Session];
    let steps = vec![get("/first", &who), get("/work", &who), get("/last", &who)];
    let mut working = scenario(steps, vec![Action::Request(1)]);
    (working.before, working.after) = (vec![Action::Request(0)], vec![Action::Request(2)]);
    working
}

/// Returns how many paths of a user arrived.
fn of_user(peer: &Peer, prefix: &str, user: u64) -> usize {
    peer.paths(&format!("{prefix}-{user}-")).len()
}

#[test]
fn first_and_last_come_once_for_each_user() {
    let peer = Peer::with_status(ok);
    let intervals = run(&peer, plan(working(), vec![users(5, 1_500, Some(3))]));
    for user in 0..5 {
        let times = ["/first", "/work", "/last"].map(|prefix| of_user(&peer, prefix, user));
        assert_eq!(times, [1, 3, 1], "user {user}");
    }
    let last = peer.paths("/");
    assert!(last[0].starts_with("/first") && last[last.len() - 1].starts_with("/last"), "{last:?}");
    assert_eq!(
        (sessions(&intervals).done, sessions(&intervals).offered),
        (15, 15),
        "the last steps are no session"
    );
}

#[test]
fn a_surplus_user_closes_its_connection() {
    let peer = Peer::with_status(ok);
    let mut working = working();
    // Users think when the target number drops, and when the phase is over.
    working.journey.push(Action::Think(Think::Fixed(ms(250))));
    let loads = vec![users(8, 200, None), users(3, 200, None)];
    let intervals = run(&peer, plan(working, loads));
    for user in 0..8 {
        assert_eq!((of_user(&peer, "/first", user), of_user(&peer, "/last", user)), (1, 1), "user {user}");
    }
    let counts = sessions(&intervals);
    assert!(counts.offered >= 8 && counts.done == counts.offered, "{counts:?}");
    // Their connections were closed with them, before the end of the run.
    let early: u64 = intervals.iter().filter(|one| one.end() <= ms(400)).map(|one| one.conns.closed).sum();
    assert!(early >= 5, "{early} connections were closed when five left");
}

#[test]
fn an_arrival_is_a_user_of_its_own() {
    let peer = Peer::with_status(|path| if path.starts_with("/first-7-") { 500 } else { 200 });
    let mut working = working();
    working.connection = ConnectionOwner::Shared;
    working.on_failure = OnFailure::EndSession;
    let rate = || RateCurve::constant(Rate::per_second(100), Some(ms(200)));
    let load = || Load::Open { rate: rate(), arrivals: Arrivals::Even, requests_each: None };
    let intervals = run(&peer, plan(working, vec![load(), load()]));
    // Numbered consecutively through both phases; one user only completed its first steps.
    for session in 0..40 {
        let times = ["/first", "/work", "/last"].map(|prefix| of_user(&peer, prefix, session));
        assert_eq!(times, if session == 7 { [1, 0, 0] } else { [1, 1, 1] }, "session {session}");
    }
    let counts = sessions(&intervals);
    assert_eq!((counts.offered, counts.done, counts.failed), (40, 39, 1));
}

#[test]
fn a_user_repeats_its_failed_first_steps() {
    let peer = Peer::with_status(|path| if path.starts_with("/first-1-") { 500 } else { 200 });
    let mut working = working();
    working.on_failure = OnFailure::EndSession;
    let counts = sessions(&run(&peer, plan(working, vec![users(2, 1_500, Some(3))])));
    assert_eq!((counts.done, counts.failed), (3, 3));
    assert_eq!((of_user(&peer, "/first", 1), of_user(&peer, "/first", 0)), (3, 1));
    assert_eq!((of_user(&peer, "/work", 1), of_user(&peer, "/last", 1)), (0, 0));
}

#[test]
fn a_failure_that_may_be_fails_the_session_and_no_more() {
    let peer = Peer::with_status(|path| if path.starts_with("/first") { 500 } else { 200 });
    let counts = sessions(&run(&peer, plan(working(), vec![users(2, 1_500, Some(2))])));
    assert_eq!((counts.failed, counts.done, peer.paths("/work").len()), (2, 2, 4));
}

#[test]
fn sessions_keep_their_pace() {
    let peer = Peer::with_status(ok);
    let mut pacing = scenario(vec![get("/work", &[Expr::User, Expr::Session])], vec![Action::Request(0)]);
    pacing.pace = Some(ms(100));
    let intervals = run(&peer, plan(pacing, vec![users(3, 550, None)]));
    assert_eq!(sessions(&intervals).done, 18, "at 0, 100, … 500 ms");
    for user in 0..3 {
        let mine = format!("/work-{user}-");
        let at: Vec<_> =
            peer.seen().into_iter().filter(|one| one.path.starts_with(&mine)).map(|one| one.at).collect();
        let whole = at[at.len() - 1] - at[0];
        assert!((ms(499)..ms(501)).contains(&whole), "user {user}: {whole:?}");
    }
    // Users without anything to wait for do not delay the end.
    let end = intervals.last().expect("an interval").end();
    assert!(end < ms(600), "it ended at {end}");
}

#[test]
fn a_pace_does_not_hold_up_the_end() {
    let peer = Peer::with_status(ok);
    let mut pacing = scenario(vec![get("/work", &[])], vec![Action::Request(0)]);
    pacing.pace = Some(Nanos::from_secs(60));
    let plan = plan(pacing, vec![users(5, 120_000, None)]);
    let (intervals, _) = run_with(&peer, plan, vec![(Nanos::ZERO, Command::Drain(ms(300)))]);
    assert_eq!((sessions(&intervals).done, peer.paths("/work").len()), (5, 5));
    let end = intervals.last().expect("an interval").end();
    assert!(end < Nanos::from_secs(10), "it ended at {end}");
}

/// Counts turns of the load threads in the second in which a thousand users would continue, had
/// they not been cut before.
fn check_cut(cut: Scenario) {
    let peer = Peer::with_status(ok);
    let come = Load::Closed {
        users: PopulationCurve::ramp(0, 1_000, ms(600)).expect("a ramp"),
        sessions_each: None,
    };
    let intervals = run(&peer, plan(cut, vec![come, users(1, 1_300, None)]));
    assert!(sessions(&intervals).offered >= 990, "users were present");
    let later = intervals.iter().filter(|one| one.from >= Nanos::SECOND);
    let turns: u64 = later.flat_map(|one| &one.threads).map(|thread| thread.turns).sum();
    assert!(turns < 250, "{turns} turns of work for one user");
}

#[test]
fn no_thread_wakes_for_users_that_were_cut() {
    let none_sent =
        |pause: Nanos| scenario(vec![get("/none", &[])], vec![Action::Think(Think::Fixed(pause))]);
    check_cut(none_sent(Nanos::SECOND));
    check_cut(Scenario { pace: Some(Nanos::SECOND), ..none_sent(ms(1)) });
}

/// Checks the requests of a journey that requests the end of the run before that end.
fn check_end(mut ending: Scenario) {
    let peer = Peer::with_status(|path| if path == "/bad" { 500 } else { 200 });
    ending.journey.extend([Action::Think(Think::Fixed(ms(20)))]);
    let intervals = run(&peer, plan(ending, vec![users(2, 20_000, None)]));
    let end = intervals.last().expect("an interval").end();
    assert!(end < Nanos::from_secs(10), "it ended before its time, at {end}");
    assert_eq!(peer.paths("/after").len(), 0);
    assert_eq!(intervals.last().expect("an interval").users, 0);
    journeys(&intervals);
}

#[test]
fn a_journey_ends_the_run() {
    let steps = || vec![get("/work", &[]), get("/bad", &[]), get("/after", &[])];
    check_end(scenario(steps(), vec![Action::Request(0), Action::EndRun, Action::Request(2)]));
    let mut failing = scenario(steps(), vec![Action::Request(0), Action::Request(1), Action::Request(2)]);
    failing.steps[1].on_failure = Some(OnFailure::EndRun);
    check_end(failing);
    // Even a scenario that is only this request.
    let mut plain = scenario(vec![get("/bad", &[])], vec![Action::Request(0)]);
    plain.on_failure = OnFailure::EndRun;
    check_end(plain);
}

#[test]
fn what_cannot_be_sent_is_not_tried_without_end() {
    let peer = Peer::with_status(ok);
    let lacking = scenario(vec![get("/work", &[Expr::Variable(0)])], vec![Action::Request(0)]);
    let counts = sessions(&run(&peer, plan(lacking, vec![users(2, 300, None)])));
    assert!((2..=70).contains(&counts.failed) && counts.done == 0, "{counts:?}");
    assert_eq!(peer.paths("/").len(), 0);
}

#[test]
fn groups_are_timed_and_lines_are_logged_without_secrets() {
    let peer = Peer::with_status(ok);
    let secret = Expr::Secret { name: "WORD".to_owned(), value: Secret::new("tops3cret") };
    let mut line = Template::from("user ");
    for value in [Expr::User, Expr::Variable(0), secret.clone()] {
        line.push_fixed(b" ");
        line.pieces.push(TemplatePart::Hole(Hole { value, escape: Escape::Plain }));
    }
    let set = Template { pieces: vec![TemplatePart::Hole(Hole { value: secret, escape: Escape::Plain })] };
    let group = vec![Action::Request(0), Action::Think(Think::Fixed(ms(50)))];
    let journey = vec![Action::Set(0, set), Action::Group(0, group), Action::Log(line)];
    let mut grouped = scenario(vec![get("/work", &[])], journey);
    (grouped.groups, grouped.variables) = (vec!["basket".to_owned()], vec!["word".to_owned()]);
    let load = Load::Closed { users: PopulationCurve::constant(3, Some(ms(300))), sessions_each: Some(1) };
    let (intervals, mut logged) = run_with(&peer, plan(grouped, vec![load]), Vec::new());
    logged.sort();
    assert_eq!(logged, ["user  0 *** ***", "user  1 *** ***", "user  2 *** ***"]);
    let journeys = journeys(&intervals);
    let [group] = journeys.groups.as_slice() else { panic!("{:?}", journeys.groups) };
    assert_eq!((group.times.count(), group.name()), (3, (0, 0, 0)));
    assert!(group.times.min() >= 50_000_000, "{:?}", group.times.min());
}
