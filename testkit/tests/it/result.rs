//! The checks every run must pass catch what they are for: a check that cannot fail proves nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::{Value, json};
use wavetank_testkit::{RunResult, Truth};

/// A run of one phase, scenario and step, with these requests, each a session of its own.
fn of_requests(requests: &Value) -> Value {
    let count = |name: &str| requests[name].as_u64().expect("a count");
    let sessions = json!({
        "offered": count("offered"), "started": count("offered") - count("dropped"), "done": count("done"),
        "failed": count("failed"), "dropped": count("dropped"), "open": count("open"),
    });
    let scope = json!([{"name": "main", "requests": requests, "sessions": sessions}]);
    json!({
        "schema": "wavetank.run/1",
        "requests": requests,
        "sessions": sessions,
        "phases": scope,
        "scenarios": scope,
        "steps": scope,
    })
}

/// A consistent run: 100 offered, 90 done, 6 failed, 3 dropped, 1 open.
fn right() -> Value {
    let requests =
        json!({"offered": 100, "sent": 96, "done": 90, "failed": 6, "late": 0, "dropped": 3, "open": 1});
    let mut run = of_requests(&requests);
    let rest = json!({
        "dropped_by": {"max_open": 3},
        "errors": {"reset": 4, "request_timeout": 2},
        "wire": {"sent": 98, "retried": 2, "redirected": 0, "resources": 0},
        "warmup": {"wire": {"sent": 10}},
        "setup": {"sent": 1, "done": 1, "failed": 0},
        "connections": {"offered": 12, "opening": 1, "opened": 10, "failed": 1, "closed": 6, "lost": 3, "open": 1},
        "response_us": {"count": 93, "censored": 3, "p50": 50_000.0},
    });
    let (whole, rest) = (run.as_object_mut().expect("an object"), rest.as_object().expect("an object"));
    whole.extend(rest.clone());
    run
}

/// Whether `check` passes for `right` with `value` put at `path`.
fn passes(path: &str, value: u64, check: impl Fn(&RunResult)) -> bool {
    let mut run = right();
    let place = path.split('.').fold(&mut run, |value, name| &mut value[name]);
    *place = value.into();
    let run = RunResult::new(run);
    catch_unwind(AssertUnwindSafe(|| check(&run))).is_ok()
}

#[test]
fn conservation_is_checked_on_every_counter() {
    let check = |run: &RunResult| {
        run.conserved();
    };
    assert!(passes("requests.offered", 100, check), "the right run passes");
    for (path, value) in [
        ("requests.offered", 101),
        ("requests.done", 91),
        ("requests.failed", 5),
        ("requests.dropped", 4),
        ("requests.open", 0),
        ("requests.sent", 95),
        ("errors.reset", 5),
        ("errors.sadness", 0),
        ("dropped_by.max_open", 2),
        ("dropped_by.boredom", 0),
        ("wire.sent", 96),
        ("wire.retried", 0),
        ("response_us.count", 90),
        ("response_us.censored", 2),
        ("connections.opened", 11),
        ("connections.lost", 4),
        ("connections.opening", 0),
        ("sessions.offered", 101),
        ("sessions.started", 96),
        ("sessions.done", 91),
    ] {
        assert!(!passes(path, value, check), "{path} = {value} must be caught");
    }
}

#[test]
fn every_scope_adds_up_to_the_run() {
    for scope in ["phases", "scenarios", "steps"] {
        for (part, what) in [("requests", "offered"), ("requests", "sent"), ("sessions", "done")] {
            if (scope, part) == ("steps", "sessions") {
                continue;
            }
            let mut run = right();
            run[scope][0][part][what] = 7.into();
            let run = RunResult::new(run);
            let passed = catch_unwind(AssertUnwindSafe(|| drop(run.conserved().clone()))).is_ok();
            assert!(!passed, "{scope}: {part}.{what} must be caught");
        }
    }
}

#[test]
fn the_parts_of_the_response_sum_up() {
    let sums_up = |lag_us: f64| {
        let mut run = right();
        let requests =
            json!({"offered": 90, "sent": 90, "done": 90, "failed": 0, "late": 0, "dropped": 0, "open": 0});
        let reported = of_requests(&requests);
        for name in ["requests", "sessions", "phases", "scenarios", "steps"] {
            run[name] = reported[name].clone();
        }
        (run["errors"], run["dropped_by"]) = (json!({}), json!({}));
        run["wire"] = json!({"sent": 90, "retried": 0, "redirected": 0, "resources": 0});
        for (series, mean) in
            [("response_us", 700.0), ("lag_us", lag_us), ("wait_us", 90.0), ("service_us", 600.0)]
        {
            run[series] = json!({"count": 90, "censored": 0, "mean": mean});
        }
        let run = RunResult::new(run);
        catch_unwind(AssertUnwindSafe(|| drop(run.conserved().clone()))).is_ok()
    };
    assert!(sums_up(10.0));
    assert!(!sums_up(10.001) && !sums_up(0.0));
}

#[test]
fn the_targets_count_is_the_wires() {
    let truth = |requests, malformed| Truth { requests, malformed, ..Truth::default() };
    let agrees = |truth: Truth| {
        passes("wire.sent", 98, |run| {
            run.agrees_with(&truth);
        })
    };
    assert!(agrees(truth(109, 0)), "98 + 10 + 1");
    for wrong in [truth(108, 0), truth(110, 0), truth(96, 0), truth(109, 1)] {
        assert!(!agrees(wrong));
    }
}

#[test]
fn closeness_is_two_percent_or_a_millisecond() {
    let close = |found_us: u64, expected_ms: u64| {
        let mut run = right();
        run["response_us"]["p50"] = found_us.into();
        RunResult::new(run).check_time("response_us.p50", Duration::from_millis(expected_ms)).is_ok()
    };
    assert!(close(10_999, 10) && close(9_001, 10));
    assert!(!close(11_001, 10) && !close(8_999, 10));
    assert!(close(1_019_999, 1_000) && close(980_001, 1_000));
    assert!(!close(1_020_001, 1_000) && !close(979_999, 1_000));
}
