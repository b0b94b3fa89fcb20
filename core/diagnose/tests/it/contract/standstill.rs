//! Findings about a target that sent no response for a while.

use crate::common::{KEY, Second};
use crate::contract::case::{Run, run};
use wavetank_diagnose::{Blame, Finding, FindingCode, diagnose};
use wavetank_measure::{HostSample, Ledger};

fn silent(at: i64, open: u64) -> (i64, Second) {
    (at, Second::at(at).open(open).with(|interval| interval.step_mut(KEY).counters.offered = 100))
}

/// Nothing ends in the seconds 5 and 6.
fn stood() -> Run {
    let before = Second::at(4).done(50, 5).open(50);
    let after = Second::at(7).answered(250, 2_000).done(100, 5);
    run([(4, before), silent(5, 150), silent(6, 250), (7, after)])
}

fn found(run: &Run) -> Vec<Finding> {
    run.diagnosis().findings.into_iter().filter(|finding| finding.code == FindingCode::Standstill).collect()
}

fn check(run: &Run, blame: Blame, message: &str, evidence: &str) {
    let [finding] = &found(run)[..] else { panic!("{:?}", run.diagnosis().findings) };
    assert_eq!((finding.blame, finding.decisive), (blame, false));
    assert_eq!((finding.message.as_str(), finding.evidence.as_str()), (message, evidence));
    // The network is mentioned where there is one.
    assert_eq!(finding.hint.contains("the network"), blame == Blame::Unknown, "{}", finding.hint);
    assert_eq!(run.said(), "pass none 0", "it turns nothing");
}

#[test]
fn a_standstill_is_reported_with_what_is_known_of_it() {
    let message = "no request ended for at least 2 s, from 5 s on, though 250 were open at 7 s: the target sent no response, or the \
                   network delivered none";
    let evidence = "one such period · at other times 111 requests ended per second on average";
    check(&stood(), Blame::Unknown, message, evidence);
    // No network is between.
    let message = "no request ended for at least 2 s, from 5 s on, though 250 were open at 7 s: the target sent no response";
    check(&stood().on_loopback(), Blame::Target, message, evidence);
    let mut held_up = stood().on_loopback();
    held_up.seconds[7].threads[0].turn_ns_max = 50_000_000;
    let message = message.replace("least 2 s", "least 1.9 s");
    check(
        &held_up,
        Blame::Target,
        &message,
        "one such period · at other times 111 requests ended per second on average",
    );
}

/// Ten users wait and send nothing meanwhile, so that the times of a closed loop hide it.
#[test]
fn users_of_a_closed_model_omit_requests() {
    let waiting = |at| (at, Second::at(at).open(10));
    let before = Second::at(4).done(90, 5).open(10);
    let after = Second::at(7).answered(10, 2_000).done(100, 5);
    let run = || run([(4, before.clone()), waiting(5), waiting(6), (7, after.clone())]).on_loopback();
    let evidence = |run: &Run| found(run).first().map(|one| one.evidence.clone()).unwrap_or_default();
    let closed = evidence(&run().closed());
    assert!(closed.contains("sent about 190 requests fewer"), "{closed}");
    let open = evidence(&run());
    assert!(!open.is_empty() && !open.contains("less"), "{open}");
}

#[test]
fn between_the_hosts_of_a_lab_lies_a_network() {
    let run = stood().on_loopback();
    let blame = |hosts: &[&str]| {
        let mut book = Ledger::new(&run.plan);
        for second in &run.seconds {
            let _ = book.add(second);
        }
        for host in hosts {
            book.observe_other(host, &HostSample::default());
        }
        let findings = diagnose(&run.plan, &book, &run.ending, &run.circumstances).findings;
        findings.iter().find(|finding| finding.code == FindingCode::Standstill).map(|finding| finding.blame)
    };
    assert_eq!(blame(&[]), Some(Blame::Target));
    assert_eq!(blame(&["app1"]), Some(Blame::Unknown));
}

#[test]
fn several_are_one_finding_about_the_longest() {
    let mut twice = stood().on_loopback();
    let (at, again) = silent(11, 110);
    twice.seconds[10] = Second::at(10).done(90, 5).open(10).seal();
    twice.seconds[at as usize] = again.seal();
    twice.seconds[12] = Second::at(12).answered(110, 900).seal();
    let message = "no request ended for at least 2 s, from 5 s on, though 250 were open at 7 s: the target sent no response";
    let evidence =
        "the longest of 2 such periods, 3 s in all · at other times 112 requests ended per second on average";
    check(&twice, Blame::Target, message, evidence);
}

#[test]
fn a_run_that_was_answered_throughout_says_nothing() {
    assert_eq!(found(&run([])), []);
}
