//! `trace: FILE`: what is said about lines that cannot be read.

use crate::support::reading;
use wavetank_experiment::verify_traces;

#[track_caller]
fn check(trace: &str, message: &str, hint: &str) {
    let text = "wavetank: 1\ntarget: http://127.0.0.1:8080\nsteps: [{get: /}]\nphases: [{trace: t.csv}]\n";
    let experiment = reading("replay.yaml", text.as_bytes(), &[]).experiment.expect("the file is read");
    let wrong = verify_traces(&experiment, &|_| Ok(trace.as_bytes().to_vec()));
    let [only] = wrong.sorted()[..] else { panic!("one error: {:?}", wrong.sorted()) };
    assert!(only.message.contains(message), "{trace}: {}", only.message);
    assert!(only.hint.contains(hint), "{trace}: {}", only.hint);
}

#[test]
fn a_bad_line_has_a_hint_that_fits() {
    let log = "::1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 2";
    check(log, "is not a duration", "Replay an access log");
    check("{\"time\":\"2024-01-01T00:00:00Z\",\"path\":\"/\"}", "t.csv:1", "Replay an access log");
    check("0s\n1700000000.123", "t.csv:2", "from the start of the load");
    check("2024-01-01T00:00:00Z", "t.csv:1", "from the start of the load");
    check("0s\n1.5", "needs a unit", "1.5s, or 1.5ms?");
    check("0s\n2s\n1s", "t.csv:3", "sort the lines");
    check("0s,1/s\n2s", "some lines have a rate", "90s,200/s");
    check("ö-1", "t.csv:1", "a line is a time");
    check("", "the trace is empty", "a line is a time");
}
