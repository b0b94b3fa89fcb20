//! The parts of a record about sessions, other than requests.

use crate::common;
use crate::shop;
use crate::support;

use common::Second;
use shop::{met, shop, ten_seconds};
use support::measured::bare;
use wavetank_diagnose::{HookCheck, HookFailure, HookResult, RunContext, RunEnd, diagnose};
use wavetank_measure::{DropReason, Ledger, Observations};
use wavetank_plan::Phase;
use wavetank_record::{
    CheckDoc, EnvironmentDoc, Number, RunRecord, SampleLine, Sessions, Setup, Status, Threshold, VerdictDoc,
};
use wavetank_report::{Composition, Language, compose, html, junit, markdown, text};
use wavetank_units::Sentence;

fn composed(warmup: bool) -> RunRecord {
    composed_of(warmup, ten_seconds())
}

fn composed_of(warmup: bool, seconds: impl Iterator<Item = Second>) -> RunRecord {
    let mut plan = shop();
    if warmup {
        plan.phases[0] = Phase { warmup, ..plan.phases[0].clone() };
    }
    let mut book = Ledger::new(&plan);
    let seconds = seconds.chain(met(0, &[10, 90])).chain(met(1, &[]));
    for second in seconds {
        let _ = book.add(&second.seal());
    }
    let check = HookCheck {
        step: "GET /sale".to_owned(),
        check: "sum".to_owned(),
        found: Sentence::quoted("1003"),
        ..HookCheck::default()
    };
    let fault = HookFailure { step: "GET /sale".to_owned(), what: Sentence::quoted("status 500") };
    let after = HookResult { sent: 3, done: 1, failed: 2, checks: vec![check], faults: vec![fault] };
    let circumstances = RunContext {
        before: HookResult { sent: 2, done: 2, ..HookResult::default() },
        after,
        ..RunContext::default()
    };
    let diagnosis = diagnose(&plan, &book, &RunEnd::Finished, &circumstances);
    let rehearsal = Some(Sentence::quoted("a rehearsal of shop.yaml with --scale 1/10"));
    let environment = EnvironmentDoc { rehearsal, ..EnvironmentDoc::default() };
    compose(&Composition {
        plan: &plan,
        plan_hash: "ab12",
        environment: &environment,
        totals: book.totals(),
        observed: &Observations::default(),
        thresholds: &book.results(),
        diagnosis: &diagnosis,
        cpu_s: (0.0, 0.0),
        peak_rss_bytes: 0,
        connection_memory: None,
        setup: Setup { sent: 1, done: 1, failed: 0 },
        before: &circumstances.before,
        after: &circumstances.after,
        samples: &[SampleLine { kind: "slow".to_owned(), ..SampleLine::default() }],
        events: &[],
        impacts: &[],
    })
}

const fn all_done(n: u64, failed: u64) -> Sessions {
    Sessions { offered: n, started: n, done: n - failed, failed, dropped: 0, open: 0 }
}

#[test]
fn sessions_by_scope() {
    let record = composed(false);
    assert_eq!(record.sessions, all_done(1_400, 10));
    assert_eq!(record.phases[1].sessions, all_done(700, 5));
    assert_eq!(record.scenarios[0].sessions, Some(all_done(1_000, 0)), "one request each");
    assert_eq!(record.scenarios[1].sessions, Some(all_done(400, 10)));
    assert_eq!(composed(true).sessions, all_done(700, 5), "the warm-up is apart");
}

/// Each second drops that number of sessions of the buyers: in the first five seconds for one
/// reason, then for two.
fn dropping() -> impl Iterator<Item = Second> {
    ten_seconds().enumerate().map(|(at, second)| {
        second.with(|interval| {
            let counts = &mut interval.journeys.sessions_mut(u16::from(at >= 5), 1).counts;
            let reasons = [(DropReason::MaxOpen, 30), (DropReason::NoFiles, if at < 5 { 0 } else { 10 })];
            for (reason, n) in reasons {
                counts.offered += n;
                counts.dropped_by[reason as usize] += n;
            }
        })
    })
}

#[test]
fn sessions_that_never_began_are_reported_with_their_reasons() {
    let by = |reasons: &[(&str, u64)]| reasons.iter().map(|&(name, n)| (name.to_owned(), n)).collect();
    let record = composed_of(false, dropping());
    assert_eq!(record.sessions_dropped_by, by(&[("max_open", 300), ("no_files", 50)]));
    assert_eq!(record.sessions.dropped, 350, "the sum of its reasons");
    assert_eq!(
        composed_of(true, dropping()).sessions_dropped_by,
        by(&[("max_open", 150), ("no_files", 50)]),
        "those of the warm-up are apart"
    );
    assert_eq!(composed(false).sessions_dropped_by, by(&[]));
    let printed = text(&record);
    assert!(printed.contains("dropped 350 (20 %): max_open 300, no_files 50"), "{printed}");
    let shown = markdown(&record);
    assert!(shown.contains("| session dropped | `max_open` | 300 |"), "{shown}");
    let page = html(bare(&record), Language::English);
    let from = page.find("<section id=\"sessions\"").expect("sessions differ from requests");
    let section = &page[from..from + page[from..].find("</section>").expect("it ends")];
    assert!(section.contains("no_files") && section.contains("max_open"), "{section}");
    // For runs of earlier versions only the number is known.
    let earlier = RunRecord { sessions_dropped_by: by(&[]), ..record };
    assert!(
        text(&earlier).contains("dropped 350 (20 %)\n") || text(&earlier).contains("dropped 350 (20 %) ·")
    );
    assert!(!markdown(&earlier).contains("dropped: "));
}

#[test]
fn checks_counts_and_groups() {
    let record = composed(false);
    let check = |name: &str, step: &str, held, failed| CheckDoc {
        name: name.to_owned(),
        step: step.to_owned(),
        scenario: "buyer".to_owned(),
        held,
        failed,
    };
    let expected = [
        check("fresh", "cart", 390, 10),
        check("status = 200", "buy", 800, 0),
        check("fresh", "buy", 740, 60),
    ];
    assert_eq!(record.checks, expected);
    assert_eq!(record.counts, [("seen".to_owned(), 0), ("sold".to_owned(), 350)].into());
    assert_eq!(composed(true).counts["sold"], 100);
    let groups: Vec<_> = record
        .groups
        .iter()
        .map(|group| (group.name.as_str(), group.scenario.as_str(), group.time_us.count))
        .collect();
    assert_eq!(groups, [("checkout", "buyer", 400)]);
}

#[test]
fn meetings_by_place() {
    let record = composed(false);
    let [gate, doors] = &record.rendezvous[..] else { panic!("two places: {:?}", record.rendezvous) };
    assert_eq!((gate.name.as_str(), gate.met, gate.skew_us, gate.meetings.len()), ("gate", 0, None, 0));
    assert_eq!((doors.met, doors.present, doors.by_wait), (2, 8, 0));
    assert_eq!(doors.skew_us.map(|us| us.0), Some(80_000.0));
    let [first, second] = &doors.meetings[..] else { panic!("two meetings: {doors:?}") };
    assert_eq!((first.phase.as_str(), first.of, first.present, first.sent), ("calm", 4, 4, 2));
    assert_eq!((first.at_s.map(|s| s.0), second.at_s, second.skew_us), (Some(3.01), None, None));
    assert_eq!(composed(true).rendezvous[1].met, 0);
}

#[test]
fn what_was_done_around_the_load() {
    let record = composed(false);
    assert_eq!(
        (record.setup.sent, record.setup.done, record.setup.failed),
        (6, 4, 2),
        "the probe among them"
    );
    let after = record.after.expect("there was one");
    assert_eq!((after.checks[0].ok, after.checks[0].found.as_str()), (false, "1003"));
    assert_eq!(after.faults[0].what, "status 500");
    assert_eq!(record.before.map(|before| before.checks.len()), Some(0));
    assert_eq!((record.samples.len(), record.rehearsal.is_some()), (1, true));
    assert_eq!(record.verdict.reasons, ["after"]);
}

/// A run in which every part failed, as people and programs read it.
fn shown() -> RunRecord {
    let mut record = composed(false);
    let slow = |step: &str, ms: f64| SampleLine {
        kind: "slow".to_owned(),
        step: step.to_owned(),
        scenario: "buyer".to_owned(),
        intended_ns: 3_200_000_000,
        lag_us: Number(2.5),
        wait_us: Some(Number(900.0)),
        ttfb_us: Some(Number(ms * 900.0)),
        total_us: Number(ms * 1e3),
        status: Some(200),
        ..SampleLine::default()
    };
    let stale = SampleLine {
        kind: "failed".to_owned(),
        class: "check".to_owned(),
        detail: "fresh: found no-cache".to_owned(),
        ..slow("buy", 31.0)
    };
    record.samples = vec![stale, slow("cart", 20.1), slow("buy", 812.0)];
    record.sessions = Sessions { open: 3, ..record.sessions };
    let name = "POST /a/very/long/path/that/no_one/can/read/at/a/glance?and=more";
    name.clone_into(&mut record.steps[1].name);
    record.steps[1].requests.failed = 3;
    record
}

#[test]
fn a_journey_is_reported_in_a_hundred_columns() {
    let printed = text(&shown());
    support::golden("journey.txt", &printed);
    assert!(printed.lines().all(|line| line.chars().count() <= 100 && line == line.trim_end()), "{printed}");
    let stored = RunRecord::from_json(&shown().to_json()).expect("it was written by us");
    assert_eq!((text(&stored), stored), (printed, shown()));
}

#[test]
fn a_case_for_each_check_and_each_step_around_the_load() {
    let xml = junit(&shown());
    support::golden("journey.xml", &xml);
    let count =
        |xml: &str| ["<testcase ", "<failure", "<error", "<skipped"].map(|tag| xml.matches(tag).count());
    // The cases are: the run, two implicit thresholds, two names of checks, and for `after` a step
    // and a check.
    assert_eq!(count(&xml), [7, 3, 0, 0], "{xml}");
    let passed = VerdictDoc { status: Status::Pass, ..VerdictDoc::default() };
    let passed = RunRecord { verdict: passed, after: None, ..shown() };
    assert_eq!(count(&junit(&passed)), [5, 0, 0, 0], "a run that passed has no red case");
    let mut unasked = shown();
    unasked.checks[1].held = 0;
    assert_eq!(count(&junit(&unasked)), [7, 3, 0, 1]);
}

#[test]
fn a_rehearsal_that_passed_says_what_stays_undecided() {
    let asked = |ok: Option<bool>| Threshold { expr: "p99 < 1s".to_owned(), ok, ..Threshold::default() };
    let passed = VerdictDoc { status: Status::Pass, ..VerdictDoc::default() };
    let first = |thresholds: &[Option<bool>]| {
        let thresholds = thresholds.iter().map(|&ok| asked(ok)).collect();
        let record = RunRecord { verdict: passed.clone(), thresholds, ..shown() };
        text(&record).lines().nth(1).unwrap_or_default().split("  ").nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(first(&[Some(true), Some(true)]), "all 2 thresholds passed");
    assert_eq!(first(&[Some(true), None]), "1 of 2 thresholds passed, the others are undecided");
    assert_eq!(first(&[Some(true)]), "the threshold passed");
}
