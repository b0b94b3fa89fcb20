//! Messages of all protocols: when they are done, what answers them, and in which phase they count.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use wavetank_testkit::frame_server::{FrameReply, FrameRequest, FrameServer, frame};
use wavetank_testkit::{
    MessageReply, MessageServer, Outcome, Program, RunHarness, Serve, message_frame, text_frame,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];
/// The size of one message.
const MESSAGE_BYTES: u64 = 256 << 10;

fn run(text: &str, engine: &str) -> Outcome {
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    harness.load(&file, ["--no-probe", "--engine", engine]).run()
}

/// Starts a server on a free port that passes each connection to `serve`. Returns its address.
fn tcp_server(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(client));
        }
    });
    address
}

/// Returns an experiment in which one user sends `sessions` large messages without an answer.
fn one_way(address: std::net::SocketAddr, sessions: u64, timeout: &str) -> String {
    format!(
        "wavetank: 1\ntarget: tcp://{address}\nsteps:\n  - tcp.send: {}\n    timeout: {timeout}\n\
         phases: [{{users: 1, sessions: {sessions}}}]\n",
        "x".repeat(MESSAGE_BYTES as usize)
    )
}

/// Bytes that stay with the load generator were not handed over.
#[test]
fn what_a_peer_does_not_read_times_out() {
    for engine in ENGINES {
        // The kernel accepts, and no process reads.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let outcome = run(&one_way(address, 200, "50ms"), engine);
        let result = outcome.result();
        result.conserved();
        let (done, late) = (result.count("requests.done"), result.count("errors.request_timeout"));
        let opened = result.count("connections.opened");
        // The kernel buffers some MiB for each connection.
        assert!(late > 0 && done * MESSAGE_BYTES < opened * (16 << 20), "{outcome}");
    }
}

/// As above, for a WebSocket in a stream of HTTP/2, of which the windows are large.
#[test]
fn what_a_peer_does_not_read_of_a_stream_times_out() {
    const END_HEADERS: u8 = 4;
    for engine in ENGINES {
        let large = [0x3f, 0xff, 0, 0];
        // SETTINGS_ENABLE_CONNECT_PROTOCOL and SETTINGS_INITIAL_WINDOW_SIZE.
        let settings = &[0, 8, 0, 0, 0, 1, 0, 4, 0x3f, 0xff, 0, 0];
        let server = FrameServer::start(settings, move |request: FrameRequest| {
            let head = frame(1, END_HEADERS, request.stream, &[0x88]);
            FrameReply::SendAndStall([frame(8, 0, 0, &large), head].concat())
        });
        let text = format!(
            "wavetank: 1\ntarget: {}\nhttp: {{version: 2}}\nsteps:\n  - repeat: 200\n    steps:\n\
             \x20     - ws.send: {}\n        timeout: 50ms\n        on_failure: end_session\n\
             phases: [{{users: 1, sessions: 1}}]\n",
            server.url().replace("http:", "ws:"),
            "x".repeat(MESSAGE_BYTES as usize)
        );
        let outcome = run(&text, engine);
        let result = outcome.result();
        result.conserved();
        let (done, late) = (result.count("requests.done"), result.count("errors.request_timeout"));
        assert!(late == 1 && done * MESSAGE_BYTES < 16 << 20, "{outcome}");
    }
}

/// A peer that reads slowly gets every byte, and delays the messages after them.
#[test]
fn what_a_peer_reads_late_is_done_late() {
    for engine in ENGINES {
        let received = Arc::new(AtomicU64::new(0));
        let own = Arc::clone(&received);
        let address = tcp_server(move |mut client| {
            let mut piece = [0; 16_384];
            while let Ok(length @ 1..) = client.read(&mut piece) {
                own.fetch_add(length as u64, Ordering::SeqCst);
            }
        });
        let outcome = run(&one_way(address, 100, "60s"), engine);
        let result = outcome.result();
        result.conserved();
        let counts = ["done", "failed"].map(|name| result.count(&format!("requests.{name}")));
        assert_eq!((counts, result.count("connections.opened")), ([100, 0], 1), "{outcome}");
        assert!(received.load(Ordering::SeqCst) > 80 * MESSAGE_BYTES, "{outcome}");
    }
}

/// A single walk waits like a run.
#[test]
fn a_single_walk_hands_over_only_what_the_kernel_takes() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let text = format!(
        "wavetank: 1\ntarget: tcp://{address}\nsteps:\n{}phases: [{{users: 1, sessions: 1}}]\n",
        "  - tcp.send: {file: payload}\n    timeout: 50ms\n".repeat(60)
    );
    let harness = RunHarness::new(PROGRAM);
    harness.place().write("payload", "x".repeat(MESSAGE_BYTES as usize));
    let file = harness.place().write("x.yaml", text);
    let tried = harness.program().args(["try", &file]).run();
    tried.expect_exit(1);
    assert!(tried.stdout.contains("request_timeout"), "{}", tried.stdout.len());
}

/// A step that waits for a certain message sees no message from before its own.
#[test]
fn earlier_messages_are_no_answers() {
    for engine in ENGINES {
        let greeting = ["hello", "news 1", "news 2"].map(text_frame).concat();
        let server = MessageServer::start(greeting, |_| {
            MessageReply::Send(["first", "news 9"].map(text_frame).concat())
        });
        let text = format!(
            "wavetank: 1\ntarget: {}\nscenarios:\n  s:\n    connection: session\n    steps:\n\
             \x20     - ws.connect: /\n      - ws.wait: body = hello\n\
             \x20     - ws.send: ask\n        reply: body contains news\n        check: body = \"news 9\"\n\
             \x20     - ws.wait: body contains news\n        check: body = \"news 1\"\n\
             \x20   phases: [{{users: 1, sessions: 5}}]\n",
            server.url("/")
        );
        let outcome = run(&text, engine);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (20, 0), "{outcome}");
    }
}

/// A step that waits for a certain message does not go on on another connection.
#[test]
fn an_answer_comes_on_its_own_connection() {
    for engine in ENGINES {
        let server = MessageServer::start(Vec::new(), |_| MessageReply::SendAndClose(text_frame("first")));
        let text = format!(
            "wavetank: 1\ntarget: {}\nscenarios:\n  s:\n    connection: session\n    steps:\n\
             \x20     - ws.send: ask\n        reply: body contains news\n        timeout: 60s\n\
             \x20   phases: [{{users: 1, sessions: 5}}]\n",
            server.url("/")
        );
        let outcome = run(&text, engine);
        let result = outcome.result();
        result.conserved();
        assert_eq!(result.count("errors.closed_early"), 5, "{outcome}");
        assert_eq!((server.connections(), server.messages()), (5, 5), "{outcome}");
    }
}

/// What a server sends before it closes the connection can be read after that.
#[test]
fn messages_outlive_their_connection() {
    let check = |name: &str, url: &str, steps: &str, (requests, opened): (u64, u64)| {
        let steps: Vec<String> = steps.lines().map(|step| format!("      - {step}\n")).collect();
        let steps = steps.concat();
        let text = format!(
            "wavetank: 1\ntarget: {url}\nscenarios:\n  s:\n    connection: session\n    steps:\n{steps}\
             \x20   phases: [{{users: 1, sessions: 5}}]\n"
        );
        for engine in ENGINES {
            let outcome = run(&text, engine);
            outcome.expect_exit(0);
            let result = outcome.result();
            result.conserved();
            let counts = ["requests.done", "requests.failed", "connections.opened"];
            let counts = counts.map(|count| result.count(count));
            assert_eq!(counts, [requests, 0, opened], "{name}: {outcome}");
        }
        let harness = RunHarness::new(PROGRAM);
        let file = harness.place().write("x.yaml", text);
        harness.program().args(["try", &file]).run().expect_exit(0);
    };
    let last_words = ["1", "2", "3"].map(text_frame).concat();
    let server = MessageServer::start(Vec::new(), move |_| MessageReply::SendAndClose(last_words.clone()));
    let steps = "{ws.send: x, reply: body contains 1}\n{think: 20ms}\n{ws.wait: body contains 2}\n{think: 20ms}\n{ws.wait: body contains 3}";
    check("WebSocket", &server.url("/"), steps, (15, 5));
    let close = [text_frame("1"), text_frame("2"), message_frame(8, &[3, 232])].concat();
    let steps = "{ws.send: x, reply: any}\n{think: 20ms}\n{ws.wait: any, check: body contains 2}";
    for closes in [false, true] {
        let close = close.clone();
        let server = MessageServer::start(Vec::new(), move |_| {
            if closes { MessageReply::SendAndLeave(close.clone()) } else { MessageReply::Send(close.clone()) }
        });
        check("a Close frame", &server.url("/"), steps, (10, 5));
    }
    let server = MessageServer::start(Vec::new(), move |_| MessageReply::Send(close.clone()));
    let steps = "{ws.send: x, reply: any}\n{think: 20ms}\n{ws.send: x, reply: any}";
    check("a message after a Close frame", &server.url("/"), steps, (10, 10));
    let address = tcp_server(|mut client| {
        if matches!(client.read(&mut [0; 10]), Ok(1..)) {
            // The client may have left.
            let _ = client.write_all(b"1\n2\n3\nrest");
        }
    });
    let steps = "{tcp.send: x, read: {until: \"\\n\"}}\n{think: 20ms}\n{tcp.read: {until: \"\\n\"}, check: 'body contains 2'}\n\
                 {tcp.read: {length: 2B}, check: 'body contains 3'}\n{think: 20ms}\n{tcp.read: close, check: body = rest}";
    check("TCP", &format!("tcp://{address}"), steps, (20, 5));
}

/// Messages count in the phase that sends them, also on a connection from an earlier one.
#[test]
fn messages_count_in_their_phase() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--engine", engine]);
        let web_socket = serve.url("/ws/echo").replace("http:", "ws:");
        let text = |load: &str| {
            format!(
                "wavetank: 1\ntarget: {web_socket}\nws: {{ping: 20ms}}\n\
                 steps: [{{ws.send: a, reply: any}}, {{think: 10ms}}]\nphases:\n\
                 \x20 - {{name: first, {load}, for: 300ms}}\n  - {{name: second, {load}, for: 1s}}\n\
                 thresholds: [messages_in >= 1 in second, messages_out >= 1 in second, max(ping) < 60s in second]\n"
            )
        };
        for load in ["users: 2", "hold: 2"] {
            let outcome = run(&text(load), engine);
            outcome.expect_exit(0);
            let result = outcome.result();
            assert_eq!(result.count("connections.opened"), 2, "{outcome}");
        }
        let outcome = run(
            &text("rate: 50/s").replace("ws: {ping: 20ms}\n", "").replace(", max(ping) < 60s in second", ""),
            engine,
        );
        outcome.expect_exit(0);
    }
}
