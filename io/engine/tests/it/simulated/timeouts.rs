//! Tests what a peer that is late, silent or gone does to requests, to the microsecond.

use wavetank_measure::{ErrorClass, Histogram};
use wavetank_plan::{Action, Arrivals, Load, Plan, RateCurve, Scenario};
use wavetank_units::{Nanos, Rate};

use super::{Accept, Peer, Reply, conns, failed, offered, plan, run};
use crate::flow::{get, ms, scenario, users};

/// What a call of the driver and one turn add to an instant at most.
const SLACK: Nanos = Nanos::from_micros(200);

fn one() -> Scenario {
    scenario(vec![get("/", &[])], vec![Action::Request(0)])
}

/// 100 requests a second for this many milliseconds, on connections that all share.
fn arrivals(millis: i64) -> Plan {
    let rate = RateCurve::constant(Rate::per_second(100), Some(ms(millis)));
    let load = Load::Open { rate, arrivals: Arrivals::Even, requests_each: None };
    let shared = Scenario { connection: wavetank_plan::ConnectionOwner::Shared, ..one() };
    let mut plan = plan(shared, vec![load]);
    (plan.http.timeout, plan.http.connect_timeout) = (ms(1_000), ms(400));
    plan.phases[0].connections = 1_000;
    plan
}

#[test]
fn a_freeze_is_in_the_times_of_all_that_were_to_start_in_it() {
    // Nothing is answered for half a second.
    let zero = std::rc::Rc::new(std::cell::Cell::new(None));
    let peer = Peer::new(move |request| {
        let start = zero.get().unwrap_or(request.at);
        zero.set(Some(start));
        let at = request.at - start;
        let frozen = (ms(995)..ms(1_495)).contains(&at);
        Reply::Status(200, if frozen { ms(1_495) - at } else { Nanos::ZERO }.after(Peer::LATENCY))
    });
    let mut all = Histogram::default();
    let intervals = run(&peer, arrivals(3_000));
    intervals.iter().flat_map(|one| &one.steps).for_each(|series| all.merge(&series.response));
    assert_eq!((offered(&intervals), all.count()), ((300, 300), 300));
    let slow = |over: Nanos| {
        let limit = Histogram::index(over.0.unsigned_abs());
        let slow = all.iter().filter(|(index, _)| *index > limit);
        slow.map(|(_, count)| count).sum::<u64>()
    };
    // One of them every 10 ms, the first one waits for 495 ms.
    assert_eq!((slow(ms(4)), slow(ms(252)), slow(ms(510))), (50, 25, 0));
}

#[test]
fn silence_ends_by_the_time_limit_and_not_before() {
    let peer = Peer::new(|_| Reply::Never);
    let intervals = run(&peer, arrivals(500));
    assert_eq!((offered(&intervals), failed(&intervals, ErrorClass::RequestTimeout)), ((50, 0), 50));
    // The last one started at 490 ms.
    let end = intervals.last().expect("an interval").end();
    assert!((ms(1_490)..ms(1_490).after(ms(25))).contains(&end), "{end}");
}

#[test]
fn a_failed_connect_has_its_class() {
    let check = |accept: Accept, class: ErrorClass| {
        let peer = Peer::constant(ms(1)).accepting(move |_| accept);
        let intervals = run(&peer, arrivals(300));
        assert_eq!((offered(&intervals), failed(&intervals, class)), ((30, 0), 30), "{accept:?}");
        assert_eq!((conns(&intervals).opened, peer.requests()), (0, 0), "{accept:?}");
    };
    check(Accept::Refuse(ms(1)), ErrorClass::ConnectRefused);
    check(Accept::Ignore, ErrorClass::ConnectTimeout);
}

/// Runs one user with 22 sessions. The peer does `bad` with each fifth request that it gets.
fn run_with_bad(bad: Reply) -> (Peer, Vec<wavetank_measure::Interval>) {
    let mut number = 0;
    let peer = Peer::new(move |_| {
        number += 1;
        if number % 5 == 0 { bad } else { Reply::Status(200, ms(2)) }
    });
    let intervals = run(&peer, plan(one(), vec![users(1, 10_000, Some(22))]));
    (peer, intervals)
}

#[test]
fn a_break_in_a_response_fails_its_request_alone() {
    let (peer, intervals) = run_with_bad(Reply::Break(ms(2)));
    assert_eq!((offered(&intervals), failed(&intervals, ErrorClass::Reset)), ((22, 18), 4));
    let conns = conns(&intervals);
    assert_eq!((conns.opened, conns.lost, peer.connections()), (5, 4, 5), "{conns:?}");
}

#[test]
fn a_request_is_sent_again_if_its_connection_ends_before_a_response() {
    let (peer, intervals) = run_with_bad(Reply::Close(ms(2)));
    // Requests 5, 10, 15, 20 and 25 were not answered.
    assert_eq!((offered(&intervals), peer.requests(), peer.connections()), ((22, 22), 27, 6));
}

#[test]
fn a_response_at_the_limit_counts() {
    for (late, expected) in [(false, (1, 0)), (true, (0, 1))] {
        let limit = ms(1_000);
        let delay = if late { limit.after(SLACK) } else { Nanos(limit.0 - SLACK.0) };
        let mut plan = plan(one(), vec![users(1, 5_000, Some(1))]);
        plan.http.timeout = limit;
        // Connecting is part of it.
        let peer = Peer::constant(delay).accepting(|_| Accept::After(Nanos::ZERO));
        let intervals = run(&peer, plan);
        let counts = (offered(&intervals).1, failed(&intervals, ErrorClass::RequestTimeout));
        assert_eq!(counts, expected, "{delay}");
    }
}
