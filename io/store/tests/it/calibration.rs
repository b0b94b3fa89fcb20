//! The file of calibrations: put, replaced, read back, damaged.

use std::fs;

use wavetank_record::{CalibratedHostDoc, CalibrationDoc, CalibrationsDoc, HeldMemoryDoc, Number};
use wavetank_store::CalibrationFile;

fn calibration(host: &str, engine: &str, took: f64) -> CalibrationDoc {
    CalibrationDoc {
        host: CalibratedHostDoc { hostname: host.to_owned(), ..CalibratedHostDoc::default() },
        engine: engine.to_owned(),
        took_s: Number(took),
        ..CalibrationDoc::default()
    }
}

#[track_caller]
fn check(file: &CalibrationFile, expected: &[(&str, &str, f64)]) {
    let doc = file.read().expect("readable").expect("there");
    let reported: Vec<_> = doc
        .calibrations
        .iter()
        .map(|one| (one.host.hostname.as_str(), one.engine.as_str(), one.took_s.0))
        .collect();
    assert_eq!(reported, expected);
    let folder = file.path().parent().expect("the file has a parent folder");
    assert_eq!(fs::read_dir(folder).expect("a folder").count(), 1, "nothing else is left there");
}

#[test]
fn one_for_each_host_and_engine() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = CalibrationFile::new(dir.path().join("state/wavetank/calibration.json"));
    assert_eq!(file.read(), Ok(None), "the file and its folder do not exist yet");
    file.insert(calibration("a", "uring", 1.0)).expect("written");
    file.insert(calibration("b", "uring", 2.0)).expect("written");
    file.insert(calibration("a", "epoll", 3.0)).expect("written");
    check(&file, &[("a", "uring", 1.0), ("b", "uring", 2.0), ("a", "epoll", 3.0)]);
    file.insert(calibration("a", "uring", 4.0)).expect("written");
    check(&file, &[("b", "uring", 2.0), ("a", "epoll", 3.0), ("a", "uring", 4.0)]);
}

#[test]
fn the_oldest_go() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = CalibrationFile::new(dir.path().join("calibration.json"));
    let all = (0..260).map(|host| calibration(&host.to_string(), "uring", 0.0)).collect();
    fs::write(file.path(), CalibrationsDoc::new(all).to_json()).expect("written");
    file.insert(calibration("new", "uring", 0.0)).expect("written");
    let kept = file.read().expect("readable").expect("there").calibrations;
    assert_eq!((kept.len(), kept[0].host.hostname.as_str()), (256, "5"));
    assert_eq!(kept[255].host.hostname, "new");
}

#[test]
fn a_damaged_file_is_reported_and_replaced() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = CalibrationFile::new(dir.path().join("calibration.json"));
    let long = vec![b' '; (4 << 20) + 1];
    for bytes in [
        &b""[..],
        b"{\"schema\":",
        b"\xff\xfe",
        b"{\"schema\":\"wavetank.run/1\",\"calibrations\":[]}",
        &long,
    ] {
        fs::write(file.path(), bytes).expect("written");
        let error = file.read().expect_err("no calibrations");
        assert_eq!(error.code, "calibration_damaged");
        assert!(error.message.contains("calibration.json") && !error.message.contains('\n'), "{error}");
    }
    file.insert(calibration("a", "uring", 1.0)).expect("replaced");
    check(&file, &[("a", "uring", 1.0)]);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let dir = tempfile::tempdir().expect("a folder");
    let fifo = dir.path().join("fifo");
    // The standard library cannot create a FIFO. Opening one blocks until a process opens it for
    // writing.
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    let mut all = vec![(dir.path().to_owned(), "it is a folder")];
    if made.is_ok_and(|status| status.success()) {
        all.push((fifo, "it is not a regular file"));
    }
    for (path, why) in all {
        let file = CalibrationFile::new(path);
        let error = file.read().expect_err("no file");
        assert_eq!(error.code, "calibration_unreadable");
        assert!(error.message.ends_with(why) && error.hint.contains("--out"), "{error}");
        assert_eq!(file.check_writable().expect_err("no file").code, "calibration_unwritable");
    }
}

#[test]
fn figures_that_no_host_has_are_not_believed() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = CalibrationFile::new(dir.path().join("calibration.json"));
    let check = |change: fn(&mut CalibrationDoc), what: &str| {
        let mut doc = calibration("a", "uring", 1.0);
        doc.memory = Some(HeldMemoryDoc { user_bytes: Number(300.0), ..HeldMemoryDoc::default() });
        file.insert(doc.clone()).expect("written");
        file.read().expect("what a host may have").expect("there");
        change(&mut doc);
        fs::write(file.path(), CalibrationsDoc::new(vec![doc]).to_json()).expect("written");
        let error = file.read().expect_err(what);
        assert_eq!(error.code, "calibration_damaged");
        assert!(error.message.contains(what) && !error.message.contains('\n'), "{error}");
    };
    check(|doc| doc.requests.measured = Number(1e18), "requests.measured of a on uring is 1e18");
    check(|doc| doc.connections.alone = Number(-1.0), "connections.alone of a on uring is -1");
    check(|doc| doc.handshakes_full.rounds = vec![Number(1e12)], "handshakes_full.rounds");
    check(|doc| doc.open_per_s = Number(1e300), "open_per_s");
    check(|doc| doc.memory.as_mut().expect("there").user_bytes = Number(0.0), "memory.user_bytes");
    check(|doc| doc.memory.as_mut().expect("there").kernel_bytes = Some(Number(1e9)), "memory.kernel_bytes");
}

#[test]
fn no_place_to_write_is_one_clear_line() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("file"), "").expect("written");
    for path in ["file/calibration.json", "file/deeper/calibration.json", "."] {
        let file = CalibrationFile::new(dir.path().join(path));
        let error = file.insert(calibration("a", "uring", 1.0)).expect_err("not a folder");
        assert_eq!(error.code, "calibration_unwritable", "{error}");
        assert!(error.hint.contains("--out") && !error.message.contains('\n'), "{error}");
    }
}
