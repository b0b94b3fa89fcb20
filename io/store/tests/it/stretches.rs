//! Views that cannot correct their earlier output: with lines lost, the windows still add up to the
//! run.

use crate::support;

use std::ops::ControlFlow;
use std::path::Path;

use support::{in_progress, interval, plan, record, sum};
use wavetank_measure::{Histogram, Interval, Selection, Totals};
use wavetank_store::open;
use wavetank_units::Nanos;

const SECONDS: u64 = 130;

/// An archive of [`SECONDS`] without the intervals `lost`. Its checkpoints are kept.
fn archive(dir: &Path, lost: &[u64]) -> wavetank_store::OpenedRun {
    let folder = in_progress(dir, SECONDS).finish(&record()).expect("the folder is writable");
    let path = folder.join("intervals/local.jsonl");
    let text = std::fs::read_to_string(&path).expect("it was written");
    let is_lost = |line: &&str| {
        let number = |seq: &u64| line.contains(&format!("\"seq\":{seq},"));
        !line.contains("\"checkpoint\":true") && lost.iter().any(number)
    };
    let (gone, kept): (Vec<_>, Vec<_>) = text.lines().partition(is_lost);
    assert_eq!(gone.len(), lost.len(), "each of them was there");
    std::fs::write(&path, kept.join("\n") + "\n").expect("it can be written");
    open(&folder).expect("it is an archive")
}

fn stretches(opened: &wavetank_store::OpenedRun) -> Vec<Interval> {
    let mut all = Vec::new();
    let read = opened.read_windows(|agent, interval| {
        assert_eq!(agent, "local");
        all.push(interval.clone());
        ControlFlow::Continue(())
    });
    read.expect("it can be read");
    all
}

/// Checks that the windows add up, whatever was lost. `reported` lists the start and end, in
/// seconds, of the windows that replace lost intervals.
fn check(lost: &[u64], reported: &[(i64, i64)]) {
    let dir = tempfile::tempdir().expect("a folder");
    let all = stretches(&archive(dir.path(), lost));
    let mut totals = Totals::new(&plan());
    for one in &all {
        totals.add(one);
    }
    let (ours, exact) = (totals.view(Selection::Judged), sum(SECONDS).view(Selection::Judged));
    assert_eq!(ours.counters, exact.counters, "{lost:?}");
    assert_eq!((&ours.status, ours.wire), (&exact.status, exact.wire));
    let buckets = |times: &Histogram| (times.iter().collect::<Vec<_>>(), times.sum());
    assert_eq!(buckets(&ours.response), buckets(&exact.response), "{lost:?}");
    assert_eq!(buckets(&ours.lag), buckets(&exact.lag));
    let conns = |all: &[Interval]| all.iter().map(|one| one.conns.opened).sum::<u64>();
    assert_eq!(conns(&all), 5 + SECONDS - 1);
    let bytes: u64 = all.iter().map(|one| one.bytes.sent).sum();
    assert_eq!(bytes, (0..SECONDS).map(|second| interval(second).bytes.sent).sum::<u64>());
    let standing = all.iter().filter(|one| one.threads.is_empty()).map(|one| (one.from, one.end()));
    let seconds = |&(from, until): &(i64, i64)| (Nanos::from_secs(from), Nanos::from_secs(until));
    assert_eq!(standing.collect::<Vec<_>>(), reported.iter().map(seconds).collect::<Vec<_>>(), "{lost:?}");
}

#[test]
fn a_checkpoint_is_shown_as_one_range() {
    check(&[], &[]);
    check(&[31], &[(31, 32)]);
    check(&[0], &[(0, 1)]);
    check(&[0, 31], &[(0, 32)]);
    check(&[10, 11, 12, 40], &[(10, 41)]);
    check(&[59], &[(59, 60)]);
    check(&[20, 100], &[(20, 21), (100, 101)]);
}

#[test]
fn a_closed_reader_receives_nothing_more() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut reported = 0;
    let opened = archive(dir.path(), &[3]);
    let read = opened.read_windows(|_, _| {
        reported += 1;
        if reported == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((reported, read.expect("it can be read").intervals), (5, 5));
}

#[test]
fn times_since_an_earlier_instant_are_exact() {
    let (mut earlier, mut later) = (Histogram::default(), Histogram::default());
    for value in [3, 1_000, 1_000_000, 70_000_000_000, 1 << 50] {
        earlier.record_n(value, 2);
    }
    let mut all = earlier.clone();
    for value in [900, 1_000_500, 71_000_000_000] {
        later.record(value);
    }
    all.merge(&later);
    let since = all.difference(&earlier);
    assert_eq!(since.iter().collect::<Vec<_>>(), later.iter().collect::<Vec<_>>());
    assert_eq!((since.sum(), since.count(), since.clipped()), (later.sum(), 3, 0));
    assert!(since.min() <= 900 && since.max() >= 71_000_000_000, "the bounds of their buckets");
    assert!(all.difference(&all).is_empty());
    assert!(earlier.difference(&all).is_empty(), "it is no part of it");
}
