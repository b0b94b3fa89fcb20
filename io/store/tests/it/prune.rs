//! Pruning: which runs go, which never do, and that what was interrupted is finished.

use crate::support;

use std::fs;
use std::path::PathBuf;

use support::{meta, record};
use tempfile::TempDir;
use wavetank_record::{SEARCH_SCHEMA, SearchDoc, Status, WallTime};
use wavetank_store::{ArchiveWriter, PruneOptions, PrunePlan, RunMeta, RunsDir, SearchFolder};
use wavetank_units::Nanos;

const DAY: u64 = 86_400_000_000_000;
/// Long after everything that the tests write.
const NOW: WallTime = WallTime(4_000_000_000_000_000_000);

/// Four runs, a day apart, the last one a day old; the second failed, the third was killed.
fn four() -> (TempDir, RunsDir) {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path().join("runs"));
    for number in 1..=4 {
        write(&runs, number);
    }
    (temp, runs)
}

fn write(runs: &RunsDir, number: u64) -> PathBuf {
    let id = format!("aa0{number}");
    let mut meta = RunMeta { name: "a".to_owned(), id: id.clone(), ..meta() };
    meta.started = WallTime(NOW.0 - (5 - number) * DAY);
    meta.environment.id.clone_from(&id);
    let writer = ArchiveWriter::create(runs, &meta).expect("the folder is writable");
    let mut record = record();
    record.verdict.status = if number == 2 { Status::Fail } else { Status::Pass };
    record.id = id;
    if number == 3 {
        writer.dir().to_owned()
    } else {
        writer.finish(&record).expect("the folder is writable")
    }
}

fn going(pruning: &PrunePlan) -> Vec<String> {
    pruning.going.iter().map(|run| run.id.clone()).collect()
}

#[track_caller]
fn check(wishes: PruneOptions, ids: &[&str]) {
    let (_temp, runs) = four();
    let pruning = runs.prunable(wishes, NOW).expect("it can be read");
    assert_eq!(going(&pruning), ids, "{wishes:?}");
    assert_eq!(pruning.staying, 4 - ids.len() as u64);
    assert_eq!(runs.list().expect("it can be read").runs.len(), 4, "nothing is removed by asking");
    let pruned = runs.prune(&pruning, NOW);
    assert_eq!((pruned.runs, pruned.refused.len()), (ids.len() as u64, 0), "{pruned:?}");
    let left = runs.list().expect("it can be read");
    assert_eq!(left.runs.len() as u64, pruning.staying);
    assert!(
        left.foreign.is_empty() && left.runs.iter().all(|run| !ids.contains(&run.id.as_str())),
        "{left:?}"
    );
}

#[test]
fn each_wish_narrows_what_goes() {
    let none = PruneOptions::default();
    let days = |days: i64| Some(Nanos(days * DAY as i64));
    check(PruneOptions { keep: Some(0), ..none }, &["aa01", "aa02", "aa03", "aa04"]);
    check(PruneOptions { keep: Some(1), ..none }, &["aa01", "aa02", "aa03"]);
    check(PruneOptions { keep: Some(9), ..none }, &[]);
    check(PruneOptions { older_than: days(3), ..none }, &["aa01"]);
    check(PruneOptions { older_than: days(2), ..none }, &["aa01", "aa02"]);
    check(PruneOptions { failed: true, ..none }, &["aa02", "aa03"]);
    check(PruneOptions { failed: true, keep: Some(2), ..none }, &["aa02"]);
    check(PruneOptions { failed: true, older_than: days(4), ..none }, &[]);
    check(PruneOptions { size_max: Some(0), ..none }, &["aa01", "aa02", "aa03", "aa04"]);
    check(PruneOptions { size_max: Some(0), keep: Some(3), ..none }, &["aa01"]);
    check(PruneOptions { size_max: Some(u64::MAX), ..none }, &[]);
    let (_temp, runs) = four();
    let all = runs.prunable(none, NOW).expect("it can be read");
    let bytes: Vec<u64> = all.going.iter().map(|run| run.bytes).collect();
    check(PruneOptions { size_max: Some(bytes.iter().sum::<u64>() - 1), ..none }, &["aa01"]);
    check(PruneOptions { size_max: Some(bytes[2] + bytes[3]), ..none }, &["aa01", "aa02"]);
}

/// A search of two runs, started between the second and the third of the four runs. `end` is the
/// state in its answer.
fn search(runs: &RunsDir, end: Option<&str>) -> SearchFolder {
    let folder =
        SearchFolder::create(runs, WallTime(NOW.0 - 5 * DAY / 2), "knee", "ee01").expect("it can be made");
    (1..=2).for_each(|number| drop(write(&folder.runs(), number)));
    if let Some(end) = end {
        let mut doc = SearchDoc { schema: SEARCH_SCHEMA.to_owned(), ..SearchDoc::default() };
        end.clone_into(&mut doc.answer.end);
        folder.write(&doc).expect("the folder is writable");
    }
    folder
}

#[track_caller]
fn check_search(wishes: PruneOptions, end: Option<&str>, ids: &[&str], goes: bool) {
    let (_temp, runs) = four();
    let path = search(&runs, end).path().to_owned();
    let pruning = runs.prunable(wishes, NOW).expect("it can be read");
    let named = going(&pruning);
    let named: Vec<_> = named.iter().map(String::as_str).collect();
    assert_eq!((named.as_slice(), pruning.searches.len()), (ids, usize::from(goes)));
    assert_eq!((pruning.staying, pruning.searches_staying), (4 - ids.len() as u64, u64::from(!goes)));
    assert!(pruning.searches.iter().all(|search| search.runs == 2 && search.bytes > 1_000), "{pruning:?}");
    let pruned = runs.prune(&pruning, NOW);
    assert_eq!((pruned.runs, pruned.searches), (ids.len() as u64, u64::from(goes)), "{pruned:?}");
    assert!(pruned.refused.is_empty() && path.exists() != goes, "{pruned:?}");
}

/// A search and its runs are one thing among runs: it counts as one, has one age, and goes whole.
#[test]
fn searches_go_whole() {
    let none = PruneOptions::default();
    let all = PruneOptions { keep: Some(0), ..none };
    for end in [Some("found"), Some("under_way"), None] {
        check_search(all, end, &["aa01", "aa02", "aa03", "aa04"], true);
    }
    check_search(PruneOptions { keep: Some(2), ..none }, Some("found"), &["aa01", "aa02"], true);
    check_search(PruneOptions { keep: Some(3), ..none }, Some("found"), &["aa01", "aa02"], false);
    check_search(
        PruneOptions { older_than: Some(Nanos(2 * DAY as i64)), ..none },
        None,
        &["aa01", "aa02"],
        true,
    );
    check_search(PruneOptions { failed: true, ..none }, Some("found"), &["aa02", "aa03"], false);
    check_search(PruneOptions { failed: true, ..none }, Some("under_way"), &["aa02", "aa03"], true);
    let (_temp, runs) = four();
    drop(search(&runs, Some("found")));
    let sized = runs.prunable(all, NOW).expect("it can be read");
    let newest: u64 = sized.going[2..].iter().map(|run| run.bytes).sum();
    let search = sized.searches[0].bytes;
    let size = |most: u64| PruneOptions { size_max: Some(most), ..none };
    check_search(size(newest + search), Some("found"), &["aa01", "aa02"], false);
    check_search(size(newest + search - 1), Some("found"), &["aa01", "aa02"], true);
}

#[test]
fn some_searches_never_go() {
    let all = PruneOptions { keep: Some(0), ..PruneOptions::default() };
    let check = |spoil: &dyn Fn(&SearchFolder) -> Option<ArchiveWriter>, reason: &str| {
        let temp = tempfile::tempdir().expect("a folder for the test");
        let runs = RunsDir::new(temp.path());
        let folder = search(&runs, Some("under_way"));
        let path = folder.path().to_owned();
        let held = spoil(&folder);
        let written = fs::metadata(path.join("search.json")).and_then(|answer| answer.modified());
        let since = written.expect("it is there").duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        let now = if reason.contains("minute") { WallTime(since.as_nanos() as u64) } else { NOW };
        let folder = (reason == "it is being written").then_some(folder);
        let pruning = runs.prunable(all, now).expect("it can be read");
        assert_eq!((pruning.searches.len(), pruning.searches_staying), (0, 1), "{reason}");
        assert!(pruning.spared[0].1.contains(reason), "{reason}: {:?}", pruning.spared);
        assert_eq!(runs.prune(&pruning, now).searches, 0);
        assert!(path.join("search.json").exists(), "{reason}");
        drop((held, folder));
    };
    let put = |name: &'static str| {
        move |folder: &SearchFolder| {
            fs::write(folder.path().join(name), "mine").expect("the folder is writable");
            None
        }
    };
    check(&|_| None, "it is being written");
    check(&put("report.html"), "`report.html`, which is not one of a search's files");
    check(&put("runs/notes.txt"), "`runs/notes.txt`, which is not one of");
    let run_being_written = |folder: &SearchFolder| {
        let meta = RunMeta { id: "dd01".to_owned(), ..meta() };
        Some(ArchiveWriter::create(&folder.runs(), &meta).expect("the folder is writable"))
    };
    check(&run_being_written, "-dd01`: it is being written");
    check(&|_| None, "less than a minute ago");
}

/// What must stay stays, with the reason, also when it changes between asking and removing.
#[test]
fn some_runs_never_go() {
    let (temp, runs) = four();
    let folders: Vec<_> = runs.list().expect("it can be read").runs.into_iter().map(|run| run.path).collect();
    // One run with a foreign file, a link to a run elsewhere, a folder with only the name of a run,
    // and a run that is being written.
    fs::write(folders[0].join("report.html"), "mine").expect("the folder is writable");
    let elsewhere = write(&RunsDir::new(temp.path().join("elsewhere")), 1);
    let link = runs.path().join("20200101T000000Z-link-cc01");
    std::os::unix::fs::symlink(&elsewhere, &link).expect("the folder is writable");
    let alike = runs.path().join("20200101T000000Z-alike-cc02");
    fs::create_dir(&alike).expect("the folder is writable");
    fs::write(alike.join("plan.yaml"), "a file of another program\n").expect("the folder is writable");
    let meta = RunMeta { id: "dd01".to_owned(), started: WallTime(NOW.0 - 9 * DAY), ..meta() };
    let writer = ArchiveWriter::create(&runs, &meta).expect("the folder is writable");
    // A link inside an archive leads out of it.
    fs::create_dir(temp.path().join("precious")).expect("the folder is writable");
    std::os::unix::fs::symlink(temp.path().join("precious"), folders[1].join("intervals/x.jsonl"))
        .expect("the folder is writable");
    let all = PruneOptions { keep: Some(0), ..PruneOptions::default() };
    let pruning = runs.prunable(all, NOW).expect("it can be read");
    assert_eq!(going(&pruning), ["aa03", "aa04"]);
    let why = |part: &str| {
        let spared = pruning.spared.iter().find(|(name, _)| name.contains(part));
        spared.map(|(_, why)| why.as_str()).unwrap_or_default().to_owned()
    };
    for (part, reason) in [
        ("aa01", "`report.html`, which is not one of the archive's files"),
        ("aa02", "`intervals/x.jsonl`"),
        ("cc01", "it is a link"),
        ("cc02", "no file in it shows"),
        ("dd01", "being written"),
    ] {
        assert!(why(part).contains(reason), "{part}: {:?}", pruning.spared);
    }
    fs::write(folders[3].join("late.txt"), "mine").expect("the folder is writable");
    let pruned = runs.prune(&pruning, NOW);
    assert_eq!((pruned.runs, pruned.refused.len()), (1, 1), "{pruned:?}");
    assert!(pruned.refused[0].1.contains("late.txt"), "{pruned:?}");
    for there in [&folders[0], &folders[1], &folders[3], &elsewhere, &alike, &temp.path().join("precious")] {
        assert!(there.exists(), "{}", there.display());
    }
    assert!(!folders[2].exists() && link.is_symlink());
    writer.finish(&record()).expect("its folder is still there");
}

/// Two commands may remove at the same time: a run that the other one removed is gone, which is not
/// an error.
#[test]
fn what_another_removed_meanwhile_is_gone() {
    let (_temp, runs) = four();
    let knee = search(&runs, Some("found"));
    let folder = knee.path().to_owned();
    drop(knee);
    let all = PruneOptions { keep: Some(0), ..PruneOptions::default() };
    let half = runs.path().join(".wavetank-removed-20200101T000000Z-a-bb22");
    fs::create_dir(&half).expect("the folder is writable");
    let (first, second) = (runs.prunable(all, NOW), runs.prunable(all, NOW));
    let (first, second) = (first.expect("it can be read"), second.expect("it can be read"));
    let removed = runs.prune(&first, NOW);
    assert_eq!((removed.runs, removed.searches, removed.gone.len()), (4, 1, 0), "{removed:?}");
    let late = runs.prune(&second, NOW);
    assert_eq!((late.runs, late.searches, late.bytes), (0, 0, 0), "{late:?}");
    assert_eq!((late.gone.len(), late.refused.len()), (5, 0), "{late:?}");
    assert!(
        late.gone.contains(&folder.file_name().expect("a name").to_string_lossy().into_owned()),
        "{late:?}"
    );
}

/// A run without `run.json` may belong to another host, and its lock is not visible here.
#[test]
fn what_was_written_to_a_moment_ago_stays() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path());
    let dir = write(&runs, 3);
    let written = fs::metadata(dir.join("plan.yaml")).and_then(|metadata| metadata.modified());
    let since = written.expect("it is there").duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let after = |seconds: u64| WallTime(since.as_nanos() as u64 + seconds * 1_000_000_000);
    let all = PruneOptions { keep: Some(0), ..PruneOptions::default() };
    for (seconds, count) in [(0, 0), (30, 0), (120, 1)] {
        let pruning = runs.prunable(all, after(seconds)).expect("it can be read");
        assert_eq!(pruning.going.len(), count, "{seconds} s: {:?}", pruning.spared);
    }
}

#[test]
fn an_interrupted_removal_is_finished() {
    let (_temp, runs) = four();
    let half = runs.path().join(".wavetank-removed-20200101T000000Z-a-bb22");
    fs::create_dir(&half).expect("the folder is writable");
    fs::write(half.join("plan.yaml"), "wavetank_plan: 1\n").expect("the folder is writable");
    let listing = runs.list().expect("it can be read");
    assert_eq!((listing.runs.len(), listing.foreign.len()), (4, 1));
    assert!(runs.find("bb22").is_err(), "half a run is none");
    let none = PruneOptions { keep: Some(9), ..PruneOptions::default() };
    let pruning = runs.prunable(none, NOW).expect("it can be read");
    assert_eq!((pruning.leftovers.len(), pruning.going.len()), (1, 0));
    runs.prune(&pruning, NOW);
    assert!(!half.exists());
}
