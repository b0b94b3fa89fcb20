//! Values of `--metrics`.

use wavetank_metrics::{OutputSpec, redact_output};

/// `text` is read as an output with this label.
#[track_caller]
fn check(text: &str, label: &str) -> OutputSpec {
    let spec = OutputSpec::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(spec.label(), label, "{text}");
    spec
}

/// The URL that `text` leads to.
fn url(text: &str) -> String {
    match OutputSpec::parse(text) {
        Ok(
            OutputSpec::PrometheusWrite(receiver)
            | OutputSpec::Otlp(receiver)
            | OutputSpec::OtlpProto(receiver)
            | OutputSpec::Influx(receiver),
        ) => receiver.url.to_string(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn outputs_are_read() {
    check("prometheus=:9464", "prometheus 127.0.0.1:9464");
    check("prometheus=9464", "prometheus 127.0.0.1:9464");
    check("prometheus=0.0.0.0:9464", "prometheus 0.0.0.0:9464");
    check("prometheus=[::1]:9464", "prometheus [::1]:9464");
    check("statsd=host:8125", "statsd host:8125");
    check("statsd=udp://[::1]:8125", "statsd [::1]:8125");
    check("influx=udp://127.0.0.1:8089", "influx udp://127.0.0.1:8089");
    check("json=a=b.jsonl", "json a=b.jsonl");
    assert!(check("json=-", "json -").uses_stdout());
}

#[test]
fn an_empty_path_becomes_the_usual_one() {
    for (text, found) in [
        ("prometheus-write=http://h:9090", "http://h:9090/api/v1/write"),
        ("prometheus-write=http://h:9009/api/v1/push", "http://h:9009/api/v1/push"),
        ("otlp=https://h:4318/", "https://h:4318/v1/metrics"),
        ("otlp-proto=http://h:4318", "http://h:4318/v1/metrics"),
        ("otlp=http://h/api/v1/otlp/v1/metrics", "http://h/api/v1/otlp/v1/metrics"),
        ("influx=http://h:8086/load", "http://h:8086/write?db=load"),
        ("influx=http://h:8086?db=load&rp=week", "http://h:8086/write?db=load&rp=week"),
        ("influx=http://h:8086/?org=me&bucket=load", "http://h:8086/api/v2/write?org=me&bucket=load"),
        ("influx=http://h/api/v2/write?bucket=b", "http://h/api/v2/write?bucket=b"),
    ] {
        assert_eq!(url(text), found, "{text}");
    }
}

#[test]
fn wrong_values_are_refused_without_their_password() {
    for text in [
        "9464",
        "prometheus=",
        "prometheus=localhost",
        "prometheus=:0",
        "prometheus=:99999",
        "prometheus=::1:9464",
        "statsd=:8125",
        "statsd=a/b:8125",
        "graphite=h:2003",
        "otlp=h:4318",
        "otlp-proto=h:4318",
        "otlp=ftp://me:pass%2Fword@h/",
        "otlp=http://me:secret@h/#x",
        "influx=http://me:secret@h:8086",
        "influx=http://h:8086/a/b?p=secret",
        "influx=http://me:sec/ret@h:8086/a/b",
    ] {
        let error = OutputSpec::parse(text).expect_err(text);
        assert_eq!(error.code, "metrics_output", "{text}");
        for secret in ["secret", "word", "ret@"] {
            assert!(!error.to_string().contains(secret), "{text}: {error}");
        }
        assert!(!error.hint.is_empty(), "{text}");
    }
}

#[test]
fn secrets_are_not_shown() {
    for (text, shown) in [
        ("otlp=https://me:pass@h/x", "otlp=https://***@h/x"),
        ("influx=http://h/db?u=me&p=pass&rp=week", "influx=http://h/db?u=***&p=***&rp=week"),
        ("otlp=http://me:pa@ss@h/x", "otlp=http://***@h/x"),
        ("otlp=http://me:pa?s/s@h/x", "otlp=http://***@h/x"),
        ("prometheus=:9464", "prometheus=:9464"),
        ("json=a", "json=a"),
    ] {
        assert_eq!(redact_output(text), shown);
    }
    let spec = OutputSpec::parse("otlp=https://me:p%40ss@h/x").expect("a valid value");
    assert_eq!(spec.label(), "otlp https://h/x");
    assert!(!format!("{spec:?}").contains("40ss") && !format!("{spec:?}").contains("@ss"), "{spec:?}");
    let OutputSpec::Otlp(receiver) = spec else { panic!("OTLP") };
    let (user, password) = receiver.credentials.expect("there are some");
    assert_eq!((user.reveal(), password.reveal()), ("me", "p@ss"));
}
