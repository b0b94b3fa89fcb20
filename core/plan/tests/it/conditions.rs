//! Tables of conditions: what is read, and what a wrong one is answered.

use wavetank_plan::{Condition, HostGauge, LatencyPart, Op, RequestCounter, Subject, Value};
use wavetank_units::{ExitCode, Nanos};

/// Reads `text` and compares subject, comparison and value.
fn check(text: &str, subject: &Subject, op: Op, value: Value) {
    let condition = Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(&condition.subject, subject, "{text}");
    assert_eq!(condition.op, op, "{text}");
    assert_eq!(condition.value, value, "{text}");
    assert_eq!(condition.text, text.split_whitespace().collect::<Vec<_>>().join(" "));
}

fn ms(millis: i64) -> Value {
    Value::Time(Nanos::from_millis(millis))
}

#[test]
fn times() {
    let step = |name: &str| Some(name.to_owned());
    check("p99 < 250ms", &Subject::Percentile(99.0, LatencyPart::Response, None), Op::Less, ms(250));
    check("p99.99<=1s", &Subject::Percentile(99.99, LatencyPart::Response, None), Op::LessEqual, ms(1_000));
    check("p50(connect) < 1s", &Subject::Percentile(50.0, LatencyPart::Connect, None), Op::Less, ms(1_000));
    check(
        "p95(buy) < 1s",
        &Subject::Percentile(95.0, LatencyPart::Response, step("buy")),
        Op::Less,
        ms(1_000),
    );
    check(
        "p95(buy.service) < 1s",
        &Subject::Percentile(95.0, LatencyPart::Service, step("buy")),
        Op::Less,
        ms(1_000),
    );
    check(
        "p99(GET /a=b) < 1s",
        &Subject::Percentile(99.0, LatencyPart::Response, step("GET /a=b")),
        Op::Less,
        ms(1_000),
    );
    check("max(lag) <= 1ms", &Subject::Max(LatencyPart::Lag, None), Op::LessEqual, ms(1));
    check("mean(failed) > 2 ms", &Subject::Mean(LatencyPart::Failed, None), Op::Greater, ms(2));
    check("min(wait) >= 0s", &Subject::Min(LatencyPart::Wait, None), Op::GreaterEqual, ms(0));
    for (name, part) in
        [("tls", LatencyPart::Tls), ("ttfb", LatencyPart::Ttfb), ("transfer", LatencyPart::Transfer)]
    {
        check(&format!("max({name}) < 1s"), &Subject::Max(part, None), Op::Less, ms(1_000));
    }
}

#[test]
fn counts_shares_and_rates() {
    let requests = |count| Subject::Requests(count, None);
    check("done > 0", &requests(RequestCounter::Done), Op::Greater, Value::Count(0.0));
    check("failed < 1%", &requests(RequestCounter::Failed), Op::Less, Value::Share(0.01));
    check("failed = 0", &requests(RequestCounter::Failed), Op::Equal, Value::Count(0.0));
    check("dropped != 5k", &requests(RequestCounter::Dropped), Op::NotEqual, Value::Count(5_000.0));
    check("late<0.1%", &requests(RequestCounter::Late), Op::Less, Value::Share(0.001));
    check("offered >= 1M", &requests(RequestCounter::Offered), Op::GreaterEqual, Value::Count(1e6));
    check("done_rate > 1M/s", &requests(RequestCounter::Done), Op::Greater, Value::PerSecond(1e6));
    check("sent_rate > 60/min", &requests(RequestCounter::Sent), Op::Greater, Value::PerSecond(1.0));
    let buy = Subject::Requests(RequestCounter::Done, Some("buy".to_owned()));
    check("done_rate(buy) > 5/s", &buy, Op::Greater, Value::PerSecond(5.0));
    check("errors(reset) = 0", &Subject::Errors("reset".to_owned()), Op::Equal, Value::Count(0.0));
    check("status(503) < 0.5%", &Subject::Status(503), Op::Less, Value::Share(0.005));
    check("opened > 0", &Subject::Opened, Op::Greater, Value::Count(0.0));
    check("connections  failed < 1%", &Subject::ConnectionsFailed, Op::Less, Value::Share(0.01));
    check("users <= 10k", &Subject::Users, Op::LessEqual, Value::Count(10_000.0));
    check("in_flight >= 990k", &Subject::InFlight, Op::GreaterEqual, Value::Count(990_000.0));
    check("held >= 1M", &Subject::Held, Op::GreaterEqual, Value::Count(1e6));
    check("lost < 5.5%", &Subject::Lost, Op::Less, Value::Share(0.055));
}

#[test]
fn names_and_hosts() {
    let name = |name: &str| name.to_owned();
    check("check(fresh) = 0", &Subject::Check(name("fresh")), Op::Equal, Value::Count(0.0));
    check("count(sold) <= 1k", &Subject::Count(name("sold")), Op::LessEqual, Value::Count(1_000.0));
    check("skew(doors) < 200ms", &Subject::Skew(name("doors")), Op::Less, ms(200));
    let host = |gauge| Subject::Host(gauge, name("lb1"));
    check("cpu(lb1) < 96%", &host(HostGauge::Cpu), Op::Less, Value::Share(0.96));
    check("memory(lb1) < 12GB", &host(HostGauge::Memory), Op::Less, Value::Bytes(12e9));
    check("swap(lb1) = 0", &host(HostGauge::Swap), Op::Equal, Value::Bytes(0.0));
    check("established(lb1) >= 2M", &host(HostGauge::Established), Op::GreaterEqual, Value::Count(2e6));
    check("net_out(lb1) < 9Gbit/s", &host(HostGauge::NetOut), Op::Less, Value::BitsPerSecond(9e9));
    let pattern = Subject::Host(HostGauge::HottestCore, name("app[01-20]"));
    check("hottest_core(app[01-20]) < 90%", &pattern, Op::Less, Value::Share(0.9));
}

#[test]
fn scaled_with_the_run() {
    for (text, scaled) in [
        ("held >= 1M in keep", "held >= 1000 in keep"),
        ("done_rate > 1M/s for 10s", "done_rate > 1000/s for 10s"),
        ("lost <  999", "lost < 1"),
        ("failed = 0", "failed = 0"),
        ("failed < 0.1%", "failed < 0.1%"),
        ("p99(a = b) < 1s", "p99(a = b) < 1s"),
        ("status(503) <= 5k", "status(503) <= 5"),
        ("memory(lb1) < 12GB", "memory(lb1) < 12GB"),
    ] {
        let condition = Condition::parse(text).unwrap().scaled(1, 1_000);
        assert_eq!(condition.text, scaled);
        assert_eq!(condition, Condition::parse(scaled).unwrap());
    }
}

#[test]
fn phases_and_windows() {
    for (text, phase, window) in [
        ("p99 < 1s", None, None),
        ("p99 < 1s in main", Some("main"), None),
        ("p99 < 1s for 10s", None, Some(10)),
        ("p99 < 1s in keep for 1m", Some("keep"), Some(60)),
        ("p99 < 1s for 10s in keep", Some("keep"), Some(10)),
    ] {
        let condition = Condition::parse(text).unwrap();
        assert_eq!(condition.phase.as_deref(), phase, "{text}");
        assert_eq!(condition.window, window.map(Nanos::from_secs), "{text}");
    }
}

#[test]
fn wrong_ones_suggest_the_intended_one() {
    let table: &[(&str, &str, &str, &str)] = &[
        ("", "condition_empty", "empty", "p99 < 250ms"),
        ("!= 500", "condition_subject", "no subject", "a condition starts with its subject"),
        ("p99", "condition_op", "no comparison", "SUBJECT OP VALUE"),
        ("p99 250ms", "condition_op", "no comparison", "p99 < 250ms?"),
        ("p99 == 1s", "condition_op", "`==`", "=?"),
        ("p99 =< 1s", "condition_op", "`=<`", "<=?"),
        ("p99 ≤ 1s", "condition_op", "`≤`", "<=?"),
        ("failed <> 0", "condition_op", "`<>`", "!=?"),
        ("body contains ok", "condition_op", "compares text", "numbers"),
        ("p99(connect < 1s", "condition_subject", "unclosed", "close the parenthesis"),
        ("p99(connect)x < 1s", "condition_subject", "misplaced parenthesis", "ends with its parenthesis"),
        ("p99() < 1s", "condition_subject", "empty parentheses", "name what it is about"),
        ("p99 <", "condition_value", "nothing follows", "250ms"),
        ("p99 < 250", "unit_missing", "needs a unit", "250ms? or 250s?"),
        ("p99 < 1%", "condition_value", "not a time", "250ms"),
        ("p99 < 1M", "unit_unknown", "not a unit of time", "M is a million"),
        ("p99 < 1s to 3s", "condition_value", "more than one value", "one condition for each"),
        ("status(200) = 1 or 2", "condition_value", "more than one value", "one condition for each"),
        ("p99 < 0s", "condition_value", "can never be true", "nothing is below zero"),
        ("failed < 0", "condition_value", "can never be true", "= 0"),
        ("failed < 1m", "unit_unknown", "not a unit of a count", "1m is one minute; 1M is a million"),
        ("failed < 101%", "overflow", "more than 100%", "0% to 100%"),
        ("failed < 5/s", "condition_value", "this is a count", "failed_rate"),
        ("done_rate > 1000", "unit_missing", "needs a unit", "1000/s?"),
        ("done_rate > 1%", "condition_value", "not a rate", "1k/s"),
        ("offered > 99%", "condition_value", "not a count", "10k"),
        ("held > 99%", "condition_value", "not a count", "10k"),
        ("latency < 1s", "condition_subject", "`latency`", "p99"),
        ("fialed < 1%", "condition_subject", "`fialed`", "failed?"),
        ("xyzzy < 1%", "condition_subject", "`xyzzy`", "times: p50"),
        ("p999 < 1s", "condition_subject", "not a percentile", "p99.9"),
        ("p99_9 < 1s", "condition_subject", "not a percentile", "p99.9"),
        ("P99 < 1s", "condition_subject", "not a percentile", "p99"),
        ("p100 < 1s", "condition_subject", "not a percentile", "max"),
        ("p0 < 1s", "condition_subject", "not a percentile", "min"),
        ("p9e1 < 1s", "condition_subject", "not a percentile", "p50"),
        ("errors = 0", "condition_subject", "needs a class", "failed"),
        ("errors(timeout) = 0", "condition_subject", "\"timeout\"", "request_timeout"),
        ("errors(no_file) = 0", "condition_subject", "\"no_file\"", "no_files?"),
        ("status = 500", "condition_subject", "needs a code", "status(500)"),
        ("status(5xx) = 0", "condition_subject", "not a status code", "three digits"),
        ("users(buy) > 5", "condition_subject", "no parentheses", "in PHASE"),
        ("p99 < 1s in", "condition_tail", "nothing follows `in`", "in main"),
        ("p99 < 1s for", "condition_tail", "nothing follows `for`", "for 10s"),
        ("p99 < 1s for 10", "unit_missing", "needs a unit", "10s?"),
        ("p99 < 1s for 1.5s", "condition_window", "whole seconds", "for 10s"),
        ("p99 < 1s in a in b", "condition_tail", "`in` is unexpected", "SUBJECT OP VALUE"),
        ("p99 < 1s in main please", "condition_tail", "`please`", "SUBJECT OP VALUE"),
    ];
    refused(table);
}

#[test]
fn terms_of_other_tools_are_translated() {
    refused(&[
        ("avg < 1s", "condition_subject", "`avg`", "mean"),
        ("rps > 1k/s", "condition_subject", "`rps`", "done_rate"),
        ("error_rate < 1%", "condition_subject", "`error_rate`", "failed < 1%"),
        ("p(95)<500", "condition_subject", "`p`", "p95 < 500ms?"),
        ("p(99.9) < 1.5s in main", "condition_subject", "`p`", "p99.9 < 1.5s in main?"),
        ("http_req_duration<500", "condition_subject", "`http_req_duration`", "p95 < 500ms?"),
        ("http_req_duration: p(95)<500", "condition_subject", "`http_req_duration: p`", "p95 < 500ms?"),
        ("http_req_duration: avg<200", "condition_subject", "`http_req_duration: avg`", "mean < 200ms?"),
        ("http_req_failed: rate<0.01", "condition_subject", "`http_req_failed: rate`", "failed < 1%?"),
        ("http_reqs: rate>100", "condition_subject", "`http_reqs: rate`", "done_rate > 100/s?"),
        ("95% < 500ms", "condition_subject", "`95%`", "p95 < 500ms?"),
        ("latency p99 < 1s", "condition_subject", "`latency p99`", "p99 < 1s?"),
        ("p95 of response time < 200 ms", "condition_subject", "`p95 of response time`", "p95 < 200ms?"),
        ("median < 5 ms in main", "condition_subject", "`median`", "p50 < 5"),
        ("success > 99.5%", "condition_subject", "`success`", "failed < 0.5%?"),
        ("success >= 0.99 in main", "condition_subject", "`success`", "failed <= 1% in main?"),
        ("avg<200", "condition_subject", "`avg`", "mean < 200ms?"),
        ("rate<0.01", "condition_subject", "`rate`", "failed < 1%?"),
        ("http_req_failed < 0.005", "condition_subject", "`http_req_failed`", "failed < 0.5%?"),
        ("error rate < 1%", "condition_subject", "`error rate`", "failed < 1%?"),
        ("error rate < 1 % in main", "condition_subject", "`error rate`", "failed < 1"),
        ("errors < 5", "condition_subject", "`errors`", "failed < 5?"),
        ("rps > 100", "condition_subject", "`rps`", "done_rate > 100/s?"),
        ("throughput >= 2k/s for 10s", "condition_subject", "`throughput`", "done_rate >= 2k/s for 10s?"),
    ]);
}

#[test]
fn wrong_names_and_hosts() {
    refused(&[
        ("cpu < 96%", "condition_subject", "needs a host", "cpu(lb1)?"),
        ("cpu(lb1) < 96", "condition_value", "not a share", "96%"),
        ("memory(lb1) < 12Gb", "unit_unknown", "not a unit of a size", "Gb is gigabit; GB?"),
        ("net_in(lb1) < 10GB", "unit_unknown", "not a unit of a link", "10Gbit/s?"),
        ("net_in(lb1) < 10", "unit_missing", "needs a unit", "10Gbit/s"),
        ("skew < 200ms", "condition_subject", "needs a rendezvous", "skew(doors)?"),
        ("check = 0", "condition_subject", "needs a check's name", "check(fresh)?"),
        ("count > 0", "condition_subject", "needs a count's name", "count(sold)?"),
        ("p99(buy.ttfb) < 1s", "condition_subject", "not kept for each step", "p99(ttfb) in PHASE"),
    ]);
}

/// Each text with the code, a part of the message and a part of the hint it is answered with.
fn refused(table: &[(&str, &str, &str, &str)]) {
    for (text, code, message, hint) in table {
        let error = Condition::parse(text).expect_err(text);
        assert_eq!(error.code, *code, "{text}: {error}");
        assert_eq!(error.exit, ExitCode::Usage, "{text}");
        assert!(error.message.contains(message), "{text}: {error} should say {message}");
        assert!(error.hint.contains(hint), "{text}: {error} should hint {hint}");
    }
}
