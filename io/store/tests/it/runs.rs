//! Runs directories as users leave them: files among folders, names changed by hand, hostile names,
//! links, damage.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{in_progress, meta, record};
use wavetank_record::{ForeignEntryKind, RunState, WallTime};
use wavetank_store::{ArchiveWriter, Listing, RunMeta, RunsDir, SearchFolder, inspect, open, summarize};

/// A finished run of the second `second`.
fn make(runs: &RunsDir, second: u64, name: &str, id: &str) -> PathBuf {
    let mut meta = RunMeta { name: name.to_owned(), id: id.to_owned(), ..meta() };
    meta.started = WallTime(1_795_287_600_000_000_000 + second * 1_000_000_000);
    id.clone_into(&mut meta.environment.id);
    meta.environment.started_at = meta.started.rfc3339();
    let mut record = record();
    (record.id, record.name) = (id.to_owned(), name.to_owned());
    record.started_at.clone_from(&meta.environment.started_at);
    let writer = ArchiveWriter::create(runs, &meta).expect("the folder is writable");
    writer.finish(&record).expect("the folder is writable")
}

fn list(runs: &RunsDir) -> Listing {
    runs.list().expect("the directory can be read")
}

fn ids(runs: &RunsDir) -> Vec<String> {
    list(runs).runs.iter().map(|run| summarize(run).id).collect()
}

#[test]
fn no_directory_is_an_empty_one_and_a_file_is_none() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let nowhere = RunsDir::new(temp.path().join("nowhere"));
    assert_eq!(nowhere.list(), Ok(Listing::default()));
    fs::write(temp.path().join("file"), "").expect("the folder is writable");
    let file = RunsDir::new(temp.path().join("file"));
    for error in [
        file.list().expect_err("a file is no directory"),
        file.find("latest").expect_err("a file is no directory"),
    ] {
        assert_eq!(error.code, "runs_unreadable", "{error}");
        assert!(
            error.message.contains("a file, not a folder") && error.hint.contains("--runs-dir"),
            "{error}"
        );
    }
    // A run named by its path needs no runs directory.
    let dir = make(&RunsDir::new(temp.path().join("runs")), 0, "a", "aa11");
    assert_eq!(file.find(&dir.to_string_lossy()), Ok(dir));
}

#[test]
fn a_directory_that_may_not_be_read_is_an_error() {
    use std::os::unix::fs::PermissionsExt as _;
    let temp = tempfile::tempdir().expect("a folder for the test");
    let closed = temp.path().join("closed");
    fs::create_dir(&closed).expect("the folder is writable");
    let allow = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).expect("it is ours");
    allow(0o000);
    let listed = RunsDir::new(&closed).list();
    allow(0o700);
    match listed {
        Ok(_) => wavetank_testkit::skip("a directory that may not be read", "this user may read everything"),
        Err(error) => {
            assert_eq!(error.code, "runs_unreadable", "{error}");
            assert!(error.message.contains("Permission denied"), "{error}");
        }
    }
}

#[test]
fn a_foreign_folder_is_reported_and_disturbs_nothing() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path());
    make(&runs, 0, "a", "aa11");
    let at = |name: &str| temp.path().join(name);
    fs::write(at("notes.txt"), "mine").expect("the folder is writable");
    fs::write(at("20261121T190000Z-file-ffffff"), "a file with a run's name")
        .expect("the folder is writable");
    fs::write(at("shop.wtrun"), "packed").expect("the folder is writable");
    fs::create_dir(at("empty")).expect("the folder is writable");
    fs::create_dir(at(".wavetank-removed-20261121T190000Z-a-bb22")).expect("the folder is writable");
    fs::create_dir(at("20261121T200000Z-shop-5ea6c4")).expect("the folder is writable");
    fs::write(at("20261121T200000Z-shop-5ea6c4/search.json"), "{}").expect("the folder is writable");
    let found: Vec<_> = list(&runs).foreign.into_iter().map(|foreign| (foreign.name, foreign.kind)).collect();
    let expected = [
        (".wavetank-removed-20261121T190000Z-a-bb22", ForeignEntryKind::Removed),
        ("20261121T190000Z-file-ffffff", ForeignEntryKind::Other),
        ("20261121T200000Z-shop-5ea6c4", ForeignEntryKind::Search),
        ("empty", ForeignEntryKind::Other),
        ("notes.txt", ForeignEntryKind::Other),
        ("shop.wtrun", ForeignEntryKind::Pack),
    ];
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    let error = open(&at("20261121T200000Z-shop-5ea6c4")).expect_err("a search is no run");
    assert!(
        error.message.contains("is a search, not a run") && error.hint.contains("wavetank report"),
        "{error}"
    );
    assert_eq!(ids(&runs), ["aa11"]);
    assert_eq!(runs.find("latest").map(|path| path.ends_with("20261121T190000Z-a-aa11")), Ok(true));
}

#[test]
fn names_changed_by_hand_are_found_by_what_is_stored() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path());
    let (first, second) = (make(&runs, 1, "a", "aa11"), make(&runs, 2, "b", "bb22"));
    make(&runs, 3, "c", "cc33");
    let named = temp.path().join("the good one");
    fs::rename(&first, &named).expect("the folder is writable");
    let copied = temp.path().join(format!("{}-old", second.file_name().expect("a name").to_string_lossy()));
    fs::rename(&second, &copied).expect("the folder is writable");
    // In their place by the time stored in them.
    assert_eq!(ids(&runs), ["aa11", "bb22", "cc33"]);
    for (word, path) in
        [("aa1", &named), ("the good", &named), ("bb22", &copied), ("20261121T190002Z", &copied)]
    {
        assert_eq!(runs.find(word).as_ref(), Ok(path), "{word}");
    }
    // Two folders of one id: neither is taken for the other.
    let twin = temp.path().join("20261121T190009Z-a-aa11");
    fs::create_dir(&twin).expect("the folder is writable");
    fs::copy(named.join("plan.yaml"), twin.join("plan.yaml")).expect("the folder is writable");
    fs::rename(&named, temp.path().join("20261121T190001Z-a-aa11")).expect("the folder is writable");
    let error = runs.find("aa11").expect_err("it fits two");
    assert!(error.hint.contains("folder's name: `20261121T190001Z-a-aa11`"), "{error}");
}

/// Copies next to a run do not make its name ambiguous; a search does not either.
#[test]
fn a_whole_name_calls_its_own_alone() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path());
    let run = make(&runs, 1, "a", "b3cef3");
    let foreign = |suffix: &str| {
        let copy = format!("{}{suffix}", run.file_name().expect("a name").to_string_lossy());
        let copy = temp.path().join(copy);
        fs::create_dir(&copy).expect("the folder is writable");
        fs::copy(run.join("plan.yaml"), copy.join("plan.yaml")).expect("the folder is writable");
        copy
    };
    let (bak, copy) = (foreign(".bak"), foreign("-copy"));
    for (word, path) in [
        ("b3cef3", &run),
        ("20261121T190001Z-a-b3cef3", &run),
        ("b3cef3.bak", &bak),
        ("20261121T190001Z-a-b3cef3.bak", &bak),
        ("copy", &copy),
    ] {
        assert_eq!(runs.find(word).as_ref(), Ok(path), "{word}");
    }
    // What the hint names calls one of them each.
    let error = runs.find("b3ce").expect_err("it fits two");
    assert_eq!(error.message, "`b3ce` matches 2 runs");
    assert_eq!(error.hint, "write more of the id: `b3cef3`, `b3cef3.bak`");
    let search = temp.path().join("20261121T190003Z-knee-b3ffff");
    fs::create_dir(&search).expect("the folder is writable");
    fs::write(search.join("search.json"), "{}").expect("the folder is writable");
    let error = runs.find("b3").expect_err("it fits runs and a search");
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("run_ambiguous", "`b3` matches 2 runs and 1 search")
    );
    let hint = "write more of the id: run `b3cef3`, run `b3cef3.bak`, search `b3ffff`";
    assert_eq!(error.hint, hint);
    fs::remove_dir_all(bak).expect("the folder is writable");
    let error = runs.find("b3").expect_err("it fits one of each");
    assert_eq!(error.message, "`b3` matches 1 run and 1 search");
    assert_eq!(runs.find("b3f"), Ok(search));
}

#[test]
fn a_search_without_an_answer_is_reported_with_its_runs() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path());
    let made = SearchFolder::create(&runs, WallTime(1_795_287_600_000_000_000), "knee", "ee01");
    let made = made.expect("the folder is writable");
    make(&made.runs(), 0, "a", "aa11");
    let dir = made.path().to_owned();
    let reported = || open(&runs.find("ee01").expect("it is found by its id")).expect_err("it is no run");
    assert!(
        reported().message.ends_with("is a search that is in progress and has no answer yet"),
        "{}",
        reported()
    );
    drop(made);
    assert!(
        reported().message.ends_with("is a search that was interrupted before its first answer"),
        "{}",
        reported()
    );
    assert!(
        reported().hint.contains(&format!("wavetank runs --runs-dir '{}/runs'", dir.display())),
        "{}",
        reported()
    );
}

#[test]
fn of_one_second_the_one_written_last_is_the_latest() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path());
    let (first, second) = (make(&runs, 5, "z", "aa11"), make(&runs, 5, "a", "bb22"));
    let written = |path: &Path, seconds: u64| {
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let plan = fs::File::options().write(true).open(path.join("plan.yaml"));
        plan.and_then(|plan| plan.set_modified(at)).expect("it is ours");
    };
    for (early, late, id) in [(&first, &second, "bb22"), (&second, &first, "aa11")] {
        written(early, 1_000);
        written(late, 1_001);
        assert_eq!(runs.find("latest").as_ref(), Ok(late));
        assert_eq!(ids(&runs).last().map(String::as_str), Some(id));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn hostile_names_are_listed_and_steer_nothing() {
    use std::os::unix::ffi::OsStrExt as _;
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path());
    let names: [&[u8]; 6] = [
        b"20261121T190000Z-\x1b[2J-aa01",
        "20261121T190001Z-\u{202e}nur-aa02".as_bytes(),
        b"20261121T190002Z-a\nb-aa03",
        b"-rf",
        b"20261121T190004Z-\xff\xfe-aa05",
        "20261121T190005Z-商店🦀-aa06".as_bytes(),
    ];
    for (second, name) in (0..).zip(names) {
        let made = make(&runs, second, "x", &format!("aa0{}", second + 1));
        fs::rename(made, temp.path().join(std::ffi::OsStr::from_bytes(name)))
            .expect("the folder is writable");
    }
    assert_eq!(ids(&runs), ["aa01", "aa02", "aa03", "aa04", "aa05", "aa06"]);
    for second in 1..=6 {
        let found = runs.find(&format!("aa0{second}")).expect("it is found by its id");
        assert_eq!(
            open(&found).expect("it opens").record.map(|record| record.id),
            Some(format!("aa0{second}"))
        );
        fs::write(found.join("run.json"), "{").expect("the folder is writable");
        let error = open(&found).expect_err("it is damaged").to_string();
        assert_eq!(error.lines().count(), 2, "{error:?}");
        let steers = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!error.contains(steers), "{error:?}");
    }
    let error = runs.find("\u{1b}[31mred").expect_err("there is no such run");
    assert!(!error.message.contains('\u{1b}'), "{error:?}");
}

#[test]
fn every_state_of_an_archive_is_reported() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path());
    let check = |change: &dyn Fn(&Path), state: RunState, problem: &str| {
        let dir = make(&runs, 0, "a", "aa11");
        change(&dir);
        let before = fs::read_dir(&dir).expect("it is there").count();
        let line = summarize(&list(&runs).runs[0]);
        assert_eq!(line.state, state, "{line:?}");
        let reported = line.problem.clone().unwrap_or_default();
        assert!(
            reported.contains(problem) && reported.is_empty() == problem.is_empty(),
            "{reported:?} / {problem:?}"
        );
        assert_eq!((line.id.as_str(), line.started_at.as_str()), ("aa11", "2026-11-21T19:00:00Z"));
        assert_eq!(fs::read_dir(&dir).expect("it is there").count(), before, "nothing is changed by looking");
        // One archive by itself is shown as well, unless nothing is left of it.
        if dir.join("plan.yaml").exists() || dir.join("run.json").exists() {
            assert_eq!(inspect(&dir).expect("it can be shown").run.state, state);
        }
        fs::remove_dir_all(&dir).expect("the folder is writable");
    };
    let put = |name: &'static str, text: &'static str| {
        move |dir: &Path| fs::write(dir.join(name), text).expect("the folder is writable")
    };
    let gone = |name: &'static str| {
        move |dir: &Path| fs::remove_file(dir.join(name)).expect("the folder is writable")
    };
    check(&|_| {}, RunState::Finished, "");
    check(&gone("run.json"), RunState::Unfinished, "");
    check(&put("run.json", "{\"schema\":\"wavet"), RunState::Damaged, "EOF while parsing");
    check(&put("run.json", ""), RunState::Damaged, "`run.json` cannot be read");
    check(&put("run.json", "{\"schema\":\"wavetank.run/2\"}"), RunState::Newer, "wavetank.run/2");
    check(&put("plan.yaml", "wavetank_plan: ["), RunState::Finished, "");
    check(&gone("environment.json"), RunState::Finished, "");
    check(
        &|dir| {
            gone("run.json")(dir);
            put("plan.yaml", "wavetank_plan: [")(dir);
        },
        RunState::Damaged,
        "`plan.yaml` cannot be read",
    );
    check(
        &|dir| {
            gone("run.json")(dir);
            put("plan.yaml", "wavetank_plan: 2\nwhatever: 1\n")(dir);
        },
        RunState::Newer,
        "plan version 2",
    );
    check(
        &|dir| ["run.json", "plan.yaml"].into_iter().for_each(|name| gone(name)(dir)),
        RunState::Damaged,
        "no `run.json` and no `plan.yaml`",
    );
    check(
        &|dir| {
            gone("run.json")(dir);
            fs::create_dir(dir.join("run.json")).expect("the folder is writable");
        },
        RunState::Damaged,
        "`run.json` is not a readable file",
    );
}

/// The writer's lock ends with the writer, finished or not.
#[test]
fn a_run_that_is_being_written_is_known() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let runs = RunsDir::new(temp.path());
    let state = || summarize(&list(&runs).runs[0]).state;
    let writer = in_progress(temp.path(), 2);
    assert_eq!(state(), RunState::Running);
    // Several processes may check at the same time.
    assert_eq!(state(), RunState::Running);
    drop(writer);
    assert_eq!(state(), RunState::Unfinished);
    fs::remove_dir_all(&list(&runs).runs[0].path).expect("the folder is writable");
    in_progress(temp.path(), 2).finish(&record()).expect("the folder is writable");
    assert_eq!(state(), RunState::Finished);
}

#[test]
fn what_does_not_belong_there_is_shown() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let dir = make(&RunsDir::new(temp.path()), 0, "a", "aa11");
    fs::write(dir.join("notes.txt"), "mine").expect("the folder is writable");
    fs::write(dir.join("plan.yaml"), "wavetank_plan: 1\n").expect("the folder is writable");
    fs::write(dir.join("environment.json"), "{").expect("the folder is writable");
    let doc = inspect(&dir).expect("it can be shown");
    let problems = doc.problems.join("; ");
    for part in ["`notes.txt`", "`plan.yaml` is not the plan that was run", "`environment.json`"] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    assert_eq!(doc.plan_fits, Some(false));
    assert_eq!(doc.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().len(), 4);
}
