//! Metrics in the real Prometheus: scraped, by remote write and by OTLP. OTLP and line protocol as
//! published libraries read them. A receiver with TLS.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{
    Program, RunHarness, Running, Script, Serve, Target, TestDir, free_port, poll_until, skip,
};

use crate::metrics_support::{Counters, counters_of_text, get};

/// A running Prometheus.
struct Prometheus {
    _running: Running,
    _place: TestDir,
    port: u16,
}

impl Prometheus {
    /// Starts it; it scrapes this port of the loopback each second. `None` if the program is
    /// missing.
    fn start(scraped: u16) -> Option<Self> {
        let program = Program::foreign("prometheus")?;
        let (place, port) = (TestDir::new(), free_port());
        let config = format!(
            "global: {{scrape_interval: 1s, scrape_timeout: 1s}}\n\
             scrape_configs:\n- job_name: scraped\n  static_configs: [{{targets: ['127.0.0.1:{scraped}']}}]\n"
        );
        let file = place.write("prometheus.yml", &config);
        let words = [
            format!("--config.file={file}"),
            format!("--storage.tsdb.path={}", place.file("data")),
            format!("--web.listen-address=127.0.0.1:{port}"),
            "--web.enable-remote-write-receiver".to_owned(),
            "--enable-feature=otlp-write-receiver".to_owned(),
        ];
        let running = program.args(words).start();
        let ready = poll_until(Duration::from_mins(1), || get(port, "/-/ready"));
        assert!(ready.is_some(), "{}", running.stderr());
        // It begins to scrape some seconds after its start.
        let scrapes = || {
            get(port, "/api/v1/targets").filter(|targets| targets.contains("\"lastScrape\":\"2")).map(drop)
        };
        assert!(poll_until(Duration::from_mins(1), scrapes).is_some(), "{}", running.stderr());
        Some(Self { _running: running, _place: place, port })
    }

    /// The highest values of all series of the run with `filter`, which are those of the end for
    /// counters.
    fn counters(&self, filter: &str) -> Counters {
        // `max_over_time` removes the names, so each name is asked for.
        let names = self.ask("/api/v1/label/__name__/values");
        let names: BTreeSet<String> = names["data"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .filter(|name| name.starts_with("wavetank_") && !name.ends_with("_bucket"))
            .collect();
        let mut counters = Counters::default();
        for name in names {
            let query = format!("max_over_time({name}{{{filter}}}[10m])");
            let encoded = query.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
            let answer = self.ask(&format!("/api/v1/query?query={encoded}"));
            for series in answer["data"]["result"].as_array().into_iter().flatten() {
                let labels = series["metric"].as_object().expect("labels");
                let value = series["value"][1].as_str().and_then(|text| text.parse().ok()).expect("a value");
                counters.add(&name, labels.values().filter_map(Value::as_str), value);
            }
        }
        counters
    }

    /// Whether it has an endpoint for OTLP, which it has since version 2.47.
    fn takes_otlp(&self) -> bool {
        let version = self.ask("/api/v1/status/buildinfo");
        let version = version["data"]["version"].as_str().unwrap_or_default().to_owned();
        let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        (parts.next(), parts.next()) >= (Some(2), Some(47))
    }

    fn ask(&self, path: &str) -> Value {
        let text = poll_until(Duration::from_secs(30), || get(self.port, path)).expect("it answers");
        // The body may be chunked: the object is between the first and the last brace.
        let (from, to) = (text.find('{').unwrap_or(0), text.rfind('}').map_or(0, |at| at + 1));
        serde_json::from_str(&text[from..to]).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

#[test]
fn prometheus_has_the_counts_of_the_result() {
    let name = "prometheus_has_the_counts_of_the_result";
    let scraped = free_port();
    let Some(prometheus) = Prometheus::start(scraped) else { return skip(name, "no prometheus") };
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let target = Target::start(Script::constant(Duration::from_millis(3)));
    let load = ["-r", "200/s", "-d", "4s", "--warmup", "500ms", "--metrics"];
    let run = |place: &str| {
        let outcome = trial.load(&target.url("/"), load.iter().chain(&[place])).run();
        assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
        assert!(!outcome.stderr.contains("metrics to"), "{outcome}");
        outcome.json()
    };
    let check = |result: &Value| {
        let filter = format!("run=\"{}\"", result["id"].as_str().expect("an id"));
        prometheus.counters(&filter).expect_equal(result);
    };
    check(&run(&format!("prometheus=127.0.0.1:{scraped}")));
    check(&run(&format!("prometheus-write=http://127.0.0.1:{}", prometheus.port)));
    if prometheus.takes_otlp() {
        for kind in ["otlp", "otlp-proto"] {
            check(&run(&format!("{kind}=http://127.0.0.1:{}/api/v1/otlp/v1/metrics", prometheus.port)));
        }
    } else {
        skip(&format!("{name}, OTLP"), "this prometheus is older than 2.47");
    }
}

/// What [`RECEIVER`] imports, which are packages of the Python Package Index.
const RECEIVER_NEEDS: &str = "import google.protobuf, line_protocol_parser, opentelemetry.proto";
const RECEIVER: &str = include_str!("metrics_receiver.py");

/// Each receiver reads its format strictly: unknown fields and malformed lines are problems.
#[test]
fn published_libraries_read_the_counts_of_the_result() {
    let name = "published_libraries_read_the_counts_of_the_result";
    let Some(python) = Program::foreign("python3") else { return skip(name, "python3 is not installed") };
    if python.clone().args(["-c", RECEIVER_NEEDS]).run().exit != Some(0) {
        return skip(name, "python3 has no opentelemetry-proto or line-protocol-parser");
    }
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let target = Target::start(Script::constant(Duration::from_millis(3)));
    for (kind, path) in [("otlp", ""), ("otlp-proto", ""), ("influx", "/load")] {
        let place = TestDir::new();
        let (script, ready) = (place.write("receiver.py", RECEIVER), place.file("port"));
        let receiver = python.clone().args([script.as_str(), &ready]).start();
        let port = poll_until(Duration::from_mins(1), || {
            std::fs::read_to_string(&ready).ok()?.strip_suffix('\n')?.parse::<u16>().ok()
        });
        let Some(port) = port else { panic!("the receiver does not start: {}", receiver.stderr()) };
        let output = format!("{kind}=http://127.0.0.1:{port}{path}");
        let load = ["-r", "200/s", "-d", "2s", "--warmup", "500ms", "--metrics", &output];
        let outcome = trial.load(&target.url("/"), load).run();
        assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
        assert!(!outcome.stderr.contains("metrics to"), "{outcome}");
        assert_eq!(get(port, "/problems").as_deref(), Some(""), "{kind}");
        let counters = get(port, "/counters").expect("the receiver answers");
        counters_of_text(&counters).expect_equal(&outcome.json());
    }
}

/// The receiver is `wavetank serve --tls`, which accepts anything.
#[test]
fn an_https_receiver_needs_a_trusted_certificate() {
    let program = || Program::new(env!("CARGO_BIN_EXE_wavetank"));
    let (place, target) = (TestDir::new(), Target::start(Script::constant(Duration::from_millis(3))));
    let ca = place.file("ca.pem");
    let serve = Serve::start(&program(), &["--any", "--tls", "--tls-cert-out", &ca]);
    let output = format!("otlp=https://{}", serve.address());
    let run = || {
        let load = ["run", &target.url("/"), "-r", "50/s", "-d", "1s", "--no-archive", "--metrics", &output];
        program().args(load)
    };
    let trusted = run().environment("SSL_CERT_FILE", &ca).run();
    assert!(matches!(trusted.exit, Some(0 | 3)), "{trusted}");
    assert!(!trusted.stderr.contains("metrics to"), "{trusted}");
    let unknown = run().run();
    assert!(matches!(unknown.exit, Some(0 | 3)), "{unknown}");
    // Reported while it runs or, if its outputs were late, at its end.
    let said = |line: &str| line.contains("metrics to") && line.contains("invalid peer certificate");
    assert!(unknown.stderr.lines().any(said), "{unknown}");
}
