//! Unix sockets as targets, on both drivers, in URLs and files, with nginx as the server.

use wavetank_testkit::{Nginx, RunHarness, TestDir};

/// Runs the arguments `words`, with `SOCKET` for the path of nginx's socket and `FILE` for an
/// experiment file with `text`, and checks the counts and nginx's log of `requests` lines, each
/// `line`.
#[track_caller]
fn check(test: &str, words: &str, text: &str, requests: u64, line: &str) {
    let place = TestDir::new();
    let socket = place.path().join("app.sock").display().to_string();
    let server = format!("listen LISTEN; listen unix:{socket}; location / {{ return 200 fine; }}");
    let log = "$request_uri $host $remote_addr";
    let Some(nginx) = Nginx::start(test, place, log, &server) else { return };
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let file = trial.place().write("x.yaml", text.replace("SOCKET", &socket));
    let words = words.replace("SOCKET", &socket).replace("FILE", &file);
    let mut words = words.split_whitespace();
    let outcome = trial.load(words.next().expect("a URL or file"), words).run();
    outcome.expect_exit(0);
    let result = outcome.result();
    assert_eq!(["requests.done", "wire.sent"].map(|name| result.count(name)), [requests; 2], "{result}");
    let lines = nginx.log(requests);
    assert!(lines.iter().all(|seen| seen == line), "{lines:?}");
}

#[test]
fn a_unix_socket_in_the_url() {
    for engine in ["epoll", "auto"] {
        let words = format!("unix:SOCKET:/a?b=c -c 3 -n 30 --no-probe --engine {engine}");
        check("a_unix_socket_in_the_url", &words, "", 30, "/a?b=c localhost unix:");
    }
}

#[test]
fn a_unix_socket_in_place_of_the_host() {
    let words = "http://shop.example/x --connect-to unix:SOCKET -r 50/s -n 20 --no-probe --no-keepalive";
    check("a_unix_socket_in_place_of_the_host", words, "", 20, "/x shop.example unix:");
}

#[test]
fn a_template_after_a_unix_socket() {
    let words = "http://unix:SOCKET:/item/${random(2,2)} -c 1 -n 5 --no-probe";
    check("a_template_after_a_unix_socket", words, "", 5, "/item/2 localhost unix:");
}

#[test]
fn a_unix_socket_in_a_file() {
    let text = "wavetank: 1\ntarget: unix:SOCKET\nprobe: false\nsteps: [{get: /file}]\n\
                phases: [{users: 2, sessions: 10 each, for: 30s}]\n";
    check("a_unix_socket_in_a_file", "FILE", text, 20, "/file localhost unix:");
}

#[test]
fn no_socket_is_reported_with_its_path() {
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let socket = trial.place().path().join("none.sock").display().to_string();
    let outcome = trial.load(&format!("unix:{socket}"), ["-n", "3", "-c", "1"]).run();
    outcome.expect_exit(1);
    let probe = &outcome.json()["probe"];
    assert_eq!(probe["address"], format!("unix:{socket}"), "{outcome}");
    let once = trial.program().args(["run", &format!("unix:{socket}"), "--once"]).run();
    once.expect_exit(1);
    assert!(once.stderr.contains(&format!("unix:{socket}: ")), "{once}");
}
