//! Every option of `run` together with an experiment file: it overrides the file's value, or is
//! rejected with a hint. None is silently ignored.

use std::collections::BTreeSet;
use std::time::Duration;

use wavetank_testkit::{RunHarness, Script, Target};

/// The effect of an option together with a file.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// The archived plan contains this.
    Plan(&'static str),
    /// Exit 2, with this in the message or hint.
    Refused(&'static str),
    /// Another test covers it.
    Elsewhere,
}
use Does::{Elsewhere, Plan, Refused};

/// The message of a file without TLS for TLS options.
const CLEAR: Does = Refused("means nothing without TLS");

const OPTIONS: &[(&[&str], Does)] = &[
    (&["--connections", "5"], Refused("--scale")),
    (&["--rate", "5/s"], Refused("--scale")),
    (&["--duration", "5s"], Refused("--scale")),
    (&["--requests", "5"], Refused("--scale")),
    (&["--stage", "1m:5/s"], Refused("--scale")),
    (&["--warmup", "5s"], Refused("--scale")),
    (&["--arrivals", "poisson"], Refused("--scale")),
    (&["--seed", "99"], Plan("seed: 99")),
    (&["--timeout", "7s"], Plan("  timeout: 7s")),
    (&["--connect-timeout", "2s"], Plan("connect_timeout: 2s")),
    (&["--drain", "3s"], Plan("drain: 3s")),
    (&["--max-open", "9"], Plan("max_open: 9")),
    (&["--open-rate", "77/s"], Plan("open_rate: 77/s")),
    (&["--once"], Refused("try")),
    (&["--observe", "Web1"], Refused("cannot name a file of the archive")),
    (&["--fleet", "no-such-fleet.yaml"], Refused("no-such-fleet.yaml")),
    (&["--without", "load1"], Refused("--fleet FILE")),
    (&["--ssh-config", "no-such-config"], Refused("--fleet FILE")),
    (&["--broker", "no-such-folder"], Refused("--fleet FILE")),
    (&["--on-loss", "abort"], Refused("--fleet FILE")),
    (&["--start-tolerance", "9ms"], Refused("--fleet FILE")),
    (&["--lease", "9s"], Refused("--fleet FILE")),
    (&["--no-probe"], Elsewhere),
    (&["--probe"], Elsewhere),
    (&["--truth"], Refused("no phase holds connections")),
    // This target would not be asked anyway. `holds` has a test with one that would.
    (&["--no-truth"], Elsewhere),
    (&["--set", "path=elsewhere"], Plan("path: /elsewhere")),
    (&["--target", "http://no-such-target.invalid/"], Refused("no-such-target.invalid")),
    (&["--scale", "2x"], Plan("rate: 200/s")),
    (&["--speed", "2x"], Plan("for: 50ms")),
    (&["--secret", "KEY=words"], Refused("--secret NAME=@FILE")),
    (&["--secret", "KEY=@/dev/null"], Refused("the file uses no secrets")),
    (&["--method", "POST"], Refused("steps")),
    (&["--header", "x-own: here"], Plan("\"x-own: here\"")),
    (&["--body", "text"], Refused("steps")),
    (&["--body-file", "-"], Refused("steps")),
    (&["--json", "{}"], Refused("applies only to a URL")),
    (&["--form", "a=b"], Refused("applies only to a URL")),
    (&["--rows", "rows.csv"], Refused("applies only to a URL")),
    (&["--proto", "a.proto"], Refused("applies only to a URL")),
    (&["--proto-path", "protos"], Refused("applies only to a URL")),
    (&["--curl", "request.txt"], Refused("exclude each other")),
    (&["--basic", "me:planted"], Plan("basic")),
    (&["--expect-status", "200 to 204"], Plan("200 to 204")),
    (&["--http", "1.0"], Plan("version: HTTP/1.0")),
    (&["--no-keepalive"], Plan("keepalive: false")),
    (&["--requests-per-connection", "4"], Plan("requests_per_connection: 4")),
    (&["--close", "rst"], Plan("close: rst")),
    (&["--pipeline", "2"], Plan("pipeline: 2")),
    (&["--streams", "2"], Refused("--http 2")),
    (&["--threads", "1"], Plan("threads: 1")),
    (&["--engine", "epoll"], Plan("engine: epoll")),
    (&["--source", "127.0.0.9"], Plan("127.0.0.9")),
    (&["--connect-to", "no-such-target.invalid:80"], Refused("no-such-target.invalid")),
    (&["--proxy", "http://no-such-target.invalid:81"], Refused("no-such-target.invalid")),
    // With the header, this target would not see a valid request. `truth_proxy` has tests against
    // HAProxy and nginx.
    (&["--proxy-protocol", "v1"], Elsewhere),
    (&["--dns", "once"], Plan("name: x")),
    (&["--ip", "6"], Refused("IPv6")),
    (&["--allow-target", "10.0.0.0/8"], Elsewhere),
    (&["--insecure"], CLEAR),
    (&["--cacert", "/dev/null"], CLEAR),
    (&["--cert", "/dev/null"], CLEAR),
    (&["--key", "/dev/null"], CLEAR),
    (&["--sni", "shop.example"], CLEAR),
    (&["--tls", "1.3"], CLEAR),
    (&["--tls-groups", "X25519"], CLEAR),
    (&["--tls-ciphers", "TLS_AES_128_GCM_SHA256"], CLEAR),
    (&["--alpn", "none"], CLEAR),
    (&["--tls-resume", "user"], CLEAR),
    (&["--threshold", "p99 < 3s"], Plan("p99 < 3s")),
    (&["--stop", "failed > 50%"], Plan("failed > 50%")),
    (&["--name", "another"], Plan("name: another")),
    (&["--tag", "build=7"], Plan("build: \"7\"")),
    (&["--format", "json"], Elsewhere),
    (&["--out", "result.json"], Elsewhere),
    (&["--metrics", "json=metrics.jsonl"], Elsewhere),
    (&["--lang", "zh"], Refused("--lang applies only to html")),
    // `compare` has tests with an existing baseline.
    (&["--baseline", "no-such-run"], Refused("no runs in")),
    (&["--max-regression", "5%"], Refused("--baseline")),
    (&["--metric", "p99"], Refused("--baseline")),
    (&["--runs-dir", "elsewhere"], Elsewhere),
    (&["--no-archive"], Elsewhere),
    (&["--quiet"], Elsewhere),
    (&["--plain"], Elsewhere),
    (&["--detach"], Elsewhere),
    (&["--ui"], Elsewhere),
    (&["--help"], Elsewhere),
];

const FILE: &str = "\
wavetank: 1
name: x
target: TARGET
vars: {path: here}
http: {headers: {x-own: there}}
steps: [{get: \"/${path}\"}]
phases:
  - {users: 2, for: 100ms}
  - {rate: 100/s, for: 200ms}
thresholds: [done > 0]
";

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn target() -> Target {
    Target::start(Script::constant(Duration::ZERO))
}

fn at(target: &Target, text: &str) -> String {
    text.replace("TARGET", target.url("").trim_end_matches('/'))
}

/// Runs the file with `words` and returns the archived plan.
#[track_caller]
fn planned(text: &str, words: &[&str]) -> String {
    let (target, trial) = (target(), trial());
    let file = trial.place().write("x.yaml", at(&target, text));
    let outcome = trial.load(&file, words).run();
    // A machine that is busy with other tests may make a run invalid, but does not change its plan.
    assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
    outcome.result().conserved().agrees_with(&target.settled());
    let folder = trial.place().runs("runs").pop().expect("an archive");
    std::fs::read_to_string(folder.join("plan.yaml")).expect("a plan in it")
}

#[test]
fn each_says_its_word_or_is_refused() {
    let without = planned(FILE, &[]);
    for (words, does) in OPTIONS {
        match does {
            Plan(says) => {
                let plan = planned(FILE, words);
                assert!(plan.contains(says), "{words:?}: `{says}` is not in\n{plan}");
                if words[0] != "--dns" {
                    assert!(!without.contains(says), "{words:?}: `{says}` was there before");
                }
            }
            Refused(mention) => {
                let (target, trial) = (target(), trial());
                let file = trial.place().write("x.yaml", at(&target, FILE));
                let reported = trial.program().args(["run", &file]).args(words.iter()).run();
                reported.expect_exit(2);
                let hints = reported.stderr.matches("hint: ").count();
                assert!(reported.stderr.contains(mention) && hints == 1, "{words:?}: {mention}: {reported}");
                assert_eq!(target.truth().connections, 0, "{words:?}: nothing is sent");
            }
            Elsewhere => {}
        }
    }
}

#[test]
fn no_option_is_missing_here() {
    let help = trial().program().args(["run", "--help"]).run().stdout;
    let words = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let long =
        |line: &str| line.split([' ', ',', '<']).find(|word| word.starts_with("--")).map(str::to_owned);
    // A list of aliases that is wrapped ends with a bracket.
    let there: BTreeSet<String> = words.filter_map(long).filter(|option| !option.ends_with(']')).collect();
    let known: BTreeSet<String> = OPTIONS.iter().map(|(words, _)| words[0].to_owned()).collect();
    assert_eq!(there, known);
}

const BARE: &str = "wavetank: 1\nname: x\ntarget: TARGET\nsteps: [{get: /}, {get: /b}]\n";

#[test]
fn without_phases_the_load_is_the_command_lines() {
    for (words, offered) in [("-c 3 -n 30", 30), ("-r 100/s -n 40", 40), ("-r 100/s -d 300ms -c 2", 60)] {
        let (target, trial) = (target(), trial());
        let file = trial.place().write("x.yaml", at(&target, BARE));
        let outcome = trial.load(&file, words.split(' ')).run();
        assert!(matches!(outcome.exit, Some(0 | 3)), "{words}: {outcome}");
        let result = outcome.result();
        result.conserved().agrees_with(&target.settled());
        assert_eq!(result.count("requests.offered"), offered, "{words}: {result}");
    }
    let plan = planned(BARE, &["-r", "100/s", "-d", "100ms", "--warmup", "100ms", "--arrivals", "poisson"]);
    assert!(plan.contains("connection: shared") && plan.contains("arrivals: poisson"), "{plan}");
    assert!(plan.contains("name: warmup"), "{plan}");
    for (words, mention) in [
        ("-c 3 -n 31", "-n 30 or -n 32"),
        ("--arrivals poisson -d 1s", "-r"),
        ("--max-open 5 -c 3 -n 30", "--max-open"),
        ("-c 9 -n 4", "-c is more than -n"),
    ] {
        let (target, trial) = (target(), trial());
        let file = trial.place().write("x.yaml", at(&target, BARE));
        let reported = trial.program().args(["run", &file]).args(words.split(' ')).run();
        reported.expect_exit(2);
        assert!(reported.stderr.contains(mention), "{words}: {reported}");
    }
}

#[test]
fn the_probe_is_sent_when_asked_for() {
    let probed = |text: &str, words: &[&str]| {
        let (target, trial) = (target(), trial());
        let file = trial.place().write("x.yaml", at(&target, text));
        let outcome = trial.load(&file, words).run();
        assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
        let result = outcome.result();
        result.conserved().agrees_with(&target.settled());
        result.count("setup.sent")
    };
    let file = "wavetank: 1\ntarget: TARGET\nsteps: [{post: /a}, {get: \"/${user}\"}, {get: /b}]\n\
                phases: [{users: 1, for: 5s, sessions: 3}]\n";
    let asking = format!("{file}probe: true\n");
    assert_eq!(probed(file, &[]), 0);
    assert_eq!(probed(file, &["--probe"]), 1);
    assert_eq!(probed(&asking, &[]), 1);
    assert_eq!(probed(&asking, &["--no-probe"]), 0);
    let (target, trial) = (target(), trial());
    let none = file.replace(", {get: /b}", "");
    let file = trial.place().write("x.yaml", at(&target, &none));
    let reported = trial.program().args(["run", &file, "--probe"]).run();
    reported.expect_exit(2);
    assert!(reported.stderr.contains("nothing can be probed"), "{reported}");
}
