//! gRPC with the interop server of grpc-go: the cases of the gRPC interoperability tests, each a
//! step with its checks.

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Outcome, Program, RunHarness, TestDir, skip};

use crate::go_program::built;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const SERVER: &str = "google.golang.org/grpc/interop/server@v1.85.0";
const PROTO: &str = include_str!("grpc_interop.proto");
const MESSAGE: &str = r"\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \U0001F608\t\n";

/// Returns a payload of `count` zeros.
fn payload(count: usize) -> String {
    format!("payload: {{body: \"{}\"}}", zeros(count))
}

/// Returns `count` zeros in base64.
fn zeros(count: usize) -> String {
    let padding = (3 - count % 3) % 3;
    let characters = (count + padding) / 3 * 4 - padding;
    format!("{}{}", "A".repeat(characters), "=".repeat(padding))
}

/// The cases with calls that are not left open.
fn calls() -> String {
    let inputs = [27_182, 8, 1_828, 45_904].map(|count| format!("{{{}}}", payload(count))).join(", ");
    format!(
        "\x20 - {{name: empty_unary, grpc.call: TestService/EmptyCall, check: status = OK}}\n\
         \x20 - name: large_unary\n    grpc.call: TestService/UnaryCall\n\
         \x20   json: {{response_size: 314159, {large}}}\n\
         \x20   check: [\"json $.payload.body matches /^A+=$/\", size > 314159B, size < 314200B]\n\
         \x20 - name: client_streaming\n    grpc.call: TestService/StreamingInputCall\n    json: [{inputs}]\n\
         \x20   check: json $.aggregatedPayloadSize = 74922\n\
         \x20 - name: server_streaming\n    grpc.call: TestService/StreamingOutputCall\n\
         \x20   json: {{response_parameters: [{{size: 31415}}, {{size: 9}}, {{size: 2653}}, {{size: 58979}}]}}\n\
         \x20   check: [\"json $[1].payload.body = {nine}\", size > 93056B, size < 93156B]\n\
         \x20 - name: custom_metadata\n    grpc.call: TestService/UnaryCall\n\
         \x20   headers: {{x-grpc-test-echo-initial: initial, x-grpc-test-echo-trailing-bin: q6ur}}\n\
         \x20   json: {{response_size: 1, {small}}}\n\
         \x20   check: [header x-grpc-test-echo-initial = initial, header x-grpc-test-echo-trailing-bin = q6ur]\n\
         \x20 - name: status_code_and_message\n    grpc.call: TestService/UnaryCall\n\
         \x20   json: {{response_status: {{code: 2, message: test status message}}}}\n\
         \x20   check: [status = UNKNOWN, header grpc-message = test status message]\n\
         \x20 - name: special_status_message\n    grpc.call: TestService/UnaryCall\n\
         \x20   json: {{response_status: {{code: 2, message: \"{MESSAGE}\"}}}}\n\
         \x20   check: [status = UNKNOWN, header grpc-message contains \"%0Aand Unicode BMP %E2%98%BA\"]\n\
         \x20 - {{name: unimplemented_method, grpc.call: TestService/UnimplementedCall, check: status = UNIMPLEMENTED}}\n\
         \x20 - name: unimplemented_service\n    grpc.call: UnimplementedService/UnimplementedCall\n\
         \x20   check: status = UNIMPLEMENTED\n",
        large = payload(271_828),
        nine = zeros(9),
        small = payload(1),
    )
}

/// The cases with calls that stay open. The last one is cancelled when its user ends.
fn conversations() -> String {
    let asks = [(31_415, 27_182), (9, 8), (2_653, 1_828), (58_979, 45_904)].map(|(answer, sent)| {
        format!(
            "\x20 - grpc.send: {{response_parameters: [{{size: {answer}}}], {}}}\n\
             \x20   reply: json $.payload.body = {}\n",
            payload(sent),
            zeros(answer)
        )
    });
    format!(
        "\x20 - {{name: empty_stream, grpc.open: TestService/FullDuplexCall}}\n\
         \x20 - {{grpc.end: true, check: [status = OK, 'body = []']}}\n\
         \x20 - {{name: ping_pong, grpc.open: TestService/FullDuplexCall}}\n{}\
         \x20 - {{grpc.end: true, check: status = OK}}\n\
         \x20 - {{name: cancel_after_first_response, grpc.open: TestService/FullDuplexCall}}\n{}",
        asks.concat(),
        asks[0]
    )
}

/// Runs `words` on a file with these steps, in a network of its own with the server.
fn run(server: &str, steps: &str, words: &str) -> Outcome {
    let harness = RunHarness::new(PROGRAM);
    harness.place().write("interop.proto", PROTO);
    let text = format!(
        "wavetank: 1\ntarget: grpc://127.0.0.1:10000\ngrpc: {{proto: interop.proto}}\nsteps:\n{steps}\
         phases: [{{users: 2, sessions: 10}}]\n"
    );
    harness.place().write("x.yaml", text);
    let script = format!(
        "ip link set lo up; \"$1\" -port 10000 2>server.txt & trap \"kill $!\" EXIT; tries=0; \
         until ss -Hltn sport = 10000 | grep -q . || [ $((tries += 1)) -gt 100000 ]; do :; done; \
         \"$0\" {words}"
    );
    let shell = NetNs::shell(&harness.program().arguments()[0], &script);
    shell.args([server]).in_folder(harness.place().path()).run()
}

/// Builds the server and passes its path to `body`, if this machine can.
fn with_server(test: &str, body: impl FnOnce(&str)) {
    if !NetNs::available(test) {
        return;
    }
    if Program::foreign("ss").is_none() {
        return skip(test, "`ss` is not installed");
    }
    let place = TestDir::new();
    let Some(program) = built(test, SERVER, &place) else { return };
    body(program.arguments().last().expect("the program"));
}

/// Expects that all requests of `steps` are done, on both engines and in `try`.
#[track_caller]
fn check(server: &str, steps: &str, requests: u64) {
    for engine in ["epoll", "auto"] {
        let outcome = run(server, steps, &format!("run x.yaml --format json --engine {engine}"));
        let result = outcome.expect_exit(0).result();
        result.conserved();
        let (done, failed) = (result.count("requests.done"), result.count("requests.failed"));
        assert_eq!((done, failed), (10 * requests, 0), "{outcome}");
    }
    let shown = run(server, steps, "try x.yaml");
    shown.expect_exit(0);
    assert!(!shown.stdout.contains("FAILED"), "{shown}");
}

#[test]
fn interop_cases_pass() {
    with_server("interop_cases_pass", |server| {
        let (calls, conversations) = (calls(), conversations());
        check(server, &calls, 9);
        // With calls that stay open, all calls are streams in place of connections.
        check(server, &(calls + &conversations), 9 + 2 + 6 + 2);
    });
}

/// `timeout_on_sleeping_server`: the time-out of a step is the deadline of its call.
#[test]
fn a_deadline_is_sent_and_kept() {
    let steps = "\x20 - grpc.call: TestService/StreamingOutputCall\n    timeout: 50ms\n\
                 \x20   json: {response_parameters: [{size: 1, interval_us: 60000000}]}\n";
    with_server("a_deadline_is_sent_and_kept", |server| {
        for engine in ["epoll", "auto"] {
            let result = run(server, steps, &format!("run x.yaml --format json --engine {engine}")).result();
            // The server keeps the deadline as well, and its reset may come first.
            let failed =
                result.count_or_zero("errors.request_timeout") + result.count_or_zero("errors.reset");
            assert_eq!((result.count("requests.done"), failed), (0, 10), "{result}");
        }
    });
}
