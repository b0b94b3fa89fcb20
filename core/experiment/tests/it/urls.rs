//! A request of the command line as an experiment: the plan of a file that says the same, or one
//! error without a position.

use wavetank_experiment::{UrlBody, UrlPart, UrlRequest, plan_url};
use wavetank_plan::{
    Arrivals, Close, Condition, Escape, Plan, RunOptions, Secret, Stage, TargetUrl, TemplatePart,
};
use wavetank_units::quantity::parse_rate;
use wavetank_units::{Nanos, Rate};

use crate::support::plans::{host, plan_of, plan_of_url, read_of_url};

fn request(url: &str) -> UrlRequest {
    UrlRequest { url: url.to_owned(), ..UrlRequest::default() }
}

fn body(url: &str, body: UrlBody) -> UrlRequest {
    UrlRequest { body: Some(body), ..request(url) }
}

fn header(name: &str, value: &str) -> RunOptions {
    RunOptions { headers: vec![(name.to_owned(), Secret::new(value))], ..RunOptions::default() }
}

fn stages(texts: &[&str]) -> RunOptions {
    let stages = texts.iter().map(|text| Stage::parse(text).expect("a stage")).collect();
    RunOptions { stages, ..RunOptions::default() }
}

/// Checks that the request has the plan of a file with these lines.
#[track_caller]
fn check(request: &UrlRequest, options: &RunOptions, lines: &str) {
    let file = format!("wavetank: 1\ntarget: http://127.0.0.1:8080\n{lines}\n");
    let of_url = plan_of_url(request, options).unwrap_or_else(|error| panic!("{request:?}: {error:?}"));
    assert_eq!(of_url, plan_of("x.yaml", &file), "{request:?}\n{file}");
}

#[test]
fn templates_are_those_of_a_file() {
    let none = RunOptions::default();
    for (url, step) in [
        ("127.0.0.1:8080/item/${random(1,100)}", "get: \"/item/${random(1,100)}\""),
        ("http://127.0.0.1:8080/a?id=${uuid()}&n=${seq()}", "get: \"/a?id=${uuid()}&n=${seq()}\""),
        ("127.0.0.1:8080?q=${pick(a,b)}#part", "get: \"/?q=${pick(a,b)}\""),
        ("127.0.0.1:8080/$${x}", "get: \"/$${x}\""),
    ] {
        check(&request(url), &none, &format!("steps: [{{{step}}}]"));
    }
    check(
        &request("127.0.0.1:8080/"),
        &header("Authorization", "Bearer ${secret:PASSWORD}"),
        "http: {headers: {Authorization: \"Bearer ${secret:PASSWORD}\"}}\nsteps: [get: /]",
    );
}

#[test]
fn a_path_is_sent_in_ascii() {
    for (path, sent) in [
        ("/ä", "/%C3%A4"),
        ("/a/../b/./c", "/b/c"),
        ("/a|b<c>{d}", "/a|b%3Cc%3E%7Bd%7D"),
        ("/q?x=ü'&y=%41%zz", "/q?x=%C3%BC%27&y=%41%zz"),
        ("/ä/${seq()}/ö?z=${uuid()}&é", "/%C3%A4/${…}/%C3%B6?z=${…}&%C3%A9"),
        ("/hole/${seq()}/holex", "/hole/${…}/holex"),
    ] {
        let step = format!("steps: [{{get: \"{path}\"}}]");
        let url = format!("127.0.0.1:8080{path}");
        let of_url = plan_of_url(&request(&url), &RunOptions::default()).expect("a plan");
        assert_eq!(of_url.scenarios[0].steps[0].request.path.shown(), sent, "{path}");
        check(&request(&url), &RunOptions::default(), &step);
        if !path.contains("${") {
            assert_eq!(TargetUrl::parse(&url).expect("a URL").path, sent, "a plain run sends the same");
        }
    }
}

#[test]
fn only_a_request_that_is_the_same_for_all_is_probed() {
    let probe = |url: &str, options: &RunOptions| {
        read_of_url(&request(url), options).experiment.expect("an experiment").probe
    };
    let basic = RunOptions { basic: Some(Secret::new("a:b")), ..RunOptions::default() };
    assert_eq!(probe("127.0.0.1:8080/", &basic), Some(true));
    assert_eq!(probe("127.0.0.1:8080/", &header("X-Id", "7")), Some(true));
    assert_eq!(probe("127.0.0.1:8080/", &header("X-Id", "${uuid()}")), None);
    assert_eq!(probe("127.0.0.1:8080/${uuid()}", &basic), None);
    let asked = RunOptions { probe: Some(true), ..header("X-Id", "${uuid()}") };
    assert_eq!(probe("127.0.0.1:8080/", &asked), Some(true), "which is an error later");
}

#[test]
fn bodies_are_those_of_a_file() {
    let none = RunOptions::default();
    let fields = vec![("a".to_owned(), "b c".to_owned()), ("d".to_owned(), "${seq()}".to_owned())];
    let url = "127.0.0.1:8080/";
    for (own, lines) in [
        (UrlBody::Text("id ${uuid()}".to_owned()), "body: \"id ${uuid()}\""),
        (UrlBody::Form(fields), "form: {a: b c, d: \"${seq()}\"}"),
        (
            UrlBody::Multipart(vec![
                ("a".to_owned(), UrlPart::text("${seq()}".to_owned())),
                (
                    "t".to_owned(),
                    UrlPart::File {
                        file: "times.csv".to_owned(),
                        name: None,
                        content_type: Some("text/csv".to_owned()),
                    },
                ),
            ]),
            "multipart: {a: \"${seq()}\", t: {file: times.csv, type: text/csv}}",
        ),
    ] {
        check(&body(url, own), &none, &format!("steps:\n  - post: /\n    {lines}"));
    }
}

#[test]
fn json_is_sent_as_written() {
    let text = r#"{ "id": "x-${uuid()}", "quote": "\"", "n": ${random(1,9)} }"#;
    let url = body("127.0.0.1:8080/", UrlBody::Json(text.to_owned()));
    let plan = plan_of_url(&url, &RunOptions::default()).expect("a plan");
    let request = &plan.scenarios[0].steps[0].request;
    let escapes: Vec<Escape> = request.body.holes().map(|hole| hole.escape).collect();
    assert_eq!(escapes, [Escape::JsonText, Escape::JsonValue], "inside quotes and outside");
    let fixed = |piece: &TemplatePart| match piece {
        TemplatePart::Fixed(text) => String::from_utf8_lossy(text).into_owned(),
        TemplatePart::Hole(_) => "*".to_owned(),
    };
    let shown: String = request.body.pieces.iter().map(fixed).collect();
    assert_eq!(shown, r#"{ "id": "x-*", "quote": "\"", "n": * }"#);
    assert_eq!(request.method, "POST");
    let json = ("Content-Type".to_owned(), "application/json".into());
    assert!(request.headers.contains(&json), "{:?}", request.headers);
}

#[test]
fn stages_are_ramps_from_zero() {
    check(
        &request("127.0.0.1:8080/"),
        &stages(&["1m:100/s", "30s:100/s", "10s:0/s"]),
        "steps: [get: /]\nphases:
  - {name: stage-1, rate: 0/s to 100/s, for: 1m}
  - {name: stage-2, rate: 100/s, for: 30s}
  - {name: stage-3, rate: 100/s to 0/s, for: 10s}",
    );
    check(
        &request("127.0.0.1:8080/"),
        &stages(&["1m:50 users", "30s:20 users"]),
        "steps: [get: /]\nphases:
  - {name: stage-1, users: 0 to 50, for: 1m}
  - {name: stage-2, users: 50 to 20, for: 30s}",
    );
}

#[test]
fn what_cannot_be_expanded_is_refused() {
    let cases = [
        (request("127.0.0.1:${random(1,2)}/"), RunOptions::default(), "not_fixed", "must be the same"),
        (request("127.0.0.1:8080/${name}"), RunOptions::default(), "variable_unknown", "\"name\""),
        (request("127.0.0.1:8080/${rows.a}"), RunOptions::default(), "data_unknown", "\"rows\""),
        (request("127.0.0.1:8080/${uid()}"), RunOptions::default(), "function_unknown", "the URL: "),
        (request("127.0.0.1:8080/"), header("X", "${uuid("), "template_unclosed", "-H `X`: "),
        (
            body("127.0.0.1:8080/", UrlBody::Text("${".to_owned())),
            RunOptions::default(),
            "template_unclosed",
            "--body: ",
        ),
        (request("127.0.0.1:8080/"), stages(&["1m:5/s", "1m:5 users"]), "conflict", "mixes"),
        (request("127.0.0.1:8080/"), stages(&["1m:0/s"]), "conflict", "stays at zero"),
        (request("127.0.0.1:8080/a b${uuid()}"), RunOptions::default(), "bad_url", "white space"),
    ];
    for (request, options, code, says) in cases {
        let error = plan_of_url(&request, &options).expect_err(&request.url);
        assert_eq!((error.code.as_str(), error.place), (code, None), "{request:?}: {error:?}");
        assert!(error.message.contains(says) && !error.hint.is_empty(), "{request:?}: {error:?}");
    }
}

#[test]
fn all_that_cannot_be_expanded_is_refused_in_one_round() {
    let request =
        UrlRequest { body: Some(UrlBody::Text("${".to_owned())), ..request("127.0.0.1:8080/${name}") };
    let mut options = header("X-A", "${uuid(");
    options.headers.push(("X-B".to_owned(), Secret::new("${other}")));
    options.headers.push(("X-C".to_owned(), Secret::new("${")));
    let read = read_of_url(&request, &options);
    let diagnostics = read.diagnostics.sorted();
    let found: Vec<&str> = diagnostics.iter().map(|one| one.message.as_str()).collect();
    for says in ["--body: ", "-H `X-A`: ", "-H `X-C`: ", "\"name\""] {
        assert!(found.iter().any(|message| message.contains(says)), "{says}: {found:#?}");
    }
    assert!(read.experiment.is_none());
}

#[test]
fn a_single_scenario_needs_no_weight() {
    let with = |weight: &str| {
        let scenario = format!("a: {{{weight}steps: [get: /]}}");
        let file = format!(
            "wavetank: 1\ntarget: http://127.0.0.1:8080\nscenarios: {{{scenario}}}\nphases: [{{users: 5, for: 1m}}]\n"
        );
        plan_of("x.yaml", &file)
    };
    assert_eq!(with(""), with("weight: 1, "));
}

/// Checks that a run of the URL with `options`, the same request as an experiment, and a file with
/// these lines have one plan.
#[track_caller]
fn check_same(url: &str, options: &RunOptions, lines: &str) {
    let file = format!("wavetank: 1\ntarget: http://127.0.0.1:8080\n{lines}\n");
    let of_file = plan_of("x.yaml", &file);
    let target = TargetUrl::parse(url).expect("a URL");
    let address = target.address().expect("an address");
    let resolved = plan_url(options, &target, &[address], &host()).expect("a plan");
    let hash = |plan: &Plan| format!("{plan:#?}");
    assert_eq!(hash(&resolved.plan), hash(&of_file), "{url} {options:?}\n{file}");
    let own = RunOptions { method: None, body: None, ..options.clone() };
    let request = UrlRequest {
        method: options.method.clone(),
        body: options.body.clone().map(|body| UrlBody::Text(String::from_utf8(body).expect("text"))),
        ..request(url)
    };
    let of_url = plan_of_url(&request, &own).unwrap_or_else(|error| panic!("{url}: {error:?}"));
    assert_eq!(hash(&of_url), hash(&of_file), "{url} {options:?}\n{file}");
}

fn options(change: impl FnOnce(&mut RunOptions)) -> RunOptions {
    let mut options = RunOptions::default();
    change(&mut options);
    options
}

fn rate(text: &str) -> Rate {
    parse_rate(text).expect("a rate")
}

#[test]
fn a_url_and_the_file_that_says_the_same_are_one_plan() {
    for (url, options, lines) in loads().into_iter().chain(requests()) {
        check_same(url, &options, &lines);
    }
}

/// A URL, options, and the lines of a file.
type Pair = (&'static str, RunOptions, String);

const URL: &str = "127.0.0.1:8080/";
const GET: &str = "steps: [get: /]\n";

/// Pairs that differ in their load.
fn loads() -> Vec<Pair> {
    let (url, get) = (URL, GET);
    vec![
        (url, options(|_| ()), get.to_owned()),
        (url, options(|o| o.connections = Some(10)), format!("{get}phases: [{{users: 10, for: 10s}}]")),
        (
            url,
            options(|o| (o.connections, o.duration) = (Some(10), Some(Nanos::from_secs(3)))),
            format!("{get}phases: [{{users: 10, for: 3s}}]"),
        ),
        (
            url,
            options(|o| (o.rate, o.duration) = (Some(rate("500/s")), Some(Nanos::from_secs(30)))),
            format!("{get}phases: [{{rate: 500/s, for: 30s}}]"),
        ),
        (
            url,
            options(|o| (o.rate, o.arrivals) = (Some(rate("7/min")), Some(Arrivals::Poisson))),
            format!("{get}phases: [{{rate: 7/min, for: 10s, arrivals: poisson}}]"),
        ),
        (
            url,
            options(|o| (o.rate, o.connections) = (Some(rate("500/s")), Some(64))),
            format!("connections: 64\n{get}phases: [{{rate: 500/s, for: 10s}}]"),
        ),
        (
            url,
            options(|o| (o.rate, o.max_open) = (Some(rate("500/s")), Some(100))),
            format!("{get}phases: [{{rate: 500/s, for: 10s, max_open: 100}}]"),
        ),
        (
            url,
            options(|o| (o.rate, o.timeout) = (Some(rate("500/s")), Some(Nanos::from_secs(2)))),
            format!("http: {{timeout: 2s}}\n{get}phases: [{{rate: 500/s, for: 10s}}]"),
        ),
        (
            url,
            options(|o| (o.connections, o.warmup) = (Some(4), Some(Nanos::from_secs(2)))),
            format!(
                "{get}phases: [{{name: warmup, users: 4, for: 2s, warmup: true}}, {{name: main, users: 4, for: 10s}}]"
            ),
        ),
        (
            url,
            options(|o| (o.rate, o.warmup) = (Some(rate("50/s")), Some(Nanos::from_secs(2)))),
            format!(
                "{get}phases: [{{name: warmup, rate: 50/s, for: 2s, warmup: true}}, {{name: main, rate: 50/s, for: 10s}}]"
            ),
        ),
        (
            url,
            options(|o| (o.connections, o.no_keepalive) = (Some(4), true)),
            format!("http: {{keepalive: false}}\n{get}phases: [{{users: 4, for: 10s}}]"),
        ),
        (
            url,
            options(|o| (o.connections, o.pipeline) = (Some(5), Some(4))),
            format!("http: {{pipeline: 4}}\n{get}phases: [{{users: 20, for: 10s}}]"),
        ),
    ]
}

/// Pairs that differ in their request, conditions and names.
fn requests() -> Vec<Pair> {
    let (url, get) = (URL, GET);
    vec![
        (
            "127.0.0.1:8080/a/b?c=d&e",
            options(|o| {
                o.headers.push(("X-A".to_owned(), Secret::new("b")));
                o.headers.push(("Authorization".to_owned(), Secret::new("Bearer t")));
            }),
            "http: {headers: {X-A: b, Authorization: Bearer t}}\nsteps: [get: /a/b?c=d&e]".to_owned(),
        ),
        (
            url,
            options(|o| o.basic = Some(Secret::new("ann:a:b"))),
            "http: {auth: \"basic ann:a:b\"}\nsteps: [get: /]".to_owned(),
        ),
        (
            url,
            options(|o| {
                o.method = Some("PUT".to_owned());
                o.body = Some(b"text".to_vec());
            }),
            "steps: [{put: /, body: text}]".to_owned(),
        ),
        (url, options(|o| o.body = Some(b"text".to_vec())), "steps: [{post: /, body: text}]".to_owned()),
        (
            url,
            options(|o| {
                o.thresholds.push(Condition::parse("p99 < 250ms in main").expect("a condition"));
                o.stop.push(Condition::parse("failed > 50%").expect("a condition"));
                o.seed = Some(7);
                o.drain = Some(Nanos::from_secs(3));
                o.open_rate = Some(rate("77/s"));
                o.name = Some("home".to_owned());
                o.close = Some(Close::Rst);
                o.requests_per_connection = Some(9);
                o.tags.insert("build".to_owned(), "7".to_owned());
            }),
            format!(
                "{get}name: home\nseed: 7\ndrain: 3s\nopen_rate: 77/s\nhttp: {{close: rst, requests_per_connection: 9}}\n\
                 tags: {{build: \"7\"}}\nthresholds: p99 < 250ms in main\nstop: failed > 50%"
            ),
        ),
    ]
}
