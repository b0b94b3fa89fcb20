//! Agents on many hosts: started, looked at and ended over ssh, with a real sshd on this machine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use wavetank_testkit::{Outcome, Program, Running, Signal, TestDir, is_long, poll_until, skip};

use crate::fleet::Sshd;

const LIMIT: Duration = Duration::from_mins(2);

/// An sshd, and a folder for agents, which are ended with the test.
struct Hosts {
    sshd: Sshd,
    folder: String,
}

impl Hosts {
    fn start(test: &str) -> Option<Self> {
        let sshd = Sshd::start(test)?;
        let folder = sshd.place.file("agent");
        Some(Self { sshd, folder })
    }

    /// `wavetank fleet` with these arguments, and the folder of the agents.
    fn fleet(&self, line: &str) -> Program {
        let words: Vec<&str> = line.split_whitespace().chain(["--dir", &self.folder]).collect();
        self.sshd.fleet(&words)
    }

    #[track_caller]
    fn check(&self, line: &str, exit: i32, stdout: &str, stderr: &str) {
        let outcome = self.fleet(line).run();
        outcome.expect_exit(exit);
        assert_eq!(outcome.stdout, stdout, "{outcome}");
        assert!(outcome.stderr.contains(stderr), "{outcome}");
    }

    /// Runs a command that fails on one host, with this part of a reason.
    #[track_caller]
    fn check_failed(&self, line: &str, part: &str) {
        let outcome = self.fleet(line).run();
        outcome.expect_exit(1);
        assert!(outcome.stdout.contains("failed: ") && outcome.stdout.contains(part), "{outcome}");
    }

    fn process(&self) -> Option<u32> {
        let text = std::fs::read_to_string(Path::new(&self.folder).join("agent.pid")).ok()?;
        text.trim().parse().ok()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        // An agent has the name of one of these hosts.
        for host in ["load1", "load2"] {
            let _ = self.fleet(&format!("down -w {host}")).start().ends_within(LIMIT);
        }
    }
}

#[test]
fn agents_are_started_shown_and_ended() {
    let Some(hosts) = Hosts::start("agents_are_started_shown_and_ended") else { return };
    hosts.check("status -w load1", 1, &status_without("no agent is installed"), "");
    hosts.check("up -w load1", 0, "load1  started\n", "1 of 1 agents up");
    let first = hosts.process();
    hosts.check("up -w load1", 0, "load1  already running\n", "1 of 1 agents up");
    assert!(first.is_some() && hosts.process() == first, "the agent was restarted");
    let status = hosts.fleet("status -w load1 --format json").run();
    let agent = &status.expect_exit(0).json()["hosts"][0]["agent"];
    let text = |key: &str| agent[key].as_str().unwrap_or_default().to_owned();
    assert_eq!((text("name"), text("state")), ("load1".to_owned(), "idle".to_owned()), "{status}");
    assert!(agent["cores"].as_u64() > Some(0) && agent["files"].as_u64() > Some(0), "{status}");
    let status = hosts.fleet("status -w load1").run();
    assert!(status.expect_exit(0).stdout.starts_with("host   agent  version  state  cores "), "{status}");
    let logs = hosts.fleet("logs -w load1 -n 5").run();
    assert!(logs.expect_exit(0).stdout.contains("load1  agent: load1 listens in "), "{logs}");
    let json = hosts.fleet("up -w load1,dead --format json").run().expect_exit(1).json();
    assert_eq!((json["ok"].as_bool(), &json["hosts"][0]["state"]), (Some(false), &"already_running".into()));
    assert_eq!(json["hosts"][1]["reason"], "unreachable: Connection refused");
    hosts.check("down -w load1", 0, "load1  stopped\n", "");
    hosts.check("down -w load1", 0, "load1  not running\n", "");
    let status = hosts.fleet("status -w load1").run();
    assert!(
        status.expect_exit(1).stdout.contains("load1  cannot reach the agent: none runs in "),
        "{status}"
    );
}

fn status_without(reason: &str) -> String {
    format!("host   agent  version  state  cores  files  ports  calibration  unsettled\nload1  {reason}\n")
}

#[test]
fn an_agent_that_was_killed_is_started_again() {
    let Some(hosts) = Hosts::start("an_agent_that_was_killed_is_started_again") else { return };
    hosts.check("up -w load1", 0, "load1  started\n", "");
    let process = hosts.process().expect("its number is in the file");
    let pid = rustix::process::Pid::from_raw(process.cast_signed()).expect("a number");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it runs");
    let gone = || hosts.fleet("status -w load1").run().exit == Some(1);
    assert!(poll_until(LIMIT, || gone().then_some(())).is_some());
    // Its number is still in the file, and its sockets are still there.
    hosts.check("down -w load1", 0, "load1  not running\n", "");
    hosts.check("up -w load1", 0, "load1  started\n", "");
    assert_ne!(hosts.process(), Some(process));
}

#[test]
fn a_half_copy_is_completed_and_a_wrong_one_replaced() {
    let Some(hosts) = Hosts::start("a_half_copy_is_completed_and_a_wrong_one_replaced") else { return };
    let Some(sha256sum) = Program::foreign("sha256sum") else {
        return skip("a_half_copy_is_completed_and_a_wrong_one_replaced", "sha256sum is not installed");
    };
    let program = PathBuf::from(&hosts.fleet("up").arguments()[0]);
    let digest = sha256sum.args([program.to_string_lossy()]).run().stdout;
    let bytes = std::fs::read(&program).expect("the program");
    let folder = PathBuf::from(&hosts.folder);
    let part = folder.join(format!("wavetank.{}.load1.part", &digest[..16]));
    let starts = [&bytes[..bytes.len() / 2], b"something else".as_slice(), &bytes[..]];
    for start in if is_long() { &starts[..] } else { &starts[..1] } {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a new folder");
        std::fs::write(&part, start).expect("a half copy");
        hosts.check("up -w load1", 0, "load1  started\n", "");
        assert!(std::fs::read(folder.join("wavetank")).expect("the copy") == bytes, "the copy differs");
        assert!(!part.exists());
        hosts.check("down -w load1", 0, "load1  stopped\n", "");
    }
    // Another program in its place.
    std::fs::write(folder.join("wavetank"), "#!/bin/sh\nexit 1\n").expect("it can be replaced");
    hosts.check("up -w load1", 0, "load1  started\n", "");
}

#[test]
fn two_hosts_cannot_share_a_folder() {
    let Some(hosts) = Hosts::start("two_hosts_cannot_share_a_folder") else { return };
    let owned = "the folder belongs to the agent load1; choose another one by --dir";
    let expected = format!("load1  started\nload2  failed: {owned}\n");
    hosts.check("up -w load[1-2] -f 1", 1, &expected, "1 of 2 agents up");
    hosts.check_failed("up -w load2", owned);
    hosts.check_failed("down -w load2", "belongs to load1");
    hosts.check("up -w load1", 0, "load1  already running\n", "");
}

#[test]
fn each_host_that_cannot_has_its_reason() {
    let Some(hosts) = Hosts::start("each_host_that_cannot_has_its_reason") else { return };
    let place = &hosts.sshd.place;
    place.write("file", "");
    let outcome = hosts.sshd.fleet(&["up", "-w", "load1", "--dir", &place.file("file/agent")]).run();
    outcome.expect_exit(1);
    assert!(outcome.stdout.contains("load1  failed: ") && outcome.stdout.contains("irectory"), "{outcome}");
    let keygen = Program::foreign("ssh-keygen").expect("sshd is there");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", &place.file("stranger")]).run().expect_exit(0);
    let config = std::fs::read_to_string(place.file("config")).expect("the configuration of ssh");
    let config = config.replace(&place.file("user"), &place.file("stranger"));
    place.write("config", format!("{config}Host *\n  IdentitiesOnly yes\n  IdentityAgent none\n"));
    hosts.check_failed("up -w load1", "unreachable: Permission denied");
    place.write("dc1.yaml", "wavetank_fleet: 1\nload:\n  load1: {}\nobserve:\n  lb1: {}\n");
    let outcome = hosts.fleet("up --fleet dc1.yaml -w observe").run();
    assert!(outcome.expect_exit(2).stderr.contains("no load host is selected"), "{outcome}");
}

#[test]
fn a_folder_without_execution_is_reported() {
    let test = "a_folder_without_execution_is_reported";
    if !wavetank_testkit::netns::NetNs::available(test) {
        return;
    }
    let wrapper = |place: &str| {
        let script = format!(
            "mkdir {place}/noexec; mount -t tmpfs -o noexec,size=2g,mode=755 tmpfs {place}/noexec; exec \"$@\""
        );
        ["unshare", "--mount", "sh", "-ec", &script, "sh"].map(str::to_owned).to_vec()
    };
    let Some(sshd) = Sshd::start_under(test, wrapper) else { return };
    let outcome = sshd.fleet(&["up", "-w", "load1", "--dir", &sshd.place.file("noexec/agent")]).run();
    outcome.expect_exit(1);
    assert!(outcome.stdout.contains("failed: cannot execute "), "{outcome}");
    assert!(outcome.stdout.contains("perhaps because of a noexec mount"), "{outcome}");
}

/// `wavetank agent` with these arguments.
fn agent(words: &[&str]) -> Program {
    Program::new(env!("CARGO_BIN_EXE_wavetank")).args(["agent"]).args(words)
}

fn serve(folder: &str) -> Running {
    let running = agent(&["serve", "--dir", folder, "--name", "load1"]).start();
    let up = poll_until(LIMIT, || {
        let ended = running.ends_within(Duration::ZERO);
        let answers = agent(&["hello", "--dir", folder]).run().exit == Some(0);
        (ended || answers).then_some(answers)
    });
    assert_eq!(up, Some(true), "{}", running.stderr());
    running
}

#[track_caller]
fn check_refused(outcome: &Outcome, part: &str, hint: &str) {
    outcome.expect_exit(5);
    assert!(outcome.stderr.contains(part) && outcome.stderr.contains(hint), "{outcome}");
}

/// Reads lines in a thread, so that a missing one cannot hold up the test.
fn lines_of(output: ChildStdout) -> Receiver<String> {
    let (send, lines) = sync_channel(100);
    std::thread::spawn(move || {
        let all = BufReader::new(output).lines().map_while(Result::ok);
        all.map(|line| send.send(line)).take_while(Result::is_ok).count()
    });
    lines
}

#[test]
fn an_agent_answers_a_controller_and_ends_in_order() {
    let place = TestDir::new();
    let folder = place.file("agent");
    let unreachable = agent(&["attach", "--dir", &folder]).run();
    check_refused(&unreachable, "cannot reach the agent: ", "wavetank fleet up --fleet FILE");
    let waited = agent(&["hello", "--dir", &folder, "--wait", "100ms"]).run();
    check_refused(&waited, "cannot reach the agent: ", "");
    let running = serve(&folder);
    let second = agent(&["serve", "--dir", &folder, "--name", "load2"]).run();
    check_refused(&second, "another agent has this folder", "--dir DIR");
    let stranger = agent(&["stop", "--dir", &folder, "--name", "load2"]).run();
    check_refused(&stranger, "belongs to load1", "");

    let mut attached = Command::new(&agent(&[]).arguments()[0])
        .args(["agent", "attach", "--dir", &folder])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut orders = attached.stdin.take().expect("a pipe");
    let offer = r#"{"offer":{"plan_hash":"ab","share":[0,1,1],"orphan_grace_ns":30000000000}}"#;
    let lines = format!(
        "{{\"v\":1,\"run\":5,\"epoch\":1,\"order\":{{\"probe\":{{\"id\":7}}}}}}\n\
         {{\"v\":1,\"run\":5,\"epoch\":1,\"order\":{{\"command\":{{\"seq\":1,\"command\":{offer}}}}},\"plan\":\"cGxhbg==\"}}\n"
    );
    orders.write_all(lines.as_bytes()).expect("the agent reads");
    let reports = lines_of(attached.stdout.take().expect("a pipe"));
    let wait_for = |part: &str| {
        let next = || reports.recv_timeout(LIMIT).ok();
        let found = std::iter::from_fn(next).any(|line| line.contains(part));
        assert!(found, "the agent has not sent {part}");
    };
    wait_for("\"hello\":{\"version\"");
    wait_for("\"clock\":{\"id\":7");
    wait_for("cannot read the plan package");
    // A look at the agent does not replace its controller.
    agent(&["hello", "--dir", &folder]).run().expect_exit(0);
    orders.write_all(lines.as_bytes()).expect("the agent reads");
    wait_for("\"clock\":{\"id\":7");
    drop(orders);
    assert_eq!(attached.wait().expect("it ends").code(), Some(0));

    running.signal(Signal::TERM);
    running.wait(LIMIT).expect_exit(0);
    let left: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, ["agent.lock"]);
    let stopped = agent(&["stop", "--dir", &folder]).run();
    assert_eq!(stopped.expect_exit(0).stdout, "not running\n");
}

#[test]
fn an_agent_is_ended_by_its_folder() {
    let place = TestDir::new();
    let folder = place.file("agent");
    let running = serve(&folder);
    let stopped = agent(&["stop", "--dir", &folder, "--name", "load1"]).run();
    assert_eq!(stopped.expect_exit(0).stdout, "stopped\n");
    assert!(running.ends_within(LIMIT));
}

#[test]
fn a_unit_is_printed() {
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank"));
    let unit = program.clone().args(["fleet", "unit", "--run-as", "load"]).run();
    assert!(
        unit.expect_exit(0)
            .stdout
            .contains("\nUser=load\nExecStart=/var/lib/wavetank/agent/wavetank agent serve --dir"),
        "{unit}"
    );
    let outcome = program.args(["fleet", "unit", "--dir", "~/agent"]).run();
    assert!(outcome.expect_exit(2).stderr.contains("not an absolute path"), "{outcome}");
}
