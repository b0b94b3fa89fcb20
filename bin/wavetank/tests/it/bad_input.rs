//! Bad input: one clear line, a hint, the right exit code, no archive, and nothing sent.

use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;

use wavetank_testkit::{Outcome, Program, RunHarness, Script, Target, TestDir, skip};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

const USAGE: i32 = 2;
const REFUSED: i32 = 5;

/// Checks the output for people: one `error:` line, a `hint:` line, nothing on stdout, no panic.
#[track_caller]
fn check_text(outcome: &Outcome, exit: i32) {
    outcome.expect_exit(exit);
    let lines = |prefix: &str| outcome.stderr.lines().filter(|line| line.starts_with(prefix)).count();
    assert_eq!(lines("error:"), 1, "exactly one error line: {outcome}");
    assert_eq!(lines("hint:"), 1, "a hint: {outcome}");
    assert!(!outcome.stderr.contains("panicked"), "{outcome}");
    assert_eq!(outcome.stdout, "", "stdout is for results: {outcome}");
    let internal = ["UserError", "Err(", "Some(", "Os {", "ErrorKind", "ParseIntError", "src/"];
    for word in internal {
        assert!(!outcome.stderr.contains(word), "no message names an internal type (`{word}`): {outcome}");
    }
}

/// Checks the same output as one JSON object for programs.
#[track_caller]
fn check_json(outcome: &Outcome, exit: i32) {
    outcome.expect_exit(exit);
    let error = outcome.json();
    assert_eq!(error["schema"], "wavetank.error/1", "{outcome}");
    assert_eq!(error["exit"], exit, "{outcome}");
    for name in ["code", "message", "hint"] {
        assert!(error[name].as_str().is_some_and(|text| !text.is_empty()), "{name} is missing: {outcome}");
    }
}

/// Runs `wavetank run WORDS` with text and with JSON output. The message must contain `mentions`.
#[track_caller]
fn check(words: &[&str], exit: i32, mentions: &[&str]) {
    let trial = trial();
    let text = trial.program().args(["run"]).args(words).run();
    check_text(&text, exit);
    for word in mentions {
        assert!(text.stderr.contains(word), "`{word}` is not mentioned: {text}");
    }
    let json = trial.program().args(["run"]).args(words).args(["--format", "json"]).run();
    check_json(&json, exit);
    assert!(trial.place().runs("runs").is_empty(), "no archive without a run: {words:?}");
}

/// Runs `check` against a live target, which must receive nothing.
#[track_caller]
fn check_unsent(words: &[&str], mentions: &[&str]) {
    let target = Target::start(Script::constant(std::time::Duration::ZERO));
    let url = target.url("/");
    let words: Vec<&str> = std::iter::once(url.as_str()).chain(words.iter().copied()).collect();
    check(&words, USAGE, mentions);
    assert_eq!(target.truth().connections, 0, "nothing is sent: {words:?}");
}

#[test]
fn numbers_that_are_none() {
    for words in [
        ["-c", "0"],
        ["-c", "-1"],
        ["-c", "many"],
        ["-c", "1.5"],
        ["-c", "99999999999999999999999"],
        ["-n", "0"],
        ["-n", "-5"],
        ["-n", "18446744073709551616"],
        ["--threads", "0"],
        ["--threads", "1e99"],
        ["--pipeline", "0"],
        ["--requests-per-connection", "0"],
        ["--max-open", "0"],
        ["--seed", "x"],
    ] {
        check_unsent(&words, &[words[1]]);
    }
}

#[test]
fn quantities_need_their_units() {
    for words in [
        ["-d", "0s"],
        ["-d", "-1s"],
        ["-d", "10"],
        ["-d", "10 parsecs"],
        ["-d", "1000000000000h"],
        ["-d", "nan"],
        ["-d", ""],
        ["-r", "0/s"],
        ["-r", "-1/s"],
        ["-r", "100"],
        ["-r", "100/fortnight"],
        ["-r", "1e30/s"],
        ["-r", "inf/s"],
        ["--timeout", "60"],
        ["--timeout", "0s"],
        ["--connect-timeout", "5sec0nds"],
        ["--warmup", "soon"],
        ["--drain", "-1s"],
        ["--open-rate", "5"],
    ] {
        check_unsent(&words, &[]);
    }
}

#[test]
fn habits_of_other_tools_are_understood() {
    // curl's -k, wrk's -d 30 and -t 30, ab's -k: the message contains the equivalent option.
    check_unsent(&["-d", "30"], &["30s"]);
    check_unsent(&["-k"], &["-k"]);
    check_unsent(&["-t", "30"], &["--t"]);
    check_unsent(&["-q"], &["--quiet"]);
    check_unsent(&["-z", "10s"], &["-d"]);
    check_unsent(&["--treads", "2"], &["--threads"]);
    check_unsent(&["--formt", "json"], &["--format"]);
}

#[test]
fn words_that_mean_nothing() {
    for words in [
        ["--arrivals", "sometimes"],
        ["--http", "9"],
        ["--engine", "steam"],
        ["--close", "slam"],
        ["--ip", "5"],
        ["--dns", "never"],
        ["--expect-status", "fine"],
        ["--expect-status", "99"],
        ["--expect-status", "399-200"],
        ["--threshold", "p99 is good"],
        ["--threshold", "p99 < 250"],
        ["--threshold", "p101 < 1s"],
        ["--threshold", "errors(sadness) < 1%"],
        ["--stop", "failed > 50% for ever"],
        ["--tag", "notag"],
        ["--source", "nowhere"],
        ["--source", "127.0.0.0/99"],
        ["--connect-to", "here"],
        ["--allow-target", "999.1.1.1/8"],
        ["-H", "no colon here"],
        ["-H", "Bad Name: x"],
        ["-X", "GE T"],
        ["--basic", "nocolon"],
    ] {
        check_unsent(&words, &[]);
    }
    check_unsent(&["-H", "X-Split: a\r\nX-Smuggled: b"], &[]);
    check_unsent(&["surplus"], &["surplus"]);
}

#[test]
fn options_that_contradict_each_other() {
    let conflicts: &[&[&str]] = &[
        &["--body", "x", "--body-file", "-"],
        &["--no-archive", "--runs-dir", "elsewhere"],
        &["-r", "10/s", "--pipeline", "4"],
        &["--arrivals", "poisson"],
        &["--once", "-r", "10/s"],
        &["--once", "-n", "10"],
        &["--no-keepalive", "--requests-per-connection", "5"],
        &["--no-keepalive", "--pipeline", "4"],
        &["--http", "1.0", "--pipeline", "4"],
        &["-c", "5", "--max-open", "2", "-r", "10/s"],
        &["--basic", "a:b", "-H", "Authorization: Bearer x"],
    ];
    for words in conflicts {
        check_unsent(words, &[words[0].split(' ').next().expect("a word")]);
    }
}

#[test]
fn files_that_are_not_there() {
    check_unsent(&["--body-file", "/no/such/body", "-X", "POST"], &["/no/such/body"]);
    check_unsent(&["-H", "@/no/such/fields"], &["/no/such/fields"]);
    check_unsent(&["--basic", "@/no/such/credentials"], &["/no/such/credentials"]);
    check_unsent(&["--body-file", "/", "-X", "POST"], &["/"]);
}

#[test]
fn results_that_could_not_be_written() {
    check_unsent(&["--out", "/no/such/folder/a.json"], &["/no/such/folder"]);
    check_unsent(&["--out", "/proc/a.json"], &["/proc/a.json"]);
    check_unsent(&["--out", "result.docx"], &["result.docx"]);
    check_unsent(&["--out", "result"], &["result"]);
}

#[test]
fn urls_that_are_none() {
    for url in [
        "",
        "http://",
        "http:///path",
        "ftp://127.0.0.1/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:0/",
        "http://[::1/",
        "http://a b/",
        "http://127.0.0.1/a b",
    ] {
        check(&[url], USAGE, &[]);
    }
    let nothing = trial().program().args(["run"]).run();
    check_text(&nothing, USAGE);
}

#[test]
fn unknown_names() {
    // `.invalid` never resolves (RFC 6761).
    check(&["http://no-such-host.invalid/"], USAGE, &["no-such-host.invalid"]);
}

#[test]
fn source_addresses_this_host_does_not_have() {
    let target = Target::start(Script::constant(std::time::Duration::ZERO));
    // 192.0.2.0/24 is reserved for documentation (RFC 5737), so no host has such an address.
    check(&[&target.url("/"), "--source", "192.0.2.7"], REFUSED, &["192.0.2.7"]);
    assert_eq!(target.truth().connections, 0);
}

#[test]
fn not_enough_files() {
    if Program::foreign("prlimit").is_none() {
        skip("not_enough_files", "`prlimit` is not installed");
        return;
    }
    let target = Target::start(Script::constant(std::time::Duration::ZERO));
    let trial = trial();
    let words = ["run", &target.url("/"), "-c", "4000", "-d", "1s"];
    let few = |program: Program| {
        // The mask disables every way to get more files.
        let program = program.environment("WAVETANK_MASK", "uring,unshare,own_process");
        program.under(["prlimit", "--nofile=128:128"]).run()
    };
    let text = few(trial.program().args(words));
    check_text(&text, REFUSED);
    assert!(text.stderr.contains("128") || text.stderr.contains("ulimit"), "{text}");
    check_json(&few(trial.program().args(words).args(["--format", "json"])), REFUSED);
    assert!(trial.place().runs("runs").is_empty());
    assert_eq!(target.truth().connections, 0);
}

/// A container's limit on processes also counts threads. It applies to unprivileged users only.
#[test]
fn no_thread_can_be_made() {
    if Program::foreign("setpriv").is_none() {
        return skip("no_thread_can_be_made", "`setpriv` is not installed");
    }
    // A user ID of this test, without other processes.
    let user = format!("--reuid={}", 1_000_000_000 + std::process::id());
    let mut wrapper = vec!["prlimit", "--nproc=1:1"];
    if std::fs::metadata("/proc/self").expect("/proc is mounted").uid() == 0 {
        wrapper.extend(["setpriv", &user, "--regid=65534", "--clear-groups"]);
    }
    let trial = trial();
    let limited = |words: &[&str]| trial.program().args(words).under(&wrapper).run();
    let version = limited(&["--version"]);
    if version.exit != Some(0) {
        return skip("no_thread_can_be_made", &format!("cannot switch to another user here: {version}"));
    }
    let target = Target::start(Script::constant(std::time::Duration::ZERO));
    let run = ["run", &target.url("/"), "-n", "5", "--no-archive"];
    for words in [&run[..], &["serve", "--listen", "0"]] {
        let outcome = limited(words);
        check_text(&outcome, REFUSED);
        assert!(outcome.stderr.contains("EAGAIN"), "{outcome}");
    }
}

#[test]
fn a_public_target_is_refused_before_any_packet() {
    let name = "a_public_target_is_refused_before_any_packet";
    for host in ["192.0.2.1", "198.51.100.7:8080", "[2001:db8::1]", "169.254.169.254", "[fd00:ec2::254]"] {
        let trial = trial();
        let url = format!("http://{host}/");
        let trace = trial.place().file("trace");
        let Some(strace) = Program::foreign("strace") else {
            skip(name, "strace is not installed");
            check(&[&url], REFUSED, &[]);
            continue;
        };
        // Without io_uring, because strace cannot see its operations and its check opens sockets.
        let program = trial.program().args(["run", &url, "-c", "2"]).environment("WAVETANK_MASK", "uring");
        let prefix = strace.args(["-f", "-qq", "-e", "trace=%network,io_uring_setup", "-o", &trace]);
        let outcome = program.under(prefix.arguments()).run();
        check_text(&outcome, REFUSED);
        let trace = std::fs::read_to_string(&trace).expect("strace has written");
        for line in trace.lines() {
            let sends = ["connect(", "sendto(", "sendmsg(", "sendmmsg(", "io_uring_setup("];
            let speaks = sends.iter().any(|call| line.contains(call)) && !line.contains("AF_NETLINK");
            assert!(!speaks, "{host}: a packet before the refusal: {line}");
        }
        assert!(trial.place().runs("runs").is_empty(), "{host}: no archive");
    }
}

#[test]
fn the_hint_of_a_refusal_is_the_exact_command() {
    let trial = trial();
    let words = ["run", "http://192.0.2.1/a?b=c&d=e", "-c", "2", "-n", "4", "-H", "X-Say: it's"];
    let outcome = trial.program().args(words).run();
    check_text(&outcome, REFUSED);
    let hint = outcome.stderr.lines().find(|line| line.starts_with("hint:")).expect("checked");
    let command = hint.find("wavetank ").map(|at| hint[at..].trim_end_matches(['`', '.']).to_owned());
    let command = command.unwrap_or_else(|| panic!("the hint is a command: {outcome}"));
    assert!(command.contains("--allow-target 192.0.2.1"), "{outcome}");
    // The shell must parse the command into the typed arguments, with the permission added.
    let shell = Program::foreign("sh").expect("a shell is everywhere");
    let script =
        format!("wavetank() {{ for word in \"$@\"; do printf '%s\\n' \"$word\"; done; }}; {command}");
    let echoed = shell.args(["-c", &script]).run();
    let echoed: Vec<&str> = echoed.stdout.lines().collect();
    for word in words {
        assert!(echoed.contains(&word), "`{word}` is lost in the hint: {command}");
    }
}

#[test]
fn a_loopback_address_of_a_private_network_is_open_by_default() {
    let target = Target::start_at(
        "127.7.7.7:0".parse().expect("literal"),
        Script::constant(std::time::Duration::ZERO),
    );
    let result = trial().run(&target, "-c 2 -n 10", 0);
    assert_eq!(result.count("requests.done"), 10, "{result}");
}

/// TLS options with a URL without TLS, and unusable files and names with a TLS URL.
#[test]
fn tls_that_cannot_be_spoken() {
    for words in [&["--insecure"][..], &["--sni", "shop.example"], &["--tls-resume", "user"]] {
        check_unsent(words, &[words[0], "https://"]);
    }
    let place = TestDir::new();
    let garbage = place.write("garbage.pem", [0, 255, 10, 13]);
    let empty = place.write("empty.pem", "");
    let cut = place.write("cut.pem", "-----BEGIN CERTIFICATE-----\nMIIB");
    let hollow =
        place.write("hollow.pem", "-----BEGIN CERTIFICATE-----\nMIIBCg==\n-----END CERTIFICATE-----\n");
    let target = Target::start(Script::constant(std::time::Duration::ZERO));
    let url = target.url("/").replace("http://", "https://");
    for (words, mention) in [
        (["--cacert", "/nowhere/ca.pem"], "no such file"),
        (["--cacert", "/"], "folder"),
        (["--cacert", &garbage], "not PEM"),
        (["--cacert", &empty], "empty"),
        (["--cacert", &cut], "incomplete"),
        (["--cacert", &hollow], "malformed"),
        (["--cert", &hollow], "--key FILE"),
        (["--tls", "1.1"], "1.2 or 1.3"),
        (["--tls-groups", "X448"], "X25519"),
        (["--tls-ciphers", "RC4-MD5"], "TLS_AES_128_GCM_SHA256"),
        (["--alpn", "h2"], "--http 2 offers h2"),
        (["--sni", "127.0.0.1"], "address"),
    ] {
        check(&[&url, words[0], words[1]], USAGE, &[mention]);
    }
    assert_eq!(target.truth().connections, 0, "nothing is sent");
}

#[test]
fn reports_of_runs_that_are_not_there() {
    let trial = trial();
    for run in ["latest", "no-such-run", "/no/such/folder"] {
        check_text(&trial.program().args(["report", run]).run(), USAGE);
        check_json(&trial.program().args(["report", run, "--format", "json"]).run(), USAGE);
    }
}

#[test]
fn commands_that_are_none() {
    let trial = trial();
    for words in [
        &["rnu", "http://127.0.0.1/"][..],
        &["serve", "--listen", "nowhere"],
        &["serve", "--threads", "0"],
        &["serve", "--freeze", "1"],
        &["serve", "--freeze-at", "1s"],
        &["run", "--nonsense", "http://127.0.0.1/"],
    ] {
        check_text(&trial.program().args(words).run(), USAGE);
    }
}

#[test]
fn a_port_that_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let outcome = trial().program().args(["serve", "--listen", &address]).run();
    check_text(&outcome, REFUSED);
    assert!(outcome.stderr.contains(&address), "{outcome}");
}
