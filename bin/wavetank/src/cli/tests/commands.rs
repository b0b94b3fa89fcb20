//! Valid command lines and their conversion.

use std::net::SocketAddr;
use std::path::PathBuf;

use wavetank_plan::{
    Arrivals, AuthPlan, Close, EngineChoice, HttpVersion, IpFamily, Load, RunOptions, Secret, TargetUrl,
    TlsVersions,
};
use wavetank_units::{Nanos, Rate};

use super::{argv, command, plan, run};
use crate::cli::serve_args::Freeze;
use crate::cli::{
    Command, DemoArgs, LoadSource, OutFile, OutputFormat, ReportArgs, ReportOptions, ServeArgs, parse,
};

/// Both command lines mean the same, except for the stored command.
fn check_same(left: &str, right: &str) {
    let (mut left_args, right_args) = (run(left), run(right));
    left_args.command.clone_from(&right_args.command);
    assert_eq!(left_args, right_args, "{left} / {right}");
}

#[test]
fn run_may_be_left_out() {
    check_same("localhost:8080/x", "run http://localhost:8080/x");
    check_same(":8080/x", "run http://localhost:8080/x");
    check_same("localhost", "run http://localhost:80/");
    check_same("[::1]:80", "run http://[::1]/");
    check_same("10.0.0.5", "run http://10.0.0.5/");
    check_same("http://example.com?q=1", "run http://example.com/?q=1");
    check_same("-c 10 localhost:8080", "run localhost:8080 -c 10");
    check_same("-d 1.5s -r 5k/s localhost:8080", "run localhost:8080 -r 5k/s -d 1.5s");
    check_same("shop.yaml --scale 1/10", "run --scale 1/10 shop.yaml");
    check_same("-c10 -d10s localhost", "run localhost -c 10 -d 10s");
    check_same("--once localhost", "run --once localhost");
    assert!(matches!(command("serve"), Command::Serve(_)));
    assert!(parse(argv("--format json serve")).is_err(), "options follow their command");
}

#[test]
fn nothing_given_is_nothing_set() {
    let args = run("localhost:8080/x");
    assert_eq!(args.options, RunOptions::default());
    let url = TargetUrl {
        host: "localhost".into(),
        port: 8080,
        path: "/x".into(),
        tls: false,
        protocol: wavetank_plan::UrlProtocol::Http,
    };
    assert_eq!(args.goal, LoadSource::Url(url));
    assert_eq!(
        (args.output.format(), args.output.out.len(), args.output.no_archive, args.output.quiet),
        (OutputFormat::Text, 0, false, false)
    );
    assert_eq!(args.output.runs_dir(), PathBuf::from("runs"));
}

#[test]
fn every_load_option_arrives() {
    let options = run("localhost -c 1k -r 7/min -d 1m30s -n 10k --warmup 5s --arrivals poisson --seed 42 \
                       --timeout 2s --connect-timeout 1s --drain 0s --max-open 2k --open-rate 100/s --no-probe")
    .options;
    let expected = RunOptions {
        connections: Some(1_000),
        rate: Some(Rate { count: 7, per: Nanos::from_secs(60) }),
        duration: Some(Nanos::from_secs(90)),
        requests: Some(10_000),
        warmup: Some(Nanos::from_secs(5)),
        arrivals: Some(Arrivals::Poisson),
        seed: Some(42),
        timeout: Some(Nanos::from_secs(2)),
        connect_timeout: Some(Nanos::from_secs(1)),
        drain: Some(Nanos::ZERO),
        max_open: Some(2_000),
        open_rate: Some(Rate::per_second(100)),
        probe: Some(false),
        ..RunOptions::default()
    };
    assert_eq!(options, expected);
}

#[test]
fn every_request_and_connection_option_arrives() {
    let options = run("localhost -X PUT -H 'Accept:  text/html ' -H 'X: a:b' --body '{\"a\": 1}' --basic me:pass \
                       --http 1.0 --requests-per-connection 5 --close rst --pipeline 2 --threads 3 --engine epoll \
                       --source 127.0.0.1,127.0.0.3-5 --source 127.0.1.0/30 --connect-to 127.0.0.1:81 --ip 4")
    .options;
    let header = |name: &str, value: &str| (name.to_owned(), Secret::new(value));
    assert_eq!(options.method.as_deref(), Some("PUT"));
    assert_eq!(options.headers, [header("Accept", "text/html"), header("X", "a:b")]);
    assert_eq!(options.body.as_deref(), Some(&b"{\"a\": 1}"[..]));
    assert_eq!(options.basic, Some(Secret::new("me:pass")));
    assert_eq!(options.http, Some(HttpVersion::Http10));
    assert_eq!(options.requests_per_connection, Some(5));
    assert_eq!(options.close, Some(Close::Rst));
    assert_eq!((options.pipeline, options.threads), (Some(2), Some(3)));
    assert_eq!(options.engine, Some(EngineChoice::Epoll));
    let sources: Vec<String> =
        options.sources.ranges.iter().map(|range| format!("{}-{}", range.first, range.last)).collect();
    assert_eq!(sources, ["127.0.0.1-127.0.0.1", "127.0.0.3-127.0.0.5", "127.0.1.1-127.0.1.2"]);
    assert_eq!(options.connect_to[0].host.as_deref(), Some("127.0.0.1"));
    assert_eq!(options.ip, Some(IpFamily::V4));
}

#[test]
fn verdict_and_result_options_arrive() {
    let args =
        run("localhost --threshold 'p99 < 250ms' --threshold 'failed = 0' --stop 'failed > 50% for 10s' \
                    --name shop-1 --tag a=b=c --tag x= --format junit --out a.json --out b.xml --out c.txt \
                    --out d.junit --runs-dir /tmp/r --quiet --expect-status '200 to 204,301 or 404'");
    let options = &args.options;
    let texts: Vec<&str> = options.thresholds.iter().map(|condition| condition.text.as_str()).collect();
    assert_eq!(texts, ["p99 < 250ms", "failed = 0"]);
    assert_eq!(options.stop[0].window, Some(Nanos::from_secs(10)));
    assert_eq!(options.name.as_deref(), Some("shop-1"));
    assert_eq!(options.tags["a"], "b=c");
    assert_eq!(options.tags["x"], "");
    assert_eq!(options.expect_status.as_ref().unwrap().0, [(200, 204), (301, 301), (404, 404)]);
    let out = |path: &str, format| OutFile { path: PathBuf::from(path), format };
    let (json, junit) = (OutputFormat::Json, OutputFormat::Junit);
    assert_eq!(
        args.output.out,
        [out("a.json", json), out("b.xml", junit), out("c.txt", OutputFormat::Text), out("d.junit", junit)]
    );
    let output = &args.output;
    assert_eq!((output.format(), output.quiet, output.runs_dir()), (junit, true, PathBuf::from("/tmp/r")));
}

#[test]
fn the_command_is_kept_without_its_secrets() {
    for (line, shown) in [
        ("localhost -c 5", "wavetank localhost -c 5"),
        ("run localhost --threshold 'p99 < 1s'", "wavetank run localhost --threshold 'p99 < 1s'"),
        ("localhost --basic me:s3cret", "wavetank localhost --basic '***'"),
        ("localhost --basic=me:s3cret", "wavetank localhost '--basic=***'"),
        ("localhost -H 'authorization: Bearer s3cret'", "wavetank localhost -H 'authorization: ***'"),
        ("localhost '-HCookie: s3cret'", "wavetank localhost '-HCookie: ***'"),
        ("localhost '-H=Cookie: s3cret'", "wavetank localhost '-HCookie: ***'"),
        ("localhost '--header=X-Api-Key: s3cret'", "wavetank localhost '--header=X-Api-Key: ***'"),
        ("localhost -H 'Accept: a'", "wavetank localhost -H 'Accept: a'"),
        ("localhost --body ''", "wavetank localhost --body ''"),
    ] {
        assert_eq!(run(line).command, shown);
        let args = run(line);
        assert!(!format!("{args:?}").contains("s3cret"), "{args:?}");
    }
}

#[test]
fn a_plan_comes_out() {
    let resolved = plan(&run("localhost:8080/a?b=c -r 2k/s --warmup 2s --body x --basic me:pass")).unwrap();
    let plan = resolved.plan;
    assert_eq!(plan.phases.len(), 2);
    assert_eq!(plan.phases[0].start, Nanos::from_secs(-2));
    let Load::Open { rate, .. } = &plan.phases[1].load else { panic!("{:?}", plan.phases[1].load) };
    assert_eq!(rate.as_constant(), Some(Rate::per_second(2_000)));
    let step = &plan.scenarios[0].steps[0];
    let request = &step.request;
    assert_eq!((request.method.as_str(), request.path.shown().as_str()), ("POST", "/a?b=c"));
    assert_eq!(step.auth, Some(AuthPlan::Basic("me".into(), "pass".into())));
}

#[test]
fn other_commands() {
    let served = |line: &str| match command(line) {
        Command::Serve(args) => *args,
        other => panic!("{other:?}"),
    };
    let check = |line: &str, listen: &[&str], threads, any, freeze: Option<Freeze>| {
        let args = served(line);
        let listen: Vec<SocketAddr> = listen.iter().map(|address| address.parse().unwrap()).collect();
        assert_eq!((&args.listen, args.threads, args.any), (&listen, threads, any), "{line}");
        assert_eq!((args.freeze(), args.engine), (freeze, EngineChoice::Auto), "{line}");
        let ServeArgs { connections, database, accounts, tls, .. } = args;
        assert_eq!((connections, database, accounts, tls), (None, None, None, None), "{line}");
    };
    check("serve", &["127.0.0.1:8080"], None, false, None);
    check(
        "serve --listen :9000,localhost:9001,9002,[::1]:9003,0.0.0.0:0 --threads 2 --any",
        &["127.0.0.1:9000", "127.0.0.1:9001", "127.0.0.1:9002", "[::1]:9003", "0.0.0.0:0"],
        Some(2),
        true,
        None,
    );
    let freeze = Freeze { at: Nanos::from_secs(5), length: Nanos::from_millis(300) };
    check("serve --freeze 300ms --freeze-at 5s", &["127.0.0.1:8080"], None, false, Some(freeze));
    let shop = served("serve --database sale.db --accounts accounts.csv");
    assert_eq!((shop.database, shop.accounts), (Some("sale.db".into()), Some("accounts.csv".into())));
    let tls =
        served("serve --tls --tls-versions 1.3 --tls-groups X25519 --tls-no-tickets --tls-cert-out ca.pem");
    let tls = tls.tls.expect("TLS is asked for");
    assert_eq!((tls.identity, tls.cert_out), (None, Some("ca.pem".into())));
    assert_eq!((tls.options.versions, tls.options.tickets), (TlsVersions::Tls13, false));
    assert_eq!((tls.options.groups, tls.options.client_ca_pem), (vec!["X25519".to_owned()], None));
    let report = |run: &str, format, runs_dir: &str| {
        Command::Report(ReportArgs {
            run: run.to_owned(),
            format,
            out: vec![],
            wants: ReportOptions::default(),
            runs_dir: runs_dir.into(),
        })
    };
    assert_eq!(command("report latest"), report("latest", OutputFormat::Text, "runs"));
    assert_eq!(command("report 7f3a --format json --runs-dir d"), report("7f3a", OutputFormat::Json, "d"));
    assert_eq!(command("demo --runs-dir d"), Command::Demo(DemoArgs { runs_dir: "d".into() }));
}
