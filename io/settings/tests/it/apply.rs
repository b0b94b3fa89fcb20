//! Changes are all or nothing, and can be taken back after a crash at any step.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, unshare};
use wavetank_settings::{ApplyStep, JournalFile, SettingsError, apply, undo};
use wavetank_testkit::netns::NetNs;
use wavetank_tuning::{ChangePlan, DropIns, Fix, Row, SYSCTL_DROP_IN, Severity, Snapshot};

const BACKLOG: &str = "net.core.somaxconn";
const RETRIES: &str = "net.ipv4.tcp_syn_retries";

fn row(fix: Fix) -> Row {
    Row {
        what: "a".to_owned(),
        now: "b".to_owned(),
        wanted: "c".to_owned(),
        why: "it is a test".to_owned(),
        source: String::new(),
        severity: Severity::Warning,
        fix: Some(fix),
    }
}

fn setting(key: &str, value: &str) -> Row {
    row(Fix::Setting { key: key.to_owned(), value: value.to_owned() })
}

fn plan(rows: &[Row]) -> ChangePlan {
    ChangePlan::new(rows, &Snapshot::default(), &DropIns::default(), &["nginx".to_owned()])
}

/// A folder with two values and a file that an administrator wrote.
fn host() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temporary folders can be made");
    for (path, text) in [
        ("proc/sys/net/core/somaxconn", "128\n"),
        ("proc/sys/net/ipv4/tcp_syn_retries", "6\n"),
        ("etc/sysctl.d/10-own.conf", "# own\n"),
        ("etc/security/limits.d/99-wavetank.conf", "* - nofile 7\n"),
    ] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("can be made");
        fs::write(path, text).expect("can be written");
    }
    root
}

/// Returns all files below `folder` but the doctor's own, and all folders.
fn content(root: &Path) -> BTreeMap<PathBuf, Option<String>> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(folder) = ahead.pop() {
        for entry in fs::read_dir(&folder).expect("readable").flatten() {
            let path = entry.path();
            if path == root.join("var") {
                continue;
            }
            if path.is_dir() {
                ahead.push(path.clone());
                found.insert(path, None);
            } else {
                found.insert(path.clone(), Some(fs::read_to_string(&path).expect("readable")));
            }
        }
    }
    found
}

fn three_kinds() -> ChangePlan {
    plan(&[setting(BACKLOG, "4096"), setting(RETRIES, "3"), row(Fix::OpenFiles(65_536))])
}

#[test]
fn changes_are_read_back_and_taken_back() {
    let host = host();
    let root = host.path();
    let before = content(root);
    let applied = apply(&three_kinds(), root, &mut |_| true).expect("can be applied");
    let values: Vec<_> = applied
        .iter()
        .map(|change| (change.before.as_str(), change.requested.as_str(), change.effective.as_str()))
        .collect();
    assert_eq!(values[..2], [("128", "4096", "4096"), ("6", "3", "3")], "{applied:?}");
    assert_eq!(applied.len(), 5, "two values and three files: {applied:?}");
    let text = fs::read_to_string(root.join(SYSCTL_DROP_IN.trim_start_matches('/'))).expect("written");
    assert!(text.contains("net.core.somaxconn = 4096") && text.contains("# it is a test"), "{text}");
    let unit = root.join("etc/systemd/system/nginx.service.d/99-wavetank.conf");
    assert!(fs::read_to_string(unit).expect("written").contains("LimitNOFILE=65536"));
    // A second fix keeps what was before the first one.
    apply(&plan(&[setting(BACKLOG, "8192")]), root, &mut |_| true).expect("can be applied");
    let undone = undo(root).expect("can be undone");
    assert!(
        undone.iter().all(|change| change.failure.is_empty() && change.changed_since.is_empty()),
        "{undone:?}"
    );
    assert_eq!(content(root), before);
    assert!(!JournalFile::path_below(root).exists());
    assert_eq!(undo(root).expect("nothing to do"), []);
}

#[test]
fn a_crash_at_any_step_is_taken_back() {
    let steps = 6;
    for crash in 0..steps {
        let host = host();
        let root = host.path();
        let before = content(root);
        let mut step = 0;
        let mut observe = |_: ApplyStep<'_>| {
            step += 1;
            step <= crash
        };
        apply(&three_kinds(), root, &mut observe).expect("can be applied");
        assert!(JournalFile::path_below(root).exists(), "crash {crash}");
        assert_eq!(content(root) == before, crash == 0, "crash {crash}");
        undo(root).expect("can be undone");
        assert_eq!(content(root), before, "crash {crash}");
    }
}

#[test]
fn an_unfinished_file_is_removed() {
    let host = host();
    let root = host.path();
    let before = content(root);
    apply(&three_kinds(), root, &mut |step| step == ApplyStep::Journal).expect("can be applied");
    fs::write(root.join("etc/sysctl.d/99-wavetank.conf.new"), "half").expect("can be written");
    undo(root).expect("can be undone");
    assert_eq!(content(root), before);
}

#[test]
fn what_others_changed_since_is_reported_and_kept() {
    let host = host();
    let root = host.path();
    apply(&three_kinds(), root, &mut |_| true).expect("can be applied");
    fs::write(root.join("proc/sys/net/core/somaxconn"), "1000\n").expect("can be written");
    fs::write(root.join("etc/sysctl.d/99-wavetank.conf"), "own = 1\n").expect("can be written");
    let undone = undo(root).expect("can be undone");
    let since: Vec<&str> =
        undone.iter().map(|change| change.changed_since.as_str()).filter(|s| !s.is_empty()).collect();
    assert_eq!(since, ["kept as /etc/sysctl.d/99-wavetank.conf.edited", "1000"], "{undone:?}");
    assert_eq!(
        fs::read_to_string(root.join("etc/sysctl.d/99-wavetank.conf.edited")).expect("kept"),
        "own = 1\n"
    );
    assert_eq!(fs::read_to_string(root.join("proc/sys/net/core/somaxconn")).expect("readable"), "128\n");
}

/// The second fix writes the file again. The text that an administrator wrote in between is kept.
#[test]
fn a_file_edited_between_two_fixes_is_kept() {
    let host = host();
    let root = host.path();
    let before = content(root);
    apply(&three_kinds(), root, &mut |_| true).expect("can be applied");
    let own = root.join("etc/sysctl.d/99-wavetank.conf");
    fs::write(&own, "# by hand\nvm.swappiness = 7\n").expect("can be written");
    let applied = apply(&plan(&[setting(BACKLOG, "8192")]), root, &mut |_| true).expect("can be applied");
    assert_eq!(applied[1].changed_since, "kept as /etc/sysctl.d/99-wavetank.conf.edited", "{applied:?}");
    undo(root).expect("can be undone");
    let kept = root.join("etc/sysctl.d/99-wavetank.conf.edited");
    assert_eq!(fs::read_to_string(&kept).expect("kept"), "# by hand\nvm.swappiness = 7\n");
    fs::remove_file(kept).expect("it is there");
    assert_eq!(content(root), before);
}

#[test]
fn a_file_keeps_who_may_read_it() {
    let host = host();
    let root = host.path();
    let limits = root.join("etc/security/limits.d/99-wavetank.conf");
    fs::set_permissions(&limits, fs::Permissions::from_mode(0o640)).expect("can be set");
    let mode = || fs::metadata(&limits).expect("it is there").permissions().mode() & 0o777;
    apply(&three_kinds(), root, &mut |_| true).expect("can be applied");
    assert_eq!(mode(), 0o640);
    undo(root).expect("can be undone");
    assert_eq!(mode(), 0o640);
}

#[test]
fn a_damaged_journal_changes_nothing() {
    let host = host();
    let root = host.path();
    let before = content(root);
    let journal = JournalFile::path_below(root);
    fs::create_dir_all(journal.parent().expect("it has a folder")).expect("can be made");
    for text in ["", "{}", "{\"schema\":\"other/1\",\"entries\":[]}"] {
        fs::write(&journal, text).expect("can be written");
        for error in [apply(&three_kinds(), root, &mut |_| true).err(), undo(root).err()] {
            assert!(matches!(error, Some(SettingsError::Journal { .. })), "{text}: {error:?}");
        }
        assert_eq!(content(root), before, "{text}");
    }
    let held = JournalFile::open(root).expect("can be opened");
    assert!(matches!(apply(&three_kinds(), root, &mut |_| true), Err(SettingsError::Busy)));
    drop(held);
}

#[test]
fn a_value_that_does_not_exist_changes_nothing() {
    let host = host();
    let root = host.path();
    let before = content(root);
    let plan = plan(&[setting(BACKLOG, "4096"), setting("net.ipv4.tcp_tw_recycle", "1")]);
    let error = apply(&plan, root, &mut |_| true).expect_err("it does not exist");
    assert!(error.to_string().starts_with("cannot set net.ipv4.tcp_tw_recycle to `1`"), "{error}");
    assert_eq!(content(root), before);
    assert!(!JournalFile::path_below(root).exists());
}

/// In a network of its own, the kernel itself rejects a value.
#[test]
fn what_the_kernel_rejects_is_taken_back() {
    let name = "what_the_kernel_rejects_is_taken_back";
    if !NetNs::available(name) {
        return;
    }
    let thread = std::thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).expect("it is available");
        let host = tempfile::tempdir().expect("temporary folders can be made");
        let root = host.path();
        fs::create_dir_all(root.join("proc")).expect("can be made");
        // Below it are the values of this thread's network.
        symlink("/proc/sys", root.join("proc/sys")).expect("can be linked");
        let value =
            |key: &str| fs::read_to_string(format!("/proc/sys/{}", key.replace('.', "/"))).expect("readable");
        let before = [value(BACKLOG), value(RETRIES)];
        let both = plan(&[setting(BACKLOG, "12345"), setting(RETRIES, "100000")]);
        let error = apply(&both, root, &mut |_| true).expect_err("the kernel takes 1 to 127");
        let SettingsError::Rejected { what, value: wanted, reason, unrestored } = error else {
            panic!("another error")
        };
        assert_eq!((what.as_str(), wanted.as_str()), (RETRIES, "100000"));
        assert_eq!(reason.raw_os_error(), Some(nix::errno::Errno::EINVAL as i32));
        assert!(unrestored.is_empty(), "{unrestored:?}");
        assert_eq!([value(BACKLOG), value(RETRIES)], before);
        assert!(!JournalFile::path_below(root).exists());
        assert!(!root.join("etc").exists());
        // Accepted values are in effect and taken back.
        let accepted =
            plan(&[setting(BACKLOG, "12345"), setting("net.ipv4.ip_local_port_range", "2000 30001")]);
        let applied = apply(&accepted, root, &mut |_| true).expect("the kernel takes them");
        assert_eq!(applied[1].effective, "2000 30001", "{applied:?}");
        assert_eq!(value(BACKLOG), "12345\n");
        undo(root).expect("can be undone");
        assert_eq!(value(BACKLOG), before[0]);
    });
    thread.join().expect("no assertion failed");
}
