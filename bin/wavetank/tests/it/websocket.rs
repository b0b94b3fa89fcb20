//! WebSocket: against `wavetank serve` and a server of scripted frames.

use serde_json::Value;
use wavetank_testkit::{
    Client, MessageReply, MessageServer, Outcome, Program, RunHarness, Script, Serve, Target, message_frame,
    text_frame,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];

fn load(url: &str, words: &str) -> Outcome {
    RunHarness::new(PROGRAM).load(url, words.split_whitespace()).run()
}

/// Returns the messages that `serve` has received and sent.
fn messages(serve: &Serve) -> (u64, u64) {
    let answer = Client::connect(serve.address()).get("/truth");
    let counts: Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
    let count = |name: &str| counts["messages"][name].as_u64().expect("a number of messages");
    (count("received"), count("sent"))
}

#[test]
fn counts_are_those_of_the_server() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--engine", engine]);
        let url = format!("ws://{}/ws/echo", serve.address());
        let mut expected = 0;
        for (words, requests) in [
            ("-c 3 -n 300", 300),
            ("-r 2000/s -n 400", 400),
            ("-c 2 -n 100 --json {\"id\":1}", 100),
            ("-c 2 --pipeline 5 -n 200", 200),
        ] {
            let outcome = load(&url, &format!("{words} --engine {engine}"));
            outcome.expect_exit(0);
            let result = outcome.result();
            result.conserved();
            let counts = (result.count("requests.done"), result.count("requests.failed"));
            assert_eq!(counts, (requests, 0), "{words}: {result}");
            expected += requests;
            assert_eq!(messages(&serve), (expected, expected), "{words}: {result}");
        }
    }
}

#[test]
fn tls_and_compression_work() {
    let serve = Serve::start(&Program::new(PROGRAM), &["--tls"]);
    let text = format!(
        "wavetank: 1\ntarget: wss://{}/ws/echo\nws: {{deflate: true}}\nhttp: {{tls: {{verify: false}}}}\n\
         steps:\n  - ws.send: \"${{user}} and a text that repeats, a text that repeats\"\n    reply: any\n\
         \x20   check: body contains repeats\nphases: [{{users: 2, sessions: 100}}]\n",
        serve.address()
    );
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    for engine in ENGINES {
        let outcome = harness.load(&file, ["--engine", engine]).run();
        outcome.expect_exit(0);
        let result = outcome.result();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (100, 0), "{result}");
    }
}

/// A whole journey: an upgrade with a path and a header of its own, answers that are found among
/// other messages, messages that nothing answers, messages that came early, and a close.
#[test]
fn a_journey_of_messages() {
    let text = |url: &str| {
        format!(
            "wavetank: 1\ntarget: {url}\nsteps:\n  - ws.connect: /room?user=${{user}}\n\
             \x20   headers: {{x-token: \"t${{user}}\"}}\n    check: status = 101\n\
             \x20 - ws.wait: json $.op = hello\n    extract: {{id: 'json $.id'}}\n\
             \x20 - ws.send: {{op: say, id: \"${{id}}\"}}\n    name: say\n    reply: json $.op = said\n\
             \x20   check: json $.id = 7\n\
             \x20 - ws.send: quiet\n    name: note\n\
             \x20 - ws.send: burst\n    name: burst\n    reply: body contains news\n    messages: 3\n\
             \x20   check: body contains 3\n\
             \x20 - ws.close: 1000\n\
             phases: [{{users: 2, sessions: 20}}]\n"
        )
    };
    for engine in ENGINES {
        let greeting = [text_frame("{\"op\":\"hello\",\"id\":7}"), message_frame(9, b"ping")].concat();
        let server = MessageServer::start(greeting, |message| {
            assert!(message.path.starts_with("/room?user="), "{message:?}");
            MessageReply::Send(match message.text.as_str() {
                "quiet" => Vec::new(),
                "burst" => (1..4)
                    .flat_map(|at| [text_frame("other"), text_frame(&format!("news {at}"))])
                    .flatten()
                    .collect(),
                said => [text_frame("{\"op\":\"noise\"}"), text_frame(&said.replace("say", "said"))].concat(),
            })
        });
        let harness = RunHarness::new(PROGRAM);
        let file = harness.place().write("x.yaml", text(&server.url("/")));
        let tried = harness.program().args(["try", &file]).run();
        tried.expect_exit(0);
        for shown in ["> WebSocket text message", "< WebSocket message", "said", "WebSocket close 1000"] {
            assert!(tried.stdout.contains(shown), "{shown}: {tried}");
        }
        let before = (server.messages(), server.closes());
        let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (120, 0), "{result}");
        let after = (server.messages() - before.0, server.closes() - before.1);
        assert_eq!(after, (60, 20), "{result}");
        assert_eq!(result.count("connections.opened"), 20, "{result}");
    }
}

/// Answers every third message with the bytes of `bad`, and echoes all others. Checks that only
/// those fail, in `class`, each with its connection.
#[track_caller]
fn check_bad(bad: fn() -> MessageReply, class: &str) {
    for engine in ENGINES {
        let server = MessageServer::start(Vec::new(), move |message| {
            if message.number % 3 == 2 { bad() } else { MessageReply::Send(text_frame(&message.text)) }
        });
        let outcome = load(&server.url("/"), &format!("-c 1 -n 30 --timeout 1s --engine {engine}"));
        let result = outcome.result();
        result.conserved();
        let counts = (result.count("requests.done"), result.count(&format!("errors.{class}")));
        assert_eq!(counts, (20, 10), "{class}: {outcome}");
        assert_eq!((server.messages(), server.connections()), (30, 10), "{class}: {outcome}");
    }
}

#[test]
fn bad_frames_end_the_connection() {
    check_bad(|| MessageReply::Send(b"\xf1\x01a".to_vec()), "protocol");
    check_bad(|| MessageReply::Send(b"\x81\x81\0\0\0\0a".to_vec()), "protocol");
    check_bad(|| MessageReply::Send(b"\x83\x00".to_vec()), "protocol");
    check_bad(|| MessageReply::Send(b"\x81\x02\xc3(".to_vec()), "protocol");
    check_bad(|| MessageReply::Send(b"\x80\x00".to_vec()), "protocol");
    check_bad(|| MessageReply::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), "protocol");
}

#[test]
fn closes_and_cuts_have_their_class() {
    check_bad(|| MessageReply::SendAndClose(message_frame(8, b"\x03\xe9bye")), "closed_early");
    check_bad(|| MessageReply::SendAndClose(b"\x81\x05he".to_vec()), "closed_early");
    check_bad(|| MessageReply::SendAndClose(Vec::new()), "closed_early");
    let server =
        MessageServer::start(Vec::new(), |_| MessageReply::SendAndClose(message_frame(8, b"\x03\xf1full")));
    let outcome = load(&server.url("/"), "-c 1 -n 1");
    assert!(
        outcome.stdout.contains("the server closed the WebSocket (1009 message too big): full"),
        "{outcome}"
    );
}

/// A wait that times out fails alone. A message without an answer in time ends its WebSocket, since
/// a late answer would be taken for that of the next message.
#[test]
fn timeouts() {
    for engine in ENGINES {
        let silent = MessageServer::start(Vec::new(), |_| MessageReply::Send(Vec::new()));
        let outcome = load(&silent.url("/"), &format!("-c 1 -n 2 --timeout 100ms --engine {engine}"));
        let result = outcome.result();
        assert_eq!((result.count("errors.request_timeout"), silent.connections()), (2, 2), "{result}");
        let text = format!(
            "wavetank: 1\ntarget: {}\nsteps:\n  - ws.wait: any\n    timeout: 50ms\n\
             phases: [{{users: 1, sessions: 4}}]\n",
            silent.url("/")
        );
        let harness = RunHarness::new(PROGRAM);
        let file = harness.place().write("x.yaml", text);
        let result = harness.load(&file, ["--no-probe", "--engine", engine]).run().result();
        assert_eq!((result.count("errors.request_timeout"), silent.connections()), (4, 3), "{result}");
    }
}

/// During a freeze no message is answered, and the response times contain it.
#[test]
fn a_freeze_shows() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--freeze", "500ms", "--freeze-at", "200ms"]);
        let url = format!("ws://{}/ws/echo", serve.address());
        let result = load(&url, &format!("-r 100/s -d 1s --engine {engine}")).result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (100, 0), "{result}");
        assert!(result.number("response_us.max") >= 400_000.0, "{result}");
    }
}

#[test]
fn servers_without_websocket_are_named() {
    let target = Target::start(Script::constant(std::time::Duration::ZERO));
    let url = target.url("/").replace("http://", "ws://");
    for engine in ENGINES {
        let outcome = load(&url, &format!("-c 1 -n 2 --engine {engine}"));
        let result = outcome.result();
        assert_eq!(result.count("errors.status"), 2, "{outcome}");
        assert!(
            outcome.stdout.contains("the server answered the WebSocket upgrade with status 200"),
            "{outcome}"
        );
    }
}

/// Held WebSockets stay open without traffic, and the server can say when they end.
#[test]
fn idle_websockets_are_held() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &[]);
        let text = format!(
            "wavetank: 1\ntarget: ws://{}/ws/echo\nsteps:\n  - ws.send: \"${{user}}\"\n    reply: any\n\
             \x20   check: body contains ${{user}}\n  - think: 200ms\n\
             phases:\n  - {{name: open, hold: 0 to 200, at: 1k/s}}\n  - {{name: keep, hold: 200, for: 1s}}\n\
             thresholds: [held >= 200 in keep, lost = 0]\n",
            serve.address()
        );
        let harness = RunHarness::new(PROGRAM);
        let file = harness.place().write("x.yaml", text);
        let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!(
            (result.count("connections.opened"), result.count("requests.failed")),
            (200, 0),
            "{result}"
        );
        assert!(messages(&serve).0 >= result.count("requests.done"), "{result}");
    }
}

#[test]
fn conflicts_are_explained() {
    let check = |words: &str, message: &str| {
        let outcome = Program::new(PROGRAM).args(["run"]).args(words.split_whitespace()).run();
        outcome.expect_exit(2);
        assert!(outcome.stderr.contains(message), "{outcome}");
    };
    check("ws://127.0.0.1:1/ --http 3", "HTTP/2");
    check("ws://127.0.0.1:1/ --http 2 --proxy http://127.0.0.1:2", "through a proxy");
    check("ws://127.0.0.1:1/ --no-keepalive", "any number of messages");
    check("ws://127.0.0.1:1/ -X POST", "always opened by GET");
    check("ws://127.0.0.1:1/ --form a=b", "--form");
    check("ws://127.0.0.1:1/${user}", "ws.connect");
}

/// A step that waits may time out inside a message. The next one gets all of it.
#[test]
fn a_message_outlives_the_step_that_awaited_it() {
    for engine in ENGINES {
        let server = MessageServer::start(Vec::new(), |message| {
            let (begun, rest) = (text_frame("n3ws")[..4].to_vec(), text_frame("n3ws")[4..].to_vec());
            MessageReply::Send(if message.text == "begin" { begun } else { rest })
        });
        let text = format!(
            "wavetank: 1\ntarget: {}\nsteps:\n  - ws.send: begin\n  - ws.wait: any\n    timeout: 30ms\n\
             \x20 - ws.send: end\n  - ws.wait: any\n    check: body contains 3\n\
             phases: [{{users: 1, sessions: 5}}]\n",
            server.url("/")
        );
        let harness = RunHarness::new(PROGRAM);
        let file = harness.place().write("x.yaml", text);
        let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
        let result = outcome.result();
        let counts = (result.count("requests.done"), result.count("errors.request_timeout"));
        assert_eq!(counts, (15, 5), "{outcome}");
        assert_eq!(result.count("requests.failed"), 5, "{outcome}");
        let tried = Program::new(PROGRAM).args(["try", &file]).run();
        assert!(tried.stdout.contains("n3ws"), "{tried}");
    }
}

/// A message may begin before the step that awaits it, and end after.
#[test]
fn a_message_that_began_earlier_is_whole() {
    for engine in ENGINES {
        let server = MessageServer::start(Vec::new(), |message| {
            let (begun, rest) = (text_frame("news")[..4].to_vec(), text_frame("news")[4..].to_vec());
            MessageReply::Send(if message.text == "more" { rest } else { [text_frame("hi"), begun].concat() })
        });
        let text = format!(
            "wavetank: 1\ntarget: {}\nsteps:\n  - ws.send: hi\n    reply: any\n  - ws.send: more\n\
             \x20 - ws.wait: any\n    check: body = news\nphases: [{{users: 1, sessions: 5}}]\n",
            server.url("/")
        );
        let harness = RunHarness::new(PROGRAM);
        let file = harness.place().write("x.yaml", text);
        let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
        let result = outcome.result();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (15, 0), "{outcome}");
        let tried = Program::new(PROGRAM).args(["try", &file]).run();
        tried.expect_exit(0);
    }
}
