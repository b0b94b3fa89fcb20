//! gRPC: against `wavetank serve`, a server of another implementation, and scripted frames.

use serde_json::Value;
use wavetank_testkit::{
    Client, FrameReply, FrameRequest, FrameServer, Outcome, Program, RunHarness, Serve, TestDir, frame,
};

use crate::grpcio::with_grpcio;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];
const PROTO: &str = include_str!("../../../../examples/grpc/echo.proto");
const SAY: &str = "wavetank.echo.v1.Echo/Say";

/// Runs an experiment with these steps against `target`.
fn run(harness: &RunHarness, target: &str, steps: &str, words: &str) -> Outcome {
    harness.place().write("echo.proto", PROTO);
    let file = harness.place().write("x.yaml", experiment(target, steps));
    harness.load(&file, ["--no-probe"].into_iter().chain(words.split_whitespace())).run()
}

fn experiment(target: &str, steps: &str) -> String {
    format!(
        "wavetank: 1\ntarget: {target}\ngrpc: {{proto: echo.proto}}\nhttp: {{streams: 3}}\nsteps:\n{steps}\
         phases: [{{users: 4, sessions: 10}}]\n"
    )
}

/// What the server counted.
fn truth(serve: &Serve) -> Value {
    let answer = Client::connect(serve.address()).get("/truth");
    serde_json::from_slice(&answer.body).expect("/truth is JSON")
}

fn requests(serve: &Serve) -> u64 {
    truth(serve)["requests"].as_u64().expect("a number of requests")
}

/// Every kind of method, with values that a session sets, extracts and checks.
const STEPS: &str = "\
\x20 - grpc.call: wavetank.echo.v1.Echo/Say
\x20   name: say
\x20   headers: {x-id: \"${user}\", x-raw-bin: AAE=}
\x20   json: {text: \"user ${user}\", number: \"${random(7,7)}\", payload: AAH/, kind: KIND_ORDER, \
      items: [{name: pen, price: 1.5}]}
\x20   extract: {number: 'json $.number'}
\x20   check: [status = OK, 'json $.items[0].name = pen', 'json $.kind = KIND_ORDER', 'json $.payload = AAH/', \
      'json $.delayMs = 0']
\x20 - grpc.call: Echo/Repeat
\x20   json: {text: \"${number}\", count: 3}
\x20   check: 'json $[2].text = 7'
\x20 - grpc.call: Echo/Collect
\x20   json: [{text: a}, {text: \"${number}\"}]
\x20   check: ['json $.count = 2', 'json $.text = 7']
\x20 - grpc.call: Echo/Chat
\x20   json: [{text: a}, {text: b}]
\x20   check: 'json $[1].text = b'
";

#[test]
fn all_kinds_of_methods_are_called() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--engine", engine]);
        let harness = RunHarness::new(PROGRAM);
        let target = format!("grpc://{}", serve.address());
        let outcome = run(&harness, &target, STEPS, &format!("--engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (40, 0), "{result}");
        assert_eq!(result.count("status.0"), 40, "{result}");
        assert_eq!(requests(&serve), 40, "{result}");
        // A session sends 1 + 1 + 2 + 2 messages and receives 1 + 3 + 1 + 2.
        let messages = ["messages.sent", "messages.received"].map(|name| result.count(name));
        assert_eq!(messages, [60, 70], "{result}");
        let counted = truth(&serve)["messages"].clone();
        assert_eq!((&counted["received"], &counted["sent"]), (&60.into(), &70.into()), "{counted}");
    }
}

#[test]
fn the_example_works() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    let example = format!("{}/../../examples/grpc/echo.yaml", env!("CARGO_MANIFEST_DIR"));
    let (target, harness) = (format!("grpc://{}", serve.address()), RunHarness::new(PROGRAM));
    let outcome = harness.load(&example, ["--target", &target, "--speed", "5x"]).run();
    let result = outcome.result();
    let counts = (result.count("requests.done"), result.count("requests.failed"));
    assert_eq!((counts, requests(&serve)), ((400, 0), 400), "{outcome}");
}

#[test]
fn statuses_fail_a_call_with_the_servers_message() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    let harness = RunHarness::new(PROGRAM);
    let target = format!("grpc://{}", serve.address());
    let steps = "\x20 - grpc.call: Echo/Say\n    json: {text: 'käse ${user}', status: 5}\n    extract: {x: 'json $.text'}\n\
                 \x20 - grpc.call: Echo/Say\n    name: wanted\n    json: {status: 7}\n    check: status = PERMISSION_DENIED\n";
    for engine in ENGINES {
        let words = format!("--engine {engine} --threshold status(NOT_FOUND)>1");
        let outcome = run(&harness, &target, steps, &words);
        let result = outcome.result();
        assert_eq!((result.count("requests.done"), result.count("errors.status")), (10, 10), "{outcome}");
        assert!(outcome.stdout.contains("NOT_FOUND: käse "), "{outcome}");
    }
}

#[test]
fn a_url_names_a_method() {
    let serve = Serve::start(&Program::new(PROGRAM), &["--tls"]);
    let place = TestDir::new();
    place.write("echo.proto", PROTO);
    let url = format!("grpcs://{}/{SAY}", serve.address());
    let program = || Program::new(PROGRAM).in_folder(place.path());
    let words = ["run", &url, "--proto", "echo.proto", "--insecure", "-c", "2", "-n", "50"];
    let json = ["--json", "{\"text\": \"${seq()}\"}", "--runs-dir", "runs", "--format", "json"];
    let outcome = program().args(words).args(json).run();
    outcome.expect_exit(0);
    assert_eq!(outcome.json()["requests"]["done"], 50, "{outcome}");
    assert_eq!(requests_tls(&outcome), 50);
    let tried = program()
        .args(["run", &url, "--proto", "echo.proto", "--insecure", "--json", "{\"text\": \"hi\"}", "--once"])
        .run();
    tried.expect_exit(0);
    assert!(tried.stdout.contains("\"text\":\"hi\"") && tried.stdout.contains("grpc-status: 0"), "{tried}");
}

fn requests_tls(outcome: &Outcome) -> u64 {
    outcome.json()["status"]["0"].as_u64().unwrap_or_default()
}

#[test]
fn try_shows_messages_as_json() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    let place = TestDir::new();
    place.write("echo.proto", PROTO);
    let target = format!("grpc://{}", serve.address());
    place.write("x.yaml", experiment(&target, STEPS));
    let outcome = Program::new(PROGRAM).in_folder(place.path()).args(["try", "x.yaml"]).run();
    outcome.expect_exit(0);
    let whole =
        ["> POST /wavetank.echo.v1.Echo/Say", "> content-type: application/grpc", "\"number\":7", ", grpc)"];
    for text in whole {
        assert!(outcome.stdout.to_lowercase().contains(&text.to_lowercase()), "{text}: {outcome}");
    }
    assert!(outcome.stdout.contains("< grpc-status: 0"), "{outcome}");
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let place = TestDir::new();
    place.write("echo.proto", PROTO);
    place.write("broken.proto", "syntax = \"proto3\";\nmessage A { strin a = 1; }\n");
    let check = |steps: &str, proto: &str, expected: &[&str]| {
        let text = experiment("grpc://127.0.0.1:1", steps).replace("echo.proto", proto);
        place.write("x.yaml", text);
        let outcome = Program::new(PROGRAM).in_folder(place.path()).args(["check", "x.yaml"]).run();
        outcome.expect_exit(2);
        let all = format!("{}{}", outcome.stdout, outcome.stderr);
        for text in expected {
            assert!(all.contains(text), "{text}: {outcome}");
        }
    };
    let say = "\x20 - grpc.call: Echo/Say\n    json: {text: hi}\n";
    check(say, "missing.proto", &["x.yaml:3", "missing.proto"]);
    check(say, "broken.proto", &["x.yaml:3", "broken.proto:2:"]);
    check(
        "\x20 - grpc.call: wavetank.echo.v1.Echo/Sayy\n",
        "echo.proto",
        &["x.yaml:6", "did you mean wavetank.echo.v1.Echo/Say?"],
    );
    let wrong = "\x20 - grpc.call: Echo/Say\n    json: {txt: \"${user}\"}\n";
    check(
        wrong,
        "echo.proto",
        &["x.yaml:7", "wavetank.echo.v1.Message has no field `txt`", "did you mean text?"],
    );
    let inside = "\x20 - grpc.call: Echo/Say\n    json: {items: [{nam: pen}]}\n";
    check(inside, "echo.proto", &["x.yaml:7", "Item has no field `nam`", "did you mean name?"]);
    check(
        "\x20 - grpc.call: Echo/Say\n    json: {count: many}\n",
        "echo.proto",
        &["x.yaml:7", "does not fit"],
    );
    check("\x20 - get: /\n", "echo.proto", &["x.yaml:6", "speaks gRPC"]);
}

/// Sends `response`, frames on the request's stream, and checks the class of each failure.
#[track_caller]
fn check_bad(response: fn(u32) -> Vec<u8>, class: &str) {
    for engine in ENGINES {
        let server =
            FrameServer::start(b"", move |request: FrameRequest| FrameReply::Send(response(request.stream)));
        let target = server.url().replace("http://", "grpc://").trim_end_matches('/').to_owned();
        let harness = RunHarness::new(PROGRAM);
        let steps = "\x20 - grpc.call: Echo/Say\n    json: {text: hi}\n    extract: {x: 'json $.text'}\n";
        let outcome = run(&harness, &target, steps, &format!("--engine {engine}"));
        let result = outcome.result();
        result.conserved();
        assert_eq!(result.count(&format!("errors.{class}")), 10, "{class}: {outcome}");
    }
}

/// `:status 200` and `content-type: application/grpc`, which do not end the stream.
fn head(stream: u32) -> Vec<u8> {
    frame(1, 4, stream, b"\x88\x0f\x10\x10application/grpc")
}

fn trailers(stream: u32, status: u8) -> Vec<u8> {
    frame(1, 5, stream, &[b"\0\x0bgrpc-status\x01", &[status][..]].concat())
}

/// A response with this body and the status OK.
fn answered(stream: u32, body: &[u8]) -> Vec<u8> {
    [head(stream), frame(0, 0, stream, body), trailers(stream, b'0')].concat()
}

#[test]
fn bad_responses_have_their_class() {
    // A half frame, bytes that are no message, two messages, none, and compression that is none.
    check_bad(|stream| answered(stream, b"\0\0\0"), "protocol");
    check_bad(|stream| answered(stream, b"\0\0\0\0\x02\x0a\xff"), "protocol");
    check_bad(|stream| answered(stream, &[0; 10]), "protocol");
    check_bad(|stream| answered(stream, b""), "protocol");
    check_bad(|stream| answered(stream, b"\x01\0\0\0\x01x"), "protocol");
    check_bad(|stream| trailers(stream, b'8'), "protocol");
    check_bad(|stream| [head(stream), trailers(stream, b'8')].concat(), "status");
}

/// A server of grpcio, with compression and metadata.
#[test]
fn grpcio_understands_calls() {
    with_grpcio("grpcio_understands_calls", |target| {
        for engine in ENGINES {
            for gzip in ["", ", gzip: true"] {
                let harness = RunHarness::new(PROGRAM);
                harness.place().write("echo.proto", PROTO);
                let text = experiment(target, STEPS).replace("echo.proto}", &format!("echo.proto{gzip}}}"));
                let file = harness.place().write("x.yaml", text);
                let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
                outcome.expect_exit(0);
                let result = outcome.result();
                let counts = (result.count("requests.done"), result.count("requests.failed"));
                assert_eq!(counts, (40, 0), "{gzip}: {outcome}");
            }
        }
    });
}

/// The server describes its services to a run of a URL and of a file.
#[test]
fn reflection_replaces_files() {
    for tls in [false, true] {
        let serve = Serve::start(&Program::new(PROGRAM), if tls { &["--tls"] } else { &[] });
        let scheme = if tls { "grpcs" } else { "grpc" };
        let (target, harness) = (format!("{scheme}://{}", serve.address()), RunHarness::new(PROGRAM));
        let url = format!("{target}/{SAY}");
        let words =
            ["--insecure", "--no-probe", "-c", "2", "-n", "20", "--json", r#"{"text": "a", "number": 7}"#];
        let outcome = harness.load(&url, words.into_iter().skip(usize::from(!tls))).run();
        outcome.expect_exit(0);
        let result = outcome.result();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (20, 0), "{result}");
        let text = experiment(&target, STEPS).replace("proto: echo.proto", "reflection: true");
        let text = text.replace("streams: 3", "streams: 3, tls: {verify: false}");
        let file = harness
            .place()
            .write("x.yaml", if tls { text } else { text.replace(", tls: {verify: false}", "") });
        harness.load(&file, ["--no-probe"]).run().expect_exit(0);
    }
}

#[test]
fn what_reflection_lacks_is_reported() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    let harness = RunHarness::new(PROGRAM);
    let check = |words: &str, expected: &str| {
        let (url, more) = words.split_once(' ').unwrap_or((words, ""));
        let outcome = harness.load(url, ["-n", "1"].into_iter().chain(more.split_whitespace())).run();
        outcome.expect_exit(2);
        assert!(outcome.to_string().contains(expected), "{expected}: {outcome}");
    };
    check(&format!("grpc://{}/Echo/Sai", serve.address()), "there is wavetank.echo.v1.Echo/Say");
    // A server without gRPC, and none at all.
    let server = FrameServer::start(b"", |request: FrameRequest| {
        FrameReply::Send(frame(1, 5, request.stream, &[0x8d]))
    });
    check(&format!("{}a.B/C", server.url().replace("http://", "grpc://")), "reflection");
    check("grpc://127.0.0.1:1/a.B/C", "cannot ask 127.0.0.1:1");
    check("grpc://127.0.0.1:1/a.B/C --proxy http://127.0.0.1:2", "through a proxy");
}
