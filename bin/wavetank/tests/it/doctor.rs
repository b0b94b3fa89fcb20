//! `wavetank doctor`: files and hosts are judged, a host is changed and restored, also after a kill
//! in the middle of a change.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Outcome, Program, TestDir, poll_until, skip};

const BIN: &str = env!("CARGO_BIN_EXE_wavetank");

fn doctor(args: &[&str]) -> Outcome {
    let words: Vec<&str> = std::iter::once("doctor").chain(args.iter().copied()).collect();
    Program::new(BIN).args(&words).environment("COLUMNS", "120").run()
}

/// Writes a file below `root`.
fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("can be made");
    fs::write(path, text).expect("can be written");
}

/// A folder in place of a host with too few ports.
fn host() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temporary folders can be made");
    for (key, value) in [
        ("kernel/osrelease", "6.1.0"),
        ("net/core/somaxconn", "128"),
        ("net/ipv4/ip_local_port_range", "32768\t60999"),
        ("net/ipv4/tcp_tw_reuse", "2"),
        ("fs/nr_open", "1048576"),
    ] {
        write(root.path(), &format!("proc/sys/{key}"), &format!("{value}\n"));
    }
    fs::create_dir_all(root.path().join("etc/sysctl.d")).expect("can be made");
    root
}

fn value(root: &Path, key: &str) -> String {
    fs::read_to_string(root.join("proc/sys").join(key)).expect("readable")
}

#[test]
fn files_are_judged_line_by_line() {
    let dir = tempfile::tempdir().expect("temporary folders can be made");
    write(
        dir.path(),
        "sysctl.conf",
        "# a comment\nnet.ipv4.tcp_fin_timeout = 5\nnet.ipv4.tcp_tw_reuse = 1\n",
    );
    write(dir.path(), "nginx.conf", "events {}\nhttp {\n include sub/*.conf;\n}\n");
    write(dir.path(), "sub/a.conf", "send_timeout 2;\n");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let found = doctor(&["--lint", &path("sysctl.conf"), &path("nginx.conf")]);
    found.expect_exit(1);
    for line in [
        format!(
            "{}:2: setting_no_effect: net.ipv4.tcp_fin_timeout: it does not shorten TIME_WAIT",
            path("sysctl.conf")
        ),
        format!("{}:1: setting_harmful: send_timeout: ", path("sub/a.conf")),
    ] {
        assert!(found.stdout.contains(&line), "{line}: {found}");
    }
    assert!(found.stdout.contains("    hint: ") && found.stdout.contains("1 error, 1 warning, "), "{found}");
    let json = doctor(&["--lint", &path("sysctl.conf"), "--format", "json"]);
    json.expect_exit(1);
    assert_eq!(json.json()["findings"][0]["line"], 2, "{json}");
    write(dir.path(), "sysctl.conf", "net.ipv4.tcp_tw_reuse = 1\n");
    doctor(&["--lint", &path("sysctl.conf")]).expect_exit(0);
}

#[test]
fn files_that_cannot_be_judged_are_one_clear_line() {
    let dir = tempfile::tempdir().expect("temporary folders can be made");
    write(dir.path(), "notes.txt", "nothing of use\n");
    write(dir.path(), "nginx.conf", "global\n maxconn 1\n");
    for (name, code) in
        [("notes.txt", "lint_kind_unknown"), ("nginx.conf", "lint_foreign"), ("none.conf", "bad_file")]
    {
        let found = doctor(&["--lint", &dir.path().join(name).display().to_string()]);
        found.expect_exit(2);
        assert!(found.stderr.contains(&format!("[{code}]")) && found.stdout.is_empty(), "{found}");
    }
    write(dir.path(), "a.conf", "include nginx-a.conf;\n");
    write(dir.path(), "nginx-a.conf", "include nginx-a.conf;\n");
    let looped = doctor(&["--lint", &dir.path().join("nginx-a.conf").display().to_string()]);
    looped.expect_exit(1);
    assert!(looped.stdout.contains("the files include each other"), "{looped}");
}

#[test]
fn a_host_is_checked_changed_and_restored() {
    let host = host();
    let root = host.path().display().to_string();
    let asked = ["--role", "generator", "--root", &root];
    let found = doctor(&asked);
    found.expect_exit(1);
    assert!(
        found.stdout.contains("net.ipv4.ip_local_port_range") && found.stdout.contains("1024 65535"),
        "{found}"
    );
    let printed = doctor(&[&asked[..], &["--print", "sysctl"]].concat());
    printed.expect_exit(0);
    assert!(printed.stdout.contains("net.ipv4.tcp_tw_reuse = 1\n"), "{printed}");
    let unasked = doctor(&[&asked[..], &["--fix"]].concat());
    unasked.expect_exit(2);
    assert_eq!(value(host.path(), "net/core/somaxconn"), "128\n");
    let fixed = doctor(&[&asked[..], &["--fix", "--yes"]].concat());
    fixed.expect_exit(0);
    assert!(fixed.stdout.contains("net.core.somaxconn") && fixed.stdout.contains("128 → 4096"), "{fixed}");
    assert_eq!(value(host.path(), "net/core/somaxconn"), "4096\n");
    assert_eq!(value(host.path(), "net/ipv4/ip_local_port_range"), "1024 65535\n");
    assert!(host.path().join("etc/sysctl.d/99-wavetank.conf").exists());
    doctor(&asked).expect_exit(0);
    let again = doctor(&[&asked[..], &["--fix", "--yes"]].concat());
    assert!(again.stdout.starts_with("nothing to change\n"), "{again}");
    let undone = doctor(&["--undo", "--root", &root]);
    undone.expect_exit(0);
    assert_eq!(value(host.path(), "net/core/somaxconn"), "128\n");
    assert_eq!(value(host.path(), "net/ipv4/ip_local_port_range"), "32768\t60999\n");
    assert!(!host.path().join("etc/sysctl.d/99-wavetank.conf").exists());
    assert!(doctor(&["--undo", "--root", &root]).stdout.contains("nothing to undo"));
}

/// The drop-in's unfinished file is a pipe, so that the program waits there until it is killed.
#[test]
fn a_killed_fix_is_restored() {
    let host = host();
    let root = host.path().display().to_string();
    let pipe = host.path().join("etc/sysctl.d/99-wavetank.conf.new");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is installed");
    assert!(made.success());
    let mut child = Command::new(BIN)
        .args(["doctor", "--role", "generator", "--root", &root, "--fix", "--yes"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    // No process reads the pipe. It would let the program go on, also before the kill.
    let is_changed = || (value(host.path(), "net/core/somaxconn") == "4096\n").then_some(());
    poll_until(Duration::from_mins(1), is_changed).expect("it changes the value before the drop-in");
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    doctor(&["--undo", "--root", &root]).expect_exit(0);
    assert_eq!(value(host.path(), "net/core/somaxconn"), "128\n");
    assert!(!pipe.exists());
}

#[test]
fn a_network_of_its_own_is_changed_by_the_kernel() {
    if !NetNs::available("a_network_of_its_own_is_changed_by_the_kernel") {
        return;
    }
    // Only settings of the namespace's own network are below the folder.
    let dir = TestDir::new();
    let script = format!(
        "root={}; mkdir -p $root/proc/sys/net; ln -s /proc/sys/net/ipv4 $root/proc/sys/net/ipv4\n\
         sysctl() {{ cat /proc/sys/net/ipv4/$1 | tr '\\t' ' '; }}\n\
         before=$(sysctl ip_local_port_range)\n\
         \"$0\" doctor --role generator --root $root --fix --yes >$root/out || {{ cat $root/out; exit 9; }}\n\
         sysctl ip_local_port_range; sysctl tcp_slow_start_after_idle\n\
         \"$0\" doctor --undo --root $root >/dev/null\n\
         test \"$before\" = \"$(sysctl ip_local_port_range)\" && echo restored",
        dir.path().display()
    );
    let outcome = NetNs::shell(BIN, &script).run();
    outcome.expect_exit(0);
    assert_eq!(outcome.stdout, "1024 65535\n0\nrestored\n", "{outcome}");
}

/// The printed script and the printed file set the same values as a fix.
#[test]
fn what_is_printed_works() {
    if !NetNs::available("what_is_printed_works") {
        return;
    }
    if Program::foreign("sysctl").is_none() {
        return skip("what_is_printed_works", "sysctl is not installed");
    }
    // Its drop-ins are in folders of this mount namespace only. Settings that are not of this
    // network are left out, because they would change the machine.
    let dir = TestDir::new();
    let script = format!(
        "cd {}; mount -t tmpfs none /etc/sysctl.d && mount -t tmpfs none /etc/security || exit 9\n\
         range() {{ tr '\\t' ' ' </proc/sys/net/ipv4/ip_local_port_range; }}\n\
         ask() {{ \"$0\" doctor --role generator -c 20k --print $1 >printed; }}\n\
         ask sh && grep -v '^sysctl -w [^n]' printed >own && sh -eu own >/dev/null && range && grep -c port_range /etc/sysctl.d/99-wavetank.conf\n\
         echo 32768 60999 >/proc/sys/net/ipv4/ip_local_port_range\n\
         ask sysctl && grep -v '^[^#n]' printed >own && sysctl -q -p own && range",
        dir.path().display()
    );
    let outcome = NetNs::shell(BIN, &script).run();
    outcome.expect_exit(0);
    assert_eq!(outcome.stdout, "1024 65535\n1\n1024 65535\n", "{outcome}");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for line in [
        "--undo --fix",
        "--lint a --role server",
        "--fix -w load1",
        "--hold 5s",
        "--yes",
        "--role mailer",
        "--user root",
        "--fix --unit ../x",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let refused = doctor(&words);
        refused.expect_exit(2);
        assert!(
            refused.stderr.starts_with("error: ") && refused.stderr.contains("hint: "),
            "{line}: {refused}"
        );
    }
}
