//! Proxies that reject, do not respond or send garbage, and the guard before them.

use std::time::Duration;

use wavetank_testkit::{Outcome, RunHarness, RunResult, Script, ScriptAction, Target, answer};

use super::foreign::trial;

/// Runs a load over https through `proxy`, which must fail.
fn load(trial: &RunHarness, proxy: &Target, limit: &str, engine: &str) -> Option<(Outcome, RunResult)> {
    let words = ["-c", "2", "-n", "6", "--no-probe", "--connect-timeout", limit, "--engine", engine];
    let program = trial.load("https://127.0.0.1:9/", words).args(["--proxy", &proxy.address().to_string()]);
    let outcome = program.run();
    if outcome.exit == Some(5) {
        wavetank_testkit::skip("proxy_faults", &format!("{engine} is not available here"));
        return None;
    }
    let result = outcome.expect_exit(1).result();
    result.conserved();
    Some((outcome, result))
}

/// Checks a proxy that behaves like `script`: all requests fail as `class`, with `detail` as the
/// reason.
fn check(script: &Script, class: &str, detail: &str, hint: &str) {
    // Only a proxy that hangs lets the time pass. A busy machine needs some to connect.
    let [limit, once_limit] = if class == "connect_timeout" { ["1s", "3s"] } else { ["60s"; 2] };
    for engine in ["epoll", "uring"] {
        let (trial, proxy) = (trial(), Target::start(script.clone()));
        let Some((_, result)) = load(&trial, &proxy, limit, engine) else { continue };
        assert_eq!(result.count(&format!("errors.{class}")), 6, "{engine}: {result}");
        assert_eq!(result.count("connections.failed"), result.count("connections.offered"), "{result}");
        assert_eq!(result.at("tls_us.count").as_u64().unwrap_or(0), 0, "{result}");
        let runs = trial.place().runs("runs");
        let samples = std::fs::read_to_string(runs[0].join("samples.jsonl")).expect("failures have samples");
        assert!(samples.contains(detail), "{engine}: {samples}");
        let finding = &result.at("findings")[0];
        assert!(
            finding["evidence"].as_str().is_some_and(|reported| reported.contains(detail)),
            "{engine}: {finding}"
        );
        assert!(
            finding["hint"].as_str().is_some_and(|reported| reported.contains(hint)),
            "{engine}: {finding}"
        );
        let once =
            trial.program().args(["run", "https://127.0.0.1:9/", "--once", "--connect-timeout", once_limit]);
        let once = once.args(["--engine", engine, "--proxy", &proxy.address().to_string()]).run();
        once.expect_exit(1);
        assert!(once.stderr.contains(detail) && once.stderr.contains(hint), "{once}");
        let truth = proxy.truth();
        assert!(truth.by_path.keys().all(|path| path == "127.0.0.1:9"), "{:?}", truth.by_path);
        assert!(truth.by_method.keys().all(|method| method == "CONNECT"), "{:?}", truth.by_method);
    }
}

#[test]
fn a_refused_tunnel_is_reported_with_the_proxys_reason() {
    let detail = "the proxy answered CONNECT with 407 Proxy Authentication Required";
    check(
        &Script::new(|_| vec![ScriptAction::Send(answer(407, b"who?"))]),
        "connect_refused",
        detail,
        "USER:PASSWORD",
    );
    let detail = "the proxy answered CONNECT with 502 Bad Gateway";
    check(
        &Script::new(|_| vec![ScriptAction::Send(answer(502, b"no"))]),
        "connect_refused",
        detail,
        "own log says why",
    );
}

#[test]
fn a_proxy_that_hangs_runs_into_the_connect_timeout() {
    let detail = "connected to the proxy, but it did not answer CONNECT in time";
    check(&Script::silence(), "connect_timeout", detail, "HTTP proxy");
}

#[test]
fn a_proxy_that_closes_is_reported() {
    let detail = "the proxy closed the connection instead of answering CONNECT";
    check(&Script::new(|_| vec![ScriptAction::Close]), "closed_early", detail, "own log");
    let cut = b"HTTP/1.1 200 Connec".to_vec();
    check(
        &Script::new(move |_| vec![ScriptAction::Send(cut.clone()), ScriptAction::Close]),
        "closed_early",
        detail,
        "own log",
    );
}

#[test]
fn a_proxy_that_resets_is_reported() {
    check(&Script::reset(), "reset", "the connection broke before the proxy answered CONNECT", "own log");
}

#[test]
fn nonsense_is_no_answer_to_connect() {
    check(
        &Script::raw(b"SSH-2.0-OpenSSH_9.2\r\n", false),
        "protocol",
        "the proxy's response to CONNECT: ",
        "HTTP proxy",
    );
    let surplus = b"HTTP/1.1 200 OK\r\n\r\nand more";
    check(
        &Script::raw(surplus, false),
        "protocol",
        "the proxy sent bytes after its response to CONNECT",
        "HTTP proxy",
    );
}

/// A target without TLS behind a tunnel is not a fault of the tunnel.
#[test]
fn what_follows_a_tunnel_is_the_targets_doing() {
    let opened = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let close = move |seen: &wavetank_testkit::ReceivedRequest| {
        assert_eq!(seen.on_connection, 1, "there is one request, CONNECT");
        vec![
            ScriptAction::Send(opened.clone()),
            ScriptAction::Wait(std::time::Duration::from_millis(20)),
            ScriptAction::Close,
        ]
    };
    for engine in ["epoll", "uring"] {
        let (trial, proxy) = (trial(), Target::start(Script::new(close.clone())));
        let Some((_, result)) = load(&trial, &proxy, "60s", engine) else { continue };
        assert_eq!(result.count("errors.tls"), 6, "{engine}: {result}");
    }
}

#[test]
fn the_guard_looks_at_proxy_and_target() {
    let check = |url: &str, proxy: &str, refused: &str| {
        let trial = trial();
        let outcome = trial.load(url, ["-n", "1", "--proxy", proxy]).run();
        let error = outcome.expect_exit(5).json();
        assert_eq!(error["code"], "target_not_allowed", "{outcome}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(refused)), "{outcome}");
        assert!(error["hint"].as_str().is_some_and(|text| text.contains(refused)), "{outcome}");
        assert!(!outcome.stdout.contains("hunter2"), "{outcome}");
    };
    check("http://127.0.0.1:9/", "http://u:hunter2@192.0.2.1:3128", "192.0.2.1");
    check("https://192.0.2.7/", "127.0.0.1:9", "192.0.2.7");
    check("http://192.0.2.7/", "127.0.0.1:9", "192.0.2.7");
    check("http://127.0.0.1:9/", "169.254.169.254:80", "169.254.169.254");
}

#[test]
fn a_name_that_only_the_proxy_knows_is_allowed_by_name() {
    let (trial, proxy) = (trial(), Target::start(Script::constant(Duration::ZERO)));
    // `.invalid` never resolves (RFC 6761).
    let load = || {
        let words = ["-c", "2", "-n", "6", "--proxy", &proxy.address().to_string()].map(str::to_owned);
        trial.load("http://known-there.invalid/a", words)
    };
    let refused = load().run();
    let hint = refused.expect_exit(5).json()["hint"].as_str().map(str::to_owned).unwrap_or_default();
    assert!(hint.contains("--allow-target known-there.invalid"), "{refused}");
    assert_eq!(proxy.truth().requests, 0, "{refused}");
    let result = load().args(["--allow-target", "known-there.invalid"]).run().expect_exit(0).result();
    assert_eq!(result.count("requests.done"), 6, "{result}");
    assert_eq!(proxy.settled().by_path.get("http://known-there.invalid/a"), Some(&7), "{result}");
}
