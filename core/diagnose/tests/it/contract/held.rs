//! Plateaus below their plan are reported unless a threshold is about them.

use crate::common::{Second, phase, plan};
use wavetank_diagnose::{Blame, FindingCode, RunContext, RunEnd, diagnose};
use wavetank_measure::Ledger;
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
