//! `wavetank serve` with third-party clients: both sides count the same.

use serde_json::Value;
use wavetank_testkit::{Client, Outcome, Program, Serve, skip};

fn serve(words: &[&str]) -> Serve {
    Serve::start(&Program::new(env!("CARGO_BIN_EXE_wavetank")), words)
}

/// Returns the program, or records a skip.
fn foreign(name: &str, test: &str) -> Option<Program> {
    let program = Program::foreign(name);
    if program.is_none() {
        skip(test, &format!("{name} is not installed"));
    }
    program
}

/// Returns the number of requests that the server has seen on `path`.
fn seen(serve: &Serve, path: &str) -> u64 {
    let truth: Value =
        serde_json::from_slice(&Client::connect(serve.address()).get("/truth").body).expect("JSON");
    truth["paths"][path].as_u64().unwrap_or_else(|| panic!("{path} is not in {truth:#}"))
}

/// Returns the number before or after `label` in the output of a tool.
#[track_caller]
fn number(outcome: &Outcome, label: &str) -> u64 {
    let line = outcome.stdout.lines().find(|line| line.contains(label));
    let line = line.unwrap_or_else(|| panic!("no `{label}`: {outcome}"));
    let digits = line.replace(label, " ");
    let number = digits.split_whitespace().find_map(|word| word.parse().ok());
    number.unwrap_or_else(|| panic!("no number in `{line}`: {outcome}"))
}

#[test]
fn curl_reads_every_endpoint() {
    let Some(curl) = foreign("curl", "curl_reads_every_endpoint") else { return };
    let serve = serve(&[]);
    let check = |words: &[&str], path: &str, expected: &str| {
        let format = "%{http_code} %{size_download} %{http_version} %{num_connects}";
        let base = ["-sS", "-o", "/dev/null", "--max-time", "5", "-w", format];
        let outcome = curl.clone().args(base).args(words).args([serve.url(path)]).run();
        outcome.expect_exit(0);
        assert!(outcome.stdout.starts_with(expected), "{path}: {outcome}");
    };
    check(&[], "/", "200 ");
    check(&["--http1.0"], "/", "200 ");
    check(&[], "/bytes/70000", "200 70000 1.1");
    check(&[], "/status/503", "503 ");
    check(&["-I"], "/bytes/500", "200 0 1.1");
    check(&["-d", "twelve bytes"], "/echo", "200 12 1.1");
    check(&["-d", "in chunks", "-H", "Transfer-Encoding: chunked"], "/echo", "200 9 1.1");
    check(&["-H", "Expect: 100-continue", "-d", "waited for"], "/echo", "200 10 1.1");
    check(&[], "/delay/5ms", "200 ");
    check(&[], "/close", "200 ");
    check(&["-X", "POST"], "/truth/reset", "204 0");
    // One kept-alive connection for three requests.
    let urls = [serve.url("/"), serve.url("/bytes/1"), serve.url("/")];
    let outcome = curl.args(["-sS", "-w", "<%{num_connects}>"]).args(urls).run();
    let connects: Vec<&str> = outcome.stdout.split('<').skip(1).map(|part| &part[..1]).collect();
    assert_eq!(connects, ["1", "0", "0"], "{outcome}");
}

#[test]
fn wrk_and_the_truth_agree() {
    let Some(wrk) = foreign("wrk", "wrk_and_the_truth_agree") else { return };
    let serve = serve(&["--threads", "1"]);
    let outcome = wrk.args(["-t", "1", "-c", "16", "-d", "1s", &serve.url("/bytes/100")]).run();
    outcome.expect_exit(0);
    assert!(!outcome.stdout.contains("Socket errors") && !outcome.stdout.contains("Non-2xx"), "{outcome}");
    let line =
        outcome.stdout.lines().find(|line| line.contains(" requests in ")).expect("wrk prints its total");
    let done: u64 = line.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number");
    let seen = seen(&serve, "/bytes/100");
    // wrk ends with up to one request in flight on each connection.
    assert!((done..=done + 16).contains(&seen), "wrk {done}, truth {seen}");
}

#[test]
fn ab_and_the_truth_agree() {
    let Some(ab) = foreign("ab", "ab_and_the_truth_agree") else { return };
    let serve = serve(&[]);
    for (words, path) in [(&["-k"][..], "/bytes/10"), (&[], "/bytes/11"), (&["-i"], "/bytes/12")] {
        let base = ["-q", "-n", "600", "-c", "10"];
        let outcome = ab.clone().args(base).args(words).args([serve.url(path)]).run();
        outcome.expect_exit(0);
        assert_eq!(number(&outcome, "Complete requests:"), 600, "{outcome}");
        assert_eq!(number(&outcome, "Failed requests:"), 0, "{outcome}");
        assert!(!outcome.stdout.contains("Non-2xx"), "{outcome}");
        if words == ["-k"] {
            assert_eq!(number(&outcome, "Keep-Alive requests:"), 600, "{outcome}");
        }
        let seen = seen(&serve, path);
        // ab opens connections before the last requests and may send on them.
        assert!((600..=610).contains(&seen), "ab 600, truth {seen}");
    }
}

#[test]
fn wavetank_and_the_truth_agree() {
    let serve = serve(&["--threads", "1"]);
    let place = wavetank_testkit::RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    for words in ["-c 8 -d 1s", "-r 400/s -d 1s", "-c 4 -n 1000 --warmup 300ms", "-c 4 --pipeline 4 -n 1000"]
    {
        Client::connect(serve.address()).send("POST /truth/reset HTTP/1.1\r\nHost: t\r\n\r\n").receive();
        let outcome = place.load(&serve.url("/bytes/64"), words.split_whitespace()).run();
        let result = outcome.expect_exit(0).result();
        result.conserved();
        assert_eq!(seen(&serve, "/bytes/64"), result.sent_total(), "{words}: {result}");
        assert_eq!(result.count("requests.failed"), 0, "{words}: {result}");
    }
}
