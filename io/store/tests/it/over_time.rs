//! Data of an archive over time: complete, damaged and killed.

use crate::support;

use std::fs;

use support::{in_progress, plan, sum};
use wavetank_measure::{Downsampled, HostSample, Selection, TargetSample, TimeSeries};
use wavetank_store::{ReadReport, open};
use wavetank_units::Nanos;

const SECONDS: u64 = 130;

/// The time series of an archive of [`SECONDS`] with lines changed by `change`.
fn course(change: impl FnOnce(Vec<String>) -> String) -> (TimeSeries, ReadReport) {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let writer = in_progress(temp.path(), SECONDS);
    let path = writer.dir().join("intervals/local.jsonl");
    let text = fs::read_to_string(&path).expect("the intervals are there");
    fs::write(&path, change(text.lines().map(|line| format!("{line}\n")).collect())).expect("it is writable");
    let run = open(writer.dir()).expect("it opens");
    run.time_series(&plan(), 50).expect("it can be read")
}

#[track_caller]
fn check_whole(course: &TimeSeries) {
    let whole = sum(SECONDS).view(Selection::Judged);
    assert_eq!((&course.counters, &course.response), (&whole.counters, &whole.response));
    assert_eq!((&course.service, &course.lag), (&whole.service, &whole.lag));
    assert_eq!(course.steps[0].response, whole.response);
}

#[test]
fn an_archive_has_the_same_course_as_its_totals() {
    let (course, report) = course(|lines| lines.concat());
    check_whole(&course);
    assert_eq!((report.intervals, report.missing, report.damaged), (SECONDS, 0, 0));
    assert_eq!(course.columns.iter().map(|column| column.intervals).sum::<u64>(), SECONDS);
    assert_eq!((course.columns.last().map(|column| column.open), course.untimed), (Some(139), None));
}

#[test]
fn lines_that_come_again_count_once() {
    let (course, report) = course(|mut lines| {
        lines.insert(9, lines[7].clone());
        lines.concat()
    });
    check_whole(&course);
    assert_eq!((report.intervals, report.missing, report.damaged), (SECONDS, 0, 0));
}

#[test]
fn what_a_checkpoint_makes_up_for_is_in_no_column() {
    let (course, report) = course(|lines| lines[61..].concat());
    check_whole(&course);
    let untimed = course.untimed.expect("a minute was lost");
    assert_eq!((report.missing, report.intervals), (0, 69));
    assert_eq!(untimed.counters.offered, 61 * 1_000);
}

#[test]
fn torn_and_damaged_lines_leave_gaps() {
    let (course, report) = course(|mut lines| {
        // Behind the last checkpoint, so that nothing makes up for it.
        lines[127] = lines[127].replace("\"buckets\":\"", "\"buckets\":\" ");
        let last = lines.len() - 1;
        let keep = lines[last].len() / 2;
        lines[last].truncate(keep);
        lines.concat()
    });
    assert_eq!((report.damaged, report.torn, report.missing), (1, 1, 1));
    assert_eq!(course.columns.iter().map(|column| column.intervals).sum::<u64>(), SECONDS - 2);
    assert_eq!(course.counters.offered, (SECONDS - 2) * 1_000);
}

#[test]
fn samples_of_hosts_and_target_come_in_order_and_are_bounded() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let mut writer = in_progress(temp.path(), 1);
    for second in 0..3_000 {
        let at = Nanos::from_secs(second);
        let host = HostSample { at, tcp_inuse: 5, cores: vec![(1, 2)], ..HostSample::default() };
        assert!(writer.host(&host).is_none());
        if second < 7 {
            assert!(writer.truth(TargetSample { at, open: 9, ..TargetSample::default() }).is_none());
        }
    }
    fs::write(writer.dir().join("hosts/other.jsonl"), "{\"v\":1,\"at_ns\":5}\nnothing\n").expect("writable");
    let run = open(writer.dir()).expect("it opens");
    let (hosts, truth) = (run.hosts().expect("readable"), run.truth().expect("readable"));
    let reported: Vec<_> =
        hosts.iter().map(|host| (host.name.as_str(), host.samples.len(), host.damaged)).collect();
    assert_eq!(reported, [("local", 750, 0), ("other", 1, 1)]);
    assert!(hosts[0].samples.len() <= Downsampled::<HostSample>::KEPT_MAX);
    assert!(hosts[0].samples.is_sorted_by_key(|sample| sample.at) && hosts[0].samples[1].cores == [(1, 2)]);
    assert_eq!((truth.len(), truth[6].at, truth[6].open), (7, Nanos::from_secs(6), 9));
}
