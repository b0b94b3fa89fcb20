//! The ledger of an archive is the same whether the times of each second are read or their sum is
//! taken from a checkpoint.

use crate::support;

use std::fs;
use std::path::Path;

use support::{in_progress, plan, sum};
use wavetank_measure::{Ledger, Selection};
use wavetank_plan::{Condition, Plan};
use wavetank_store::{ReadReport, open};
use wavetank_units::Nanos;

/// The plan with these thresholds; `stop` makes each second's own times matter, and never fires.
fn judged(thresholds: &[&str], stop: bool) -> Plan {
    let parsed = |text: &&str| Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut plan = plan();
    plan.phases[0].length = Some(Nanos::from_secs(200));
    plan.thresholds = thresholds.iter().map(parsed).collect();
    plan.stop = if stop { vec![parsed(&"p50 > 1h")] } else { Vec::new() };
    plan
}

fn read(dir: &Path, plan: &Plan) -> (Ledger, ReadReport) {
    open(dir).expect("it opens").ledger(plan).expect("it can be read")
}

/// Damages the times of the first line, so that a reader of its times rejects the line.
fn spoil_times(dir: &Path) {
    let path = dir.join("intervals/local.jsonl");
    let text = fs::read_to_string(&path).expect("the intervals are there");
    let spoiled = text.replacen("\"buckets\":\"", "\"buckets\":\"~~~", 1);
    assert_ne!(spoiled, text);
    fs::write(&path, spoiled).expect("the folder is writable");
}

#[test]
fn both_ways_come_to_the_same() {
    const ASKED: [&str; 9] = [
        "p99 < 1s",
        "p50(service) < 1us",
        "max(lag) < 1s",
        "p99(wait) < 1s",
        "max(connect) < 1s",
        "failed < 1%",
        "done_rate > 1/s",
        "failed < 1% for 10s",
        "p99(failed) < 1s",
    ];
    // Before the first checkpoint, at it, next to it, and beyond the second.
    for seconds in [1, 60, 61, 62, 90, 121, 122, 123, 150] {
        let temp = tempfile::tempdir().expect("a folder for the test");
        let dir = in_progress(temp.path(), seconds).dir().to_owned();
        let (quick, quick_report) = read(&dir, &judged(&ASKED, false));
        let (slow, slow_report) = read(&dir, &judged(&ASKED, true));
        assert_eq!(quick_report, slow_report, "{seconds} s");
        assert_eq!(quick.totals(), slow.totals(), "{seconds} s");
        assert_eq!(quick.results(), slow.results(), "{seconds} s");
        assert_eq!(quick.validity(), slow.validity(), "{seconds} s");
        assert_eq!(quick.violations(), slow.violations(), "{seconds} s");
    }
}

#[test]
fn times_of_seconds_are_read_where_they_matter() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let dir = in_progress(temp.path(), 130).dir().to_owned();
    spoil_times(&dir);
    let check = |plan: &Plan, damaged: u64| {
        let (ledger, report) = read(&dir, plan);
        assert_eq!(report.damaged, damaged, "{:?} {:?}", plan.thresholds, plan.stop);
        assert_eq!(
            ledger.totals().view(Selection::Judged).response,
            sum(130).view(Selection::Judged).response
        );
    };
    // The checkpoint has what the line has lost. A reader of every second takes it from there as
    // well.
    check(&judged(&["p99 < 1s"], false), 0);
    check(&judged(&["failed < 1% for 10s"], false), 0);
    check(&judged(&["p99 < 1s for 10s"], false), 1);
    check(&judged(&[], true), 1);
}

/// All other damage is reported by the full read.
#[test]
fn gaps_are_reported() {
    let check = |change: &dyn Fn(Vec<&str>) -> Vec<&str>, expected: ReadReport| {
        let temp = tempfile::tempdir().expect("a folder for the test");
        let dir = in_progress(temp.path(), 130).dir().to_owned();
        let path = dir.join("intervals/local.jsonl");
        let text = fs::read_to_string(&path).expect("the intervals are there");
        fs::write(&path, change(text.lines().collect()).join("\n") + "\n").expect("the folder is writable");
        assert_eq!(read(&dir, &judged(&["p99 < 1s"], false)).1, expected);
    };
    let whole = ReadReport { intervals: 130, ..ReadReport::default() };
    check(&|lines| lines, whole.clone());
    check(
        &|mut lines| {
            lines.remove(125);
            lines
        },
        ReadReport { intervals: 129, missing: 1, ..ReadReport::default() },
    );
    check(
        &|mut lines| {
            lines[3] = "{}";
            lines
        },
        ReadReport { intervals: 129, damaged: 1, ..ReadReport::default() },
    );
    check(
        &|mut lines| {
            lines.insert(70, lines[70]);
            lines
        },
        whole,
    );
}
