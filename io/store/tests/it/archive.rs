//! The archive's layout, its names, and how runs are found again.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{in_progress, interval, meta, plan, record, sum};
use wavetank_record::{EventLine, PlanDoc, SampleLine, WallTime};
use wavetank_store::{ArchiveWriter, RunMeta, RunsDir, open};
use wavetank_units::Nanos;

fn files(dir: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).expect("the folder is there") {
        let path = entry.expect("the folder is readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            files.extend(self::files(&path).iter().map(|file| format!("{name}/{file}")));
        } else {
            files.push(name);
        }
    }
    files.sort();
    files
}

#[test]
fn a_finished_run_has_all_its_files() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = temp.path().join("deep/runs");
    let mut writer = in_progress(&runs, 3);
    let dir = writer.dir().to_owned();
    assert_eq!(dir, runs.join("20261121T190000Z-localhost-8080-7f3a21"));
    let event = EventLine { kind: "phase_started".to_owned(), ..EventLine::default() };
    let sample = SampleLine { kind: "slow".to_owned(), ..SampleLine::default() };
    assert!(writer.event(&event).is_none() && writer.sample(&sample).is_none());
    let before = files(&dir);
    assert_eq!(
        before,
        ["environment.json", "events.jsonl", "intervals/local.jsonl", "plan.yaml", "samples.jsonl"]
    );
    assert_eq!(writer.finish(&record()).expect("the folder is writable"), dir);
    assert_eq!(files(&dir).len(), before.len() + 1);
    let run = open(&dir).expect("it opens");
    assert_eq!((run.record.as_ref(), run.environment.as_ref()), (Some(&record()), Some(&meta().environment)));
    assert_eq!((run.events.as_slice(), run.samples.as_slice()), ([event].as_slice(), [sample].as_slice()));
    assert_eq!(PlanDoc::hash(&run.plan_yaml), PlanDoc::hash(&meta().plan_yaml));
    assert_eq!(run.ledger(&plan()).expect("it can be read").0.totals(), &sum(3));
}

#[test]
fn logs_of_services_stay_in_the_archive_whatever_their_names() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let mut writer = in_progress(&temp.path().join("runs"), 1);
    for (host, name) in
        [("lb1", "haproxy.2"), ("lb1", "HAProxy.2"), ("../../lb1", "/etc/x"), ("..", ".."), ("", "\n")]
    {
        assert_eq!(
            writer
                .service_log(host, name, &format!("{host:?} {name:?}\n"))
                .map(|problem| problem.to_string()),
            None
        );
    }
    let dir = writer.finish(&record()).expect("the folder is writable");
    let logs: Vec<_> = files(&dir).into_iter().filter(|file| file.starts_with("services/")).collect();
    let expected = ["lb1/etc-x", "lb1/haproxy.2", "run/run"].map(|log| format!("services/{log}.log"));
    assert_eq!(logs, expected);
    // No word is lost where names come to the same.
    let both = fs::read_to_string(dir.join("services/lb1/haproxy.2.log")).expect("it is there");
    assert_eq!(both, "\"lb1\" \"haproxy.2\"\n\"lb1\" \"HAProxy.2\"\n");
    let packed = wavetank_store::pack(&dir, &temp.path().join("x.wtrun"), "0").expect("it can be packed");
    assert_eq!((packed.files, packed.left_out.len()), (files(&dir).len(), 0));
    let doc = wavetank_store::inspect(&packed.path).expect("it opens");
    let foreign = |problem: &String| problem.contains("not one of the archive's files");
    assert!(!doc.problems.iter().any(foreign), "{:?}", doc.problems);
    assert!(expected.iter().all(|log| doc.files.iter().any(|file| file.path == *log)), "{:?}", doc.files);
}

#[test]
fn the_same_folder_is_not_used_twice() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let _first = in_progress(temp.path(), 0);
    let problem =
        ArchiveWriter::create(&RunsDir::new(temp.path()), &meta()).err().expect("it is there already");
    assert_eq!(problem.source.kind(), std::io::ErrorKind::AlreadyExists);
}

/// Each minute, a checkpoint stores the sum. A reader that lost nothing does not need it.
#[test]
fn checkpoints_come_each_minute_and_add_up() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let writer = in_progress(temp.path(), 130);
    let path = writer.dir().join("intervals/local.jsonl");
    let text = fs::read_to_string(&path).expect("the intervals are there");
    let checkpoints: Vec<_> =
        (0..).zip(text.lines()).filter(|(_, line)| line.contains("\"checkpoint\"")).collect();
    assert_eq!(checkpoints.iter().map(|&(at, _)| at).collect::<Vec<_>>(), [61, 122]);
    let run = open(writer.dir()).expect("it opens");
    assert_eq!(run.ledger(&plan()).expect("it can be read").0.totals(), &sum(130));
    // Without the first minute, the checkpoint replaces it.
    let rest: Vec<_> = text.lines().skip(61).collect();
    fs::write(&path, rest.join("\n") + "\n").expect("the folder is writable");
    let (ledger, report) = run.ledger(&plan()).expect("it can be read");
    let totals = ledger.totals();
    assert_eq!((report.missing, report.intervals), (0, 69));
    let (whole, judged) = (sum(130), wavetank_measure::Selection::Judged);
    assert_eq!(totals.view(judged).counters, whole.view(judged).counters);
    assert_eq!(totals.view(judged).response, whole.view(judged).response);
    assert_eq!((totals.conns, totals.bytes, totals.view(judged).open), (whole.conns, whole.bytes, 139));
    assert_eq!(totals.threads, whole.threads);
}

/// Runs are found by the beginning of their id or folder, as `latest`, or by a path.
#[test]
fn runs_are_found_again() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path().join("runs"));
    let error = runs.find("latest").expect_err("there is none yet");
    assert!(error.message.contains("no runs in") && error.hint.contains("wavetank run"), "{error}");
    for name in ["20261121T190000Z-shop-aa00", "20261121T190005Z-shop-aa01"] {
        fs::create_dir_all(runs.path().join(name)).expect("the folder is writable");
        fs::write(runs.path().join(name).join("search.json"), "{}").expect("the folder is writable");
    }
    let error = runs.find("latest").expect_err("a search is no run");
    let newest = runs.path().join("20261121T190005Z-shop-aa01");
    assert!(error.message.contains("no runs in"), "{error}");
    assert_eq!(error.hint, format!("show the search there: wavetank report {}", newest.display()));
    assert_eq!(
        (runs.find("aa01"), runs.find("20261121T190005")),
        (Ok(newest.clone()), Ok(newest)),
        "searches, too"
    );
    let error = runs.find("aa").expect_err("it fits both");
    assert_eq!((error.code.as_str(), error.message.as_str()), ("run_ambiguous", "`aa` matches 2 searches"));
    assert_eq!(error.hint, "write more of the id: `aa00`, `aa01`");
    fs::remove_dir_all(runs.path()).expect("the folder is writable");
    let make = |second: u64, name: &str, id: &str| -> PathBuf {
        let started = WallTime(1_795_287_600_000_000_000 + second * 1_000_000_000);
        let meta = RunMeta { name: name.to_owned(), id: id.to_owned(), started, ..meta() };
        ArchiveWriter::create(&runs, &meta).expect("the folder is writable").dir().to_owned()
    };
    let (second, first) = (make(2, "b", "aa11"), make(1, "a", "aa22"));
    fs::create_dir(runs.path().join("not-a-run")).expect("the folder is writable");
    let listing = runs.list().expect("it can be read");
    assert_eq!(listing.runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), ["aa22", "aa11"]);
    assert_eq!(listing.foreign[0].name, "not-a-run");
    for (word, path) in [
        ("latest", &second),
        ("aa11", &second),
        ("aa2", &first),
        ("20261121T190001Z", &first),
        (first.to_str().expect("a plain path"), &first),
    ] {
        assert_eq!(runs.find(word).as_ref(), Ok(path), "{word}");
    }
    let error = runs.find("aa").expect_err("it fits both");
    assert!(error.message.contains("2 runs") && error.hint.contains("`aa11`"), "{error}");
    for word in ["", "zz", "/no/such/place"] {
        assert_eq!(runs.find(word).expect_err("there is no such run").code, "run_unknown", "{word}");
    }
    let elsewhere = open(temp.path()).expect_err("this is no archive");
    assert_eq!(elsewhere.code, "not_an_archive");
}

#[test]
fn a_damaged_record_is_reported() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let dir = in_progress(temp.path(), 1).finish(&record()).expect("the folder is writable");
    fs::write(dir.join("run.json"), "{\"schema\":").expect("the folder is writable");
    let error = open(&dir).expect_err("half a record is none");
    assert_eq!(error.code, "archive_damaged");
    // The intervals are whole: the hint is the way to them.
    assert!(error.hint.contains("run.json.damaged"), "{error}");
    fs::rename(dir.join("run.json"), dir.join("run.json.damaged")).expect("the folder is writable");
    assert_eq!(open(&dir).expect("the rest is whole").record, None);
}

/// Lines are not synced one by one, but at most five seconds of data are at risk. The syncs
/// themselves cannot be observed here; the test checks that nothing breaks at the five-second
/// boundary.
#[test]
fn time_may_jump() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let mut writer = in_progress(temp.path(), 0);
    for now in [0, 4, 5, 5, 3, 1_000_000, i64::MAX / 1_000_000_000] {
        assert!(writer.interval(Nanos::from_secs(now), &interval(1)).is_none());
    }
    let run = open(writer.dir()).expect("it opens");
    assert_eq!(run.ledger(&plan()).expect("it can be read").1.intervals, 7);
}
