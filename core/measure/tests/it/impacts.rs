//! The impact of events on clients, and their recovery.

use crate::common;

use common::{Second, phase, plan};
use wavetank_measure::{ErrorClass, Impact, Ledger, Recovery};
use wavetank_plan::{Load, Plan, PlannedEvent, PopulationCurve};
use wavetank_units::Nanos;

const LENGTH: i64 = 40;

fn with_events(mut plan: Plan) -> Plan {
    let event = PlannedEvent {
        when: Nanos::from_secs(10),
        host: "app1".to_owned(),
        run: "fault kill app".to_owned(),
        undo: None,
        lasts: None,
    };
    plan.events = vec![event.clone(), event];
    plan
}

/// A second as before the event: a hundred done in 5 ms.
fn well(at: i64) -> Second {
    Second::at(at).done(100, 5)
}

/// Returns the impact of an event from `from` to `until` (milliseconds). The event is reported
/// between the seconds, as in a live run, and before all of them, as from an archive. Both must
/// give the same result.
fn impact(plan: &Plan, from: i64, until: Option<i64>, second: impl Fn(i64) -> Second) -> Impact {
    let (from, until) = (Nanos::from_millis(from), until.map(Nanos::from_millis));
    let mut live = Ledger::new(plan);
    let mut reported = [false; 2];
    for at in 0..LENGTH {
        let now = Nanos::from_secs(at + 1);
        if from <= now && !std::mem::replace(&mut reported[0], true) {
            live.event_began(0, from);
        }
        if let Some(until) = until.filter(|until| *until <= now)
            && !std::mem::replace(&mut reported[1], true)
        {
            live.event_ended(0, until);
        }
        live.add(&second(at).seal()).expect("it adds up");
    }
    let mut read = Ledger::new(plan);
    read.event_began(0, from);
    if let Some(until) = until {
        read.event_ended(0, until);
    }
    for at in 0..LENGTH {
        read.add(&second(at).seal()).expect("it adds up");
    }
    assert_eq!(live.impacts(), read.impacts());
    let [impact] = read.impacts().try_into().expect("one event, one impact");
    impact
}

#[track_caller]
fn check(
    from: i64,
    until: Option<i64>,
    second: impl Fn(i64) -> Second,
    hurt: i64,
    recovery: Recovery,
) -> Impact {
    let impact = impact(&with_events(plan(LENGTH)), from, until, second);
    assert_eq!((impact.hurt, impact.recovery), (Nanos::from_secs(hurt), recovery), "{impact:?}");
    impact
}

fn failing(at: i64, bad: std::ops::Range<i64>) -> Second {
    if bad.contains(&at) { Second::at(at).done(60, 5).failed(40, ErrorClass::Reset, 5) } else { well(at) }
}

#[test]
fn unseen_events_have_no_impact() {
    let impact = check(10_000, Some(15_000), well, 0, Recovery::Unhurt);
    assert_eq!((impact.before.time, impact.before.counters.done), (Nanos::from_secs(10), 1_000));
    assert_eq!((impact.during.time, impact.after.time), (Nanos::from_secs(5), Nanos::from_secs(3)));
}

#[test]
fn clients_recover_after_it_was_taken_back() {
    let impact =
        check(10_000, Some(15_000), |at| failing(at, 10..17), 7, Recovery::After(Nanos::from_secs(2)));
    assert_eq!(impact.during.counters.failed(), 200);
    assert!((impact.during.failed_share() - 0.4).abs() < 1e-9);
    // Two bad seconds, and the three that show that it is over.
    assert_eq!((impact.after.counters.failed(), impact.after.time), (80, Nanos::from_secs(5)));
    assert_eq!((impact.from, impact.until), (Nanos::from_secs(10), Some(Nanos::from_secs(15))));
}

#[test]
fn clients_recover_while_it_lasts() {
    let taken_over = |at| failing(at, 10..13);
    check(10_000, Some(20_000), taken_over, 3, Recovery::During(Nanos::from_secs(3)));
    check(10_200, None, taken_over, 3, Recovery::During(Nanos::from_millis(2_800)));
}

#[test]
fn clients_may_not_recover() {
    check(10_000, None, |at| failing(at, 10..LENGTH), 30, Recovery::Never);
    check(10_000, Some(15_000), |at| failing(at, 10..38), 28, Recovery::Never);
    // Three seconds are enough to decide.
    check(10_000, Some(15_000), |at| failing(at, 10..37), 27, Recovery::After(Nanos::from_secs(22)));
}

#[test]
fn what_comes_long_after_is_not_its_doing() {
    let later = |at| if at >= 30 { failing(at, 30..LENGTH) } else { failing(at, 10..12) };
    let impact = check(10_000, Some(14_000), later, 2, Recovery::During(Nanos::from_secs(2)));
    assert_eq!(impact.after.time, Nanos::from_secs(3));
}

#[test]
fn slow_is_worse_and_so_are_lost_connections() {
    let slow = |at: i64| if (10..14).contains(&at) { Second::at(at).done(100, 60) } else { well(at) };
    check(10_000, Some(14_000), slow, 4, Recovery::During(Nanos::from_secs(4)));
    let hardly = |at: i64| if (10..14).contains(&at) { Second::at(at).done(100, 12) } else { well(at) };
    check(10_000, Some(14_000), hardly, 0, Recovery::Unhurt);
    let lost = |at: i64| {
        well(at).with(move |interval| {
            let lost = u64::from(at == 11);
            (interval.conns.offered, interval.conns.opened, interval.conns.lost) = (lost, lost, lost);
        })
    };
    let impact = impact(&with_events(plan(LENGTH)), 10_000, Some(14_000), lost);
    assert_eq!((impact.hurt, impact.during.lost), (Nanos::SECOND, 1));
}

#[test]
fn a_closed_loop_that_starves_is_hurt_by_its_rate() {
    let mut closed = with_events(plan(LENGTH));
    closed.phases[0].load = Load::Closed { users: PopulationCurve::constant(10, None), sessions_each: None };
    let starving = |at: i64| if (10..14).contains(&at) { Second::at(at).done(50, 5) } else { well(at) };
    let impact = impact(&closed, 10_000, Some(14_000), starving);
    assert_eq!((impact.hurt, impact.recovery), (Nanos::from_secs(4), Recovery::During(Nanos::from_secs(4))));
    // In the open loop, the offered requests are the demand.
    let impact = self::impact(&with_events(plan(LENGTH)), 10_000, Some(14_000), starving);
    assert_eq!(impact.recovery, Recovery::Unhurt);
}

#[test]
fn fewer_users_are_expected_to_do_less() {
    let mut closed = with_events(plan(LENGTH));
    closed.phases = vec![phase("many", 0, 12), phase("few", 12, LENGTH - 12)];
    for (phase, users) in closed.phases.iter_mut().zip([10, 5]) {
        phase.load =
            Load::Closed { users: PopulationCurve::constant(users, phase.length), sessions_each: None };
    }
    let half = |at: i64| Second::at(at).done(if at < 12 { 100 } else { 50 }, 5);
    assert_eq!(impact(&closed, 10_000, Some(14_000), half).recovery, Recovery::Unhurt);
}

#[test]
fn before_the_load_there_is_nothing_to_compare_with() {
    let impact = check(0, Some(5_000), |at| failing(at, 0..5), 5, Recovery::During(Nanos::from_secs(5)));
    assert_eq!(impact.before.time, Nanos::ZERO);
    check(40_000, None, well, 0, Recovery::Unknown);
}

#[test]
fn empty_results_are_not_reported() {
    let mut book = Ledger::new(&with_events(plan(LENGTH)));
    book.event_began(0, Nanos::from_secs(1));
    book.event_began(1, Nanos::from_secs(2));
    book.event_failed(0);
    let reported: Vec<u16> = book.impacts().iter().map(|impact| impact.event).collect();
    assert_eq!(reported, [1]);
    // Whatever an archive says.
    for at in [i64::MIN, i64::MAX] {
        book.event_began(9, Nanos(at));
        book.event_ended(9, Nanos(at));
        book.event_ended(77, Nanos(at));
    }
    for at in 0..LENGTH {
        book.add(&well(at).seal()).expect("it adds up");
    }
    // A plan without events watches nothing.
    let mut plain = Ledger::new(&plan(LENGTH));
    plain.event_began(0, Nanos::ZERO);
    assert_eq!(plain.impacts(), []);
}
