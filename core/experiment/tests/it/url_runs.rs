//! How the arguments of a run are resolved: the documented defaults, literally.

use std::net::{IpAddr, SocketAddr};

use wavetank_experiment::{UrlPlan, plan_url};
use wavetank_plan::{
    AuthPlan, Close, Condition, ConnectTo, ConnectionEnd, ConnectionOwner, EngineChoice, HostFacts,
    HostLimits, HttpVersion, IpFamily, Load, LoadOrigin, MaxOpenLimit, MemoryModel, Plan, PopulationCurve,
    RateCurve, RunOptions, Secret, SocketSupport, SourcesPlan, StatusSet, TargetUrl, Transport,
    implicit_thresholds, plannable_bytes,
};
use wavetank_units::{Nanos, Rate, SourceRange};

/// Eight CPUs, 16 GB, a million files, a /28 of addresses.
fn host() -> HostFacts {
    HostFacts {
        cpus: (0..8).collect(),
        memory_available_bytes: 16 << 30,
        files_max: 1 << 20,
        sockets: SocketSupport::plain(),
        limits: HostLimits::default(),
        port_range: (32_768, 60_999),
        ports: wavetank_units::Ports::range(32_768, 60_999),
        addresses: (1..15).map(|last| IpAddr::from([10, 0, 8, last])).collect(),
        local_networks: vec![(IpAddr::from([127, 0, 0, 0]), 8)],
        kernel: "6.18.44".to_owned(),
        hostname: "load01".to_owned(),
        cpu_model: "test".to_owned(),
        origin: LoadOrigin::ThisHost,
        observed_hosts: Vec::new(),
        agent_hosts: Vec::new(),
    }
}

fn on(options: &RunOptions, host: &HostFacts) -> UrlPlan {
    let url = TargetUrl::parse("localhost:8080/users?page=1").expect("a URL");
    plan_url(options, &url, &[SocketAddr::from(([127, 0, 0, 1], 8_080))], host)
        .unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

fn plan(options: &RunOptions) -> Plan {
    on(options, &host()).plan
}

fn options() -> RunOptions {
    RunOptions::default()
}

/// A constant load as it is for a phase of that length.
fn lasting(load: Load, length: Option<Nanos>) -> Load {
    match load {
        Load::Open { rate, arrivals, requests_each } => {
            Load::Open { rate: RateCurve::constant(rate.max(), length), arrivals, requests_each }
        }
        Load::Closed { users, sessions_each } => {
            Load::Closed { users: PopulationCurve::constant(users.max(), length), sessions_each }
        }
        other => other,
    }
}

/// Load, connections, length, requests, opened before, of the measured phase.
fn check(
    options: &RunOptions,
    load: Load,
    connections: u64,
    length_s: Option<i64>,
    requests: Option<u64>,
    line: &str,
) {
    let resolved = on(options, &host());
    let main = resolved.plan.phases.last().expect("a measured phase");
    assert_eq!(main.load, lasting(load, main.length), "{options:?}");
    assert_eq!(main.connections, connections, "{options:?}");
    assert_eq!(main.length, length_s.map(Nanos::from_secs), "{options:?}");
    assert_eq!(main.requests_max, requests, "{options:?}");
    assert_eq!((main.name.as_str(), main.start, main.warmup), ("main", Nanos::ZERO, false));
    assert_eq!(resolved.load, line);
}

#[test]
fn closed_loads() {
    let closed = |users| Load::Closed { users: PopulationCurve::constant(users, None), sessions_each: None };
    let line = "50 connections, 10 s, closed loop (defaults; -c, -d, -r change them)";
    check(&options(), closed(50), 50, Some(10), None, line);
    let some = RunOptions { connections: Some(1_000), duration: Some(Nanos::from_secs(30)), ..options() };
    check(&some, closed(1_000), 1_000, Some(30), None, "1,000 connections, 30 s, closed loop");
    let counted = RunOptions { requests: Some(100_000), ..options() };
    let line = "50 connections, 100,000 requests, closed loop (default connections; -c, -r change them)";
    check(&counted, closed(50), 50, None, Some(100_000), line);
    let few = RunOptions { requests: Some(7), ..options() };
    let line = "7 connections, 7 requests, closed loop (default connections; -c, -r change them)";
    check(&few, closed(7), 7, None, Some(7), line);
    let both = RunOptions { requests: Some(500), duration: Some(Nanos::from_secs(5)), ..options() };
    let line = "50 connections, 500 requests, 5 s, closed loop (default connections; -c, -r change them)";
    check(&both, closed(50), 50, Some(5), Some(500), line);
    let piped = RunOptions { connections: Some(4), pipeline: Some(8), ..options() };
    let line = "32 users on 4 connections, 10 s, closed loop (default length; -d, -n change it)";
    check(&piped, closed(32), 4, Some(10), None, line);
    let once = RunOptions { once: true, ..options() };
    check(&once, closed(1), 1, None, Some(1), "1 connection, 1 request, closed loop");
}

#[test]
fn open_loads() {
    let open = |count, per_s| Load::Open {
        rate: RateCurve::constant(Rate { count, per: Nanos::from_secs(per_s) }, None),
        arrivals: wavetank_plan::Arrivals::Even,
        requests_each: None,
    };
    let rate = |rate| RunOptions { rate: Some(rate), ..options() };
    let line = "100 req/s, 10 s, open loop (default length; -d, -n change it)";
    // As many as may be open: all 1,000 of the run, and some more for arrivals that are not even.
    check(&rate(Rate::per_second(100)), open(100, 1), 1_320, Some(10), None, line);
    let slow = Rate { count: 1, per: Nanos::from_secs(3_600) };
    check(
        &rate(slow),
        open(1, 3_600),
        1,
        Some(10),
        None,
        "1 req/h, 10 s, open loop (default length; -d, -n change it)",
    );
    let pool = RunOptions {
        connections: Some(64),
        duration: Some(Nanos::from_secs(150)),
        ..rate(Rate::per_second(5_000))
    };
    check(
        &pool,
        open(5_000, 1),
        64,
        Some(150),
        None,
        "5,000 req/s, pool of 64 connections, 2 m 30 s, open loop",
    );
    let plan = plan(&pool);
    assert_eq!(plan.scenarios[0].connection, ConnectionOwner::Shared);
    assert!(plan.phases[0].open_before);
    assert_eq!((plan.phases[0].max_open, plan.phases[0].max_open_by), (300_000, MaxOpenLimit::Plan));
}

#[test]
fn the_rest_has_the_documented_defaults() {
    let plan = plan(&options());
    assert_eq!(plan.name, "localhost-8080");
    assert_eq!((plan.http.timeout, plan.http.connect_timeout), (Nanos::from_secs(60), Nanos::from_secs(5)));
    assert_eq!(plan.drain, Nanos::from_secs(60), "the longest request timeout, if above 30 s");
    assert_eq!((plan.http.version, plan.http.keepalive, plan.http.pipeline), (HttpVersion::Http11, true, 1));
    assert_eq!((plan.http.close, plan.http.requests_per_connection), (Close::Fin, None));
    assert_eq!(plan.http.expect, StatusSet(vec![(200, 399)]));
    assert_eq!((plan.open_rate, plan.threads), (Rate::per_second(5_000), 8));
    assert_eq!(plan.late_tolerance, Nanos::from_millis(1));
    let target = &plan.targets[0];
    assert_eq!((target.name.as_str(), target.host.as_str()), ("localhost:8080", "localhost:8080"));
    assert_eq!(target.url, "http://localhost:8080/users?page=1");
    let step = &plan.scenarios[0].steps[0];
    assert_eq!(
        (step.name.as_str(), step.request.path.shown().as_str()),
        ("GET /users?page=1", "/users?page=1")
    );
    let agent = format!("wavetank/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(step.request.headers, [("User-Agent".to_owned(), agent.into())]);
    assert_eq!(plan.scenarios[0].connection, ConnectionOwner::User);
    assert!(plan.phases[0].open_before);
}

#[test]
fn timeouts_follow_each_other() {
    let of = |timeout: i64| plan(&RunOptions { timeout: Some(Nanos::from_secs(timeout)), ..options() });
    assert_eq!((of(2).drain, of(2).http.connect_timeout), (Nanos::from_secs(30), Nanos::from_secs(2)));
    assert_eq!((of(150).drain, of(150).http.connect_timeout), (Nanos::from_secs(150), Nanos::from_secs(5)));
    let cut = plan(&RunOptions { drain: Some(Nanos::ZERO), ..options() });
    assert_eq!(cut.drain, Nanos::ZERO);
}

#[test]
fn warm_up_is_a_phase_of_its_own() {
    let warm = RunOptions { warmup: Some(Nanos::from_secs(3)), requests: Some(1_000), ..options() };
    let plan = plan(&warm);
    let [warmup, main] = plan.phases.as_slice() else { panic!("two phases: {:?}", plan.phases) };
    assert_eq!((warmup.name.as_str(), warmup.warmup, warmup.requests_max), ("warmup", true, None));
    assert_eq!((warmup.start, warmup.end()), (Nanos::from_secs(-3), Some(Nanos::ZERO)));
    assert_eq!(warmup.load, lasting(main.load.clone(), warmup.length));
    assert_eq!(warmup.connections, main.connections);
    assert_eq!((main.requests_max, main.start), (Some(1_000), Nanos::ZERO));
    let none = self::plan(&RunOptions { warmup: Some(Nanos::ZERO), ..options() });
    assert_eq!(none.phases.len(), 1, "a warm-up of nothing is none");
}

#[test]
fn threads_never_outnumber_connections() {
    let threads = |connections, threads| {
        plan(&RunOptions { connections: Some(connections), threads, ..options() }).threads
    };
    assert_eq!(threads(3, None), 3);
    assert_eq!(threads(100, None), 8);
    assert_eq!(threads(100, Some(13)), 13);
    let cpuless = HostFacts { cpus: vec![], ..host() };
    assert_eq!(on(&options(), &cpuless).plan.threads, 1);
}

#[test]
fn max_open_is_what_the_host_allows_and_says_why() {
    let of = |rate: u64, options: RunOptions, host: &HostFacts| {
        let options = RunOptions { rate: Some(Rate::per_second(rate)), ..options };
        let plan = on(&options, host).plan;
        (plan.phases[0].max_open, plan.phases[0].max_open_by, plan.phases[0].connections)
    };
    let small_files = HostFacts { files_max: 1_024, ..host() };
    let kept = 100 + 4 * 8;
    assert_eq!(of(10, options(), &host()), (210, MaxOpenLimit::Plan, 210));
    assert_eq!(of(100, options(), &small_files), (1_024 - kept, MaxOpenLimit::Files, 1_024 - kept));
    assert_eq!(of(10_000, options(), &host()), (28_232, MaxOpenLimit::Sources, 28_232), "one source's ports");
    let small_memory = HostFacts { memory_available_bytes: 64 << 20, ..host() };
    let ends = [ConnectionEnd::Client, ConnectionEnd::Target]
        .map(|end| MemoryModel::for_end(end, EngineChoice::Epoll, Transport::Tcp).with_request_in_flight());
    let fit = plannable_bytes(64 << 20) / ends.iter().sum::<u64>();
    assert!((3_000..8_000).contains(&fit), "{fit}");
    assert_eq!(of(10_000, options(), &small_memory), (fit, MaxOpenLimit::Memory, fit));
    let own = RunOptions { max_open: Some(50_000), ..options() };
    assert_eq!(
        of(10, own.clone(), &host()),
        (50_000, MaxOpenLimit::Plan, 28_232),
        "excess waits for the pool"
    );
    let pool = RunOptions { connections: Some(100), ..options() };
    assert_eq!(of(100, pool, &small_files), (1_320, MaxOpenLimit::Plan, 100), "files bound the pool alone");
    let loopback = RunOptions { sources: from(range("127.0.0.1", "127.0.0.100")), ..options() };
    assert_eq!(of(1_000, loopback, &host()), (11_010, MaxOpenLimit::Plan, 11_010));
    let cap = HostFacts { files_max: 1 << 40, memory_available_bytes: 1 << 50, ..host() };
    let everywhere = RunOptions { sources: from(range("127.0.0.1", "127.255.0.0")), ..options() };
    let long = RunOptions { duration: Some(Nanos::from_secs(60)), ..everywhere };
    assert_eq!(of(1_000_000, long, &cap).0, 16_000_000);
}

fn from(range: SourceRange) -> SourcesPlan {
    SourcesPlan { ranges: vec![range], ..SourcesPlan::default() }
}

fn range(first: &str, last: &str) -> SourceRange {
    let address = |text: &str| text.parse().expect("an address");
    SourceRange { first: address(first), last: address(last) }
}

#[test]
fn too_many_connections_are_refused_with_the_cure() {
    let refusal = |options: RunOptions, host: &HostFacts| {
        let url = TargetUrl::parse("localhost:8080").unwrap();
        let error = plan_url(&options, &url, &["127.0.0.1:8080".parse().unwrap()], host).unwrap_err();
        (error.code.as_str(), error.exit as u8, error.hint)
    };
    let many = |connections| RunOptions { connections: Some(connections), ..options() };
    let (code, exit, hint) = refusal(many(60_000), &host());
    assert_eq!((code, exit), ("no_source_address", 5));
    assert!(hint.contains("--source auto"), "{hint}");
    let (code, exit, hint) = refusal(many(2_000_000), &host());
    assert_eq!((code, exit), ("no_files", 5));
    assert!(hint.contains("sysctl -w fs.nr_open=2000132; ulimit -n 2000132"), "{hint}");
    let small = HostFacts { memory_available_bytes: 64 << 20, ..host() };
    assert_eq!(refusal(many(5_000), &small).0, "no_memory");
    let sourced = RunOptions { sources: from(range("127.0.0.1", "127.0.0.3")), ..many(60_000) };
    assert_eq!(plan(&sourced).phases[0].connections, 60_000);
}

#[test]
fn addresses_of_the_wrong_family_are_left_out() {
    let url = TargetUrl::parse("dual.example").unwrap();
    let both: Vec<SocketAddr> = vec!["10.0.0.1:80".parse().unwrap(), "[fd00::1]:80".parse().unwrap()];
    let of = |options: RunOptions| {
        plan_url(&options, &url, &both, &host()).unwrap().plan.targets[0].addresses.clone()
    };
    assert_eq!(of(options()), both);
    assert_eq!(of(RunOptions { ip: Some(IpFamily::V6), ..options() }), both[1..]);
    assert_eq!(of(RunOptions { sources: from(range("10.0.8.1", "10.0.8.14")), ..options() }), both[..1]);
}

#[test]
fn localhost_is_one_host_with_two_addresses() {
    let both: Vec<SocketAddr> = vec!["[::1]:80".parse().unwrap(), "127.0.0.1:80".parse().unwrap()];
    let of = |url: &str, options: RunOptions| {
        let url = TargetUrl::parse(url).unwrap();
        plan_url(&options, &url, &both, &host()).unwrap().plan.targets[0].addresses.clone()
    };
    for name in ["localhost", "LOCALHOST.", "shop.localhost"] {
        assert_eq!(of(name, options()), both[..1], "{name}: the first of them");
        assert_eq!(of(name, RunOptions { ip: Some(IpFamily::V4), ..options() }), both[1..]);
        assert_eq!(
            of(name, RunOptions { sources: from(range("127.0.0.2", "127.0.0.9")), ..options() }),
            both[1..]
        );
    }
    assert_eq!(of("notlocalhost", options()), both);
    assert_eq!(of("dual.example", options()), both, "other names: all addresses in turn");
}

#[test]
fn a_host_header_of_ones_own_stays_with_the_name_to_connect_to() {
    let own = RunOptions {
        headers: vec![("host".to_owned(), Secret::new("shop.example"))],
        connect_to: vec![ConnectTo::parse("127.0.0.2:81").unwrap()],
        ..options()
    };
    let url = TargetUrl::parse("localhost:8080").unwrap();
    assert_eq!(own.connect_point(&url), Ok(("127.0.0.2".to_owned(), 81)));
    assert_eq!(plan(&own).targets[0].host, "shop.example");
    assert_eq!(plan(&own).targets[0].url, "http://localhost:8080/users?page=1");
}

#[test]
fn secrets_are_marked() {
    let header = |name: &str| (name.to_owned(), Secret::new("s3cret"));
    let own = RunOptions {
        headers: vec![header("Cookie"), header("Accept"), header("Proxy-Authorization"), header("cookie")],
        basic: Some(Secret::new("me:s3cret")),
        ..options()
    };
    let step = plan(&own).scenarios[0].steps[0].clone();
    assert_eq!(step.request.secret_headers, ["cookie", "proxy-authorization"]);
    assert_eq!(step.auth, Some(AuthPlan::Basic("me".into(), "s3cret".into())));
    assert!(!format!("{own:?}").contains("s3cret"), "options do not show secrets when printed");
}

#[test]
fn implicit_thresholds_step_back_for_ones_own() {
    let of = |thresholds: &[&str]| {
        let thresholds = thresholds.iter().map(|text| Condition::parse(text).unwrap()).collect();
        let plan = plan(&RunOptions { thresholds, ..options() });
        implicit_thresholds(&plan).into_iter().map(|condition| condition.text).collect::<Vec<_>>()
    };
    assert_eq!(of(&[]), ["done > 0", "failed < 1%"]);
    assert_eq!(of(&["p99 < 1s"]), ["done > 0", "failed < 1%"]);
    assert_eq!(of(&["done > 100"]), ["failed < 1%"]);
    assert_eq!(of(&["done_rate > 1k/s"]), ["failed < 1%"]);
    for speaking in ["failed < 5%", "failed_rate < 1/s", "errors(reset) = 0", "status(500) = 0"] {
        assert_eq!(of(&[speaking]), ["done > 0"], "{speaking}");
    }
    assert_eq!(of(&["done > 1", "failed = 0"]), Vec::<String>::new());
    let mut silent = plan(&options());
    silent.scenarios[0].steps.clear();
    let texts: Vec<String> =
        implicit_thresholds(&silent).into_iter().map(|condition| condition.text).collect();
    assert_eq!(texts, ["opened > 0", "connections failed < 1%"]);
    for text in texts {
        let read = Condition::parse(&text).unwrap();
        assert!(implicit_thresholds(&silent).contains(&read), "{text} means what it says");
    }
}

#[test]
fn what_looks_unintended_is_remarked() {
    let remarks = |path: &str, options: &RunOptions| {
        let url = TargetUrl::parse(&format!("localhost{path}")).unwrap();
        plan_url(options, &url, &["127.0.0.1:80".parse().unwrap()], &host()).unwrap().remarks
    };
    let threshold =
        |text: &str| RunOptions { thresholds: vec![Condition::parse(text).unwrap()], ..options() };
    assert_eq!(remarks("/", &options()), Vec::<String>::new());
    assert!(remarks("/", &threshold("p99 > 250ms"))[0].contains("p99 < 250ms? (stop conditions"));
    assert!(remarks("/", &threshold("failed >= 1%"))[0].contains("failed <= 1%?"));
    assert_eq!(remarks("/", &threshold("done > 5")), Vec::<String>::new());
    let counted = RunOptions { requests: Some(500), ..threshold("p99.9 < 1s") };
    let text = &remarks("/", &counted)[0];
    assert!(text.contains("needs about 10,000 samples; the plan sends 500"), "{text}");
    let rated = RunOptions { rate: Some(Rate::per_second(1)), ..threshold("p95 < 1s") };
    assert!(remarks("/", &rated)[0].contains("needs about 200 samples; the plan sends 10"));
    assert!(remarks("/", &threshold("failed < 1% for 11s"))[0].contains("never fills"));
    assert_eq!(remarks("/", &threshold("failed < 1% for 10s")), Vec::<String>::new());
    assert!(remarks("/sleep100", &options())[0].contains("100 s, but timeout is 60.0 s: --timeout 150s"));
    assert!(remarks("/delay/1m?x", &options())[0].contains("--timeout 90s"));
    assert_eq!(remarks("/delay/59s", &options()), Vec::<String>::new());
    let json = RunOptions { body: Some(b"{}".to_vec()), ..options() };
    let texts = remarks("/", &json);
    assert!(texts[0].contains("POST") && texts[1].contains("application/json"), "{texts:?}");
}

#[test]
fn the_kernels_search_for_ports_is_predicted() {
    let reported =
        |options: RunOptions| on(&options, &host()).remarks.iter().any(|line| line.contains("--source auto"));
    let many = |connections| RunOptions { connections: Some(connections), ..options() };
    assert!(!reported(many(16_000)), "57 % of 28,232");
    assert!(reported(many(17_000)));
    assert!(!reported(RunOptions { sources: from(range("127.0.0.1", "127.0.0.1")), ..many(17_000) }));
    let rate = |per_second, no_keepalive| RunOptions {
        rate: Some(Rate::per_second(per_second)),
        timeout: Some(Nanos::SECOND),
        no_keepalive,
        ..options()
    };
    assert!(reported(rate(20_000, true)), "each port rests for a second on loopback");
    assert!(!reported(rate(16_000, true)));
    assert!(!reported(rate(20_000, false)));
}
