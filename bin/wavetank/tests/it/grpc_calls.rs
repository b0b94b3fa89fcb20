//! gRPC calls that stay open: against `wavetank serve`, grpcio, and scripted frames.

use serde_json::Value;
use wavetank_testkit::{
    Client, FrameReply, FrameRequest, FrameServer, Outcome, Program, RunHarness, Serve, TestDir, frame,
};

use crate::grpcio::with_grpcio;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];
const PROTO: &str = include_str!("../../../../examples/grpc/echo.proto");

/// Runs an experiment with these steps against `target`: 4 users, 10 sessions.
fn run(target: &str, steps: &str, words: &str) -> Outcome {
    let harness = RunHarness::new(PROGRAM);
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

/// A conversation: each message depends on the answer to the one before. Then a call with one
/// answer, and one without an open call.
const STEPS: &str = "\
\x20 - grpc.open: Echo/Chat
\x20   headers: {x-id: \"${user}\"}
\x20 - grpc.send: {text: \"user ${user}\", number: \"${random(7,7)}\"}
\x20   name: first
\x20   reply: any
\x20   extract: {number: 'json $.number'}
\x20   check: [status = OK, 'json $.number = 7', time < 20s]
\x20 - grpc.send: {text: ignored}
\x20 - grpc.send: {text: \"got ${number}\", kind: KIND_ORDER}
\x20   name: second
\x20   reply: json $.text = \"got 7\"
\x20   check: 'json $.kind = KIND_ORDER'
\x20 - grpc.send: {text: a}
\x20 - grpc.send: {text: b}
\x20 - grpc.wait: json $.text = b
\x20   name: waited
\x20 - grpc.send: {text: rest}
\x20 - grpc.end: true
\x20   name: ended
\x20   check: [status = OK, 'json $[0].text = rest']
\x20 - grpc.open: Echo/Collect
\x20 - grpc.send: {text: a}
\x20 - grpc.send: {text: \"${number}\"}
\x20 - grpc.end: true
\x20   name: collected
\x20   check: ['json $.count = 2', 'json $.text = 7']
\x20 - grpc.call: Echo/Say
\x20   name: say
\x20   headers: {x-raw-bin: AAE=}
\x20   json: {text: hi}
\x20   check: [status = OK, 'json $.text = hi']
";

#[test]
fn each_message_depends_on_the_answer_before() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--engine", engine]);
        let target = format!("grpc://{}", serve.address());
        let outcome = run(&target, STEPS, &format!("--engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        let counts = (result.count("requests.done"), result.count("requests.failed"));
        assert_eq!(counts, (140, 0), "{outcome}");
        let answer = Client::connect(serve.address()).get("/truth");
        let truth: Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
        assert_eq!((&truth["requests"], &truth["bad_requests"]), (&30.into(), &0.into()), "{truth}");
        // A session sends six messages in the conversation, two to `Collect` and one to `Say`.
        let messages = ["messages.sent", "messages.received"].map(|name| result.count(name));
        assert_eq!(messages, [90, 80], "{outcome}");
        assert_eq!(truth["messages"]["received"], 90, "{truth}");
        assert_eq!(truth["messages"]["sent"], 80, "{truth}");
    }
}

#[test]
fn statuses_end_a_call() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    let target = format!("grpc://{}", serve.address());
    let open = "\x20 - grpc.open: Echo/Chat\n";
    let check = |steps: &str, done: u64, class: &str, words: &str| {
        for engine in ENGINES {
            let outcome = run(&target, &format!("{open}{steps}"), &format!("--engine {engine}"));
            let result = outcome.result();
            result.conserved();
            let counts = (result.count("requests.done"), result.count(&format!("errors.{class}")));
            assert_eq!(counts, (done, 10), "{steps}: {outcome}");
            assert!(outcome.stdout.contains(words), "{words}: {outcome}");
        }
    };
    let extract = "    extract: {x: 'json $.text'}\n";
    let asked = format!("\x20 - grpc.send: {{text: käse, status: 5}}\n    reply: any\n{extract}");
    check(&asked, 10, "status", "NOT_FOUND: käse");
    let ended = format!("\x20 - grpc.send: {{text: käse, status: 5}}\n  - grpc.end: true\n{extract}");
    check(&ended, 20, "status", "NOT_FOUND: käse");
    // An expected status, of a call that ends while no step waits.
    check(
        "\x20 - grpc.send: {status: 5}\n  - grpc.end: true\n    check: status = NOT_FOUND\n  - grpc.send: {}\n",
        30,
        "closed_early",
        "no grpc.open came before",
    );
    check("\x20 - grpc.wait: any\n    timeout: 20ms\n  - grpc.end: true\n", 20, "request_timeout", "");
    let bad = "\x20 - grpc.send: {text: hi}\n    reply: json $.text = other\n    timeout: 20ms\n";
    check(bad, 10, "request_timeout", "");
}

/// Sends `response`, frames on the stream of the call, and checks the class of each failure.
#[track_caller]
fn check_bad(response: fn(u32) -> Vec<u8>, class: &str) {
    for engine in ENGINES {
        let server =
            FrameServer::start(b"", move |request: FrameRequest| FrameReply::Send(response(request.stream)));
        let target = server.url().replace("http://", "grpc://").trim_end_matches('/').to_owned();
        let steps = "\x20 - grpc.open: Echo/Chat\n  - grpc.wait: any\n    extract: {x: 'json $.text'}\n";
        let result = run(&target, steps, &format!("--engine {engine}")).result();
        result.conserved();
        assert_eq!(result.count(&format!("errors.{class}")), 10, "{class}: {result}");
    }
}

/// `:status 200` and `content-type: application/grpc`, which do not end the stream.
fn answered(stream: u32, body: &[u8]) -> Vec<u8> {
    [frame(1, 4, stream, b"\x88\x0f\x10\x10application/grpc"), frame(0, 0, stream, body)].concat()
}

fn trailers(stream: u32, status: u8) -> Vec<u8> {
    frame(1, 5, stream, &[b"\0\x0bgrpc-status\x01", &[status][..]].concat())
}

#[test]
fn bad_messages_have_their_class() {
    // An unknown flag, a message without end, bytes that are no message, a reset, an early end.
    check_bad(|stream| answered(stream, b"\x07\0\0\0\0"), "protocol");
    check_bad(|stream| answered(stream, b"\0\xff\xff\xff\xff"), "body_limit");
    check_bad(|stream| answered(stream, b"\0\0\0\0\x02\x0a\xff"), "protocol");
    check_bad(|stream| answered(stream, b"\x01\0\0\0\x01x"), "protocol");
    check_bad(|stream| [answered(stream, b"\0\0\0"), trailers(stream, b'0')].concat(), "protocol");
    check_bad(|stream| frame(3, 0, stream, &[0, 0, 0, 2]), "reset");
    check_bad(|stream| [answered(stream, b""), trailers(stream, b'0')].concat(), "closed_early");
    check_bad(|stream| frame(1, 5, stream, b"\x08\x03503"), "status");
}

#[test]
fn try_shows_the_conversation() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    let place = TestDir::new();
    place.write("echo.proto", PROTO);
    place.write("x.yaml", experiment(&format!("grpc://{}", serve.address()), STEPS));
    let outcome = Program::new(PROGRAM).in_folder(place.path()).args(["try", "x.yaml"]).run();
    outcome.expect_exit(0);
    for text in [
        "POST /wavetank.echo.v1.Echo/Chat",
        "> gRPC message",
        "\"text\":\"got 7\"",
        "< gRPC message",
        "> wait for a message",
        "> gRPC end",
        "< gRPC status OK",
        "\"text\":\"rest\"",
        "\"count\":2",
        "\"text\":\"hi\"",
    ] {
        assert!(outcome.stdout.contains(text), "{text}: {outcome}");
    }
}

/// The head of a response, its trailers and a long message are all in the output for programs.
#[test]
fn try_shows_head_and_trailers_of_a_call() {
    let text = "x".repeat(5_000);
    let message = [b"\x0a\x88\x27", text.as_bytes()].concat();
    let body = [&[0, 0, 0, 0x13, 0x8b][..], &message].concat();
    let server = FrameServer::start(b"", move |request: FrameRequest| {
        let stream = request.stream;
        FrameReply::Send([answered(stream, &body), trailers(stream, b'0')].concat())
    });
    let target = server.url().replace("http://", "grpc://").trim_end_matches('/').to_owned();
    let place = TestDir::new();
    place.write("echo.proto", PROTO);
    let conversation = "\x20 - grpc.open: Echo/Say\n  - grpc.send: {text: a}\n  - grpc.end: true\n";
    for steps in ["\x20 - grpc.call: Echo/Say\n", conversation] {
        let file = experiment(&target, steps).replace("echo.proto}", "echo.proto, deadline: false}");
        place.write("x.yaml", file);
        let outcome =
            Program::new(PROGRAM).in_folder(place.path()).args(["try", "x.yaml", "--format", "json"]).run();
        outcome.expect_exit(0);
        assert!(!outcome.stdout.contains("grpc-timeout"), "{outcome}");
        let all = outcome.json();
        let events = all["walks"][0]["events"].as_array().expect("events");
        let answer = events.iter().find(|event| event["event"] == "answer").expect("an answer");
        assert_eq!(answer["headers"], serde_json::json!(["content-type: application/grpc"]), "{outcome}");
        assert_eq!(answer["trailers"], serde_json::json!(["grpc-status: 0"]), "{outcome}");
        let shown = answer["body"]["text"].as_str().expect("a text");
        assert!(shown.contains(&text) && answer["body"]["cut"] == false, "{outcome}");
    }
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let place = TestDir::new();
    place.write("echo.proto", PROTO);
    let check = |steps: &str, expected: &[&str]| {
        place.write("x.yaml", experiment("grpc://127.0.0.1:1", steps));
        let outcome = Program::new(PROGRAM).in_folder(place.path()).args(["check", "x.yaml"]).run();
        outcome.expect_exit(2);
        for text in expected {
            assert!(outcome.to_string().contains(text), "{text}: {outcome}");
        }
    };
    check("\x20 - grpc.send: {text: hi}\n", &["x.yaml:6", "no grpc.open comes before it"]);
    check("\x20 - grpc.open: Echo/Chatt\n", &["x.yaml:6", "there is wavetank.echo.v1.Echo/Say"]);
    let open = |rest: &str| format!("\x20 - grpc.open: Echo/Chat\n{rest}");
    check(&open("\x20 - grpc.send: {txt: hi}\n"), &["x.yaml:7", "no field `txt`"]);
    check(&open("\x20 - grpc.send: {count: many}\n"), &["x.yaml:7", "does not fit"]);
    check(&open("\x20 - grpc.send: {}\n    check: status = OK\n"), &["nothing answers a message"]);
    check(&open("\x20 - grpc.send: {}\n    messages: 2\n"), &["reply: any"]);
    check(&open("\x20 - grpc.end: false\n"), &["does nothing"]);
}

/// A server of grpcio.
#[test]
fn grpcio_holds_the_conversation() {
    with_grpcio("grpcio_holds_the_conversation", |target| {
        for engine in ENGINES {
            let outcome = run(target, STEPS, &format!("--engine {engine}"));
            outcome.expect_exit(0);
            let result = outcome.result();
            let counts = (result.count("requests.done"), result.count("requests.failed"));
            assert_eq!(counts, (140, 0), "{outcome}");
        }
    });
}
