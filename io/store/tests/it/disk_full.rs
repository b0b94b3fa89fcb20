//! A disk that is full or refuses is reported once and stops nothing.

use crate::support;

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;

use support::{in_progress, interval, meta, plan, record, sum};
use wavetank_record::EventLine;
use wavetank_store::{ArchiveWriter, RunsDir, StoreProblem, open};
use wavetank_testkit::netns::NetNs;
use wavetank_testkit::skip;
use wavetank_units::Nanos;

/// Writes seconds `from` to `to` and collects the reported problems.
fn write(writer: &mut ArchiveWriter, from: u64, to: u64) -> Vec<StoreProblem> {
    (from..to)
        .filter_map(|second| writer.interval(Nanos::from_secs(second as i64 + 1), &interval(second)))
        .collect()
}

/// `/dev/full` rejects every write, even from root.
#[test]
fn a_full_disk_is_reported_once() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let mut writer = in_progress(temp.path(), 0);
    symlink("/dev/full", writer.dir().join("intervals/local.jsonl")).expect("the folder is writable");
    let problems = write(&mut writer, 0, 20);
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!(problem.source.kind(), ErrorKind::StorageFull);
    let event = problem.event(Nanos::SECOND);
    assert!(
        event.text.contains("local.jsonl") && event.text.ends_with("No space left on device"),
        "{event:?}"
    );
    assert!(problem.hint().contains("--runs-dir"), "{}", problem.hint());
    assert!(writer.event(&event).is_none(), "other files go on");
    let dir = writer.dir().to_owned();
    // The device cannot be synced either; the record is written all the same.
    let _ = writer.finish(&record());
    assert_eq!(open(&dir).expect("it opens").record, Some(record()));
}

/// Runs itself again with a tiny disk mounted, if the system lets it.
#[test]
fn a_disk_with_room_again_goes_on_and_loses_nothing() {
    const NAME: &str = "a_disk_with_room_again_goes_on_and_loses_nothing";
    if let Some(disk) = std::env::var_os("WAVETANK_TINY_DISK") {
        return on_a_tiny_disk(Path::new(&disk));
    }
    if !NetNs::available(NAME) {
        return;
    }
    let temp = tempfile::tempdir().expect("a folder for the test");
    let own = std::env::current_exe().expect("this test is a program");
    let disk = temp.path().display();
    let script = format!(
        "mount -t tmpfs -o size=64k none '{disk}' || exit 77; WAVETANK_TINY_DISK='{disk}' exec \"$0\" --exact {NAME} --nocapture"
    );
    let outcome = NetNs::mounts(&own.to_string_lossy(), &script).run();
    match outcome.exit {
        Some(77) => skip(NAME, "a tmpfs cannot be mounted here"),
        exit => assert_eq!(exit, Some(0), "{}{}", outcome.stdout, outcome.stderr),
    }
}

fn on_a_tiny_disk(disk: &Path) {
    let ballast = disk.join("ballast");
    let _ = fs::write(&ballast, vec![0; 64 << 10]);
    let refused = ArchiveWriter::create(&RunsDir::new(disk.join("none")), &meta()).err().expect("no room");
    assert_eq!(refused.source.kind(), ErrorKind::StorageFull);
    let left = fs::read_dir(disk.join("none")).expect("that folder needs no room").count();
    assert_eq!(left, 0, "a run that keeps no archive is not the latest one");
    fs::write(&ballast, vec![0; 24 << 10]).expect("that much fits");
    let mut writer = in_progress(disk, 3);
    let problems = write(&mut writer, 3, 60);
    let [problem] = problems.as_slice() else {
        panic!("{} problems reported, not 1: {problems:?}", problems.len())
    };
    assert_eq!(problem.source.kind(), ErrorKind::StorageFull);
    // What is there while the disk is full reads back whole: no torn line in the middle.
    let (_, report) = open(writer.dir()).expect("it opens").ledger(&plan()).expect("it can be read");
    assert_eq!((report.damaged, report.torn, report.missing), (0, 0, 0));
    assert!((3..60).contains(&report.intervals), "{report:?}");
    fs::remove_file(&ballast).expect("the ballast is there");
    assert!(write(&mut writer, 60, 62).is_empty(), "it goes on silently");
    // The checkpoint makes up for the lost seconds.
    let (ledger, report) = open(writer.dir()).expect("it opens").ledger(&plan()).expect("it can be read");
    let (view, whole) =
        [ledger.totals(), &sum(62)].map(|totals| totals.view(wavetank_measure::Selection::Judged)).into();
    assert_eq!((view.counters, view.open, view.response), (whole.counters, whole.open, whole.response));
    assert_eq!((report.damaged, report.missing), (0, 0));
    let dir = writer.finish(&record()).expect("there is room again");
    assert_eq!(open(&dir).expect("it opens").record, Some(record()));
}

#[test]
fn an_unwritable_place_is_reported_before_the_load() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let file = temp.path().join("file");
    fs::write(&file, "").expect("the folder is writable");
    for place in [file.as_path(), Path::new("/proc/wavetank"), Path::new("/dev/null/runs")] {
        let problem =
            ArchiveWriter::create(&RunsDir::new(place), &meta()).err().expect("nothing can be made there");
        let error = problem.user_error();
        assert!(error.message.starts_with("cannot write `") && !error.hint.is_empty(), "{error}");
        assert!(!error.message.contains("os error"), "{error}");
    }
}

/// The folder vanishes during the run: this is reported once, and again at the end.
#[test]
fn a_vanished_folder_is_reported() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let mut writer = in_progress(temp.path(), 0);
    fs::remove_dir_all(writer.dir()).expect("the folder is there");
    assert_eq!(write(&mut writer, 0, 3).len(), 1);
    assert!(writer.event(&EventLine::default()).is_none(), "the problem was reported before");
    assert_eq!(writer.finish(&record()).expect_err("no place for it").source.kind(), ErrorKind::NotFound);
}
