//! Spools are merged into an archive: each interval once, whatever each of the two lacks.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{interval, meta, record};
use wavetank_fleet::{Adjustments, EndCause, RunId};
use wavetank_pace::Partition;
use wavetank_record::{EventKind, EventLine, IntervalExtras, IntervalLine};
use wavetank_store::{
    ArchiveSettling, ArchiveWriter, MergedSpool, RunsDir, SettleProblem, Spool, SpoolFile, SpoolMeta, open,
};
use wavetank_units::{Nanos, Sentence};

const AGENT: &str = "load-1";
const EPOCH: u64 = 4;

fn line(seq: u64) -> String {
    let extras = IntervalExtras {
        events: vec![EventLine::new(
            Nanos::from_secs(seq as i64),
            EventKind::NamesMoved,
            Sentence::quoted("elsewhere"),
        )],
        ..IntervalExtras::default()
    };
    let extras = if seq.is_multiple_of(2) { extras } else { IntervalExtras::default() };
    IntervalLine::encode_interval_with_extras(AGENT, EPOCH, seq, &interval(seq), &extras)
}

/// A spool with these intervals.
fn spool(dir: &Path, numbers: &[u64]) -> SpoolFile {
    let _ = fs::remove_dir_all(dir);
    let meta = SpoolMeta {
        run: RunId(7),
        epoch: EPOCH,
        plan_hash: "7f3a".to_owned(),
        share: Partition { first: 0, width: 1, of: 2 },
        agent: AGENT.to_owned(),
    };
    let mut spool = Spool::create(dir, &meta).expect("the folder is writable");
    for seq in numbers {
        spool.append(Nanos::ZERO, &line(*seq)).expect("the disk has room");
    }
    spool.record_end(EndCause::Orphaned, Adjustments::default()).expect("the disk has room");
    drop(spool);
    SpoolFile::find(dir, RunId(7)).expect("it can be read").expect("it is there")
}

/// An archive of a run that was killed, with these intervals, and the file that has them.
fn archive(runs: &Path, numbers: &[u64]) -> (PathBuf, PathBuf) {
    let _ = fs::remove_dir_all(runs);
    let mut writer = ArchiveWriter::create(&RunsDir::new(runs), &meta()).expect("the folder is writable");
    for seq in numbers {
        assert!(writer.agent_interval(Nanos::ZERO, AGENT, &line(*seq)).is_none());
    }
    writer.sync_now().expect("the disk has room");
    let dir = writer.dir().to_owned();
    drop(writer);
    (dir.clone(), dir.join(format!("intervals/{AGENT}.jsonl")))
}

fn merge(dir: &Path, spool: &SpoolFile) -> Result<MergedSpool, SettleProblem> {
    let bytes = spool.content.as_ref().map_or(0, |content| content.bytes);
    let lines = std::io::BufReader::new(spool.open().expect("it can be read"));
    ArchiveSettling::open(dir)?.merge((AGENT, EPOCH), lines, bytes)
}

fn lines(numbers: &[u64]) -> String {
    numbers.iter().map(|seq| line(*seq) + "\n").collect()
}

#[test]
fn each_interval_is_there_once() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let (runs, spools) = (temp.path().join("runs"), temp.path().join("spools"));
    let check = |in_archive: &[u64], in_spool: &[u64], expected: &[u64]| {
        let (dir, file) = archive(&runs, in_archive);
        let spool = spool(&spools, in_spool);
        let content = spool.content.clone().expect("a spool");
        let added = expected.len() - in_archive.len();
        for added in [added as u64, 0] {
            let merged = merge(&dir, &spool).expect("both are whole");
            assert_eq!((merged.added, merged.damaged, &merged.digest), (added, 0, &content.digest));
            assert_eq!(fs::read_to_string(&file).expect("it is there"), lines(expected));
            let news = expected.iter().filter(|seq| seq.is_multiple_of(2) && !in_archive.contains(seq));
            assert_eq!(merged.extras.len(), if added > 0 { news.count() } else { 0 });
        }
        assert_eq!(fs::read_dir(dir.join("intervals")).expect("it is there").count(), 1);
    };
    check(&[0, 1, 2], &[0, 1, 2, 3, 4], &[0, 1, 2, 3, 4]);
    check(&[], &[0, 1], &[0, 1]);
    check(&[0, 3], &[0, 1, 2, 3, 4], &[0, 1, 2, 3, 4]);
    check(&[0, 1, 2], &[0, 1], &[0, 1, 2]);
    check(&[0, 1], &[], &[0, 1]);
}

#[test]
fn torn_and_damaged_lines_of_the_archive_are_replaced() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let (dir, file) = archive(&temp.path().join("runs"), &[0, 1, 2]);
    let spool = spool(&temp.path().join("spools"), &[0, 1, 2, 3]);
    let text = lines(&[0, 1, 2]);
    let damaged = text.replacen("\"seq\":1,", "\"seq\":oops,", 1);
    for text in [&text[..text.len() - 1], &text[..text.len() - 9], &damaged] {
        fs::write(&file, text).expect("it can be written");
        assert!(merge(&dir, &spool).expect("the spool is whole").added > 1);
        assert_eq!(fs::read_to_string(&file).expect("it is there"), lines(&[0, 1, 2, 3]));
    }
}

#[test]
fn a_spool_that_does_not_fit_changes_nothing() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let (dir, file) = archive(&temp.path().join("runs"), &[0, 1]);
    let spool = spool(&temp.path().join("spools"), &[0, 1, 2]);
    let whole = fs::read_to_string(&spool.path).expect("it is there");
    let check = |text: &str, bytes: u64, expected: &str| {
        let mut archive = ArchiveSettling::open(&dir).expect("no process writes to it");
        let merged = archive.merge((AGENT, EPOCH), text.as_bytes(), bytes);
        let problem = merged.expect_err("it does not fit");
        assert!(format!("{problem:?}").contains(expected), "{problem:?}");
        assert_eq!(fs::read_to_string(&file).expect("it is there"), lines(&[0, 1]));
        assert_eq!(fs::read_dir(dir.join("intervals")).expect("it is there").count(), 1);
    };
    let bytes = whole.len() as u64;
    check(&whole, bytes + 1, "Transfer");
    check(&whole[..whole.len() / 2], bytes, "Transfer");
    check(&whole[1..], bytes - 1, "first line");
    check(&whole.replacen(AGENT, "load-2", 1), bytes, "agent load-2");
    check(&whole.replacen("\"from_ns\":", "\"from_ns\":1", 1), bytes + 1, "interval 0 differs");
    // A line that cannot be read is left out.
    let damaged = whole.replacen("\"seq\":2,", "\"seq\":x,", 1);
    let mut archive = ArchiveSettling::open(&dir).expect("no process writes to it");
    let merged = archive.merge((AGENT, EPOCH), damaged.as_bytes(), bytes).expect("the rest fits");
    assert_eq!((merged.added, merged.damaged), (0, 1));
    assert_eq!(fs::read_to_string(&file).expect("it is there"), lines(&[0, 1]));
}

#[test]
fn the_record_replaces_the_former_one_and_files_continue() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let (dir, _) = archive(&temp.path().join("runs"), &[0]);
    let event = |text: &str| EventLine::new(Nanos::ZERO, EventKind::Settled, Sentence::quoted(text));
    fs::write(dir.join("events.jsonl"), event("first").encode() + "\n{\"at_ns\":1,")
        .expect("it can be written");
    for text in ["second", "third"] {
        let mut archive = ArchiveSettling::open(&dir).expect("no process writes to it");
        assert!(matches!(ArchiveSettling::open(&dir), Err(SettleProblem::InUse)));
        archive.add_events(&[event(text)]).expect("the disk has room");
        archive.add_journal(vec![format!("{{\"{text}\":1}}")]).expect("the disk has room");
        let mut record = record();
        text.clone_into(&mut record.name);
        archive.finish(&record).expect("the disk has room");
        let opened = open(&dir).expect("an archive");
        assert_eq!(opened.record.expect("it is finished").name, text);
    }
    let texts: Vec<_> = open(&dir).expect("an archive").events.into_iter().map(|event| event.text).collect();
    assert_eq!(texts, ["first", "second", "third"]);
    let journal = fs::read_to_string(dir.join("fleet.jsonl")).expect("it is there");
    assert_eq!(journal, "{\"second\":1}\n{\"third\":1}\n");
}

#[test]
fn spools_are_listed_while_their_agent_has_them() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let dir = temp.path().join("spools");
    assert_eq!(SpoolFile::list(&dir).expect("no folder, no spools"), []);
    let whole = spool(&dir, &[0, 1]);
    let held = Spool::find(&dir).expect("it can be read");
    fs::write(dir.join("spool-9.jsonl"), "something else\n").expect("it can be written");
    let listed = SpoolFile::list(&dir).expect("it can be read");
    let known: Vec<_> = listed.iter().map(|spool| (spool.run.0, spool.is_open)).collect();
    assert_eq!(known, [(7, true), (9, false)]);
    assert_eq!((&listed[0].content, &listed[1].content), (&whole.content, &None));
    drop(held);
    listed[0].delete().expect("it can be removed");
    assert_eq!(SpoolFile::find(&dir, RunId(7)).expect("the folder can be read"), None);
}
