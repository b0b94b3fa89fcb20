//! The conformance suite of connectrpc judges the gRPC of the load. Go builds it, so it runs in the
//! long form of the tests only. `examples/grpc_conformance_client` makes its cases experiments.

use std::time::Duration;

use wavetank_testkit::{Program, TestDir, skip};

use crate::go_program::built;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const MODULE: &str = "connectrpc.com/conformance";
const VERSION: &str = "v1.0.7";
/// For a run of all cases, of which some wait for a second.
const LIMIT: Duration = Duration::from_mins(10);
/// The cases of this version, without those that are skipped.
const CASES: u64 = 580;
/// What the suite says if none of the parallel cases ends in 20 seconds.
const STALLED: &str = "timed out waiting for result from client";

/// What the suite tests. A limit on the messages that arrive cannot be set.
const FEATURES: &str = "\
features:
  versions: [HTTP_VERSION_2]
  protocols: [PROTOCOL_GRPC]
  codecs: [CODEC_PROTO]
  compressions: [COMPRESSION_IDENTITY, COMPRESSION_GZIP]
  supports_tls: true
  supports_tls_client_certs: true
  supports_message_receive_limit: false
";

/// Cases that are not run: `try` shows no status of a call that its user leaves.
const SKIPPED: &str = "Client Cancellation/**";

/// Cases that cannot pass in either form, among those of [`FEATURES`].
const FAILING: [&str; 3] = [
    // Control characters in the message of a status are shown escaped.
    "**/unicode-error-message",
    // Of a response that ends inside a message, none is shown.
    "**/incomplete-message",
    "**/incomplete-message-prefix",
];

/// A conversation may have read the one message before its end, which then has none.
const FAILING_IN_CONVERSATIONS: [&str; 1] = ["**/ok-but-no-response"];

/// Returns the folder with the `.proto` files of the suite.
fn protos() -> String {
    let go = Program::foreign("go").expect("go has built the suite");
    let outcome = go.args(["mod", "download", "-json", &format!("{MODULE}@{VERSION}")]).start().wait(LIMIT);
    outcome.expect_exit(0);
    format!("{}/proto", outcome.json()["Dir"].as_str().expect("the folder of the module"))
}

/// Runs the suite. `form` is that of calls, as the client names it.
fn check(test: &str, form: &str, failing: &[&str]) {
    let place = TestDir::new();
    let Some(suite) = built(test, &format!("{MODULE}/cmd/connectconformance@{VERSION}"), &place) else {
        return;
    };
    let own = std::env::current_exe().expect("the path of the test program");
    let client = own.ancestors().nth(2).expect("its folder is deps").join("examples/grpc_conformance_client");
    if !client.exists() {
        return skip(test, "the example grpc_conformance_client is not built");
    }
    let (configuration, client) = (place.write("features.yaml", FEATURES), client.display().to_string());
    let program = Program::new(PROGRAM).arguments()[0].clone();
    let mut arguments = vec!["--mode", "client", "--conf", &configuration, "--skip", SKIPPED];
    arguments.extend(failing.iter().flat_map(|case| ["--known-failing", case]));
    let protos = protos();
    arguments.extend(["--", &client, &program, &protos, form]);
    let outcome = suite.args(arguments).start().wait(LIMIT);
    // A single case that hangs ends with a failure of its own.
    if outcome.to_string().contains(STALLED) {
        return skip(test, "the machine did not finish a case in 20 s, the limit of the suite");
    }
    outcome.expect_exit(0);
    let total = outcome.stdout.lines().find_map(|line| line.strip_prefix("Total cases: "));
    let total = total.and_then(|total| total.parse::<u64>().ok()).unwrap_or_default();
    assert_eq!(total, CASES, "{outcome}");
}

#[test]
fn calls_pass_the_suite_of_connectrpc() {
    check("calls_pass_the_suite_of_connectrpc", "calls", &FAILING);
}

#[test]
fn conversations_pass_the_suite_of_connectrpc() {
    let failing = [&FAILING[..], &FAILING_IN_CONVERSATIONS].concat();
    check("conversations_pass_the_suite_of_connectrpc", "conversations", &failing);
}
