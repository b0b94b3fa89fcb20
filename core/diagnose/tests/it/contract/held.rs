//! Plateaus below their plan are reported unless a threshold is about them.

use crate::common::{Second, phase, plan};
use wavetank_diagnose::{Blame, Finding, FindingCode, RunContext, RunEnd, diagnose};
use wavetank_measure::{ErrorClass, Ledger};
use wavetank_plan::{Condition, Load, Phase, Plan, PopulationCurve};
use wavetank_units::Nanos;

/// Checks the finding of a run that plans 1,000 connections for 10 s. Each second, `lost` of them
/// are lost and not reopened.
fn check(lost: u64, threshold: Option<&str>, expected: Option<(Blame, &str, &str)>) {
    let connections = PopulationCurve::constant(1_000, Some(Nanos::from_secs(10)));
    let load = Load::Hold { connections, sessions_each: None };
    let thresholds = threshold.map(|text| Condition::parse(text).expect("a condition")).into_iter().collect();
    let plan = Plan { phases: vec![Phase { load, ..phase("keep", 0, 10) }], thresholds, ..plan(1) };
    let mut book = Ledger::new(&plan);
    for from in 0..10 {
        let second = Second::at(from).done(10, 1).with(|interval| {
            let gone = lost * (from.unsigned_abs() + 1);
            let conns = &mut interval.conns;
            (conns.open, conns.peak, conns.lost) = (1_000 - gone, 1_000, lost);
            conns.opened = if from == 0 { 1_000 } else { 0 };
            conns.offered = conns.opened;
        });
        book.add(&second.seal()).expect("it adds up");
    }
    let found = diagnose(&plan, &book, &RunEnd::Finished, &RunContext::default()).findings;
    let found: Vec<_> = found.iter().filter(|finding| finding.code == FindingCode::HeldBelowPlan).collect();
    assert_eq!(found.len(), usize::from(expected.is_some()), "{found:?}");
    if let (Some(finding), Some((blame, message, evidence))) = (found.first(), expected) {
        assert_eq!((finding.blame, finding.decisive), (blame, false));
        assert_eq!((finding.message.as_str(), finding.evidence.as_str()), (message, evidence));
        assert_eq!(finding.hint, "to fail such a run: thresholds: [held >= 1000 in keep, lost = 0]");
    }
}

#[test]
fn a_plateau_below_its_plan_is_reported() {
    let message = "only 500 of 1,000 connections were held in the lowest second of keep";
    let evidence = "in keep 500 were lost, 0 opened again, 0 not opened";
    check(50, None, Some((Blame::Target, message, evidence)));
    check(50, Some("failed < 5%"), Some((Blame::Target, message, evidence)));
}

#[test]
fn one_that_was_held_well_or_is_judged_is_not() {
    check(0, None, None);
    check(1, None, None);
    check(50, Some("lost < 60%"), None);
    check(50, Some("held >= 100 in keep"), None);
}

/// Checks the findings about connections of a run that plans 100 connections and opens or loses
/// them with these classes in its first second.
fn check_classes(failed: &[(ErrorClass, u64)], lost: &[(ErrorClass, u64)], expected: &[(Blame, &str, &str)]) {
    let connections = PopulationCurve::constant(100, Some(Nanos::from_secs(10)));
    let load = Load::Hold { connections, sessions_each: None };
    let thresholds = vec![Condition::parse("held >= 100 in keep").expect("a condition")];
    let plan = Plan { phases: vec![Phase { load, ..phase("keep", 0, 10) }], thresholds, ..plan(1) };
    let mut ledger = Ledger::new(&plan);
    for from in 0..10 {
        let second = Second::at(from).with(|interval| {
            let conns = &mut interval.conns;
            if from == 0 {
                for &(class, n) in failed {
                    conns.failed += n;
                    conns.failed_by[class as usize] = n;
                }
                for &(class, n) in lost {
                    conns.lost += n;
                    conns.lost_by[class as usize] = n;
                }
                conns.opened = 100 + conns.lost;
                conns.offered = conns.opened + conns.failed;
            }
            (conns.open, conns.peak) = (100, 100);
        });
        ledger.add(&second.seal()).expect("it adds up");
    }
    let found = diagnose(&plan, &ledger, &RunEnd::Finished, &RunContext::default()).findings;
    let of_class = |finding: &&Finding| matches!(finding.code, FindingCode::Class(_));
    let found: Vec<_> = found.iter().filter(of_class).collect();
    let found: Vec<_> = found
        .iter()
        .map(|finding| (finding.blame, finding.message.as_str(), finding.evidence.as_str()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_reasons_of_connections_without_requests_are_named() {
    let refused =
        (Blame::Target, "50 connections were not opened: connection refused", "33.3 % of 150 openings");
    check_classes(&[(ErrorClass::ConnectRefused, 50)], &[], &[refused]);
    let lost = [
        (Blame::Target, "60 connections were lost: the peer reset them", "37.5 % of 160 connections"),
        (Blame::Target, "1 connection was not opened: connection refused", "0.62 % of 161 openings"),
    ];
    let (one, reset) = ([(ErrorClass::ConnectRefused, 1)], [(ErrorClass::Reset, 60)]);
    check_classes(&one, &reset, &[lost[1], lost[0]]);
    check_classes(&[], &[], &[]);
}
