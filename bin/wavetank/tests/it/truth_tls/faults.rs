//! Every kind of TLS failure: its class, the side to blame, its message and its hint.

use std::time::Duration;

use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Outcome, Program, RunHarness, Script, ScriptAction, Target, free_port, skip};

use super::garbling::Garbling;
use super::server::Server;

/// Checks that the probe failed in TLS, with this message and this hint.
#[track_caller]
fn check_probe(outcome: &Outcome, said: &str, cure: &str) {
    let result = outcome.expect_exit(1).result();
    let findings = result.at("findings").to_string();
    assert!(result.text("probe.error").contains(said), "should say `{said}`: {result}");
    assert!(findings.contains(cure), "should hint `{cure}`: {result}");
    assert_eq!(result.at("verdict.reasons")[0], "probe", "{result}");
    assert_eq!(result.count("requests.offered"), 0, "no load is sent: {result}");
}

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

#[test]
fn a_probe_names_the_cure() {
    let test = "a_probe_names_the_cure";
    let Some(server) = Server::start(test, "good", "") else { return };
    let elsewhere = format!("--connect-to 127.0.0.1:{} --format json", server.port());
    let run = |url: &str, words: &str| server.program(url, &format!("{words} {elsewhere} -n 5")).run();
    check_probe(&run("https://shop.example/", "--cacert @other.pem"), "issuer is unknown", "--cacert FILE");
    check_probe(&run("https://shop.example/", ""), "issuer is unknown", "--insecure");
    let wrong = run("https://wrong.example/", "--cacert @ca.pem");
    check_probe(&wrong, "is for shop.example", "--sni NAME");
    check_probe(
        &run("https://shop.example/", "--cacert @ca.pem --sni wrong.example"),
        "wrong.example",
        "--sni",
    );
    let Some(server) = Server::start(test, "expired", "ssl_protocols TLSv1.2;") else { return };
    let run = |words: &str| server.load(words).run();
    check_probe(&run("-n 5"), "has expired", "renew");
    check_probe(&run("-n 5 --tls 1.3"), "version", "leave --tls out");
}

#[test]
fn nothing_in_common_is_reported_with_what_to_leave_out() {
    let test = "nothing_in_common_is_reported_with_what_to_leave_out";
    let settings = "ssl_ecdh_curve prime256v1; ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256;";
    let Some(server) = Server::start(test, "good", settings) else { return };
    check_probe(&server.load("-n 5 --tls-groups secp384r1").run(), "handshake_failure", "--tls-groups");
    let cipher = "--tls 1.2 --tls-ciphers ECDHE-ECDSA-CHACHA20-POLY1305";
    check_probe(&server.load(&format!("-n 5 {cipher}")).run(), "handshake_failure", "--tls-ciphers");
    check_probe(&server.load("-n 5 --alpn acme-tls/1").run(), "ALPN", "--alpn");
}

/// Without a probe the load finds the failure. Each opening fails in class `tls`, and its message
/// is stored.
#[test]
fn a_handshake_that_fails_is_an_opening_that_failed() {
    let test = "a_handshake_that_fails_is_an_opening_that_failed";
    let Some(server) = Server::start(test, "good", "") else { return };
    for words in ["-c 2 -n 12", "-c 2 -r 50/s -n 12", "-c 2 -n 12 --no-keepalive"] {
        let trial = trial();
        let url = server.url();
        let outcome = trial
            .load(&url, words.split_whitespace())
            .args(["--no-probe", "--cacert", &server.file("other.pem")])
            .run();
        let result = outcome.expect_exit(1).result();
        result.conserved();
        assert_eq!(result.count("errors.tls"), 12, "{words}: {result}");
        assert_eq!((result.count("connections.opened"), result.count("tls.handshakes")), (0, 0), "{words}");
        assert_eq!(result.count("tls.failed"), result.count("connections.failed"), "{words}: {result}");
        assert!(
            result.count("connect_us.count") > 0 && result.count("tls_us.count") == 0,
            "{words}: {result}"
        );
        assert_eq!(result.text("verdict.blame"), "target", "{words}: {result}");
        let findings = result.at("findings").to_string();
        assert!(findings.contains("issuer is unknown") && findings.contains("--cacert FILE"), "{result}");
        let run = trial.place().runs("runs").remove(0);
        let samples = std::fs::read_to_string(run.join("samples.jsonl")).expect("samples");
        assert!(samples.contains("issuer is unknown"), "{samples}");
    }
}

/// Late enough for the connect to complete. A reset before that is a refused connection.
const LATER: ScriptAction = ScriptAction::Wait(Duration::from_millis(30));

/// The messages distinguish the kinds of targets that have no TLS.
#[test]
fn targets_that_are_no_tls_servers() {
    let run = |target: &Target, words: &str| {
        let url = target.url("/").replace("http://", "https://");
        trial().load(&url, format!("-n 5 --insecure {words}").split_whitespace()).run()
    };
    let greet =
        |act: ScriptAction| Target::start(Script::constant(Duration::ZERO).greeting(vec![LATER, act]));
    let http = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec();
    check_probe(&run(&greet(ScriptAction::Send(http)), ""), "does not speak TLS", "http:// URL");
    check_probe(&run(&greet(ScriptAction::Close), ""), "in the TLS handshake", "own log");
    check_probe(&run(&greet(ScriptAction::Reset), ""), "in the TLS handshake", "own log");
    let silent = run(&greet(ScriptAction::Silence), "--connect-timeout 3s");
    check_probe(&silent, "TLS handshake did not end in time", "--connect-timeout");
}

/// The same under load: the end of a handshake is a failure of TLS, and a hanging handshake is a
/// timeout of the connection.
#[test]
fn handshakes_cut_short_under_load() {
    for (act, class, words) in [
        (ScriptAction::Close, "tls", ""),
        (ScriptAction::Reset, "tls", ""),
        (ScriptAction::Silence, "connect_timeout", "--connect-timeout 1s"),
    ] {
        let target = Target::start(Script::constant(Duration::ZERO).greeting(vec![LATER, act]));
        let url = target.url("/").replace("http://", "https://");
        let words = format!("-c 2 -n 6 --insecure --no-probe {words}");
        let result = trial().load(&url, words.split_whitespace()).run().expect_exit(1).result();
        result.conserved();
        assert_eq!(result.count(&format!("errors.{class}")), 6, "{result}");
        assert_eq!(result.count("tls.failed"), result.count("connections.failed"), "{result}");
        assert_eq!(result.count("requests.sent"), 0, "{result}");
        let reported = result.at("findings").to_string();
        let words =
            if class == "tls" { "the TLS handshake failed" } else { "connected, but the TLS handshake" };
        assert!(reported.contains(words) && !reported.contains("listen queue"), "{result}");
    }
}

/// A reset right after the accept may arrive before the connect is seen. The connection was
/// accepted all the same.
#[test]
fn a_connection_that_is_reset_immediately_was_not_refused() {
    for (scheme, class) in [("https", "tls"), ("http", "reset")] {
        for engine in ["uring", "epoll"] {
            let target = Target::start(Script::constant(Duration::ZERO).greeting(vec![ScriptAction::Reset]));
            let url = target.url("/").replace("http://", &format!("{scheme}://"));
            let insecure = if scheme == "https" { "--insecure" } else { "" };
            let words = format!("-c 4 -n 400 {insecure} --no-probe --engine {engine}");
            let outcome = trial().load(&url, words.split_whitespace()).run();
            if outcome.exit == Some(5) {
                skip("a_connection_that_is_reset_immediately_was_not_refused", engine);
                continue;
            }
            let result = outcome.expect_exit(1).result();
            result.conserved();
            assert_eq!(result.count(&format!("errors.{class}")), 400, "{engine}: {result}");
        }
    }
}

/// A server that completes the handshake and then breaks TLS within its responses.
#[test]
fn failures_after_the_handshake_are_reported_as_such() {
    let test = "failures_after_the_handshake_are_reported_as_such";
    let Some(server) = Server::start(test, "good", "") else { return };
    let behind = Garbling::before(server.port());
    let url = format!("https://shop.example:{}/", behind.port());
    let connect = format!("--connect-to 127.0.0.1:{} --cacert @ca.pem --no-probe", behind.port());
    let outcome = server.program(&url, &format!("{connect} -c 1 -n 3 --tls 1.2 --format json")).run();
    let result = outcome.expect_exit(1).result();
    assert_eq!(result.count("errors.tls"), 3, "{result}");
    assert_eq!((result.count("tls.failed"), result.count("tls.handshakes")), (0, 3), "{result}");
    let reported = result.at("findings").to_string();
    assert!(reported.contains("TLS failed after its handshake"), "{result}");
}

/// Starts `openssl s_server` on a free port, with `words` as additional arguments. Returns `None`
/// and records a skip without openssl.
fn s_server(test: &str, server: &Server, words: &str) -> Option<(wavetank_testkit::Running, u16)> {
    let Some(openssl) = Program::foreign("openssl") else {
        skip(test, "openssl is not installed");
        return None;
    };
    let port = free_port();
    let (cert, key, ca) = (server.file("good.pem"), server.file("good.key"), server.file("ca.pem"));
    let base = ["s_server", "-www", "-quiet", "-cert", &cert, "-key", &key, "-CAfile", &ca];
    let running = openssl
        .args(base)
        .args(["-accept", &format!("127.0.0.1:{port}")])
        .args(words.split_whitespace())
        .start();
    let up = poll_until(Duration::from_mins(1), || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    assert!(up.is_some(), "s_server does not accept: {}", running.stderr());
    Some((running, port))
}

/// Servers that require a certificate end the connection with an alert. In TLS 1.3 the alert comes
/// after the client has finished its handshake.
#[test]
fn a_server_that_insists_on_a_certificate_says_so() {
    let test = "a_server_that_insists_on_a_certificate_says_so";
    let Some(server) = Server::start(test, "good", "") else { return };
    let Some((_running, port)) = s_server(test, &server, "-Verify 2 -verify_return_error") else { return };
    let url = format!("https://127.0.0.1:{port}/");
    let run = |words: &str| {
        server.program(&url, &format!("--cacert @ca.pem --format json -n 3 -c 1 {words}")).run()
    };
    check_probe(&run("--tls 1.3"), "it requires a client certificate", "--cert FILE --key FILE");
    check_probe(&run("--tls 1.2"), "alert", "--cert FILE --key FILE");
    let given = run("--tls 1.3 --cert @client.pem --key @client.key");
    assert_eq!(given.expect_exit(0).result().count("requests.done"), 3, "{given}");
}

/// An http URL to a TLS port that responds with an error in plain text.
#[test]
fn plain_http_to_a_port_of_tls() {
    let Some(server) = Server::start("plain_http_to_a_port_of_tls", "good", "") else { return };
    let plain = server.url().replace("https://", "http://");
    let outcome = server.program(&plain, "-n 3").run();
    outcome.expect_exit(1);
    assert!(outcome.stderr.contains("https:// instead of http://"), "{outcome}");
}
