//! The tiers of `wavetank serve`, compared with their stated capacity, from below and from above.

use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{Client, Program, RunHarness, RunResult, Serve, expect_time, retry_timing};

/// Capacity of four workers of 40 ms, in requests per second.
const CAPACITY: f64 = 100.0;
const TIER: &str = "/tier/transaction?workers=4&work=40ms";

/// Sends `rate` requests per second for three seconds. Verifies the result and compares it with the
/// server's count.
#[track_caller]
fn check(engine: &str, rate: u64, exact: impl Fn(&RunResult) -> Result<(), String>) {
    retry_timing(|| {
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank"));
        let serve = Serve::start(&program, &["--threads", "3", "--engine", engine]);
        let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
        let words = format!("-r {rate}/s -c 400 -d 3s --no-probe --engine {engine}");
        let outcome = trial.load(&serve.url(TIER), words.split_whitespace()).run();
        let result = outcome.result();
        result.conserved();
        let truth = Client::connect(serve.address()).get("/truth");
        let truth: Value = serde_json::from_slice(&truth.body).expect("/truth is JSON");
        assert_eq!(truth["paths"]["/tier/transaction"], 3 * rate, "all are answered in the end: {result}");
        assert_eq!(truth["statuses"]["200"], 3 * rate, "{truth}");
        let said = exact(&result);
        expect_time(said.is_ok(), || format!("{said:?}\n{outcome}"))
    });
}

#[test]
fn a_stated_capacity_is_what_can_be_had() {
    for engine in ["auto", "epoll"] {
        // Half of the capacity: each request takes as long as its work, never less.
        check(engine, 50, |result| {
            let least = result.number("service_us.min");
            // A sender that loses its CPU after the send stamps it late.
            if least < 40_000.0 {
                return Err(format!("{least} µs at least"));
            }
            let median = Duration::from_micros(result.number("service_us.p50") as u64);
            if median < Duration::from_millis(60) { Ok(()) } else { Err(format!("{median:?} in the middle")) }
        });
        // One and a half times the capacity: the excess is queued.
        check(engine, 150, |result| {
            let done = result.number("rate.done_per_s");
            assert!(done <= CAPACITY * 1.02, "{done}/s: {result}");
            if done >= CAPACITY * 0.8 { Ok(()) } else { Err(format!("{done}/s")) }
        });
    }
}
