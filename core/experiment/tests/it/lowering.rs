//! Lowers files to plans: the examples, and small files with a known plan.

use std::net::SocketAddr;

use crate::support::packages::check_sent;
use crate::support::{example_names, example_text, reading};
use wavetank_experiment::{Factor, LowerContext, LowerError, LoweredPlan, lower, rows_table};
use wavetank_journey::Journeys;
use wavetank_plan::{
    Action, EngineChoice, Escape, Expr, HostFacts, Load, ProxyProtocol, ProxyUrl, Secret, SocketSupport,
    SourcesPlan, TargetUrl, Template, TemplatePart, Test,
};
use wavetank_units::{Code, Nanos, Ports, UserError};

fn host() -> HostFacts {
    let sockets = SocketSupport { uring: Ok(()), ..SocketSupport::plain() };
    HostFacts {
        memory_available_bytes: 4 << 40,
        files_max: 1 << 20,
        sockets,
        port_range: (1_024, 65_535),
        ports: Ports::range(1_024, 65_535),
        addresses: vec!["127.0.0.1".parse().expect("literal")],
        local_networks: vec![("127.0.0.0".parse().expect("literal"), 8)],
        ..HostFacts::for_tests(2)
    }
}

fn addresses(url: &TargetUrl) -> Result<Vec<SocketAddr>, UserError> {
    let name = UserError::usage(Code::UnknownHost, "only addresses here", "127.0.0.1");
    url.address().map(|address| vec![address]).ok_or(name)
}

/// The plan of a file on a host, `--scale 1/1000` if asked for.
fn lowered(name: &str, text: &str, host: &HostFacts, scale: Option<&str>) -> Result<LoweredPlan, LowerError> {
    let read = reading(name, text.as_bytes(), &[]);
    let mut experiment =
        read.experiment.unwrap_or_else(|| panic!("{name} is read: {:?}", read.diagnostics.sorted()));
    if let Some(scale) = scale {
        experiment.scale(Factor::parse("--scale", scale).expect("a factor"));
    }
    let tables: Vec<_> =
        experiment.data.iter().map(|source| rows_table(source).expect("rows that are fixed")).collect();
    let lowered = lower(
        &experiment,
        &LowerContext {
            host,
            tables: &tables,
            addresses: &addresses,
            file: &|file| match file {
                "trace.csv" => Ok(b"time\n0s\n100ms\n100ms\n2s\n".to_vec()),
                "body.bin" => Ok(vec![0, 255]),
                other => Err(UserError::usage(Code::BadFile, format!("no {other}"), "look at the path")),
            },
            secret: &|name| (name == "PASSWORD").then(|| Secret::new("planted")),
            sources: SourcesPlan::default(),
            threads: None,
            engine: EngineChoice::Auto,
        },
    );
    lowered.inspect(|lowered| check_sent(name, lowered, host))
}

#[track_caller]
pub(crate) fn plan(lines: &str) -> LoweredPlan {
    let text = format!("wavetank: 1\ntarget: http://127.0.0.1:8080\n{lines}");
    lowered("small.yaml", &text, &host(), None).unwrap_or_else(|unfit| panic!("{lines}: {unfit:?}"))
}

pub(crate) fn shown(template: &Template) -> String {
    let piece = |piece: &TemplatePart| match piece {
        TemplatePart::Fixed(text) => String::from_utf8_lossy(text).into_owned(),
        TemplatePart::Hole(hole) => match (&hole.value, hole.escape) {
            (Expr::Variable(slot), Escape::JsonValue) => format!("<value {slot}>"),
            (Expr::Variable(slot), Escape::JsonText) => format!("<text {slot}>"),
            (Expr::Variable(slot), Escape::Xml) => format!("<xml {slot}>"),
            (Expr::Variable(slot), Escape::Form) => format!("<form {slot}>"),
            (Expr::Variable(slot), Escape::Address) => format!("<address {slot}>"),
            (Expr::Variable(slot), Escape::Path) => format!("<path {slot}>"),
            (other, escape) => format!("<{other:?} {escape:?}>"),
        },
    };
    template.pieces.iter().map(piece).collect()
}

#[test]
fn every_example_has_a_plan() {
    for name in example_names() {
        for scale in [None, Some("1/1000")] {
            let LoweredPlan { plan, .. } = lowered(&name, &example_text(&name), &host(), scale)
                .unwrap_or_else(|unfit| panic!("{name}: {unfit:?}"));
            assert!(!plan.phases.is_empty() && plan.phases.is_sorted_by_key(|phase| phase.start), "{name}");
            if plan.shared.data.is_empty() {
                Journeys::new(&plan, Vec::new()).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
}

#[test]
fn users_keep_cookies_where_they_can_bring_them_back() {
    let check = |lines: &str, expected| assert_eq!(plan(lines).plan.http.cookies, expected, "{lines}");
    let phases = "phases: [{users: 1, for: 1s}]\n";
    let one = format!("steps: [{{get: /}}]\n{phases}");
    check(&one, false);
    check(&format!("{one}http: {{cookies: true}}\n"), true);
    for more in ["follow: 1", "resources: true", "auth: 'digest a:b'"] {
        let far = format!("steps: [{{get: /, {more}}}]\n{phases}");
        check(&far, true);
        check(&format!("{far}http: {{cookies: false}}\n"), false);
    }
    check(&format!("{one}http: {{follow: 3}}\n"), true);
    check(&format!("steps: [{{get: /, auth: 'basic a:b'}}]\n{phases}"), false);
    let two = format!("steps: [{{get: /}}, {{get: /}}]\n{phases}");
    check(&two, true);
    check(&format!("{two}http: {{cookies: false}}\n"), false);
    check(&format!("steps: [{{repeat: 2, steps: [{{get: /}}]}}]\n{phases}"), true);
}

#[test]
fn the_million_opens_keeps_and_closes() {
    let text = example_text("lb-million.yaml");
    let LoweredPlan { plan, lacking, .. } = lowered("lb-million.yaml", &text, &host(), None).expect("a plan");
    let reported: Vec<(&str, i64, Option<i64>, u64)> = plan
        .phases
        .iter()
        .map(|phase| {
            let secs = |at: Nanos| at.0 / 1_000_000_000;
            (phase.name.as_str(), secs(phase.start), phase.length.map(secs), phase.connections)
        })
        .collect();
    assert_eq!(
        reported,
        [
            ("open", 0, Some(100), 1_000_000),
            ("keep", 100, Some(1_200), 1_000_000),
            ("close", 1_300, Some(20), 1_000_000)
        ]
    );
    assert_eq!(plan.http.close, wavetank_plan::Close::Rst, "held connections end immediately");
    assert!(
        lacking.iter().any(|one| one.code == "no_source_address"),
        "one address has 64,512 ports: {lacking:?}"
    );
}

#[test]
fn own_phases_run_in_parallel_with_the_mix() {
    let text = example_text("flash-sale.yaml");
    let LoweredPlan { plan, .. } = lowered("flash-sale.yaml", &text, &host(), None).expect("a plan");
    let starts: Vec<(&str, i64)> =
        plan.phases.iter().map(|phase| (phase.name.as_str(), phase.start.0 / 1_000_000_000)).collect();
    assert_eq!(starts, [("crowd", 0), ("gather", 0), ("rush", 20)]);
    assert_eq!((plan.phases[0].mix.only(), plan.phases[1].mix.only()), (Some(0), Some(1)));
    let before = plan.around.before.expect("the sale is opened first");
    assert_eq!(shown(&before.steps[0].request.body), "{\"stock\":1000,\"opens_in\":\"15s\"}");
    assert_eq!(plan.shared.counts, ["sold"]);
    assert_eq!(plan.shared.rendezvous, ["doors"]);
}

#[test]
fn request_rates_are_converted_to_sessions() {
    let made = plan(
        "steps:\n  - repeat: 4\n    steps: [{get: /}]\n  - get: /end\nphases:\n  - {rate: 1k requests/s, for: 10s}\n",
    );
    let Load::Open { rate, requests_each, .. } = &made.plan.phases[0].load else { panic!("open: {made:?}") };
    assert_eq!((*requests_each, rate.total()), (Some(5), 2_000));
    let text = "wavetank: 1\ntarget: http://127.0.0.1:8080\nsteps:\n  - get: /\n  - if: status = 200\n    steps: [{get: /more}]\n\
                phases:\n  - {rate: 1k requests/s, for: 10s}\n";
    let unfit = lowered("small.yaml", text, &host(), None).expect_err("the number of requests is not known");
    assert_eq!(unfit.into_user_error("small.yaml").code, "requests_unknown");
}

#[test]
fn warm_up_ends_at_zero() {
    let made = plan(
        "steps: [{get: /}]\nphases:\n  - {users: 5, for: 3s, warmup: true}\n  - {users: 10, for: 4s}\n  - {pause: 1s}\n",
    );
    let starts: Vec<i64> = made.plan.phases.iter().map(|phase| phase.start.0 / 1_000_000_000).collect();
    assert_eq!(starts, [-3, 0, 4]);
    let ahead: Vec<bool> = made.plan.phases.iter().map(|phase| phase.open_before).collect();
    assert_eq!(ahead, [true, false, false], "who carries over has connections already");
    assert_eq!(made.plan.load_end(), Some(Nanos::from_secs(5)));
}

#[test]
fn secrets_are_named_and_never_shown() {
    let made = plan(
        "steps:\n  - get: /\n    headers: {x-key: \"${secret:PASSWORD}\"}\nphases: [{users: 1, for: 1s}]\n",
    );
    assert_eq!(made.plan.scenarios[0].steps[0].request.secret_headers, ["x-key"]);
    assert!(!format!("{:?}", made.plan).contains("planted"));
    let made = plan(
        "redact: [pin]\nsteps: [{set: {pin: planted}}, {log: \"${pin}!\"}]\nphases: [{hold: 1, for: 1s}]\n",
    );
    assert_eq!(made.plan.secrets(), ["planted"]);
    let last = made.plan.scenarios[0].journey.last();
    assert!(matches!(last, Some(Action::Log(line)) if shown(line) == "***!"), "{last:?}");
}

#[test]
fn quotes_around_a_pattern_are_not_part_of_it() {
    let check = |pattern: &str, expected: &str| {
        let file = format!(
            "steps:\n  - get: /\n    check:\n      - body matches {pattern}\nphases: [{{users: 1, for: 1s}}]\n"
        );
        let test = plan(&file).plan.scenarios[0].steps[0].checks[0].test.clone();
        assert_eq!(test, Test::Matches(vec![expected.to_owned()]), "{pattern}");
    };
    check("\"^ok$\"", "/^ok$/");
    check("'^ok$'", "/^ok$/");
    check("^ok$", "/^ok$/");
    check("/\"ok\"/i", "/\"ok\"/i");
    check("\"/ok/i\"", "/ok/i");
    check("\"id\":\"[0-9]+\"", "/\"id\":\"[0-9]+\"/");
    check("\"", "/\"/");
}

#[test]
fn blocks_and_thinking_stand_in_their_places() {
    let made = plan(
        "blocks: {page: [{get: /a}, {get: /b}]}\nscenarios:\n  one:\n    think: 1s\n    steps: [{use: page}, {use: page}, \
         {get: /c}]\n    phases: [{users: 2, for: 1s}]\n",
    );
    let scenario = &made.plan.scenarios[0];
    assert_eq!(scenario.steps.len(), 3, "a block that is used twice has its requests once");
    let shape: Vec<String> = scenario.journey.iter().map(|action| format!("{action:?}")).collect();
    assert_eq!(shape.iter().filter(|one| one.starts_with("Request")).count(), 5, "{shape:?}");
    assert_eq!(shape.iter().filter(|one| one.starts_with("Think")).count(), 4, "{shape:?}");
    assert!(shape.last().is_some_and(|last| last.starts_with("Request")), "{shape:?}");
}

#[test]
fn traces_are_instants() {
    let made = plan("steps: [{get: /}]\nphases: [{trace: trace.csv}]\n");
    let Load::Trace { times } = &made.plan.phases[0].load else { panic!("a trace: {made:?}") };
    let expected = [0, 100, 100, 2_000].map(Nanos::from_millis);
    assert_eq!(times.as_ref(), expected);
}

#[test]
fn what_a_plan_cannot_carry_is_refused() {
    let check = |lines: &str, code: &str| {
        let text = format!("wavetank: 1\ntarget: http://127.0.0.1:8080\nsteps: [{{get: /}}]\n{lines}");
        let unfit = lowered("small.yaml", &text, &host(), None).map(drop).expect_err(lines);
        assert_eq!(unfit.into_user_error("small.yaml").code, code, "{lines}");
    };
    check("phases: [{trace: other.csv}]\n", "bad_file");
    check("phases:\n  - {users: 1, sessions: 5}\n  - {users: 2, for: 1s}\n", "length_missing");
}

/// Targets of a plan in one line each: name, Host, addresses, and the targets it represents.
#[track_caller]
fn check_targets(targets: &str, expected: &[&str]) {
    let text = format!(
        "wavetank: 1\ntargets: {targets}\nsteps: [{{get: /, to: a}}]\nphases: [{{users: 1, for: 1s}}]\n"
    );
    let plan =
        lowered("small.yaml", &text, &host(), None).unwrap_or_else(|unfit| panic!("{text}: {unfit:?}")).plan;
    let shown: Vec<String> = plan
        .targets
        .iter()
        .map(|target| {
            let addresses: Vec<String> = target.addresses.iter().map(ToString::to_string).collect();
            let pick = target.pick.as_ref().map(|pick| format!(" {:?} {:?}", pick.order, pick.of.parts()));
            format!("{}: {} {}{}", target.name, target.host, addresses.join(" "), pick.unwrap_or_default())
        })
        .collect();
    assert_eq!(shown, expected);
    assert_eq!(plan.scenarios[0].steps[0].target, 0, "{targets}");
}

#[test]
fn several_urls_of_one_target() {
    check_targets(
        "{a: [\"http://127.0.0.1:1\", \"http://127.0.0.2:1\"]}",
        &[
            "a: 127.0.0.1:1 127.0.0.1:1 InTurn [(1, 1), (2, 1)]",
            "a 127.0.0.1:1: 127.0.0.1:1 127.0.0.1:1",
            "a 127.0.0.2:1: 127.0.0.2:1 127.0.0.2:1",
        ],
    );
    check_targets(
        "{a: {urls: [{url: \"http://127.0.0.1\", weight: 3}, {url: \"http://127.0.0.2\", weight: 1}]}, b: \"http://127.0.0.3\"}",
        &[
            "a: 127.0.0.1 127.0.0.1:80 Random [(1, 3), (2, 1)]",
            "a 127.0.0.1:80: 127.0.0.1 127.0.0.1:80",
            "a 127.0.0.2:80: 127.0.0.2 127.0.0.2:80",
            "b: 127.0.0.3 127.0.0.3:80",
        ],
    );
    // Requests that are alike need no choice: every connection takes the next address.
    check_targets(
        "{a: [\"http://127.0.0.1:1\", \"http://127.0.0.2:1\"]}\nhttp: {headers: {host: x}}",
        &["a: x 127.0.0.1:1 127.0.0.2:1"],
    );
}

#[test]
fn each_target_may_have_a_tls_of_its_own() {
    let text = "wavetank: 1\nhttp: {tls: {sni: common.example}}\ntargets:\n  a: https://127.0.0.1:1\n  \
                b: {urls: [\"https://127.0.0.1:2\"], tls: {verify: false}}\n  \
                c: {urls: [\"https://127.0.0.1:3\"], tls: {sni: own.example}}\n\
                steps: [{get: /, to: a}, {get: /, to: b}, {get: /, to: c}]\nphases: [{users: 1, for: 1s}]\n";
    let plan = lowered("small.yaml", text, &host(), None).expect("a plan").plan;
    assert_eq!(plan.server_names(), ["common.example", "127.0.0.1", "own.example"]);
    let verify: Vec<bool> = plan.server_tls().iter().map(|tls| tls.verify).collect();
    assert_eq!(verify, [true, false, true]);
}

#[test]
fn who_needs_no_connection_of_his_own_has_none() {
    let scenario = |connection: &str, phase: &str| {
        let text = format!(
            "wavetank: 1\ntarget: http://127.0.0.1:8080\nscenarios: {{s: {{connection: {connection}, \
             steps: [{{get: /}}, {{think: 1s}}], phases: [{phase}]}}}}\n"
        );
        let small = HostFacts { memory_available_bytes: 1 << 30, ..host() };
        lowered("small.yaml", &text, &small, None).expect("a plan")
    };
    let shared = scenario("shared", "{users: 1M, for: 1s}");
    assert!(shared.lacking.is_empty(), "{:?}", shared.lacking);
    let phase = &shared.plan.phases[0];
    assert!(phase.connections > 1_000 && phase.connections < 100_000 && !phase.open_before, "{phase:?}");
    let own = scenario("user", "{users: 1M, for: 1s}");
    let codes: Vec<_> = own.lacking.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["no_source_address", "no_memory"], "all missing inputs are reported together");
    assert!(own.plan.phases[0].open_before);
    assert!(!scenario("request", "{users: 10, for: 1s}").plan.phases[0].open_before);
}

#[test]
fn this_host_lowers_what_it_must_and_says_so() {
    let small = HostFacts { memory_available_bytes: 1 << 20, ..host() };
    let text =
        "wavetank: 1\ntarget: http://127.0.0.1:8080\nsteps: [{get: /}]\nphases: [{rate: 1k/s, for: 10s}]\n";
    let made = lowered("small.yaml", text, &small, None).expect("a plan");
    let phase = &made.plan.phases[0];
    assert!(phase.max_open < 10_000 && phase.max_open_by == wavetank_plan::MaxOpenLimit::Memory, "{phase:?}");
    let held = text.replace("{rate: 1k/s, for: 10s}", "{users: 900, for: 1s}");
    let made = lowered("small.yaml", &held, &small, None).expect("a plan");
    assert_eq!(made.lacking.iter().map(|one| one.code).collect::<Vec<_>>(), ["no_memory"]);
}

/// A variable of the file that the run's `before` sets starts with that value only there: sessions
/// have it from there by its name.
#[test]
fn what_the_run_sets_first_is_not_set_again() {
    let text = "wavetank: 1\ntarget: http://127.0.0.1\nvars: {token: none, mine: 1}\nbefore:\n  - get: /login\n    \
                extract: {token: body}\nsteps:\n  - get: /${token}\n  - set: {mine: 2}\n";
    let plan = lowered("given.yaml", text, &host(), None).expect("lowers").plan;
    let sets = |scenario: &wavetank_plan::Scenario| -> Vec<String> {
        let set = |action: &wavetank_plan::Action| match action {
            wavetank_plan::Action::Set(slot, _) => Some(scenario.variables[usize::from(*slot)].clone()),
            _ => None,
        };
        scenario.before.iter().filter_map(set).collect()
    };
    assert_eq!(sets(plan.around.before.as_ref().expect("a before")), ["token"]);
    assert_eq!(sets(&plan.scenarios[0]), ["mine"]);
    assert!(plan.scenarios[0].variables.iter().any(|name| name == "token"));
}

#[test]
fn proxies_are_looked_up_and_known_to() {
    let made = plan(
        "http: {proxy: 'http://us%40er:${secret:PASSWORD}@127.0.0.2:3128', proxy_protocol: v2}\nsteps: [{get: /}]\n\
         phases: [{users: 1, for: 1s}]\n",
    );
    let proxy = made.plan.http.proxy.as_ref().expect("a proxy");
    assert_eq!((proxy.url.as_str(), proxy.addresses.len()), ("http://127.0.0.2:3128", 1));
    let expected = ProxyUrl::parse("http://us%40er:planted@127.0.0.2:3128").expect("a URL");
    assert_eq!(proxy.authorization, expected.authorization().expect("a user"));
    assert_eq!(made.plan.http.proxy_protocol, Some(ProxyProtocol::V2));
    assert_eq!(made.plan.connect_addresses(&made.plan.targets[0]), proxy.addresses, "connections go there");
    assert!(made.plan.targets[0].addresses[0].ip().to_string() == "127.0.0.1", "the guard sees the target");
    assert!(!format!("{:?}", made.plan).contains("planted"));
    let check = |lines: &str, code: &str| {
        let text = format!("wavetank: 1\n{lines}steps: [{{get: /}}]\nphases: [{{users: 1, for: 1s}}]\n");
        let unfit = lowered("small.yaml", &text, &host(), None).map(drop).expect_err(lines);
        assert_eq!(unfit.into_user_error("small.yaml").code, code, "{lines}");
    };
    let target = "target: http://127.0.0.1:8080\n";
    check(
        &format!("{target}http: {{proxy: 'http://127.0.0.2:1', connect_to: ['127.0.0.3:1']}}\n"),
        "option_conflict",
    );
    check(&format!("{target}http: {{proxy: 'http://unknown.example:1'}}\n"), "unknown_host");
    check(
        "target: [http://127.0.0.1:8080, http://127.0.0.2:8080]\nhttp: {proxy: 'http://127.0.0.2:1', headers: {host: a}}\n",
        "value_later",
    );
}
