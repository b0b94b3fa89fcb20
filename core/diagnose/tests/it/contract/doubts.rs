//! Each doubt of `docs/measuring.md` §5 on both sides of its boundary, and where doubts matter.

use crate::common::{KEY, Second};
use crate::contract::case::{Run, alike, run};
use wavetank_diagnose::FindingCode;
use wavetank_measure::{DropReason, ErrorClass, RendezvousRelease};

/// Checks that a doubt does not change the verdict: the run passes with these findings.
fn check(run: &Run, findings: &[&str]) {
    assert_eq!(run.said(), "pass none 0");
    assert_eq!(run.findings(), findings);
    let notes = run.diagnosis().notes;
    let noted = notes.iter().any(|note| note.ends_with("verdict unchanged"));
    assert_eq!(noted, !findings.is_empty(), "{notes:?}");
}

#[test]
fn late_in_more_than_one_percent_of_any_ten_seconds() {
    // The responses are slow enough that the lag is small in comparison.
    let late = |n| run([(7, Second::at(7).done(100 - n, 90).done_lagging(n, 90, 1500))]);
    check(&late(10), &[]);
    check(&late(11), &["late"]);
    assert!(late(11).diagnosis().notes.iter().any(|note| *note == "late in 1 of 20 s, verdict unchanged"));
}

#[test]
fn lag_above_a_millisecond_and_a_tenth_of_the_response() {
    let lagging = |ms, lag_us| alike(move |second| second.done_lagging(100, ms, lag_us));
    check(&lagging(5, 990), &[]);
    assert!(lagging(5, 1100).findings().contains(&"lag".to_owned()));
    // 3 ms of 40 ms: late, but less than a tenth.
    assert_eq!(lagging(40, 3000).findings(), ["late"]);
    assert_eq!(lagging(29, 3000).findings(), ["late", "lag"]);
}

#[test]
fn advice_fits_the_load() {
    let late = |busy| run([(7, Second::at(7).done_lagging(100, 5, 3000).busy(busy))]);
    let check = |run: Run, expected: &str| {
        let findings = run.diagnosis().findings;
        let late: Vec<_> = findings
            .iter()
            .filter(|reported| [FindingCode::Late, FindingCode::Lag].contains(&reported.code))
            .collect();
        assert_eq!(late.len(), 2);
        assert!(late.iter().all(|reported| reported.hint.starts_with(expected)), "{late:?}");
    };
    check(late(100), "a lower rate, more load threads");
    check(late(20), "stop other processes on these CPUs, or lower the rate");
    // No rate there.
    check(late(100).closed(), "fewer connections (-c, in a file users and hold), more load threads");
    check(late(20).closed(), "stop other processes on these CPUs, or use fewer connections");
}

#[test]
fn lag_is_not_compared_with_a_missing_response() {
    let failing = alike(|second| {
        second.failed(100, ErrorClass::Status, 1).with(|interval| {
            interval.phase_mut(KEY.phase).lag = wavetank_measure::Histogram::default();
            interval.phase_mut(KEY.phase).lag.record_n(3_000_000, 100);
        })
    });
    let findings = failing.diagnosis().findings;
    let lag = findings.iter().find(|finding| finding.code == FindingCode::Lag).expect("3 ms are a doubt");
    assert_eq!(lag.evidence, "lag p99 3.00 ms · nothing was answered");
}

#[test]
fn dropped_for_a_generator_reason_more_than_one_in_a_thousand() {
    let dropping = |n, reason| run([(7, Second::at(7).done(100 - n, 5).dropped(n, reason))]);
    check(&dropping(2, DropReason::Behind), &[]);
    check(&dropping(3, DropReason::Behind), &["dropped"]);
    check(&dropping(3, DropReason::NoMemory), &["dropped"]);
    check(&dropping(90, DropReason::MaxOpen), &[]);
    let full = run([(7, Second::at(7).done(97, 5).dropped(3, DropReason::MaxOpen).busy(100))]);
    check(&full, &["dropped"]);
}

#[test]
fn too_many_at_one_instant_should_spread() {
    let hint = |dropped: u64, sent: u64| {
        let meeting = RendezvousRelease { of: 1_000, present: 1_000, sent, ..RendezvousRelease::default() };
        let second = Second::at(7).done(100, 5).dropped(dropped, DropReason::Behind).busy(100);
        let mut run =
            run([(7, second.with(move |interval| interval.journeys.add_rendezvous_release(&meeting)))])
                .closed();
        run.plan.shared.rendezvous.push("together".to_owned());
        let findings = run.diagnosis().findings;
        findings.into_iter().find(|finding| finding.code == FindingCode::Dropped).expect("many").hint
    };
    assert_eq!(
        hint(900, 100),
        "1,000 left the rendezvous together at one instant, and 100 of them could begin within 1.00 s: spread the rest by \
         `think: 0s to 15s` after it"
    );
    // Nearly all could, or none: what was dropped is another story.
    for (dropped, sent) in [(900, 900), (900, 0)] {
        assert!(hint(dropped, sent).starts_with("fewer connections"), "{}", hint(dropped, sent));
    }
}

#[test]
fn starved_or_stalled_in_more_than_one_percent_of_turns() {
    let turns = |stalled, starved| {
        alike(move |second| {
            second.done(100, 5).with(|interval| {
                interval.threads[0].stalled_turns = stalled;
                interval.threads[0].starved_turns = starved;
            })
        })
    };
    check(&turns(10, 10), &[]);
    check(&turns(11, 10), &["stalled"]);
    check(&turns(10, 11), &["starved"]);
}

#[test]
fn a_thread_full_in_more_than_a_tenth_of_the_intervals() {
    let full = |seconds: i64, percent| {
        run((0..seconds).map(move |at| (at, Second::at(at).done(100, 5).busy(percent))))
    };
    check(&full(2, 100), &[]);
    check(&full(3, 94), &[]);
    check(&full(3, 95), &["full"]);
}

#[test]
fn rule_a_more_than_one_percent_of_the_open_load_lost_on_this_side() {
    let check = |run: &Run, said: &str| assert_eq!(run.said(), said);
    let invalid = "invalid generator 3: generator";
    let lost = |n| run([(7, Second::at(7).done(100 - n, 5).dropped(n, DropReason::Behind))]);
    check(&lost(10), "pass none 0");
    // 11 of 1,000 in ten seconds; over the run it is only half a percent.
    check(&lost(11), invalid);
    assert_eq!(lost(11).findings(), ["generator!", "dropped!"]);
    assert!(lost(11).diagnosis().headline.contains("1.1 %"), "{}", lost(11).diagnosis().headline);
    let steady = |n| alike(move |second| second.done(100 - n, 5).dropped(n, DropReason::NoFiles));
    check(&steady(1), "pass none 0");
    check(&steady(2), invalid);
    let failing = alike(|second| second.done(98, 5).failed(2, ErrorClass::NoSourceAddress, 1));
    check(&failing, "invalid generator 3: generator; generator_failures; failed < 1%");
    let mut both = failing;
    both.seconds[7] = Second::at(7)
        .failed(2, ErrorClass::NoSourceAddress, 1)
        .dropped(3, DropReason::NoSourceAddress)
        .seal();
    let evidence = both.diagnosis().findings.into_iter().map(|finding| finding.evidence).collect::<Vec<_>>();
    let lost = "failed: no_source_address 40 · dropped: no_source_address 3";
    assert!(evidence[0].ends_with(lost) && evidence[1] == lost, "{evidence:?}");
    // The target's own limit is not a reason of the generator. The rule does not apply to the
    // closed loop.
    check(&alike(|second| second.done(50, 5).dropped(50, DropReason::MaxOpen)), "pass none 0");
    check(&alike(|second| second.done(98, 5).dropped(2, DropReason::NoFiles)).closed(), "pass generator 0");
}

#[test]
fn rule_b_a_time_that_would_hold_without_lag() {
    let check = |run: Run, said: &str| assert_eq!(run.said(), said);
    let lagging = |ms, lag_us| alike(move |second| second.done_lagging(100, ms, lag_us));
    let invalid = "invalid generator 3: generator_lag; p99 < 20ms";
    check(lagging(25, 10_000).asking(&["p99 < 20ms"]), invalid);
    assert_eq!(lagging(25, 10_000).asking(&["p99 < 20ms"]).findings(), ["generator_lag!", "late!", "lag!"]);
    // Without its lag it would still be too slow.
    check(lagging(25, 3_000).asking(&["p99 < 20ms"]), "fail unknown 1: p99 < 20ms");
    // It would hold without its lag, but so little lag is no doubt.
    check(lagging(21, 1_000).asking(&["p99 < 20500us"]), "fail unknown 1: p99 < 20500us");
    // Response time includes lag: what holds is proven.
    check(lagging(19, 10_000).asking(&["p99 < 20ms"]), "pass none 0");
    // Times that start after the lag do not include it.
    check(lagging(35, 10_000).asking(&["p99(service) < 20ms"]), "fail unknown 1: p99(service) < 20ms");
    check(
        lagging(25, 10_000).asking(&["p99(lag) < 2ms"]),
        "invalid generator 3: generator_lag; p99(lag) < 2ms",
    );
    // Another threshold fails that no lag explains, so the verdict is fail.
    let both = lagging(25, 10_000).asking(&["p99 < 20ms", "p50(service) < 1ms"]);
    check(both, "fail unknown 1: p50(service) < 1ms; p99 < 20ms");
}

#[test]
fn rule_b_in_a_window_is_about_the_lag_of_that_window() {
    // One second of lag, too short for a doubt about the run, fails the window that contains it.
    let seconds = [(7, Second::at(7).done(1980, 5).done_lagging(20, 50, 45_000))];
    let asked = |text| {
        let mut asked = run(seconds.clone()).asking(&[text]);
        // 2,000 requests in each second: percentiles of one second are certain.
        for (at, interval) in asked.seconds.iter_mut().enumerate().filter(|(at, _)| *at != 7) {
            *interval = Second::at(at as i64).done(2000, 5).seal();
        }
        asked
    };
    let broken = asked("p99.5 < 20ms for 1s");
    assert_eq!(broken.said(), "invalid generator 3: generator_lag; p99.5 < 20ms for 1s");
    assert_eq!(broken.findings(), ["generator_lag!"], "no doubt about the run as a whole");
    assert_eq!(asked("p99.5 < 20ms").said(), "pass none 0");
}

#[test]
fn rule_b_failures_that_are_the_generators() {
    let failing = |own, other| {
        alike(move |second| {
            second.done(1000 - own - other, 5).failed(own, ErrorClass::NoFiles, 1).failed(
                other,
                ErrorClass::Reset,
                1,
            )
        })
        .closed()
    };
    assert_eq!(failing(9, 0).said(), "pass none 0");
    assert_eq!(failing(10, 0).said(), "invalid generator 3: generator_failures; failed < 1%");
    assert_eq!(failing(10, 9).said(), "invalid generator 3: generator_failures; failed < 1%");
    // Ten of a thousand are the target's, so the threshold fails anyway.
    assert_eq!(failing(9, 10).said(), "fail target 1: failed < 1%");
    let asked = failing(1, 0).asking(&["errors(no_files) = 0"]);
    assert_eq!(asked.said(), "invalid generator 3: generator_failures; errors(no_files) = 0");
    // A percentile among dropped requests. It would be known if the generator had not dropped them.
    let dropped =
        |n, reason| run([(7, Second::at(7).done(100 - n, 5).dropped(n, reason))]).asking(&["p99.9 < 20ms"]);
    assert_eq!(
        dropped(3, DropReason::Behind).said(),
        "invalid generator 3: generator_failures; p99.9 < 20ms"
    );
    assert_eq!(dropped(3, DropReason::MaxOpen).said(), "fail target 1: p99.9 < 20ms");
}

#[test]
fn rule_c_a_rate_or_capacity_that_failed_while_the_generator_was_full() {
    let check = |busy, threshold: &str, said: &str| {
        let mut run =
            alike(|second| second.done(100, 5).busy(busy).with(|interval| interval.conns.open = 40)).closed();
        let first = &mut run.seconds[0].conns;
        (first.offered, first.opened) = (40, 40);
        assert_eq!(run.asking(&[threshold]).said(), said, "busy {busy} %");
    };
    check(100, "done_rate > 200/s", "invalid generator 3: generator_full; done_rate > 200/s");
    check(50, "done_rate > 200/s", "fail unknown 1: done_rate > 200/s");
    check(100, "held >= 50", "invalid generator 3: generator_full; held >= 50");
    check(50, "held >= 50", "fail unknown 1: held >= 50");
    // A passed rate stays proven, and is a lower bound.
    check(100, "done_rate > 90/s", "pass generator 0");
    // A ceiling is no capacity.
    check(100, "done_rate < 50/s", "fail unknown 1: done_rate < 50/s");
    let knee = |busy| {
        let run = alike(|second| second.done(100, 5).busy(busy)).around(|around| around.knee_sought = true);
        run.said()
    };
    assert_eq!(knee(100), "invalid generator 3: generator_full");
    assert_eq!(knee(50), "pass none 0");
}

#[test]
fn a_full_generator_excuses_no_refused_connections() {
    let refused = alike(|second| second.failed(1000, ErrorClass::ConnectRefused, 1).busy(100)).closed();
    let said = refused.asking(&["done_rate > 1k/s"]).said();
    assert_eq!(said, "fail target 1: connect_refused; failed < 1%; done_rate > 1k/s");
    // A time that fails under a full thread proves nothing.
    let slow =
        alike(|second| second.done(100, 50).busy(100)).closed().asking(&["done_rate > 1k/s", "p50 < 5ms"]);
    assert_eq!(slow.said(), "invalid generator 3: generator_full; done_rate > 1k/s; p50 < 5ms");
}

/// Requests that were not sent because no source address was free: known in advance, or refused by
/// the kernel.
#[test]
fn a_closed_run_short_of_addresses_says_who_set_its_rate() {
    let check = |run: &Run, said: &str| assert_eq!(run.said(), said);
    let bound = "the generator was the limit: this rate is a lower bound";
    let dropped =
        |n| alike(move |second| second.done(1000 - n, 5).dropped(n, DropReason::NoSourceAddress)).closed();
    let failed =
        |n| alike(move |second| second.done(1000 - n, 5).failed(n, ErrorClass::NoSourceAddress, 1)).closed();
    for n in [11, 500] {
        let run = dropped(n);
        check(&run, "pass generator 0");
        assert_eq!(run.diagnosis().headline, bound);
        assert_eq!(run.findings(), ["dropped"]);
        assert!(run.diagnosis().findings[0].hint.contains("--source"), "a cause has its cure");
        assert!(run.diagnosis().notes.is_empty(), "said once is enough: {:?}", run.diagnosis().notes);
    }
    check(&dropped(9), "pass none 0");
    // Those were tried, and fewer than 1 % may fail.
    let run = failed(500);
    check(&run, "invalid generator 3: generator_failures; failed < 1%");
    assert_eq!(run.findings(), ["generator_failures!", "no_source_address"]);
    assert!(run.diagnosis().findings[1].hint.contains("--source"), "a cause has its cure");
    // Each too few for a rule, together enough to say so.
    let both = alike(|second| {
        let second = second.done(984, 5).dropped(8, DropReason::NoSourceAddress);
        second.failed(8, ErrorClass::NoSourceAddress, 1)
    });
    check(&both.closed(), "pass generator 0");
}

#[test]
fn a_closed_run_that_claims_nothing_passes_as_a_lower_bound() {
    let busy = |percent| alike(move |second| second.done(100, 5).busy(percent)).closed();
    assert_eq!(busy(100).said(), "pass generator 0");
    assert_eq!(busy(100).diagnosis().headline, "the generator was the limit: this rate is a lower bound");
    assert_eq!(busy(50).said(), "pass none 0");
    assert_eq!(busy(50).diagnosis().headline, "");
    // The open loop's rate is the plan's, not the generator's.
    assert_eq!(alike(|second| second.done(100, 5).busy(100)).said(), "pass none 0");
}
