//! A run killed at any moment opens with all that was sealed.

use crate::support;

use std::fs;
use std::path::Path;

use support::{in_progress, plan, sum};
use wavetank_record::{EventKind, EventLine, HostLine, TargetLine};
use wavetank_store::{ReadReport, open};
use wavetank_units::Nanos;

/// Cuts `file` after each number of bytes in `cuts` and opens the archive.
fn check(dir: &Path, file: &str, cuts: impl IntoIterator<Item = usize>, expected: impl Fn(usize, &Path)) {
    let path = dir.join(file);
    let whole = fs::read(&path).expect("the file is there");
    for cut in cuts {
        fs::write(&path, &whole[..cut]).expect("the folder is writable");
        expected(cut, dir);
    }
    fs::write(&path, &whole).expect("the folder is writable");
}

#[test]
fn every_byte_of_the_last_intervals_may_be_the_last() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let writer = in_progress(temp.path(), 3);
    let dir = writer.dir().to_owned();
    let bytes = fs::read(dir.join("intervals/local.jsonl")).expect("the intervals are there");
    let ends: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').map(|at| at + 1).collect();
    assert_eq!((ends.len(), ends.last()), (3, Some(&bytes.len())));
    let sums: Vec<_> = (0..=3).map(sum).collect();
    check(&dir, "intervals/local.jsonl", ends[1] - 100..=ends[2], |cut, dir| {
        let run = open(dir).expect("it opens");
        assert!(run.record.is_none(), "the run is not marked as finished");
        let (ledger, report) = run.ledger(&plan()).expect("it can be read");
        let sealed = ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(ledger.totals(), &sums[sealed], "cut after {cut} bytes");
        let torn = u64::from(!ends.contains(&cut));
        assert_eq!(report, ReadReport { intervals: sealed as u64, torn, ..ReadReport::default() }, "{cut}");
    });
}

#[test]
fn a_plan_cut_short_is_reported() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let dir = in_progress(temp.path(), 0).dir().to_owned();
    let length = fs::read(dir.join("plan.yaml")).expect("the plan is there").len();
    assert_eq!(open(&dir).expect("it opens").plan(), Ok(plan()));
    // The last constants are printed for people only. Everything needed for a verdict comes before
    // them.
    check(&dir, "plan.yaml", (0..=length / 2).step_by(13), |cut, dir| {
        let error = open(dir).expect("it opens").plan().expect_err("half a plan is none");
        assert!(error.message.contains("plan.yaml") && !error.hint.is_empty(), "{cut}: {error}");
    });
}

#[test]
fn events_and_the_environment_may_be_cut_anywhere() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let mut writer = in_progress(temp.path(), 0);
    for at_ns in 0..3 {
        let event = EventLine { at_ns, kind: "something_happened".to_owned(), ..EventLine::default() };
        assert!(writer.event(&event).is_none());
    }
    let dir = writer.dir().to_owned();
    let events = fs::read(dir.join("events.jsonl")).expect("the events are there");
    check(&dir, "events.jsonl", 0..=events.len(), |cut, dir| {
        let whole = String::from_utf8_lossy(&events[..cut]).matches('\n').count();
        assert_eq!(open(dir).expect("it opens").events.len(), whole, "{cut}");
    });
    let length = fs::read(dir.join("environment.json")).expect("the environment is there").len();
    check(&dir, "environment.json", 0..=length, |cut, dir| {
        // The newline at the end may be missing.
        assert_eq!(open(dir).expect("it opens").environment.is_some(), cut + 1 >= length, "{cut}");
    });
}

#[test]
fn a_record_without_its_final_name_does_not_finish_the_run() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let dir = in_progress(temp.path(), 1).dir().to_owned();
    fs::write(dir.join("run.json.partial"), support::record().to_json()).expect("the folder is writable");
    assert!(open(&dir).expect("it opens").record.is_none());
}

/// A phase that no time ends (`-n`) has the length that an event gave it.
#[test]
fn the_end_of_a_counted_phase_is_known_from_its_event() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let mut writer = in_progress(temp.path(), 5);
    let mut counted = plan();
    counted.phases[0].length = None;
    let event = EventLine {
        at_ns: 2_000_000_000,
        kind: EventKind::PhaseEnded.name().to_owned(),
        phase: Some(0),
        ..EventLine::default()
    };
    assert!(writer.event(&event).is_none());
    let run = open(writer.dir()).expect("it opens");
    let view =
        run.ledger(&counted).expect("it can be read").0.totals().view(wavetank_measure::Selection::Judged);
    assert_eq!((view.duration, view.in_window.done), (Nanos::from_secs(2), 990 + 999));
}

#[test]
fn damaged_lines_in_the_middle_are_reported_and_cost_only_themselves() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let dir = in_progress(temp.path(), 5).dir().to_owned();
    let path = dir.join("intervals/local.jsonl");
    let text = fs::read_to_string(&path).expect("the intervals are there");
    let mut lines: Vec<_> = text.lines().collect();
    lines[1] = "\u{0}\u{0}\u{0}";
    fs::write(&path, lines.join("\n") + "\n").expect("the folder is writable");
    let (_, report) = open(&dir).expect("it opens").ledger(&plan()).expect("it can be read");
    assert_eq!(report, ReadReport { intervals: 4, missing: 1, damaged: 1, ..ReadReport::default() });
    // A line written twice, as after a broken link, counts once.
    fs::write(&path, format!("{text}{text}")).expect("the folder is writable");
    let (ledger, report) = open(&dir).expect("it opens").ledger(&plan()).expect("it can be read");
    assert_eq!((ledger.totals(), report.intervals), (&sum(5), 5));
}

/// Host samples: each good line is entered, each damaged one is counted.
#[test]
fn lines_about_host_and_target_that_cannot_be_read_are_reported() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let dir = in_progress(temp.path(), 5).dir().to_owned();
    let host = HostLine::default().encode();
    let target = TargetLine::default().encode();
    let other_version = |line: &str| line.replace("\"v\":1", "\"v\":9");
    fs::create_dir_all(dir.join("hosts")).expect("the folder is writable");
    let check = |name: &str, good: &str, expected: (usize, usize)| {
        let text = format!("{good}\n\u{0}\u{0}\n{}\n{good}\n", other_version(good));
        fs::write(dir.join(name), text).expect("the folder is writable");
        let (ledger, report) = open(&dir).expect("it opens").ledger(&plan()).expect("it can be read");
        let observed = ledger.observed();
        assert_eq!((observed.host().len(), observed.target().len()), expected, "{name}");
        report
    };
    let reported = ReadReport { intervals: 5, ..ReadReport::default() };
    assert_eq!(check("hosts/local.jsonl", &host, (2, 0)), ReadReport { damaged: 2, ..reported.clone() });
    assert_eq!(check("truth.jsonl", &target, (2, 2)), ReadReport { damaged: 4, ..reported });
}
