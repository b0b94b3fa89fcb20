//! The load and the built-in server, each with its own count of handshakes.

use serde_json::Value;
use wavetank_testkit::{Outcome, Program, RunHarness, Serve, TestDir};

use super::certificates;

/// `wavetank serve --tls WORDS` and its URL; `@NAME` is a file of the folder.
struct Ours {
    serve: Serve,
    place: TestDir,
    trial: RunHarness,
}

impl Ours {
    fn start(words: &str) -> Self {
        let place = TestDir::new();
        certificates::write_all(&place);
        let own = "--tls --tls-cert @good.pem --tls-key @good.key";
        let words = files(&place, &format!("{own} {words}"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank"));
        let serve = Serve::start(&program, &words);
        Self { serve, place, trial: RunHarness::new(env!("CARGO_BIN_EXE_wavetank")) }
    }

    fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://{}{path}", self.serve.address())
    }

    fn run(&self, words: &str) -> Outcome {
        let words = files(&self.place, &format!("--cacert @ca.pem --format json {words}"));
        self.trial.program().args(["run", &self.url("https", "/bytes/64")]).args(words).run()
    }

    /// Returns the server's counts, read with one request that is not counted. `words` are the
    /// arguments that its clients need.
    fn truth(&self, words: &str) -> Value {
        let words = files(&self.place, &format!("--insecure --once --connect-timeout 60s {words}"));
        let outcome = self.trial.program().args(["run", &self.url("https", "/truth")]).args(words).run();
        outcome.expect_exit(0);
        let from = outcome.stdout.find("\n{").unwrap_or_else(|| panic!("no JSON in {outcome}"));
        serde_json::from_str(&outcome.stdout[from..]).unwrap_or_else(|error| panic!("{error}: {outcome}"))
    }
}

fn files(place: &TestDir, words: &str) -> Vec<String> {
    let word = |word: &str| word.strip_prefix('@').map_or(word.to_owned(), |name| place.file(name));
    words.split_whitespace().map(word).collect()
}

#[test]
fn both_sides_count_alike() {
    for (words, handshakes, full) in [
        ("-c 4 -n 400", 4, 4..=4),
        ("-c 3 -n 60 --no-keepalive --threads 1", 60, 60..=60),
        ("-c 3 -n 60 --no-keepalive --threads 1 --tls-resume user", 60, 3..=3),
        ("-c 3 -n 60 --no-keepalive --threads 1 --tls-resume shared", 60, 1..=3),
        ("-c 3 -n 60 --no-keepalive --threads 2 --tls 1.2 --tls-resume user", 60, 3..=3),
        ("-r 300/s -d 1s --no-keepalive --tls-resume shared", 300, 1..=300),
    ] {
        let ours = Ours::start("--threads 1");
        let outcome = ours.run(words);
        let result = outcome.expect_exit(0).result();
        result.conserved();
        let truth = ours.truth("");
        let seen = |name: &str| truth["handshakes"][name].as_u64().expect("a count");
        assert_eq!(truth["paths"]["/bytes/64"], result.sent_total(), "{words}: {result}");
        assert_eq!(result.count("tls.handshakes"), handshakes, "{words}: {result}");
        assert_eq!(result.count("tls.resumed"), seen("resumed"), "{words}: {truth}");
        // The probe has completed a full handshake as well.
        assert_eq!(handshakes - result.count("tls.resumed") + 1, seen("full"), "{words}: {truth}");
        // The check whether the server accepts closes immediately, perhaps before the server
        // handles its connection.
        assert!(seen("failed") <= 1, "{words}: {truth}");
        assert!(full.contains(&(seen("full") - 1)), "{words}: {truth}");
    }
}

#[test]
fn a_server_without_tickets_gets_full_handshakes_only() {
    let ours = Ours::start("--threads 1 --tls-no-tickets");
    let result = ours.run("-c 2 -n 20 --no-keepalive --tls-resume user").expect_exit(0).result();
    assert_eq!(result.count("tls.resumed"), 0, "{result}");
    assert_eq!(ours.truth("")["handshakes"]["full"], 21);
}

#[test]
fn a_client_certificate_is_asked_for() {
    let ours = Ours::start("--threads 1 --tls-client-ca @ca.pem");
    let own = "--cert @client.pem --key @client.key";
    let result = ours.run(&format!("-c 2 -n 20 {own}")).expect_exit(0).result();
    assert_eq!(result.count("requests.done"), 20, "{result}");
    for words in ["--tls 1.3", "--tls 1.2"] {
        let missing = ours.run(&format!("-c 2 -n 20 {words}"));
        let result = missing.expect_exit(1).result();
        assert!(result.at("findings").to_string().contains("--cert FILE --key FILE"), "{words}: {result}");
        assert_eq!(result.text("verdict.blame"), "target", "{words}: {result}");
    }
    assert!(ours.truth(own)["handshakes"]["failed"].as_u64() >= Some(1));
}

#[test]
fn one_of_two_schemes_is_wrong() {
    let ours = Ours::start("--threads 1");
    let plain = ours.trial.load(&ours.url("http", "/"), ["-n", "3"]).run();
    let result = plain.expect_exit(1).result();
    assert!(result.text("probe.error").contains("speaks TLS, not plain HTTP"), "{result}");
    assert!(result.at("findings").to_string().contains("https:// instead of http://"), "{result}");

    let serve = Serve::start(&Program::new(env!("CARGO_BIN_EXE_wavetank")), &[]);
    let url = format!("https://{}/", serve.address());
    let result = ours.trial.load(&url, ["-n", "3"]).run().expect_exit(1).result();
    assert!(result.text("probe.error").contains("does not speak TLS"), "{result}");
    assert!(result.at("findings").to_string().contains("http:// URL"), "{result}");
}

/// A private key is never sent and never written: it is in no archive, in no result and in no
/// error.
#[test]
fn a_key_is_in_no_artefact() {
    let ours = Ours::start("--threads 1 --tls-client-ca @ca.pem");
    let key = std::fs::read_to_string(ours.place.file("client.key")).expect("a key");
    let secrets: Vec<&str> = key.lines().filter(|line| !line.starts_with("-----")).collect();
    assert!(!secrets.is_empty() && secrets.iter().all(|line| line.len() > 8), "{secrets:?}");
    let own = "--cert @client.pem --key @client.key";
    let outcomes = [
        ours.run(&format!("-c 2 -n 20 {own}")),
        ours.run("-c 2 -n 20 --cert @client.both.pem"),
        ours.run(&format!("-n 20 {own} --tls-groups nonsense")),
        ours.run("-n 20 --cert @client.both.pem --key @client.key"),
        ours.run("-n 20 --cert @client.key --key @client.pem"),
        ours.run("-n 20 --cert @good.pem --key @client.key"),
        ours.run("-n 20 --cacert @client.key"),
        ours.trial.program().args(["report", "latest", "--format", "json"]).run(),
    ];
    assert_eq!(outcomes.each_ref().map(|outcome| outcome.exit), [0, 0, 2, 2, 2, 2, 2, 0].map(Some));
    let mut looked_at = 0;
    for path in ours.trial.place().all_files() {
        looked_at += 1;
        let text =
            String::from_utf8_lossy(&std::fs::read(&path).expect("an artefact can be read")).into_owned();
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "the key is in {}", path.display());
    }
    assert!(looked_at >= 10, "two archives have more than {looked_at} files");
    for outcome in &outcomes {
        let reported = |text: &str| secrets.iter().any(|secret| text.contains(secret));
        assert!(!reported(&outcome.stdout) && !reported(&outcome.stderr), "the key is printed: {outcome}");
    }
}
