//! nginx with TLS, and its log of each request.

use wavetank_testkit::{Nginx, Outcome, Program, RunHarness, RunResult, TestDir};

use super::certificates;

/// The fields that nginx logs for a request, separated by spaces.
const LOG: &str = "$ssl_protocol $ssl_cipher $ssl_session_reused $ssl_server_name $ssl_curve $connection $ssl_client_verify";

/// One request as nginx saw it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) protocol: String,
    pub(crate) cipher: String,
    pub(crate) reused: bool,
    /// The name in the handshake; `-` for none.
    pub(crate) name: String,
    pub(crate) curve: String,
    pub(crate) connection: u64,
    /// `SUCCESS`, `NONE` or `FAILED:…`.
    pub(crate) client: String,
}

/// nginx with TLS and a folder of certificates, together with the program under test.
pub(crate) struct Server {
    nginx: Nginx,
    trial: RunHarness,
}

impl Server {
    /// Starts it with the certificate `own` of [`certificates`] and the additional `settings`. By
    /// default it has both versions of TLS, a session cache and tickets. Returns `None` and records
    /// a skip without nginx.
    pub(crate) fn start(test: &str, own: &str, settings: &str) -> Option<Self> {
        let place = TestDir::new();
        certificates::write_all(&place);
        let versions = if settings.contains("ssl_protocols") { "" } else { "ssl_protocols TLSv1.2 TLSv1.3;" };
        let server = format!(
            "listen LISTEN ssl; server_name shop.example;\n\
             ssl_certificate {own}.pem; ssl_certificate_key {own}.key;\n\
             {versions} ssl_session_cache shared:sessions:1m;\n\
             {settings}\n\
             location / {{ return 200 hello; }}"
        );
        let nginx = Nginx::start(test, place, LOG, &server)?;
        Some(Self { nginx, trial: RunHarness::new(env!("CARGO_BIN_EXE_wavetank")) })
    }

    pub(crate) fn trial(&self) -> &RunHarness {
        &self.trial
    }

    /// `https://127.0.0.1:PORT/`.
    pub(crate) fn url(&self) -> String {
        format!("https://{}/", self.nginx.address())
    }

    pub(crate) fn port(&self) -> u16 {
        self.nginx.address().port()
    }

    /// Returns the path of a file in its folder.
    pub(crate) fn file(&self, name: &str) -> String {
        self.nginx.place().file(name)
    }

    /// Returns the program with `run URL WORDS`. In `WORDS`, `@NAME` is a file of the folder.
    pub(crate) fn program(&self, url: &str, words: &str) -> Program {
        let word = |word: &str| word.strip_prefix('@').map_or(word.to_owned(), |name| self.file(name));
        self.trial.program().args(["run", url]).args(words.split_whitespace().map(word))
    }

    /// Returns the program for a load on its own URL, with its CA and JSON output.
    pub(crate) fn load(&self, words: &str) -> Program {
        self.program(&self.url(), &format!("--cacert @ca.pem --format json {words}"))
    }

    /// Runs it, checks what must hold in each run, and returns the requests that nginx saw,
    /// including the probe.
    #[track_caller]
    pub(crate) fn run(&self, words: &str) -> (RunResult, Vec<Seen>) {
        self.nginx.forget();
        let outcome = self.load(words).run();
        self.checked(&outcome)
    }

    /// The checks of [`run`](Self::run) on the outcome of a program.
    #[track_caller]
    pub(crate) fn checked(&self, outcome: &Outcome) -> (RunResult, Vec<Seen>) {
        let result = outcome.expect_exit(0).result();
        result.conserved();
        secured(&result);
        let seen = self.seen(result.sent_total());
        (result, seen)
    }

    /// Returns the requests in the log of nginx, of which there must be `requests`.
    #[track_caller]
    pub(crate) fn seen(&self, requests: u64) -> Vec<Seen> {
        self.nginx.log(requests).iter().map(|line| seen(line)).collect()
    }

    pub(crate) fn forget(&self) {
        self.nginx.forget();
    }
}

fn seen(line: &str) -> Seen {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [protocol, cipher, reused, name, curve, connection, client] = words[..] else {
        panic!("not as it was asked for: {line}")
    };
    assert!(["r", "."].contains(&reused), "{line}");
    Seen {
        protocol: protocol.to_owned(),
        cipher: cipher.to_owned(),
        reused: reused == "r",
        name: name.to_owned(),
        curve: curve.to_owned(),
        connection: connection.parse().expect("a number"),
        client: client.to_owned(),
    }
}

/// Checks that every opened connection had one connect and one handshake, each counted under its
/// negotiated parameters.
#[track_caller]
fn secured(result: &RunResult) {
    let handshakes = result.count("tls.handshakes");
    assert_eq!(handshakes, result.count("connections.opened"), "{result}");
    if result.at("warmup.requests").is_null() {
        assert_eq!(result.count("tls_us.count"), handshakes, "{result}");
        assert!(result.count("connect_us.count") >= handshakes, "{result}");
    }
    for what in ["version", "cipher", "alpn"] {
        assert_eq!(sum(result, &format!("tls.{what}")), handshakes, "{what}: {result}");
    }
}

/// Returns the sum of a map of counts.
#[track_caller]
pub(crate) fn sum(result: &RunResult, path: &str) -> u64 {
    let map = result.at(path).as_object().unwrap_or_else(|| panic!("no map at {path}: {result}"));
    map.values().filter_map(serde_json::Value::as_u64).sum()
}
