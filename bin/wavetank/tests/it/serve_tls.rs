//! `wavetank serve --tls` with third-party clients, and its error messages.

use serde_json::Value;
use wavetank_testkit::{Outcome, Program, Serve, TestDir, free_port, skip};

fn wavetank() -> Program {
    Program::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Starts a server on TLS with these additional arguments. Returns it and its URL.
fn serve(words: &[&str]) -> (Serve, String) {
    let serve = Serve::start(&wavetank(), &[&["--tls"], words].concat());
    let url = format!("https://{}", serve.address());
    (serve, url)
}

/// Returns the programs, or records a skip.
fn foreign<const N: usize>(names: [&str; N], test: &str) -> Option<[Program; N]> {
    for name in names {
        if Program::foreign(name).is_none() {
            skip(test, &format!("{name} is not installed"));
            return None;
        }
    }
    Some(names.map(|name| Program::foreign(name).expect("just found")))
}

/// Runs curl with `words`, which must succeed, and returns its output.
#[track_caller]
fn curl(words: &[&str]) -> String {
    let outcome = Program::foreign("curl")
        .expect("asked for by the test")
        .args(["-sS", "--max-time", "10"])
        .args(words)
        .run();
    outcome.expect_exit(0);
    outcome.stdout
}

#[track_caller]
fn truth(url: &str) -> Value {
    serde_json::from_str(&curl(&["-k", &format!("{url}/truth")])).expect("/truth is JSON")
}

/// Returns the numbers of full and of resumed handshakes.
#[track_caller]
fn handshakes(url: &str) -> (u64, u64) {
    let truth = truth(url);
    let count = |name: &str| truth["handshakes"][name].as_u64().expect("a count");
    (count("full"), count("resumed"))
}

#[test]
fn curl_trusts_the_certificate_that_is_written() {
    let Some([_]) = foreign(["curl"], "curl_trusts_the_certificate_that_is_written") else { return };
    let place = TestDir::new();
    let ca = place.file("ca.pem");
    let (serve, url) = serve(&["--tls-cert-out", &ca]);
    let format = "%{http_code} %{size_download} %{http_version} %{ssl_verify_result}";
    let check = |words: &[&str], url: &str, expected: &str| {
        let out = place.file("body");
        let said = curl(&[&["--http1.1", "--cacert", &ca, "-o", &out, "-w", format, url], words].concat());
        assert_eq!(said, expected, "{url} {words:?}");
    };
    check(&[], &format!("{url}/bytes/5000000"), "200 5000000 1.1 0");
    check(&[], &format!("https://localhost:{}/bytes/7", serve.address().port()), "200 7 1.1 0");
    check(&["-d", "twelve bytes"], &format!("{url}/echo"), "200 12 1.1 0");
    check(&["--tls-max", "1.2"], &format!("{url}/bytes/70000"), "200 70000 1.1 0");
    check(&["--tlsv1.3"], &format!("{url}/status/503"), "503 19 1.1 0");
    check(&[], &format!("{url}/close"), "200 12 1.1 0");
    // One kept-alive connection for three requests.
    let urls = [format!("{url}/bytes/1"), format!("{url}/bytes/1"), format!("{url}/bytes/1")];
    let words = ["--cacert", &ca, "-w", "<%{num_connects}>", &urls[0], &urls[1], &urls[2]];
    assert_eq!(curl(&words), "0<1>0<0>0<0>");
    // A client that does not know the certificate rejects it.
    let stranger = Program::foreign("curl").expect("found").args(["-sS", &url]).run();
    stranger.expect_exit(60);
}

#[test]
fn plain_http_on_the_port_is_a_failed_handshake() {
    let Some([_]) = foreign(["curl"], "plain_http_on_the_port_is_a_failed_handshake") else { return };
    let (serve, url) = serve(&["--threads", "1"]);
    curl(&["-k", "-X", "POST", &format!("{url}/truth/reset")]);
    let plain = format!("http://{}/", serve.address());
    let outcome = Program::foreign("curl").expect("found").args(["-sS", "--max-time", "10", &plain]).run();
    assert!(!outcome.stdout.contains("Wavetank"), "{outcome}");
    assert_eq!(truth(&url)["handshakes"]["failed"], 1);
}

#[test]
fn wrk_and_the_truth_agree() {
    let Some([_, wrk]) = foreign(["curl", "wrk"], "wrk_and_the_truth_agree") else { return };
    let (_serve, url) = serve(&["--threads", "1"]);
    let outcome = wrk.args(["-t", "1", "-c", "16", "-d", "1s", &format!("{url}/bytes/100")]).run();
    outcome.expect_exit(0);
    assert!(!outcome.stdout.contains("Socket errors") && !outcome.stdout.contains("Non-2xx"), "{outcome}");
    let line = outcome.stdout.lines().find(|line| line.contains(" requests in ")).expect("its total");
    let done: u64 = line.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number");
    let truth = truth(&url);
    let seen = truth["paths"]["/bytes/100"].as_u64().expect("a count");
    // wrk ends with up to one request in flight on each connection.
    assert!((done..=done + 16).contains(&seen), "wrk {done}, truth {seen}");
    // wrk opens one connection more than requested as a check, and sends nothing on it.
    let full = truth["handshakes"]["full"].as_u64().expect("a count");
    assert!((16..=17).contains(&full), "{truth:#}");
}

#[test]
fn sessions_are_resumed_while_there_are_tickets() {
    let test = "sessions_are_resumed_while_there_are_tickets";
    let Some([_, openssl]) = foreign(["curl", "openssl"], test) else { return };
    let check = |words: &[&str], expected: (u64, u64)| {
        let (serve, url) = serve(words);
        let connect = serve.address().to_string();
        let client = ["s_client", "-connect", &connect, "-tls1_2", "-reconnect"];
        // Six connections: one full handshake, and five that resume its session.
        openssl.clone().args(client).input("").run().expect_exit(0);
        assert_eq!(handshakes(&url), expected, "{words:?}");
    };
    check(&[], (1, 5));
    check(&["--tls-no-tickets"], (6, 0));
}

/// Makes a self-signed certificate for localhost and its key.
fn identity(openssl: &Program, place: &TestDir, name: &str) -> [String; 2] {
    let [cert, key] = [place.file(&format!("{name}.pem")), place.file(&format!("{name}.key"))];
    let request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost";
    let names =
        ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE"];
    let outcome =
        openssl.clone().args(request.split(' ')).args(names).args(["-keyout", &key, "-out", &cert]).run();
    outcome.expect_exit(0);
    [cert, key]
}

#[test]
fn a_certificate_can_be_given_and_asked_for() {
    let test = "a_certificate_can_be_given_and_asked_for";
    let Some([_, openssl]) = foreign(["curl", "openssl"], test) else { return };
    let place = TestDir::new();
    let [cert, key] = identity(&openssl, &place, "server");
    let [client_cert, client_key] = identity(&openssl, &place, "client");
    let (_serve, url) = serve(&["--tls-cert", &cert, "--tls-key", &key, "--tls-client-ca", &client_cert]);
    let said = curl(&["--cacert", &cert, "--cert", &client_cert, "--key", &client_key, &url]);
    assert_eq!(said, "Wavetank OK\n");
    let words = ["-sS", "--http1.1", "--cacert", &cert, &url];
    let without = Program::foreign("curl").expect("found").args(words).run();
    assert!(without.stdout.is_empty() && without.stderr.contains("certificate required"), "{without}");
    // One file with both is accepted.
    let both = [&cert, &key].map(|name| std::fs::read_to_string(name).expect("just written")).concat();
    let both = place.write("both.pem", both);
    let (_other, url) = self::serve(&["--tls-cert", &both]);
    assert_eq!(curl(&["--cacert", &cert, &url]), "Wavetank OK\n");
}

/// Checks for one `error:` line with this text, a `hint:` line, exit 2, and no server.
#[track_caller]
fn check_refused(words: &[&str], expected: &str) -> Outcome {
    let listen = format!("127.0.0.1:{}", free_port());
    let outcome = wavetank().args(["serve", "--listen", &listen, "--tls"]).args(words).run();
    outcome.expect_exit(2);
    let lines = |prefix: &str| outcome.stderr.lines().filter(|line| line.starts_with(prefix)).count();
    assert_eq!((lines("error:"), lines("hint:")), (1, 1), "{outcome}");
    assert!(outcome.stderr.contains(expected), "`{expected}` is not mentioned: {outcome}");
    assert!(!outcome.stderr.contains("panicked") && outcome.stdout.is_empty(), "{outcome}");
    outcome
}

#[test]
fn names_are_those_that_run_knows() {
    let test = "names_are_those_that_run_knows";
    let Some([openssl]) = foreign(["openssl"], test) else { return };
    let (serve, _) =
        serve(&["--tls-groups", "curve25519:P-384", "--tls-ciphers", "TLS13_AES_256_GCM_SHA384"]);
    let connect = serve.address().to_string();
    let outcome = openssl.args(["s_client", "-connect", &connect]).input("").run();
    assert!(outcome.stdout.contains("Cipher is TLS_AES_256_GCM_SHA384"), "{outcome}");
    assert!(outcome.stdout.contains("X25519"), "{outcome}");
    let words = ["run", "--once", "--insecure", "--tls-groups", "curve25519"];
    let outcome = wavetank().args(words).args([format!("https://{connect}/")]).run();
    assert!(outcome.expect_exit(0).stdout.contains("X25519"), "{outcome}");
}

#[test]
fn what_cannot_be_is_said_with_a_hint() {
    let place = TestDir::new();
    let garbage = place.write("garbage.pem", "no certificate\n");
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let broken = place.write("broken.pem", broken);
    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let encrypted = place.write("encrypted.key", encrypted);
    check_refused(&["--tls-cert", &garbage], &format!("--tls-cert {garbage}: it is not PEM"));
    check_refused(&["--tls-cert", &broken], &format!("--tls-cert {broken} holds no private key"));
    let with_key = |key| ["--tls-cert", &broken, "--tls-key", key];
    check_refused(&with_key(&garbage), &format!("--tls-key {garbage}: it is not PEM"));
    check_refused(&with_key(&encrypted), &format!("--tls-key {encrypted}: the key in it is encrypted"));
    check_refused(&["--tls-client-ca", &garbage], &format!("--tls-client-ca {garbage}: it is not PEM"));
    check_refused(&["--tls-client-ca", &broken], "(--tls-client-ca) holds a malformed certificate");
    check_refused(&["--tls-groups", "P-521"], "--tls-groups: there is no TLS key exchange group `P-521`");
    check_refused(&["--tls-groups", "P-256:secp256r1"], "secp256r1 twice, as `P-256` and as `secp256r1`");
    check_refused(&["--tls-ciphers", "RC4-MD5"], "`RC4-MD5`");
    let mixed = ["--tls-versions", "1.3", "--tls-ciphers", "ECDHE-RSA-AES128-GCM-SHA256"];
    check_refused(&mixed, "and --tls-versions 1.3 excludes it");
    // The generated certificate has an ECDSA key.
    let rsa_only = ["--tls-versions", "1.2", "--tls-ciphers", "ECDHE-RSA-AES128-GCM-SHA256"];
    check_refused(&rsa_only, "has an ECDSA key, and none of the ciphers goes with it");
    check_refused(&["--tls-versions", "1.2", "--tls-groups", "MLKEM768"], "do not go together");
    let unwritten = check_refused(&["--tls-cert-out", "/no/such/folder/ca.pem"], "--tls-cert-out /no/such");
    assert!(!unwritten.stderr.contains("os error"), "{unwritten}");
    let Some([openssl]) = foreign(["openssl"], "what_cannot_be_is_said_with_a_hint") else { return };
    let [cert, _] = identity(&openssl, &place, "one");
    let [_, key] = identity(&openssl, &place, "other");
    check_refused(&["--tls-cert", &cert, "--tls-key", &key], "key (--tls-key) does not belong");
    check_refused(&["--tls-cert", &broken, "--tls-key", &key], "malformed");
}
