//! Session counters: users, checks, counts, groups, rendezvous releases, and conditions on them.

use crate::common;
use crate::shop;

use common::{Second, condition};
use shop::{BUY, met, shop, ten_seconds};
use wavetank_measure::{
    DropReason, ErrorClass, Ledger, Selection, SessionCounts, SessionSeries, StepSeries, ThresholdResult,
};
use wavetank_plan::Plan;

const MS: f64 = 1e6;

fn book(plan: &Plan, seconds: impl IntoIterator<Item = Second>) -> Ledger {
    let mut book = Ledger::new(plan);
    for second in seconds {
        assert_eq!(book.add(&second.seal()), Ok(()));
    }
    book
}

fn judged(text: &str, seconds: impl IntoIterator<Item = Second>) -> ThresholdResult {
    let mut plan = shop();
    plan.thresholds = vec![condition(text)];
    book(&plan, seconds).results().remove(0)
}

/// Checks the result of `text` and its value; an undecided result must give a reason in `why`.
fn check(text: &str, seconds: impl IntoIterator<Item = Second>, ok: Option<bool>, value: Option<f64>) {
    let result = judged(text, seconds);
    assert_eq!(result.ok, ok, "{result:?}");
    match (result.value, value) {
        (Some(found), Some(expected)) => {
            assert!((found - expected).abs() <= 0.008 * expected.abs() + 1e-9, "{result:?}");
        }
        (found, expected) => assert_eq!(found, expected, "{result:?}"),
    }
    assert_eq!(result.why.is_some(), ok.is_none(), "{result:?}");
}

#[test]
fn checks_and_counts() {
    // A check name used in two steps, at different places: 10 carts and 5 × 4 + 5 × 8 buys.
    check("check(fresh) = 70", ten_seconds(), Some(true), Some(70.0));
    check("check(fresh) < 1%", ten_seconds(), Some(false), Some(70.0 / 1_200.0));
    check("check(fresh) = 25 in calm", ten_seconds(), Some(true), Some(25.0));
    check("check(fresh) < 6% in calm", ten_seconds(), Some(true), Some(25.0 / 600.0));
    check("check(fresh) <= 18 for 2s", ten_seconds(), Some(true), Some(18.0));
    check("check(fresh) < 7% for 2s", ten_seconds(), Some(false), Some(9.0 / 120.0));
    check("check(status = 200) = 0", ten_seconds(), Some(true), Some(0.0));
    check("check(unknown) = 0", ten_seconds(), None, None);
    check("count(sold) = 350", ten_seconds(), Some(true), Some(350.0));
    check("count(sold) <= 300", ten_seconds(), Some(false), Some(350.0));
    check("count(sold) = 100 in rush", ten_seconds(), Some(true), Some(100.0));
    // As a share of the requests of the steps that count it.
    check("count(sold) >= 40%", ten_seconds(), Some(true), Some(350.0 / 800.0));
    check("count(seen) = 0", ten_seconds(), Some(true), Some(0.0));
    check("count(nothing) = 0", ten_seconds(), None, None);
    check("cpu(lb1) < 96%", ten_seconds(), None, None);
}

#[test]
fn steps_and_groups() {
    check("p50(home) < 15ms", ten_seconds(), Some(true), Some(10.0 * MS));
    check("p99(buy.service) < 15ms", ten_seconds(), Some(false), Some(30.0 * MS));
    check("max(checkout) < 150ms", ten_seconds(), Some(false), Some(200.0 * MS));
    check("p95(checkout) <= 101ms in calm", ten_seconds(), Some(true), Some(100.0 * MS));
    check("mean(checkout) < 140ms for 4s", ten_seconds(), Some(false), Some(200.0 * MS));
    check("p95(checkout.service) < 1s", ten_seconds(), None, None);
    check("p95(other) < 1s", ten_seconds(), None, None);
    // Requests inside the group, loops among them.
    check("done(checkout) = 1200", ten_seconds(), Some(true), Some(1_200.0));
    check("done_rate(buy) >= 80/s in rush", ten_seconds(), Some(true), Some(80.0));
    check("offered(unknown) = 0", ten_seconds(), None, None);
}

#[test]
fn parts_and_requests_by_phase_step_and_window() {
    let parts = || {
        ten_seconds().map(|second| {
            second.with(|interval| {
                for phase in [0, 1] {
                    let ms = 1 + u64::from(phase);
                    let series = interval.phase_mut(phase);
                    for times in [&mut series.wait, &mut series.ttfb, &mut series.transfer] {
                        times.record_n(ms * 1_000_000, 100);
                    }
                    interval.target_mut(phase, 0).tls.record_n(ms * 1_000_000, 100);
                }
            })
        })
    };
    for part in ["wait", "ttfb", "transfer", "tls"] {
        check(&format!("max({part}) < 1500us in calm"), parts(), Some(true), Some(MS));
        check(&format!("p99({part}) < 1500us in rush"), parts(), Some(false), Some(2.0 * MS));
        check(&format!("mean({part}) < 1500us for 2s"), parts(), Some(false), Some(1.5 * MS));
    }
    check("sent_rate(home) >= 100/s in rush", ten_seconds(), Some(true), Some(100.0));
    check("offered_rate(cart) > 40/s for 3s", ten_seconds(), Some(false), Some(40.0));
    check("late(buy) < 1%", ten_seconds(), Some(true), Some(0.0));
    check("dropped(buy) = 0 for 2s", ten_seconds(), Some(true), Some(0.0));
    check("done(cart) > 99% in calm", ten_seconds(), Some(true), Some(1.0));
    let failing = || {
        ten_seconds().map(|second| {
            second.with(|interval| {
                let at = u16::from(interval.from.0 >= 5_000_000_000);
                let step = interval.step_mut(wavetank_plan::Key { phase: at, ..BUY });
                step.counters.offered += 20;
                step.counters.errors[ErrorClass::Status as usize] += 20 * u64::from(at);
                step.counters.done += 20 * u64::from(1 - at);
                step.counters.sent += 20;
                step.wire.sent += 20;
            })
        })
    };
    check("failed(buy) = 0 in calm", failing(), Some(true), Some(0.0));
    check("failed(buy) < 5% in rush", failing(), Some(false), Some(0.2));
    check("failed(buy) < 15% for 4s", failing(), Some(false), Some(0.2));
    check("failed(checkout) < 20%", failing(), Some(true), Some(100.0 / 1_400.0));
    check("failed(home) = 0", failing(), Some(true), Some(0.0));
    check("errors(status) = 100 in rush", failing(), Some(true), Some(100.0));
}

#[test]
fn requests_dropped_inside_a_group_make_its_percentiles_unknown() {
    let dropping = ten_seconds().map(|second| {
        second.with(|interval| {
            let step = interval.step_mut(BUY);
            step.counters.offered += 20;
            step.counters.dropped_by[DropReason::Behind as usize] += 20;
        })
    });
    let result = judged("p95(checkout) < 1s", dropping);
    assert_eq!((result.ok, result.value), (Some(false), None), "{result:?}");
}

#[test]
fn skew_of_those_who_met() {
    check("skew(doors) < 200ms", met(0, &[10, 90, 20]), Some(true), Some(80.0 * MS));
    check("skew(doors) < 200ms", met(0, &[900, 1_150, 1_000]), Some(false), Some(250.0 * MS));
    check("skew(doors) < 200ms in calm", met(0, &[10, 20]), Some(true), Some(10.0 * MS));
    check("skew(doors) < 200ms in rush", met(0, &[10, 20]), None, None);
    check("skew(gate) < 200ms", met(0, &[10, 20]), None, None);
    check("skew(doors) < 200ms", met(0, &[]), None, None);
    check("skew(nowhere) < 200ms", met(0, &[10]), None, None);
    // The worst of all releases counts, even if some are not reported.
    let many = (0..1_500).flat_map(|number| met(number, if number == 3 { &[0, 700] } else { &[0, 100] }));
    check("skew(doors) < 200ms", many, Some(false), Some(700.0 * MS));
    let more = met(0, &[10, 20]).into_iter().map(|second| second.with(|it| it.journeys.meetings_untold = 1));
    check("skew(doors) < 200ms", more, None, Some(10.0 * MS));
}

#[test]
fn stops() {
    let stopping = |text: &str, seconds: Vec<Second>| {
        let mut plan = shop();
        plan.stop = vec![condition(text)];
        let book = book(&plan, seconds);
        book.stop_fired().map(|(_, at)| at.0 / 1_000_000_000)
    };
    assert_eq!(stopping("check(fresh) > 30", ten_seconds().collect()), Some(6));
    assert_eq!(stopping("check(fresh) > 8 for 1s in rush", ten_seconds().collect()), Some(6));
    assert_eq!(stopping("count(sold) >= 250", ten_seconds().collect()), Some(5));
    assert_eq!(stopping("max(checkout) > 150ms", ten_seconds().collect()), Some(6));
    assert_eq!(stopping("skew(doors) > 200ms", met(0, &[900, 1_150])), Some(5));
    assert_eq!(stopping("skew(doors) > 300ms", met(0, &[900, 1_150])), None);
    assert_eq!(stopping("cpu(lb1) > 1%", ten_seconds().collect()), None);
}

#[test]
fn sessions_add_up_and_one_request_is_one_session() {
    let plan = shop();
    let book = book(&plan, ten_seconds());
    let sessions = |selection| {
        let all = book.totals().sessions(&plan, selection);
        [all.counts.offered, all.counts.started, all.counts.done, all.counts.failed, all.open]
    };
    assert_eq!(sessions(Selection::Scenario(0)), [1_000, 1_000, 1_000, 0, 0], "derived from requests");
    assert_eq!(sessions(Selection::Scenario(1)), [400, 400, 390, 10, 0]);
    assert_eq!(sessions(Selection::Phase(1)), [700, 700, 695, 5, 0]);
    assert_eq!(sessions(Selection::Judged), [1_400, 1_400, 1_390, 10, 0]);
}

#[test]
fn sessions_that_do_not_add_up_are_a_violation() {
    let broken = |change: fn(&mut SessionCounts)| {
        let second = Second::at(0).with(|interval| {
            let sessions = interval.journeys.sessions_mut(0, 1);
            (sessions.counts.offered, sessions.counts.started, sessions.open) = (5, 5, 5);
            change(&mut sessions.counts);
        });
        Ledger::new(&shop()).add(&second.seal()).map_err(|violation| violation.to_string())
    };
    assert_eq!(broken(|_| ()), Ok(()));
    let text = broken(|counts| counts.done = 1).expect_err("six of five");
    assert!(text.starts_with("sessions: offered = done + failed"), "{text}");
    let text = broken(|counts| counts.started = 4).expect_err("one was lost");
    assert!(text.starts_with("sessions: offered = started"), "{text}");
}

#[test]
fn sessions_that_never_began_are_dropped_load() {
    let dropping = |reason: DropReason| {
        let one = move |second: Second| {
            second.with(|interval| {
                let counts = &mut interval.journeys.sessions_mut(0, 1).counts;
                counts.offered += 55;
                counts.dropped_by[reason as usize] += 55;
            })
        };
        ten_seconds().map(one)
    };
    check("dropped = 550", dropping(DropReason::MaxOpen), Some(true), Some(550.0));
    check("dropped < 15%", dropping(DropReason::MaxOpen), Some(false), Some(0.2));
    check("failed = 0", dropping(DropReason::MaxOpen), Some(true), Some(0.0));
    let p99 = judged("p99 < 1s", dropping(DropReason::NoFiles));
    assert_eq!((p99.ok, p99.holds_without_generator), (Some(false), Some(true)), "{p99:?}");
    let validity = book(&shop(), dropping(DropReason::NoFiles)).validity();
    assert_eq!((validity.generator_open_model.count, validity.generator_open_model.of), (550, 2_750));
    let validity = book(&shop(), dropping(DropReason::MaxOpen)).validity();
    assert_eq!(
        validity.generator_open_model.count, 0,
        "a limit of the plan itself is not caused by the generator"
    );
}

#[test]
fn an_interval_can_drop_more_sessions_than_it_offers() {
    let started = |offered: u64, dropped: u64| {
        let mut series = StepSeries::default();
        series.counters.offered = offered;
        series.counters.dropped_by[DropReason::Behind as usize] = dropped;
        SessionSeries::from_requests(&series).counts.started
    };
    assert_eq!([started(5, 2), started(5, 5), started(5, 7)], [3, 0, 0]);
}
