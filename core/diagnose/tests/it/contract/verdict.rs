//! Endings, precedence, blame and texts: contract §5 without its doubts.

use crate::common::{KEY, Second};
use crate::contract::case::{Run, alike, run};
use wavetank_diagnose::{FindingCode, HookCheck, HookFailure, HookResult, RunEnd};
use wavetank_measure::{DropReason, ErrorClass, HandshakeParams, RendezvousRelease};
use wavetank_units::{Nanos, Sentence};

const STATUS: FindingCode = FindingCode::Class(ErrorClass::Status);
const SAME_AGE: FindingCode = FindingCode::SameAge;

fn check(run: &Run, said: &str) {
    assert_eq!(run.said(), said);
    let diagnosis = run.diagnosis();
    let silent = diagnosis.headline.is_empty();
    assert_eq!(silent, said.starts_with("pass none"), "a verdict always has a reason: {diagnosis:?}");
}

fn failing(class: ErrorClass) -> Run {
    alike(|second| second.failed(100, class, 60_000))
}

#[test]
fn a_clean_run_passes_in_silence() {
    let clean = run([]).asking(&["p99 < 250ms", "failed = 0", "done_rate >= 100/s"]);
    check(&clean, "pass none 0");
    assert!(clean.diagnosis().findings.is_empty() && clean.diagnosis().notes.is_empty());
}

#[test]
fn broken_thresholds_fail() {
    check(&run([]).asking(&["p99 < 4ms"]), "fail unknown 1: p99 < 4ms");
    check(&run([]).asking(&["p99 < 4ms", "failed = 0", "done > 5k"]), "fail unknown 1: p99 < 4ms; done > 5k");
    let failed = |n| alike(move |second| second.done(1000 - n, 5).failed(n, ErrorClass::Status, 5));
    check(&failed(9), "pass none 0");
    check(&failed(10), "fail target 1: failed < 1%");
    let nothing = alike(|second| second.open(0));
    check(&nothing, "fail unknown 1: done > 0");
    assert_eq!(run([]).asking(&["p99 < 4ms"]).diagnosis().headline, "`p99 < 4ms` broke: 5.00 ms");
}

/// An unexpected status can only be the correct response of the target if many responses have it.
#[test]
fn few_odd_statuses_are_not_to_be_expected() {
    let check = |odd: u64, expected: bool| {
        let run = alike(move |second| second.done(1000 - odd, 5).failed(odd, ErrorClass::Status, 5));
        let findings = run.diagnosis().findings;
        let hint = findings.iter().find(|finding| finding.code == STATUS).map(|finding| &*finding.hint);
        assert_eq!(hint.map(|hint| hint.contains("--expect-status")), Some(expected), "{odd}: {hint:?}");
    };
    check(99, false);
    check(100, true);
    check(1_000, true);
}

#[test]
fn a_time_is_the_targets_where_no_network_lies_between() {
    check(&run([]).on_loopback().asking(&["p99 < 4ms"]), "fail target 1: p99 < 4ms");
    check(
        &run([]).around(|around| around.same_host = true).asking(&["p99 < 4ms"]),
        "fail target 1: p99 < 4ms",
    );
    // Time spent waiting for a pooled connection is not proven to be the target's.
    let waiting = alike(|second| {
        second.done(100, 5).with(|interval| {
            interval.phase_mut(0).wait.clear();
            interval.phase_mut(0).wait.record_n(40_000_000, 100);
            interval.step_mut(KEY).response.clear();
            interval.step_mut(KEY).response.record_n(45_000_000, 100);
        })
    });
    check(&waiting.on_loopback().asking(&["p99 < 20ms"]), "fail unknown 1: p99 < 20ms");
}

#[test]
fn undecided_with_nothing_broken_is_incomplete() {
    check(&run([]).asking(&["p99.99 < 250ms"]), "pass none 0"); // the maximum settles it
    let slow_tail = || run([(3, Second::at(3).done(99, 5).done(1, 900))]);
    check(&slow_tail().asking(&["p99.9 < 250ms"]), "incomplete none 4: undecided");
    check(&slow_tail().asking(&["p99(tls) < 1s"]), "incomplete none 4: undecided");
    check(&slow_tail().asking(&["p99.9 < 250ms", "failed > 1"]), "fail unknown 1: failed > 1");
    let rehearsal = slow_tail().asking(&["p99.9 < 250ms"]).around(|around| around.rehearsal = true);
    check(&rehearsal, "pass none 0");
    assert!(rehearsal.diagnosis().notes[0].starts_with("rehearsal: `p99.9 < 250ms` is undecided"));
}

#[test]
fn a_stop_condition_that_fired_fails() {
    let from_ten = |class| {
        run((10..20).map(move |at| (at, Second::at(at).done(40, 5).failed(60, class, 5))))
            .stopping("failed > 50% for 3s")
    };
    let stopped = from_ten(ErrorClass::Status);
    assert!(stopped.said().starts_with("fail target 1: "), "{}", stopped.said());
    assert!(stopped.diagnosis().verdict.reasons.contains(&"failed > 50% for 3s".to_owned()));
    // A resource that the generator itself lacked proves nothing against the target.
    assert!(from_ten(ErrorClass::NoFiles).said().starts_with("invalid generator 3: generator"));
    let hold = run([]).stopping("done_rate > 50/s for 2s");
    check(&hold, "fail unknown 1: done_rate > 50/s for 2s");
    assert_eq!(hold.diagnosis().headline, "stop condition `done_rate > 50/s for 2s` fired: 100/s");
}

#[test]
fn how_a_run_ended() {
    let words = |text: &str| Sentence::quoted(text);
    check(&run([]).ending(RunEnd::Signal), "incomplete none 130: signal");
    check(&run([]).ending(RunEnd::Stopped), "incomplete none 4: stopped");
    let never = run([]).ending(RunEnd::NeverBegan { waited: Nanos::from_secs(80) });
    check(&never, "incomplete none 4: never_began");
    assert!(
        never.diagnosis().headline.contains("not opened within 80.0 s"),
        "{}",
        never.diagnosis().headline
    );
    assert!(never.diagnosis().findings[0].hint.contains("-c"), "a cause has its cure");
    let probe = |class| {
        let probe = RunEnd::ProbeFailed { class, message: words("no answer") };
        Run { seconds: Vec::new(), ..run([]).ending(probe) }
    };
    check(&probe(ErrorClass::ConnectRefused), "fail target 1: probe");
    check(&probe(ErrorClass::Protocol), "fail target 1: probe");
    check(&probe(ErrorClass::ConnectTimeout), "fail unknown 1: probe");
    check(&probe(ErrorClass::NoSourceAddress), "invalid generator 3: probe");
    for class in [ErrorClass::ConnectRefused, ErrorClass::Tls, ErrorClass::NoFiles] {
        let hint = &probe(class).diagnosis().findings[0].hint;
        assert!(!hint.is_empty(), "{class:?} has a cure");
    }
    check(
        &run([]).around(|around| around.lost.push(words("interval 7 of load02"))),
        "incomplete none 4: lost",
    );
    let twice = run([])
        .around(|around| around.lost = vec![words("load02"), words("interval 7"), words("c"), words("d")]);
    check(&twice, "incomplete none 4: lost");
    assert_eq!(twice.diagnosis().headline, "lost: load02; interval 7; c; and 1 more");
}

#[test]
fn nothing_done_and_all_failed_alike_is_blamed_by_errno() {
    fn check(class: ErrorClass, status_blame_exit: &str) {
        for ending in [RunEnd::Hopeless { class }, RunEnd::Finished] {
            let run = failing(class).closed().ending(ending);
            let (first, reasons) = (run.said(), run.diagnosis().verdict.reasons);
            assert!(first.starts_with(status_blame_exit), "{first}");
            assert!(reasons.contains(&class.name().to_owned()), "{reasons:?}");
            assert!(run.diagnosis().headline.starts_with("every request failed: "));
            assert!(!run.diagnosis().findings[0].hint.is_empty());
        }
    }
    check(ErrorClass::ConnectRefused, "fail target 1");
    check(ErrorClass::RequestTimeout, "fail target 1");
    check(ErrorClass::ConnectUnreachable, "fail network 1");
    check(ErrorClass::ConnectTimeout, "fail unknown 1");
    check(ErrorClass::NoSourceAddress, "invalid generator 3");
    check(ErrorClass::NoFiles, "invalid generator 3");
    let silent = failing(ErrorClass::ConnectTimeout)
        .on_loopback()
        .ending(RunEnd::Hopeless { class: ErrorClass::ConnectTimeout });
    assert!(silent.said().starts_with("fail target 1"), "no network on loopback: {}", silent.said());
}

/// One class has two kinds, which the handshake counts distinguish.
#[test]
fn broken_tls_and_failed_handshakes_are_distinguished() {
    let check = |class, complete: u64, failed: u64, text: &str, hint: &str| {
        let run = alike(|second| {
            second.failed(10, class, 60_000).with(|interval| {
                let handshakes = &mut interval.target_mut(0, 0).handshakes;
                handshakes.failed = failed;
                if complete > 0 {
                    handshakes.add(&HandshakeParams::default(), complete);
                }
                (interval.conns.offered, interval.conns.opened) = (complete + failed, complete);
                (interval.conns.failed, interval.conns.closed) = (failed, complete);
            })
        });
        let finding = &run.diagnosis().findings[0];
        assert_eq!(finding.message, format!("every request failed: {text}"));
        assert!(finding.hint.contains(hint), "{finding:?}");
    };
    check(ErrorClass::Tls, 0, 10, "the TLS handshake failed", "speak TLS");
    check(ErrorClass::Tls, 10, 0, "TLS failed after its handshake", "check the log");
    check(ErrorClass::Tls, 5, 5, "TLS failed", "speak TLS");
    check(ErrorClass::ConnectTimeout, 0, 0, "no answer to the connect in time", "listen queue");
    check(
        ErrorClass::ConnectTimeout,
        0,
        10,
        "connected, but the TLS handshake did not end in time",
        "--connect-timeout covers",
    );
}

#[test]
fn precedence() {
    let broken = || run([]).asking(&["p99 < 4ms"]);
    let lossy = || alike(|second| second.done(90, 5).dropped(10, DropReason::Behind));
    let unsound = |mut run: Run| {
        run.seconds[3].step_mut(KEY).counters.offered += 1;
        run
    };
    let losing = |run: Run| run.around(|around| around.lost.push(Sentence::quoted("an interval")));
    check(&losing(broken()), "incomplete none 4: lost; p99 < 4ms");
    check(&losing(lossy()), "invalid generator 3: generator; lost");
    check(&unsound(run([])), "invalid generator 3: accounting");
    check(&unsound(losing(broken())), "invalid generator 3: accounting; lost; p99 < 4ms");
    check(&unsound(lossy()).ending(RunEnd::Signal), "incomplete none 130: signal; accounting; generator");
    let of_thread = run([]).around(|around| around.accounting.push(Sentence::quoted("thread 1: …")));
    check(&of_thread, "invalid generator 3: accounting");
}

#[test]
fn a_violation_is_dumped() {
    let mut unsound = run([]);
    unsound.seconds[3].step_mut(KEY).counters.offered += 1;
    let diagnosis = unsound.diagnosis();
    let finding = &diagnosis.findings[0];
    assert_eq!(finding.code, FindingCode::Accounting);
    assert!(
        finding.evidence.contains("offered 401") && finding.evidence.contains("done 400"),
        "{}",
        finding.evidence
    );
    assert_eq!(diagnosis.headline, "the counters do not add up: offered = done + failed + dropped + open");
}

#[test]
fn failures_that_share_an_age_are_named() {
    let message = |run: &Run, code: FindingCode| {
        let diagnosis = run.diagnosis();
        diagnosis.findings.into_iter().find(|finding| finding.code == code).map(|finding| finding.message)
    };
    let timed_out = run([(3, Second::at(3).done(88, 5).failed(12_400, ErrorClass::RequestTimeout, 60_000))]);
    let reported = Some(Sentence::quoted("12,400 requests ended at exactly 60.0 s: raise the timeout"));
    assert_eq!(message(&timed_out, FindingCode::Class(ErrorClass::RequestTimeout)), reported);
    // A timeout elsewhere: all connections closed at about 30 s.
    let closed_at = |n, ms: u64| {
        let ages = |second: Second| {
            (0..n).fold(second, |second, i| second.failed(1, ErrorClass::ClosedEarly, ms + i))
        };
        run([(3, ages(Second::at(3)))])
    };
    let same = |ms: u64| run([(3, Second::at(3).failed(12, ErrorClass::Status, ms))]);
    let reported = Some(Sentence::quoted("12 requests failed at the same age, 29.9 s"));
    assert_eq!(message(&closed_at(12, 30_000), SAME_AGE), reported);
    assert_eq!(message(&closed_at(9, 30_000), SAME_AGE), None, "too few failures for a finding");
    assert_eq!(message(&closed_at(12, 3), SAME_AGE), None, "instant failures share their age by nature");
    let reported = Some(Sentence::quoted("12 requests failed at the same age, 499 ms"));
    assert_eq!(message(&same(500), SAME_AGE), reported);
    let reported = Some(Sentence::quoted("12 requests failed at the same age, 99.6 ms"));
    assert_eq!(message(&same(100), SAME_AGE), reported);
    assert_eq!(message(&same(5), SAME_AGE), None, "as old as other responses");
    let spread = |second: Second| {
        (1..40).fold(second, |second, i| second.failed(1, ErrorClass::ClosedEarly, i * 1000))
    };
    assert_eq!(message(&run([(3, spread(Second::at(3)))]), SAME_AGE), None);
}

#[test]
fn unexpected_statuses_are_listed() {
    let wrong = alike(|second| {
        second
            .done(90, 5)
            .failed(10, ErrorClass::Status, 5)
            .with(|interval| interval.step_mut(KEY).status.add(503, 10))
    });
    let diagnosis = wrong.diagnosis();
    let finding = diagnosis.findings.iter().find(|finding| finding.code == STATUS).expect("it was listed");
    assert_eq!(finding.evidence, "10 % of offered · 503: 200");
}

#[test]
fn circumstances_are_notes_and_change_nothing() {
    let noted = |run: Run| {
        assert_eq!(run.said(), "pass none 0");
        run.diagnosis().notes
    };
    let same = run([]).around(|around| (around.same_host, around.cpus) = (true, 8));
    assert_eq!(
        noted(same),
        ["same machine: server and wavetank shared 8 CPUs, so the server alone can do this or more"]
    );
    assert_eq!(
        noted(run([]).around(|around| around.steal = Some(0.02))),
        ["the hypervisor took 2 % of CPU time"]
    );
    let stolen = run([]).around(|around| around.steal = Some(0.05));
    assert_eq!(stolen.findings(), ["steal"], "no circumstance any more");
    assert!(noted(stolen).is_empty());
    let unanswered = run([(19, Second::at(19).done(97, 5).open(3))]);
    let reported =
        "3 requests were unanswered at the end and count in the response time as long as they waited";
    assert_eq!(noted(unanswered), [reported]);
    let killed = run([(19, Second::at(19).done(97, 5).open(3))])
        .around(|around| around.lost = vec![Sentence::quoted("wavetank was stopped")]);
    let reported = "3 requests were unanswered when the last interval was sealed and are in no response time";
    assert_eq!(killed.diagnosis().notes, [reported]);
    let at_limit = run([(19, Second::at(19).done(60, 5).dropped(40, DropReason::MaxOpen))]);
    let reported = "40 requests (2 %) were never sent, as max_open 1,000 was reached: the target saw less than the \
                rate asked for";
    assert_eq!(noted(at_limit), [reported]);
    let mut lowered = run([]);
    lowered.plan.phases[0].max_open_by = wavetank_plan::MaxOpenLimit::Files;
    assert!(noted(lowered).is_empty(), "nothing was dropped for it");
    let mut elsewhere = run([(19, Second::at(19).done(99, 5).dropped(1, DropReason::Behind))]);
    elsewhere.plan.phases[0].max_open_by = wavetank_plan::MaxOpenLimit::Files;
    assert!(noted(elsewhere).is_empty(), "what was dropped was dropped for another reason");
    let mut reached = run([(19, Second::at(19).done(99, 5).dropped(1, DropReason::NoFiles))]);
    reached.plan.phases[0].max_open_by = wavetank_plan::MaxOpenLimit::Files;
    assert_eq!(
        noted(reached),
        ["at most 1,000 simultaneous requests: this host's file limit allowed no more"]
    );
}

/// One turn of two seconds is too small a share of turns for a doubt, but it causes the longest
/// times.
#[test]
fn a_generator_that_stood_still_is_reported() {
    let turn =
        |ns| alike(move |second| second.done(100, 40).with(|interval| interval.threads[0].turn_ns_max = ns));
    assert!(turn(19_000_000).diagnosis().notes.is_empty(), "less than half of the longest time");
    let notes = turn(2_000_000_000).diagnosis().notes;
    assert_eq!(
        notes,
        ["a load thread stalled for 2.00 s without a break: it may have caused the longest times"]
    );
    let quick =
        alike(|second| second.done(100, 5).with(|interval| interval.threads[0].turn_ns_max = 9_000_000));
    assert!(quick.diagnosis().notes.is_empty(), "too short for a note");
}

/// Returns the result of `before` or `after` with one failed step or one failed check.
fn around(fault: Option<&str>, held: bool) -> HookResult {
    let words = |text: &str| text.to_owned();
    let fault = fault.map(|what| HookFailure { step: words("POST /login"), what: Sentence::quoted(what) });
    let found = Sentence::quoted(if held { "" } else { "1003" });
    let check = HookCheck { step: words("GET /sum"), check: words("json $.sold <= 1000"), held, found };
    HookResult { sent: 2, done: 1, failed: 1, checks: vec![check], faults: fault.into_iter().collect() }
}

#[test]
fn what_was_done_around_the_load() {
    let idle = Run { seconds: Vec::new(), ..run([]).ending(RunEnd::BeforeFailed) };
    let before = idle.around(|circumstances| circumstances.before = around(Some("status 500"), true));
    check(&before, "incomplete none 4: before");
    assert_eq!(before.diagnosis().headline, "no load was sent: POST /login: status 500");
    let after = |after: HookResult| run([]).around(|circumstances| circumstances.after = after);
    check(&after(around(None, true)), "pass none 0");
    let sold = after(around(None, false));
    check(&sold, "fail target 1: after");
    assert_eq!(
        sold.diagnosis().headline,
        "after the load: GET /sum: `json $.sold <= 1000` broke: found 1003"
    );
    assert_eq!(sold.findings(), ["after!"]);
    // Whatever else there is to say, it is a reason of its own; what voids the run voids it too.
    check(&after(around(Some("reset"), false)).asking(&["p99 < 1ms"]), "fail target 1: p99 < 1ms; after");
    let stopped = after(around(None, false)).stopping("done_rate > 50/s for 2s");
    check(&stopped, "fail target 1: done_rate > 50/s for 2s; after");
    let lost = after(around(None, false)).around(|around| around.lost.push(Sentence::quoted("interval 7")));
    check(&lost, "incomplete none 4: lost; after");
}

#[test]
fn who_did_not_come_to_a_rendezvous_in_time_is_noted() {
    let met = |times: u64| {
        let mut run = run([(
            3,
            Second::at(3).done(100, 5).with(|interval| {
                for number in 0..times {
                    let meeting = RendezvousRelease {
                        number,
                        of: 10,
                        present: 8,
                        by_wait: number != 1,
                        ..RendezvousRelease::default()
                    };
                    interval.journeys.add_rendezvous_release(&meeting);
                }
            }),
        )]);
        run.plan.shared.rendezvous = vec!["doors".to_owned()];
        let notes = run.diagnosis().notes;
        notes
            .into_iter()
            .filter(|note| note.contains("the wait") || note.contains("more times"))
            .collect::<Vec<_>>()
    };
    assert_eq!(met(0), [""; 0]);
    let note = "at doors the wait ended with 8 of 10 users present: they continued without the others";
    assert_eq!(met(2), [note]);
    assert_eq!(met(7), [note, note, note, "the same happened 3 more times"]);
}
