//! Archives with well-formed lines that count more than any run: no sum over them overflows.

use crate::support;

use std::fs;
use std::ops::ControlFlow;

use support::{in_progress, interval, plan};
use wavetank_measure::{Interval, ThreadStats};
use wavetank_record::IntervalLine;
use wavetank_store::{OpenedRun, open};
use wavetank_units::Nanos;

const LINES: u64 = 600;

/// An archive of [`LINES`] lines changed by `spoil`, numbered consecutively, or each in a separate
/// epoch.
fn archive(dir: &std::path::Path, epochs: bool, spoil: impl Fn(&mut IntervalLine)) -> OpenedRun {
    let path = in_progress(dir, 0).dir().to_owned();
    let lines = (0..LINES).map(|number| {
        let epoch = if epochs { number + 1 } else { 1 };
        let seq = if epochs { 0 } else { number };
        let interval = interval(number);
        let mut line =
            IntervalLine { agent: "local".to_owned(), epoch, seq, interval, ..IntervalLine::default() };
        spoil(&mut line);
        line.encode() + "\n"
    });
    fs::write(path.join("intervals/local.jsonl"), lines.collect::<String>()).expect("the folder is writable");
    open(&path).expect("it opens")
}

/// Checks that all views of an archive changed by `spoil` can be made, and that `left_out` lines
/// are left out.
fn check(name: &str, left_out: u64, epochs: bool, spoil: impl Fn(&mut IntervalLine)) {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let run = archive(temp.path(), epochs, spoil);
    let (_, report) = run.ledger(&plan()).expect("it can be read");
    assert_eq!((report.damaged, report.intervals), (left_out, LINES - left_out), "{name}");
    let (course, again) = run.time_series(&plan(), 100).expect("it can be read");
    assert_eq!(again, report, "{name}");
    assert!(course.counters.done < 1 << 50, "{name}");
    let mut reported = Interval::default();
    let add = |_: &str, stretch: &Interval| {
        reported.merge(stretch);
        ControlFlow::Continue(())
    };
    assert_eq!(run.read_windows(add).expect("it can be read"), report, "{name}");
}

#[test]
fn nothing_overflows() {
    check("what a run counts", 0, false, |_| ());
    let done = |n: u64| move |line: &mut IntervalLine| line.interval.steps[0].counters.done = n;
    check("each line alone is too much", LINES, false, done(1 << 56));
    check("together they are", LINES - 3, false, done(1 << 46));
    let times = |line: &mut IntervalLine| line.interval.steps[0].response.record_n(1 << 40, 1 << 46);
    check("times", LINES - 3, false, times);
    let busy = |line: &mut IntervalLine| {
        line.interval.threads = vec![ThreadStats { busy_ns: 1 << 60, ..ThreadStats::default() }];
    };
    check("threads", LINES - 3, false, busy);
    check("bytes", LINES - 3, false, |line| line.interval.bytes.received = 1 << 60);
    check("gauges", LINES - 3, false, |line| (line.interval.users, line.interval.len) = (1 << 46, Nanos(1)));
    // A checkpoint replaces the lines lost before it, and each one is accepted at first.
    let checkpoint = |line: &mut IntervalLine| {
        line.checkpoint = true;
        line.interval.steps[0].counters.offered = 1 << 47;
    };
    let temp = tempfile::tempdir().expect("a folder for the test");
    let run = archive(temp.path(), false, checkpoint);
    assert_eq!(run.ledger(&plan()).expect("it can be read").1.damaged, LINES - 1);
}

#[test]
fn numbers_that_are_missing_do_not_overflow() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let run = archive(temp.path(), true, |line| line.seq = 1 << 56);
    let (_, report) = run.ledger(&plan()).expect("it can be read");
    assert_eq!((report.missing, report.intervals), (u64::MAX, LINES));
    assert!(run.time_series(&plan(), 100).is_ok());
}
