//! An agent's spool: what was stored is found again, and nothing else is touched.

use crate::support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use support::interval;
use wavetank_fleet::{Adjustments, EndCause, RunId};
use wavetank_pace::Partition;
use wavetank_record::{IntervalExtras, IntervalLine};
use wavetank_store::{Spool, SpoolMeta};
use wavetank_units::Nanos;

fn meta(run: u64) -> SpoolMeta {
    SpoolMeta {
        run: RunId(run),
        epoch: 1,
        plan_hash: "7f3a".to_owned(),
        share: Partition { first: 4, width: 4, of: 12 },
        agent: "load-1".to_owned(),
    }
}

fn line(seq: u64) -> String {
    IntervalLine::encode_interval_with_extras("load-1", 1, seq, &interval(seq), &IntervalExtras::default())
}

/// A spool of run `run` with `seconds` intervals.
fn spool(dir: &Path, run: u64, seconds: u64) -> Spool {
    let mut spool = Spool::create(dir, &meta(run)).expect("the folder is writable");
    for seq in 0..seconds {
        let given = spool.append(Nanos::from_secs(seq as i64), &line(seq)).expect("the disk has room");
        assert_eq!(given, seq);
    }
    spool
}

#[test]
fn a_spool_is_found_as_it_was_left() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let dir = temp.path().join("deep/spools");
    assert!(Spool::find(&dir).expect("no folder, no spools").is_empty());
    let mut first = spool(&dir, 7, 12);
    let adjustments = Adjustments { received: 3, refused: 1 };
    first.record_state(4, adjustments).expect("the disk has room");
    let digest = first.digest();
    assert_eq!(first.line(11), Some(line(11)));
    assert_eq!((first.line(12), first.intervals(), first.unstored()), (None, 12, vec![]));
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(first.path())), (0o700, 0o600));
    let mut second = spool(&dir, 6, 2);
    second.record_end(EndCause::Orphaned, Adjustments::default()).expect("the disk has room");
    assert!(Spool::find(&dir).expect("it can be read").is_empty(), "both are in use");
    let again = Spool::create(&dir, &meta(7)).err().expect("it has one already");
    assert_eq!(again.source.kind(), std::io::ErrorKind::AlreadyExists);
    drop((first, second));
    let mut found = Spool::find(&dir).expect("it can be read");
    assert_eq!(found.iter().map(|it| it.meta.run).collect::<Vec<_>>(), [RunId(6), RunId(7)]);
    let (last, other) = (found.pop().expect("two"), found.pop().expect("two"));
    assert_eq!(last.meta, meta(7));
    assert_eq!((last.found.epoch, last.found.intervals, last.found.cause), (4, 12, EndCause::Crashed));
    assert_eq!((&last.found.digest, last.found.adjustments), (&digest, adjustments));
    assert_eq!(last.spool.line(3), Some(line(3)));
    assert_eq!((other.found.cause, other.found.epoch), (EndCause::Orphaned, 1));
    last.spool.delete().expect("it can be removed");
    assert_eq!(fs::read_dir(&dir).expect("it is there").count(), 1, "the other one stays");
}

#[test]
fn a_torn_line_is_removed_and_writing_continues() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let whole = spool(temp.path(), 7, 4);
    let (path, digest) = (whole.path().to_owned(), whole.digest());
    drop(whole);
    let bytes = fs::read(&path).expect("it is there");
    let begin = bytes.len() - line(3).len() - 1;
    for cut in [begin, begin + 1, begin + 40, bytes.len() - 1] {
        fs::write(&path, &bytes[..cut]).expect("it can be written");
        let mut found = Spool::find(temp.path()).expect("it can be read");
        let mut it = found.pop().expect("one spool");
        assert_eq!((it.found.intervals, it.found.unstored.len()), (3, 0), "{cut}");
        assert_ne!(it.found.digest, digest);
        assert_eq!(it.spool.append(Nanos::ZERO, &line(3)).expect("the disk has room"), 3);
        assert_eq!(it.spool.digest(), digest);
        drop(it);
        assert_eq!(fs::read(&path).expect("it is there"), bytes, "{cut}");
    }
}

#[test]
fn missing_and_damaged_lines_are_unstored() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let path = spool(temp.path(), 7, 5).path().to_owned();
    let text = fs::read_to_string(&path).expect("it is there");
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines[2] = "{\"v\":2,\"damaged".to_owned();
    lines.remove(4);
    fs::write(&path, lines.join("\n") + "\n").expect("it can be written");
    let found = Spool::find(temp.path()).expect("it can be read").pop().expect("one spool");
    assert_eq!((found.found.intervals, found.found.unstored.clone()), (5, vec![1, 3]));
    assert_eq!((found.spool.line(1), found.spool.line(4)), (None, Some(line(4))));
}

#[test]
fn other_files_are_left_alone_and_empty_spools_go() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let (dir, outside) = (temp.path().join("spools"), temp.path().join("outside"));
    drop(spool(&dir, 1, 1));
    fs::copy(dir.join("spool-1.jsonl"), &outside).expect("the folder is writable");
    symlink(&outside, dir.join("spool-2.jsonl")).expect("the folder is writable");
    fs::create_dir(dir.join("spool-3.jsonl")).expect("the folder is writable");
    for (name, text) in [
        ("spool-4.jsonl", ""),
        ("spool-5.jsonl", "{\"spool\":{\"v\":1,\"ru"),
        ("spool-6.jsonl", "something else"),
        ("spool-7.jsonl", "something\nelse"),
        ("spool-x.jsonl", ""),
        ("notes.txt", ""),
    ] {
        fs::write(dir.join(name), text).expect("the folder is writable");
    }
    fs::copy(&outside, dir.join("spool-8.jsonl")).expect("the folder is writable");
    let found = Spool::find(&dir).expect("it can be read");
    assert_eq!(found.iter().map(|it| it.meta.run).collect::<Vec<_>>(), [RunId(1)], "8 has the line of 1");
    let mut left: Vec<_> = fs::read_dir(&dir)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("UTF-8"))
        .collect();
    left.sort();
    let names = ["notes.txt", "spool-1.jsonl", "spool-2.jsonl", "spool-3.jsonl", "spool-6.jsonl"];
    assert_eq!(left[..5], names);
    assert_eq!(left[5..], ["spool-7.jsonl", "spool-8.jsonl", "spool-x.jsonl"]);
    assert_eq!(fs::read_to_string(dir.join("spool-7.jsonl")).expect("it is there"), "something\nelse");
}
