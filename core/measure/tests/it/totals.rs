//! Totals: windows, rates, warm-up, and the identities that must hold at each seal.

use crate::common;

use common::{KEY, Second, phase, plan, with_warmup};
use wavetank_measure::{DropReason, ErrorClass, Interval, Ledger, Selection, Totals};
use wavetank_plan::{Arrivals, Load, Phase, Plan, PopulationCurve, RateCurve};
use wavetank_units::{Nanos, Rate};

fn totals(plan: &Plan, intervals: impl IntoIterator<Item = Second>) -> Totals {
    let mut totals = Totals::new(plan);
    intervals.into_iter().for_each(|second| totals.add(&second.seal()));
    totals
}

#[test]
fn completions_in_the_drain_count_in_requests_and_in_no_rate() {
    let load = (0..10)
        .map(|at| if at == 9 { Second::at(at).done(80, 5).open(20) } else { Second::at(at).done(100, 5) });
    let drain = Second::at(10).answered(20, 900);
    let totals = totals(&plan(10), load.chain([drain]));
    let view = totals.view(Selection::Judged);
    assert_eq!((view.counters.offered, view.counters.done, view.open), (1000, 1000, 0));
    assert_eq!(view.duration, Nanos::from_secs(10));
    assert!(
        (view.offered_per_s() - 100.0).abs() < 1e-9 && (view.done_per_s() - 98.0).abs() < 1e-9,
        "{view:?}"
    );
    assert_eq!(view.response.max(), 900_000_000, "nothing leaves the times");
    assert_eq!(totals.check_final(), Ok(()));
}

#[test]
fn warmup_is_apart_from_everything_judged() {
    let plan = with_warmup(plan(2), 2);
    let seconds = [
        Second::at(-3).with(|interval| interval.bytes.sent = 1),
        Second::at(-2).phase(0).done(50, 5).with(|interval| interval.bytes.sent = 10),
        Second::at(-1).phase(0).done(40, 5).open(10),
        // Ten of the warm-up are answered when the measured load already runs.
        Second::at(0)
            .phase(0)
            .answered(10, 1500)
            .phase(1)
            .done(100, 5)
            .with(|interval| interval.bytes.sent = 100),
        Second::at(1).phase(1).done(100, 5),
    ];
    let totals = totals(&plan, seconds);
    let (judged, warmup) = (totals.view(Selection::Judged), totals.view(Selection::Warmup));
    assert_eq!(
        (judged.counters.done, judged.in_window.done, judged.duration),
        (200, 200, Nanos::from_secs(2))
    );
    assert_eq!(
        (warmup.counters.done, warmup.in_window.done, warmup.duration),
        (100, 90, Nanos::from_secs(2))
    );
    assert_eq!(judged.response.max(), 5_000_000, "the slow ones were the warm-up's");
    assert_eq!((totals.bytes.sent, totals.bytes_warmup.sent), (100, 11));
}

/// Bytes are counted per second, so a second with judged load and warm-up counts completely.
#[test]
fn traffic_during_a_warmup_is_that_of_the_load() {
    let mut plan = plan(2);
    plan.phases = vec![phase("warm", 0, 1), phase("main", 0, 2)];
    plan.phases[0].warmup = true;
    let seconds = [
        Second::at(-1).with(|interval| interval.bytes.sent = 1),
        Second::at(0).phase(0).done(5, 5).phase(1).done(5, 5).with(|interval| interval.bytes.sent = 20),
        Second::at(1).phase(1).done(5, 5).with(|interval| interval.bytes.sent = 300),
    ];
    let totals = totals(&plan, seconds);
    assert_eq!((totals.bytes.sent, totals.bytes_warmup.sent), (320, 1));
}

#[test]
fn the_measured_window_is_the_judged_phases_time() {
    fn check(phases: &[(i64, i64)], ended: Option<(u16, i64)>, sealed: i64, expected_s: i64) {
        let mut plan = plan(1);
        plan.phases = phases.iter().map(|&(start, seconds)| phase("any", start, seconds)).collect();
        let mut totals = Totals::new(&plan);
        if let Some((phase, at)) = ended {
            totals.phase_ended(phase, Nanos::from_secs(at));
        }
        (0..sealed).for_each(|at| totals.add(&Second::at(at).seal()));
        let length = totals.view(Selection::Judged).duration;
        assert_eq!(length, Nanos::from_secs(expected_s), "{phases:?} ended {ended:?} sealed {sealed}");
    }
    check(&[(0, 10)], None, 15, 10);
    check(&[(0, 10)], None, 4, 4);
    check(&[(0, 10), (10, 5)], None, 15, 15);
    check(&[(0, 10), (5, 10)], None, 20, 15); // overlapping
    check(&[(0, 3), (8, 2)], None, 20, 5); // a gap belongs to no phase
    check(&[(0, 10)], Some((0, 6)), 15, 6);
    check(&[(0, 10)], Some((0, 99)), 15, 10);
}

#[test]
fn a_counted_phase_ends_with_its_last_request() {
    let mut plan = plan(1);
    plan.phases[0].length = None;
    plan.phases[0].requests_max = Some(230);
    let mut totals = Totals::new(&plan);
    (0..2).for_each(|at| totals.add(&Second::at(at).done(100, 5).seal()));
    totals.phase_ended(0, Nanos::from_millis(2300));
    totals.add(&Second::at(2).done(30, 5).seal());
    let view = totals.view(Selection::Judged);
    assert_eq!((view.duration, view.in_window.done), (Nanos::from_millis(2300), 230));
    assert!((view.done_per_s() - 100.0).abs() < 1e-9);
}

/// Two arrivals at 1/s are due at 0 and 1 s, and the third would be due at 2 s.
#[test]
fn a_counted_rate_lasts_as_long_as_its_schedule() {
    let check = |length_s: Option<i64>, arrivals, ended_ms: i64, expected_ms: i64| {
        let mut plan = plan(1);
        let length = length_s.map(Nanos::from_secs);
        let rate = RateCurve::constant(Rate::per_second(1), length);
        plan.phases[0].load = Load::Open { rate, arrivals, requests_each: None };
        (plan.phases[0].length, plan.phases[0].requests_max) = (length, Some(2));
        let mut totals = Totals::new(&plan);
        totals.phase_ended(0, Nanos::from_millis(ended_ms));
        (0..=ended_ms / 1000).for_each(|at| totals.add(&Second::at(at).done(1, 5).seal()));
        let duration = totals.view(Selection::Judged).duration;
        assert_eq!(duration, Nanos::from_millis(expected_ms), "{length_s:?} {arrivals:?} {ended_ms}");
    };
    check(None, Arrivals::Even, 1_005, 2_000);
    check(Some(10), Arrivals::Even, 1_005, 2_000);
    check(None, Arrivals::Even, 2_700, 2_700);
    check(None, Arrivals::Even, 500, 500);
    check(None, Arrivals::Poisson, 1_005, 1_005);
}

#[test]
fn a_phase_has_its_own_keys_in_its_own_time() {
    let mut plan = plan(2);
    plan.phases.push(phase("next", 2, 2));
    let seconds = [
        Second::at(0).done(10, 5),
        Second::at(1).done(10, 5).open(4),
        Second::at(2).answered(4, 1500).phase(1).done(20, 5),
        Second::at(3).phase(1).done(20, 5),
    ];
    let totals = totals(&plan, seconds);
    let (first, second) = (totals.view(Selection::Phase(0)), totals.view(Selection::Phase(1)));
    assert_eq!((first.counters.done, first.in_window.done, first.duration.0), (24, 20, 2_000_000_000));
    assert_eq!((second.counters.done, second.in_window.done), (40, 40));
    let step = totals.view(Selection::Step(0, 0));
    assert_eq!((step.counters.done, step.in_window.done), (64, 64), "inside the measured window as a whole");
    assert_eq!(totals.view(Selection::Step(0, 1)).counters.offered, 0);
}

#[test]
fn gauges_are_those_of_the_latest_seal_and_peaks_the_highest() {
    let held = |at, open, peak| {
        Second::at(at).with(move |interval| {
            interval.conns.open = open;
            interval.conns.peak = peak;
        })
    };
    let totals = totals(&plan(2), [held(-1, 5, 5), held(0, 50, 60), held(1, 48, 50), held(2, 0, 48)]);
    assert_eq!((totals.conns.open, totals.conns.peak, totals.held_min), (0, 60, Some(48)));
    // In a hold, connections that are still opening or already released do not count.
    let mut holding = plan(1);
    let hold = |name: &str, at, connections| Phase {
        load: Load::Hold { connections, sessions_each: None },
        ..phase(name, at, 1)
    };
    let ramp = |begin, end| PopulationCurve::ramp(begin, end, Nanos::SECOND).expect("a ramp");
    holding.phases = vec![
        hold("open", 0, ramp(0, 50)),
        hold("keep", 1, PopulationCurve::constant(50, Some(Nanos::SECOND))),
        hold("close", 2, ramp(50, 0)),
    ];
    let totals = self::totals(&holding, [held(0, 30, 30), held(1, 49, 50), held(2, 1, 49)]);
    assert_eq!((totals.held_min, totals.planned), (Some(49), 50));
}

/// Changes a valid second with `change` and checks that `identity` is violated (or none).
fn check(identity: Option<&str>, change: impl FnOnce(&mut Interval)) {
    let sound = Second::at(0)
        .done(90, 5)
        .failed(5, ErrorClass::RequestTimeout, 60)
        .dropped(3, DropReason::Behind)
        .open(2);
    let sound = sound.with(|interval| {
        interval.conns.offered = 10;
        interval.conns.opened = 8;
        interval.conns.failed = 1;
        interval.conns.opening = 1;
        interval.conns.closed = 2;
        interval.conns.lost = 1;
        interval.conns.open = 5;
        // Open at the end: in the times as long as they waited.
        interval.step_mut(KEY).response.record_n(7, 2);
    });
    let mut book = Ledger::new(&plan(1));
    let entered = book.add(&sound.with(change).seal()).and_then(|()| book.close());
    assert_eq!(entered.err().map(|violation| violation.identity), identity);
    assert_eq!(book.violations().len(), usize::from(identity.is_some()));
}

#[test]
fn every_broken_identity_is_found() {
    const OUTCOMES: &str = "offered = done + failed + dropped + open";
    const TIMES: &str = "response count = done - one_way + connect_timeout + request_timeout + open";
    check(None, |_| {});
    check(Some(OUTCOMES), |interval| interval.step_mut(KEY).counters.offered += 1);
    check(Some(OUTCOMES), |interval| interval.step_mut(KEY).counters.done -= 1);
    check(Some(OUTCOMES), |interval| interval.step_mut(KEY).counters.errors[ErrorClass::Reset as usize] += 1);
    check(Some(OUTCOMES), |interval| interval.step_mut(KEY).counters.dropped_by[0] += 1);
    check(Some(OUTCOMES), |interval| interval.step_mut(KEY).open -= 1);
    check(Some("sent + dropped <= offered"), |interval| interval.step_mut(KEY).counters.sent += 8);
    check(Some("done <= sent"), |interval| interval.step_mut(KEY).counters.sent -= 1);
    check(Some("late <= done + failed"), |interval| interval.step_mut(KEY).counters.late = 96);
    check(Some("wire.sent = sent + retried + redirected + resources"), |interval| {
        interval.step_mut(KEY).wire.sent += 1;
    });
    check(None, |interval| {
        interval.step_mut(KEY).wire.sent += 1;
        interval.step_mut(KEY).wire.retried += 1;
    });
    check(Some(TIMES), |interval| interval.step_mut(KEY).response.record(5));
    check(Some("service count = done - one_way"), |interval| interval.step_mut(KEY).service.record(5));
    check(Some("offered = opened + failed + opening"), |interval| interval.conns.opening = 0);
    check(Some("opened = closed + lost + open"), |interval| interval.conns.lost = 0);
    check(Some("reopened <= opened"), |interval| interval.conns.reopened = 9);
}

#[test]
fn a_violation_carries_its_counters_and_many_are_bounded() {
    let mut book = Ledger::new(&plan(100));
    for at in 0..40 {
        let second = Second::at(at).done(10, 5).with(|interval| interval.step_mut(KEY).counters.offered += 1);
        assert!(book.add(&second.seal()).is_err(), "second {at}");
    }
    assert_eq!(book.violations().len(), Ledger::VIOLATIONS_MAX);
    let first = book.violations()[0].to_string();
    assert!(first.contains("offered 11") && first.contains("done 10"), "{first}");
}

#[test]
fn an_identity_broken_in_one_second_stays_broken() {
    let mut totals = Totals::new(&plan(3));
    totals.add(&Second::at(0).open(5).seal());
    assert_eq!(totals.check(), Ok(()));
    // The five vanish without an outcome.
    totals.add(&Second::at(1).done(5, 1).seal());
    assert!(totals.check().is_err());
    totals.add(&Second::at(2).done(5, 1).seal());
    assert!(totals.check().is_err());
}
