//! `wavetank fleet`: commands on hosts behind a real sshd. Every host is this machine.

use std::time::Duration;

use wavetank_testkit::{Outcome, Program, Running, TestDir, free_port, poll_until, skip};

const LIMIT: Duration = Duration::from_mins(1);

/// An sshd of the test's own, and a configuration of ssh in which `load…` and `lb1` lead to it.
pub(crate) struct Sshd {
    pub(crate) place: TestDir,
    _running: Running,
}

impl Sshd {
    /// `None` if ssh is not installed, recorded as a skip of `test`.
    pub(crate) fn start(test: &str) -> Option<Self> {
        Self::start_under(test, |_| Vec::new())
    }

    /// Starts the server by a wrapper, which gets the folder of the test.
    pub(crate) fn start_under(test: &str, wrapper: impl Fn(&str) -> Vec<String>) -> Option<Self> {
        let (Some(sshd), Some(keygen)) = (Program::foreign("sshd"), Program::foreign("ssh-keygen")) else {
            skip(test, "ssh is not installed");
            return None;
        };
        let place = TestDir::new();
        for key in ["host", "user"] {
            let made = keygen.clone().args(["-q", "-t", "ed25519", "-N", "", "-f", &place.file(key)]).run();
            made.expect_exit(0);
        }
        // sshd of Debian wants its folder, which is empty.
        std::fs::create_dir_all("/run/sshd").ok()?;
        let port = free_port();
        let options = [
            format!("Port={port}"),
            "ListenAddress=127.0.0.1".to_owned(),
            format!("HostKey={}", place.file("host")),
            format!("AuthorizedKeysFile={}", place.file("user.pub")),
            "StrictModes=no".to_owned(),
            "PidFile=none".to_owned(),
            "UsePAM=no".to_owned(),
            "MaxStartups=200".to_owned(),
            // The user's own startup files may write, too, when several shells start together.
            format!("SetEnv=HOME={}", place.path().display()),
        ];
        let words = options.iter().flat_map(|option| ["-o", option]);
        let wrapper = wrapper(&place.path().display().to_string());
        let running = sshd.args(["-D", "-e", "-f", "/dev/null"]).args(words).under(wrapper).start();
        let up = poll_until(LIMIT, || {
            let dead = running.ends_within(Duration::ZERO);
            (dead || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()).then_some(!dead)
        });
        assert_eq!(up, Some(true), "sshd does not accept: {}", running.stderr());
        let config = format!(
            "Host load* lb1\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {}\n  StrictHostKeyChecking no\n  \
             UserKnownHostsFile /dev/null\nHost dead\n  HostName 127.0.0.1\n  Port {}\n",
            place.file("user"),
            free_port()
        );
        place.write("config", config);
        Some(Self { place, _running: running })
    }

    /// `wavetank fleet` with these arguments; the first is the subcommand.
    pub(crate) fn fleet(&self, words: &[&str]) -> Program {
        let config = self.place.file("config");
        let (subcommand, words) = words.split_first().expect("a subcommand");
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(self.place.path());
        program.args(["fleet", subcommand, "--ssh-config", &config]).args(words)
    }
}

#[track_caller]
fn check(outcome: &Outcome, exit: i32, stdout: &str, summary: &str) {
    outcome.expect_exit(exit);
    assert_eq!(outcome.stdout, stdout, "{outcome}");
    assert!(outcome.stderr.contains(summary), "{outcome}");
}

#[test]
fn equal_output_is_shown_once() {
    let Some(sshd) = Sshd::start("equal_output_is_shown_once") else { return };
    let outcome =
        sshd.fleet(&["exec", "-w", "load[01-12],lb1", "-x", "load[03,05]", "echo one; echo two >&2"]).run();
    let expected = "load[01-02,04,06-12],lb1 (11 hosts)\n    one\n    two\n";
    check(&outcome, 0, expected, "11 of 11 hosts ok");
}

#[test]
fn each_way_to_fail_has_its_line() {
    let Some(sshd) = Sshd::start("each_way_to_fail_has_its_line") else { return };
    // Each host runs the same command: the first one to make the folder ends well.
    let command = "mkdir here 2>/dev/null || exit 3";
    let command = format!("cd {} && {command}", sshd.place.path().display());
    let outcome = sshd.fleet(&["exec", "-w", "load[1-2],dead", "-f", "1", &command]).run();
    let expected = "load1\nload2 · exit 3\ndead · unreachable: Connection refused\n";
    check(&outcome, 1, expected, "1 of 3 hosts ok · 1 failed · 1 unreachable");
    let json = sshd.fleet(&["exec", "-w", "load1", "--format", "json", "printf x; exit 7"]).run();
    json.expect_exit(1);
    let host = &json.json()["hosts"][0];
    assert_eq!((&host["exit"], &host["stdout"], &host["state"]), (&7.into(), &"x".into(), &"ended".into()));
}

/// Returns the process that wrote its number into `file`, once it did.
fn process(file: &str) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn is_gone(process: u32) -> bool {
    !std::path::Path::new(&format!("/proc/{process}")).exists()
}

#[test]
fn a_time_limit_ends_the_command_on_the_host() {
    let Some(sshd) = Sshd::start("a_time_limit_ends_the_command_on_the_host") else { return };
    let file = sshd.place.file("number");
    let command = format!("sh -c 'echo $$ > {file}; exec sleep 3600'");
    // A busy machine may need more than the first limit to reach the command.
    let number = ["4s", "15s", "1m"].into_iter().find_map(|limit| {
        let outcome = sshd.fleet(&["exec", "-w", "load1", "--timeout", limit, &command]).run();
        check(&outcome, 1, "load1 · timed out\n", "1 timed out");
        process(&file)
    });
    let number = number.expect("the command ran");
    assert!(poll_until(LIMIT, || is_gone(number).then_some(())).is_some(), "{number} goes on");
}

#[test]
fn an_interrupt_ends_the_command_on_the_host() {
    let Some(sshd) = Sshd::start("an_interrupt_ends_the_command_on_the_host") else { return };
    let file = sshd.place.file("number");
    let command = format!("sh -c 'echo $$ > {file}; exec sleep 3600'");
    let running = sshd.fleet(&["exec", "-w", "load1,load2", "-f", "1", &command]).start();
    let number = poll_until(LIMIT, || process(&file)).expect("the command runs");
    running.signal(wavetank_testkit::Signal::INT);
    let outcome = running.wait(LIMIT);
    check(&outcome, 130, "load[1-2] (2 hosts) · interrupted\n", "2 interrupted");
    assert!(poll_until(LIMIT, || is_gone(number).then_some(())).is_some(), "{number} goes on");
}

#[test]
fn hosts_are_watched() {
    let Some(sshd) = Sshd::start("hosts_are_watched") else { return };
    let watched = |time: &str| {
        let words = ["top", "-w", "load[1-2],dead", "--format", "json", "-d", time];
        let outcome = sshd.fleet(&words).run();
        outcome.expect_exit(1);
        let lines = outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        lines.collect::<Vec<serde_json::Value>>()
    };
    let of =
        |lines: &[serde_json::Value], host: &str| lines.iter().find(|line| line["host"] == host).cloned();
    let has = |lines: &[serde_json::Value], host: &str| {
        of(lines, host).is_some_and(|line| line["cores"].is_array())
    };
    let is_whole = |lines: &Vec<serde_json::Value>| ["load1", "load2"].iter().all(|host| has(lines, host));
    // A busy machine may need more than the first time to reach both.
    let lines = ["6s", "20s", "1m"].into_iter().map(watched).find(is_whole).expect("both hosts are watched");
    for host in ["load1", "load2"] {
        let line = of(&lines, host).expect("it is there");
        let cores = line["cores"].as_array().expect("cores");
        let in_use = line["tcp_in_use"].as_u64().expect("sockets");
        assert!(!cores.is_empty() && in_use > 0 && line["memory_total_bytes"].as_u64() > Some(0), "{line}");
    }
    let dead = lines.iter().find(|line| line["host"] == "dead").expect("the host that is not there");
    assert_eq!(dead["reason"], "unreachable: Connection refused");
}

#[test]
fn hosts_come_from_files() {
    let place = TestDir::new();
    place.write("hosts.ini", "lb1 ansible_host=10.0.0.1\n[load]\nload[1:3] ansible_user=ops\n");
    place.write(
        "dc1.yaml",
        "wavetank_fleet: 1\nssh: {jump: gate}\nload:\n  big[1-2]: {weight: 4}\nobserve:\n  lb1: {as: balancer}\n",
    );
    place.write("bad.yaml", "wavetank_fleet: 1\nload:\n  big[2-1]: {}\n  x: {wieght: 1}\n");
    let run = |words: &str| {
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(place.path());
        program.args(["fleet", "hosts"]).args(words.split_whitespace()).run()
    };
    let listed = run("--inventory hosts.ini -w load,lb1 -x load2");
    check(&listed, 0, "lb1    10.0.0.1\nload1  user ops\nload3  user ops\n\n3 hosts\n", "");
    let listed = run("--fleet dc1.yaml");
    let expected = "big1  through gate · weight 4\nbig2  through gate · weight 4\nlb1   through gate · observed as balancer\n\n3 hosts\n";
    check(&listed, 0, expected, "");
    check(&run("--fleet bad.yaml"), 2, "", "bad.yaml:3:3: the range 2-1 in `big[2-1]` goes down");
    check(&run("--inventory hosts.ini -w laod1"), 2, "", "did you mean load1?");
    check(&run("--fleet none.yaml"), 2, "", "none.yaml: ");
    check(&run("-g no-such-group"), 2, "", "there is no group `no-such-group`");
    check(&run("-w load[1"), 2, "", "does not close its bracket");
    check(&run(""), 2, "", "no host is selected");
}
