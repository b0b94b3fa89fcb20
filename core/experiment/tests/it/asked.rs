//! The peak demand of experiments: the rates that are compared with a calibration.

use crate::support;

use support::example_text;
use support::plans::plan_of;
use wavetank_capacity::calibration::RateDemand;
use wavetank_capacity::forecast::Forecast;

/// Requests, new connections and handshakes each second at the highest; `None`: answers decide.
#[track_caller]
fn check(name: &str, text: &str, expected: [Option<f64>; 3]) {
    let plan = plan_of(name, text);
    let asked = RateDemand::from_plan(&plan, &Forecast::for_plan(&plan));
    let reported = [asked.requests, asked.connections, asked.handshakes];
    let alike = reported.iter().zip(expected).all(|(one, other)| match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-6 * other.max(1.0),
        (one, other) => one.is_none() && other.is_none(),
    });
    assert!(alike, "{name}: {asked:?}, not {expected:?}");
}

fn small(lines: &str, expected: [Option<f64>; 3]) {
    check("small.yaml", &format!("wavetank: 1\ntarget: http://127.0.0.1:8080\n{lines}"), expected);
}

#[test]
fn examples_ask_for_what_they_say() {
    let million = [Some(1e6 / 60.0), Some(10_000.0), Some(0.0)];
    check("lb-million.yaml", &example_text("lb-million.yaml"), million);
    let by_rate = [Some(10_000.0), Some(10_000.0), Some(0.0)];
    check("lb-million-by-rate.yaml", &example_text("lb-million-by-rate.yaml"), by_rate);
    // Users that wait for nothing but answers; their connections are opened ahead at 5k/s.
    check("nginx-million.yaml", &example_text("nginx-million.yaml"), [None, Some(5_000.0), Some(0.0)]);
}

#[test]
fn phases_at_a_time_add_up_and_others_do_not() {
    let after = "connection: session\nsteps:\n  - get: /\nphases:\n  - {rate: 100/s, for: 10s}\n  - {rate: 300/s, for: 10s}\n";
    small(after, [Some(300.0), Some(300.0), Some(0.0)]);
    let alongside = "connection: session\nscenarios:\n  one:\n    steps:\n      - get: /\n    phases:\n      - {rate: 100/s, for: 10s}\n  two:\n    \
                  steps:\n      - get: /\n      - get: /\n    phases:\n      - {rate: 300/s, for: 10s}\n";
    small(alongside, [Some(700.0), Some(400.0), Some(0.0)]);
    small("phases:\n  - {hold: 0 to 1k, at: 200/s}\n", [Some(0.0), Some(200.0), Some(0.0)]);
}

#[test]
fn every_new_connection_in_tls_is_a_handshake() {
    let text = "wavetank: 1\ntarget: https://127.0.0.1:8443\nconnection: session\nsteps:\n  - get: /\nphases:\n  - {rate: 100/s, for: 10s}\n";
    check("small.yaml", text, [Some(100.0), Some(100.0), Some(100.0)]);
}
