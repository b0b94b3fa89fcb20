//! Several wrong options together, features that do not exist, and hints with numbers of the user.

use wavetank_units::ExitCode::Usage;
use wavetank_units::UserError;

use super::bad_input::check;
use super::{argv, error};
use crate::cli::{ParseExit, parse};

/// Each line with the messages of all its errors.
#[test]
fn all_wrong_options_are_reported_together() {
    for (line, messages) in [
        ("localhost --vus 10 -k -d 5", &["`--vus`", "`-k`", "-d `5`"][..]),
        ("--foo 10 localhost --bar", &["`--foo`", "`--bar`"]),
        ("--vus 10 -d 5 localhost -cten", &["`--vus`", "-d `5`", "-c `ten`"]),
        ("--duration=5 --requests ten", &["no URL", "-d `5`", "-n `ten`"]),
        ("report latest --of x --format y", &["--of `x`", "--format `y`"]),
        ("size --spare x --hosts y", &["--spare `x`", "--hosts `y`"]),
        ("runs prune --older-than 30", &["--older-than `30`"]),
        (
            "localhost -c ten -r 5 --timeout 1 --http 4",
            &["-c `ten`", "-r `5`", "--timeout `1`", "--http `4`"],
        ),
        ("localhost -H nocolon --basic me: --threshold p99", &["no colon", "no comparison"]),
        ("localhost --format yaml --out x.pdf", &["--format", "--out x.pdf"]),
        ("ftp://localhost/ -c 0", &["`ftp://`", "-c"]),
        ("-Z", &["`-Z`"]),
        ("run", &["no URL"]),
    ] {
        let error = error(line);
        let all: Vec<&UserError> = std::iter::once(&error).chain(&error.others).collect();
        assert_eq!(all.len(), messages.len(), "{line}: {error}");
        for (one, says) in all.iter().zip(messages) {
            assert!(one.message.contains(says), "{line}: {one}\nshould say: {says}");
        }
    }
}

#[test]
fn options_of_agents_need_agents() {
    check(&[
        ("run localhost --on-loss 5%", "no_fleet", Usage, "needs `--fleet`", "--fleet FILE"),
        ("lab run f.yaml localhost --on-loss 5%", "no_fleet", Usage, "needs `--agents`", "add --agents"),
    ]);
}

#[test]
fn arguments_of_commands_have_hints_of_their_own() {
    check(&[
        ("set latest rate 5", "word_surplus", Usage, "`5`", "wavetank set rate=2k/s"),
        ("net", "no_host", Usage, "no host", "wavetank net serve"),
    ]);
}

#[test]
fn what_is_not_supported_is_said_plainly() {
    check(&[
        ("redis://localhost:6379", "bad_scheme", Usage, "not supported", "http, https, grpc"),
        ("gopher://localhost/", "bad_scheme", Usage, "not a scheme of HTTP", "http://localhost/"),
        ("localhost --ws", "option_unknown", Usage, "--ws", "wavetank run ws://HOST/PATH"),
        ("localhost --sse", "option_unknown", Usage, "--sse", "sse://HOST/PATH"),
        ("localhost --ktls", "option_unknown", Usage, "TLS in the kernel is not supported", "limitations"),
        ("localhost --run-time 5m", "option_unknown", Usage, "--run-time", "-d 5m"),
        ("localhost --headless", "option_unknown", Usage, "--headless", "leave it out"),
        ("localhost --cooldown 5s", "option_unknown", Usage, "--cooldown", "--stage '5s:0 users'"),
        (
            "localhost --oauth2-bearer x",
            "option_unknown",
            Usage,
            "--oauth2-bearer",
            "Authorization: Bearer x",
        ),
        ("localhost --protoset a.pb", "option_unknown", Usage, "--protoset", "--proto FILE"),
        ("localhost --prometheus", "option_unknown", Usage, "--prometheus", "--metrics prometheus=:9464"),
        ("localhost --influxdb x", "option_unknown", Usage, "--influxdb", "--metrics influx="),
        ("localhost --out influxdb=http://x:8086/k6", "out_suffix", Usage, "suffix", "--metrics influx="),
        ("localhost --metrics :9090", "metrics_output", Usage, "has no KIND=", "prometheus=:9464"),
        ("localhost --metrics graphite=x:1", "metrics_output", Usage, "unknown kind", "statsd=HOST:PORT"),
        ("localhost --metrics statsd=x", "metrics_output", Usage, "has no HOST:PORT", "8125"),
        ("localhost --metrics otlp=ftp://x/", "metrics_output", Usage, "no http or https URL", "otlp=http"),
        ("localhost --metrics influx=http://x:8086", "metrics_output", Usage, "no database", "bucket="),
        ("localhost --metrics json=-", "conflict", Usage, "json=-", "--format json"),
        ("localhost --once --metrics json=a", "conflict", Usage, "--once and --metrics", "leave out"),
        ("localhost --metrics json=a --metrics json=a", "conflict", Usage, "given twice", "once"),
        ("localhost --agents a,b", "option_unknown", Usage, "--agents", "--fleet FILE"),
        ("watch", "command_unknown", Usage, "`watch` is not supported in this version", "wavetank attach"),
        ("pause 7f3a", "command_unknown", Usage, "`pause` is not supported in this version", "wavetank stop"),
        ("tune", "command_unknown", Usage, "`tune` is not supported in this version", "wavetank doctor"),
    ]);
}

#[test]
fn hints_have_the_numbers_of_the_user() {
    check(&[
        ("localhost --vus 10", "option_unknown", Usage, "`--vus`", "-c 10: "),
        ("localhost --concurrency=25", "option_unknown", Usage, "`--concurrency`", "-c 25: "),
        ("localhost --iterations 500", "option_unknown", Usage, "`--iterations`", "-n 500"),
        ("localhost --rps 30", "option_unknown", Usage, "`--rps`", "-r 30/s"),
        ("localhost -z 1m", "option_unknown", Usage, "`-z`", "-d 1m"),
        ("localhost --max-time 5", "option_unknown", Usage, "`--max-time`", "--timeout 5s"),
        ("localhost --vus", "option_unknown", Usage, "`--vus`", "-c 50: "),
        ("localhost --threshold 'p(95)<500'", "condition_subject", Usage, "`p`", "p95 < 500ms"),
        ("localhost --stage 1m:50", "unit_missing", Usage, "no unit", "50/s for a rate"),
        ("localhost --stage 1m", "bad_stage", Usage, "no colon", "1m:100/s"),
        ("localhost --json '{a'", "bad_body", Usage, "not JSON", "single quotes"),
        ("localhost --json {} --form a=b", "conflict", Usage, "--json and --form", "one of the two"),
        ("localhost --form a", "bad_pair", Usage, "no name and value", "name=value"),
        ("localhost --basic 'me:${uuid()}'", "template_not_fixed", Usage, "no templates", "@FILE"),
        ("a.yaml --rows b.csv", "conflict", Usage, "--rows applies only to a URL", "data:"),
        ("a.yaml --json {}", "conflict", Usage, "--json applies only to a URL", "step"),
    ]);
}

#[test]
fn errors_are_json_when_asked_anywhere() {
    for (line, expected) in [
        ("localhost -d 30", false),
        ("localhost -d 30 --format json", true),
        ("--format json localhost -Z", true),
        ("localhost --format=json -c", true),
        ("nonsense --format json", true),
        ("localhost -d 30 --format junit", false),
    ] {
        match parse(argv(line)) {
            Err(ParseExit::Error { json, .. }) => assert_eq!(json, expected, "{line}"),
            other => panic!("{line}: {other:?}"),
        }
    }
}
