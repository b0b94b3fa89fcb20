//! WebSocket against the libraries of others: the Python package websockets, ws for Node.js and
//! gorilla/websocket for Go. Their servers echo text and bytes of many lengths, with and without
//! compression, in one frame or in thousands, and their counts are those of the run. Their clients
//! do the same with `serve`.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{
    Client, Program, RunHarness, RunResult, Running, Serve, TestDir, is_left_to_long_form, is_long,
    poll_until, skip,
};

use crate::go_program::built_from;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const LIMIT: Duration = Duration::from_mins(1);
/// The lengths of the messages, around the limits of the three kinds of lengths in frames.
const LENGTHS: [usize; 9] = [0, 1, 125, 126, 1_000, 65_535, 65_536, 300_000, 1 << 20];
const SESSIONS: u64 = 3;
const FILE_BYTES: u64 = 20_000;
/// The version of ws that is fetched.
const WS: &str = "ws@8.21.0";

/// Returns text of this many bytes. It compresses well, and characters have one to four bytes.
fn message(length: usize) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() + 20 < length {
        write!(text, "{number} é€😀 ").expect("a string takes it");
        number += 1;
    }
    while text.len() < length {
        text.push('.');
    }
    text
}

/// A server that prints its port, and its counts after each connection.
struct Server {
    running: Running,
    port: u16,
}

impl Server {
    /// `None`: it cannot be started, and `test` is skipped.
    fn start(test: &str, program: Program) -> Option<Self> {
        let running = program.start();
        let port = poll_until(LIMIT, || {
            let port = running.stdout().lines().next().and_then(|line| line.parse().ok());
            port.map(Some).or_else(|| (!running.stderr().is_empty()).then_some(None))
        });
        let Some(Some(port)) = port else {
            skip(test, &format!("the server cannot run: {}", running.stderr()));
            return None;
        };
        Some(Self { running, port })
    }

    /// Waits until this many connections have ended. Returns the counts of texts, binary messages
    /// and bytes.
    #[track_caller]
    fn counts_after(&self, connections: u64) -> [u64; 3] {
        let counts = poll_until(LIMIT, || {
            let output = self.running.stdout();
            let numbers = output.lines().last()?.split(' ').map(|number| number.parse().ok());
            match numbers.collect::<Option<Vec<u64>>>()?[..] {
                [ended, texts, binaries, bytes] if ended == connections => Some([texts, binaries, bytes]),
                _ => None,
            }
        });
        counts.unwrap_or_else(|| panic!("{connections}: {} {}", self.running.stdout(), self.running.stderr()))
    }
}

/// A journey through all lengths, each as text and as bytes. The answers must be the messages.
fn experiment(port: u16, path: &str, deflate: bool) -> String {
    let extensions =
        if deflate { "header sec-websocket-extensions contains permessage-deflate" } else { "status = 101" };
    let mut text = format!(
        "wavetank: 1\ntarget: ws://127.0.0.1:{port}\n\
         ws: {{subprotocol: \"echo.v1, echo.v2\", deflate: {deflate}}}\nsteps:\n\
         \x20 - ws.connect: /{path}\n\
         \x20   check: [\"header sec-websocket-protocol = echo.v2\", \"{extensions}\"]\n"
    );
    for length in LENGTHS {
        let message = message(length);
        for kind in ["", "    binary: true\n"] {
            writeln!(
                text,
                "  - ws.send: \"{message}\"\n{kind}    reply: any\n    check: [size = {length}B, 'body = \"{message}\"']"
            )
            .expect("a string takes it");
        }
    }
    writeln!(text, "  - ws.close: 1000\nphases: [{{users: 2, sessions: {SESSIONS}}}]")
        .expect("a string takes it");
    text
}

/// Checks the counts of a run, and the bytes on the wire.
#[track_caller]
fn check_counts(result: &RunResult, deflate: bool) {
    result.conserved();
    let each = 2 * LENGTHS.len() as u64;
    let requests = SESSIONS * (each + 2);
    assert_eq!((result.count("requests.done"), result.count("requests.failed")), (requests, 0), "{result}");
    let messages = ["messages.sent", "messages.received"].map(|name| result.count(name));
    assert_eq!(messages, [SESSIONS * each; 2], "{result}");
    let payload = SESSIONS * 2 * LENGTHS.iter().sum::<usize>() as u64;
    for name in ["bytes.sent", "bytes.received"] {
        let bytes = result.count(name);
        assert!(if deflate { bytes < payload / 2 } else { bytes > payload }, "{name} {payload}: {result}");
    }
}

/// Sends a file with all bytes, which is not text. Returns the number of messages.
#[track_caller]
fn check_file(harness: &RunHarness, port: u16) -> u64 {
    let bytes: Vec<u8> = (0..=255).cycle().take(FILE_BYTES as usize).collect();
    let file = harness.place().write("x.bin", bytes);
    let url = format!("ws://127.0.0.1:{port}/fragments");
    let words = ["--no-probe", "-c", "2", "-n", "20", "--body-file", &file];
    let result = harness.load(&url, words).run().expect_exit(0).result();
    result.conserved();
    assert_eq!((result.count("requests.done"), result.count("messages.received")), (20, 20), "{result}");
    assert!(result.count("bytes.received") > 20 * FILE_BYTES, "{result}");
    20
}

/// Runs all combinations against `server`, or half of them in the short form of the tests.
fn check(server: &Server) {
    let harness = RunHarness::new(PROGRAM);
    let mut runs = 0;
    for deflate in [false, true] {
        for path in ["", "fragments"] {
            let file = harness.place().write("x.yaml", experiment(server.port, path, deflate));
            let engines = ["epoll", "auto"].into_iter().enumerate();
            for (at, engine) in engines {
                if !is_long() && (usize::from(deflate) + path.len() + at) % 2 == 1 {
                    continue;
                }
                let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
                outcome.expect_exit(0);
                check_counts(&outcome.result(), deflate);
                runs += 1;
                let counts = server.counts_after(runs * SESSIONS);
                let each = runs * SESSIONS * LENGTHS.len() as u64;
                let bytes = 2 * runs * SESSIONS * LENGTHS.iter().sum::<usize>() as u64;
                assert_eq!(counts, [each, each, bytes], "deflate {deflate}, /{path}, {engine}: {outcome}");
            }
        }
    }
    let [texts, binaries, bytes] = server.counts_after(runs * SESSIONS);
    let more = check_file(&harness, server.port);
    let counts = server.counts_after(runs * SESSIONS + 2);
    assert_eq!(counts, [texts, binaries + more, bytes + more * FILE_BYTES]);
}

/// Runs a client of others against `serve`, and checks the counts.
fn check_client(client: &Program) {
    for engine in ["epoll", "auto"] {
        let serve = Serve::start(&Program::new(PROGRAM), &["--engine", engine]);
        let url = format!("ws://{}/ws/echo", serve.address());
        let lengths = LENGTHS.map(|length| length.to_string());
        let outcome = client.clone().args([url]).args(lengths).run();
        // Texts, random bytes and bytes that compress; in one frame and in more; without
        // compression and with it.
        let expected = 3 * 2 * 2 * LENGTHS.len();
        assert_eq!(outcome.expect_exit(0).stdout.trim(), expected.to_string(), "{outcome}");
        let answer = Client::connect(serve.address()).get("/truth");
        let counts: Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
        for name in ["received", "sent"] {
            assert_eq!(counts["messages"][name], expected, "{counts}");
        }
    }
}

/// Returns Python with the package websockets; `None`: `test` is skipped.
fn python(test: &str) -> Option<Program> {
    let Some(python) = Program::foreign("/usr/bin/python3") else {
        skip(test, "python3 is not installed");
        return None;
    };
    if python.clone().args(["-c", "import websockets"]).run().exit != Some(0) {
        skip(test, "the Python package websockets is not installed");
        return None;
    }
    Some(python)
}

#[test]
fn the_python_package_websockets_is_answered() {
    let Some(python) = python("the_python_package_websockets_is_answered") else { return };
    let place = TestDir::new();
    let script = place.write("client.py", include_str!("websocket_client.py"));
    check_client(&python.args([script]));
}

#[test]
fn the_python_package_websockets_answers() {
    const NAME: &str = "the_python_package_websockets_answers";
    let Some(python) = python(NAME) else { return };
    let place = TestDir::new();
    let script = place.write("server.py", include_str!("websocket_server.py"));
    if let Some(server) = Server::start(NAME, python.args([script])) {
        check(&server);
    }
}

/// Fetches ws into `place`. Returns Node.js; `None`: `test` is skipped.
fn node(test: &str, place: &TestDir) -> Option<Program> {
    if is_left_to_long_form(test) {
        return None;
    }
    let (Some(node), Some(npm)) = (Program::foreign("node"), Program::foreign("npm")) else {
        skip(test, "Node.js and npm are not installed");
        return None;
    };
    let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--fetch-retries=1"];
    let install = npm.args(["install", WS, "--prefix", "."]).args(options).in_folder(place.path()).run();
    if install.exit != Some(0) {
        skip(test, &format!("npm cannot fetch {WS}"));
        return None;
    }
    Some(node)
}

#[test]
fn ws_of_node_is_answered() {
    let place = TestDir::new();
    let Some(node) = node("ws_of_node_is_answered", &place) else { return };
    let script = place.write("client.js", include_str!("websocket_client.js"));
    check_client(&node.args([script]));
}

#[test]
fn ws_of_node_answers() {
    const NAME: &str = "ws_of_node_answers";
    let place = TestDir::new();
    let Some(node) = node(NAME, &place) else { return };
    let script = place.write("server.js", include_str!("websocket_server.js"));
    if let Some(server) = Server::start(NAME, node.args([script])) {
        check(&server);
    }
}

#[test]
fn gorilla_of_go_answers() {
    const NAME: &str = "gorilla_of_go_answers";
    let place = TestDir::new();
    let files = [
        ("main.go", include_str!("websocket_go/main.go")),
        ("go.mod", include_str!("websocket_go/go.mod")),
        ("go.sum", include_str!("websocket_go/go.sum")),
    ];
    let Some(program) = built_from(NAME, &files, &place) else { return };
    if let Some(server) = Server::start(NAME, program) {
        check(&server);
    }
}
