//! `connection:`, several targets and `pick` in a file: the targets' counts are what the file
//! describes.

use std::time::Duration;

use wavetank_testkit::{RunHarness, Script, Target};

/// Runs a file with these lines below the targets `a` (two URLs, A and B) and `b` (one, B). Returns
/// the connections that A and B saw, the requests that they saw together, and the connections of
/// the result.
fn run(lines: &str) -> ([u64; 2], u64, serde_json::Value) {
    let targets = [(); 2].map(|()| Target::start(Script::constant(Duration::from_millis(1))));
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let [a, b] = targets.each_ref().map(|target| target.url("").trim_end_matches('/').to_owned());
    let text = format!("wavetank: 1\ntargets: {{a: [\"{a}\", \"{b}\"], b: \"{b}\"}}\n{lines}");
    let file = trial.place().write("x.yaml", text);
    let outcome = trial.load::<&str>(&file, []).run();
    let json = outcome.json();
    let requests = &json["requests"];
    assert_eq!((&requests["failed"], &requests["dropped"]), (&0.into(), &0.into()), "{outcome}");
    let truths = targets.map(|target| target.truth());
    let seen = truths[0].requests + truths[1].requests;
    assert_eq!(json["wire"]["sent"], seen, "{outcome}");
    (truths.map(|truth| truth.connections), seen, json["connections"].clone())
}

/// Checks the number of connections at each of the two URLs, for 40 sessions of three requests to
/// one target.
fn check_arrivals(connection: &str, expected: [u64; 2]) {
    let (connections, requests, counted) = run(&format!(
        "scenarios:\n  s:\n    connection: {connection}\n    target: a\n    steps: [{{get: /}}, {{get: /2}}, {{get: /3}}]\n    \
         phases: [{{rate: 80/s, for: 500ms}}]\n"
    ));
    assert_eq!((connections, requests), (expected, 120), "{connection}: {counted}");
    assert_eq!(counted["opened"], expected.iter().sum::<u64>(), "{connection}: {counted}");
    assert_eq!((&counted["lost"], &counted["open"]), (&0.into(), &0.into()), "{connection}: {counted}");
}

#[test]
fn who_arrives_has_the_connections_that_the_file_says() {
    check_arrivals("user", [20, 20]);
    check_arrivals("session", [20, 20]);
    check_arrivals("request", [60, 60]);
}

#[test]
fn users_have_a_connection_to_each_target() {
    // Users alternate between the URLs of `a`, and each also uses `b`.
    let steps =
        "steps: [{get: /, to: a}, {get: /2, to: b}, {think: 5ms}]\n    phases: [{users: 6, for: 500ms}]\n";
    let (connections, _, counted) = run(&format!("scenarios:\n  s:\n    {steps}"));
    assert_eq!(connections, [3, 3 + 6], "{counted}");
    let (connections, requests, counted) =
        run(&format!("scenarios:\n  s:\n    connection: request\n    {steps}"));
    assert_eq!(connections.iter().sum::<u64>(), requests, "{counted}");
    let (connections, requests, counted) =
        run(&format!("scenarios:\n  s:\n    connection: session\n    {steps}"));
    assert_eq!(
        connections.iter().sum::<u64>(),
        requests,
        "each session has one to each of two targets: {counted}"
    );
    let (connections, requests, counted) =
        run(&format!("scenarios:\n  s:\n    connection: shared\n    {steps}"));
    assert!(requests > 60 && connections.iter().sum::<u64>() <= 12, "{connections:?}: {counted}");
}
