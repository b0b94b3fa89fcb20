//! Drift over a plateau: found where it was planted, and not in noise.

use crate::common::{Second, phase, plan};
use wavetank_diagnose::{Blame, Finding, RunContext, RunEnd, diagnose};
use wavetank_measure::{HostSample, Ledger};
use wavetank_plan::{Load, Phase, Plan, PopulationCurve};
use wavetank_units::Nanos;

const MB: u64 = 1_000_000;

/// One second of a plateau of 10,000 connections: open requests, p99 in ms, memory above its value
/// before the load.
#[derive(Clone, Copy)]
struct Seen {
    in_flight: u64,
    p99_ms: u64,
    slab: u64,
    rss: u64,
}

/// The normal state: 9 kB a connection.
const STILL: Seen = Seen { in_flight: 50, p99_ms: 10, slab: 85 * MB, rss: 5 * MB };

fn holding(seconds: i64) -> Plan {
    let connections = PopulationCurve::constant(10_000, Some(Nanos::from_secs(seconds)));
    let load = Load::Hold { connections, sessions_each: None };
    Plan { phases: vec![Phase { load, ..phase("keep", 0, seconds) }], ..plan(1) }
}

/// Returns the findings for `seconds` seconds with the values of `seen`.
fn drifts(seconds: i64, seen: impl Fn(i64) -> Seen) -> Vec<Finding> {
    let plan = holding(seconds);
    let mut book = Ledger::new(&plan);
    let host = |at: i64, seen: Seen| HostSample {
        at: Nanos::from_secs(at),
        slab_bytes: 300 * MB + seen.slab,
        rss_bytes: 30 * MB + seen.rss,
        ..HostSample::default()
    };
    book.observe_host(&host(0, Seen { slab: 0, rss: 0, ..STILL }));
    for from in 0..seconds {
        let seen = seen(from);
        let open = seen.in_flight;
        let second = Second::at(from).done(990, 1).done(20, seen.p99_ms).with(|interval| {
            (interval.conns.open, interval.conns.peak) = (10_000, 10_000);
            interval.conns.opened = if from == 0 { 10_000 } else { 0 };
            interval.conns.offered = interval.conns.opened;
            interval.steps[0].open = open;
        });
        // The number of open requests is set as a gauge here, without matching offered requests, so
        // the ledger is never closed.
        drop(book.add(&second.seal()));
        book.observe_host(&host(from + 1, seen));
    }
    let found = diagnose(&plan, &book, &RunEnd::Finished, &RunContext::default()).findings;
    found.into_iter().filter(|finding| finding.code.as_str().starts_with("drift")).collect()
}

fn check(seconds: i64, seen: impl Fn(i64) -> Seen, expected: &[(&str, Blame, &str)]) {
    let found = drifts(seconds, seen);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (finding, (code, blame, message)) in found.iter().zip(expected) {
        assert_eq!(
            (finding.code.as_str(), finding.blame, finding.decisive),
            (*code, *blame, false),
            "{finding:?}"
        );
        assert!(finding.message.contains(message), "{finding:?}");
        assert!(!finding.evidence.is_empty() && !finding.hint.is_empty(), "{finding:?}");
    }
}

#[test]
fn constant_values_are_no_finding() {
    check(120, |_| STILL, &[]);
}

#[test]
fn planted_drifts_are_found() {
    let flight = |at: i64| Seen { in_flight: 50 + at as u64, ..STILL };
    check(
        120,
        flight,
        &[("drift_in_flight", Blame::Target, "requests in flight rose from 50 to 169 over keep")],
    );
    let slower = |at: i64| Seen { p99_ms: 10 + at as u64 / 4, ..STILL };
    check(120, slower, &[("drift_p99", Blame::Target, "response p99 rose from")]);
    let settling = |at: i64| Seen { p99_ms: 60 - at as u64 / 4, ..STILL };
    check(120, settling, &[("drift_p99", Blame::Unknown, "response p99 fell from")]);
    let queues = |at: i64| Seen { slab: 85 * MB + at as u64 * MB, ..STILL };
    check(
        120,
        queues,
        &[("drift_memory", Blame::Unknown, "memory per connection rose from 9.0 kB to 20.9 kB")],
    );
    let ours = |at: i64| Seen { rss: 5 * MB + at as u64 * MB, ..STILL };
    check(120, ours, &[("drift_memory", Blame::Generator, "memory per connection rose")]);
}

/// A change that is certain but small is not reported.
#[test]
fn small_drifts_are_none() {
    check(120, |at| Seen { in_flight: 1_000 + at as u64, ..STILL }, &[]);
    check(120, |at| Seen { slab: 85 * MB + at as u64 * MB / 100, ..STILL }, &[]);
    check(120, |at| Seen { slab: 85 * MB - at as u64 * MB / 2, ..STILL }, &[]);
}

#[test]
fn a_short_plateau_shows_nothing() {
    let rising = |at: i64| Seen { in_flight: 50 + 20 * at as u64, p99_ms: 10 + at as u64, ..STILL };
    check(29, rising, &[]);
    assert_eq!(drifts(30, rising).len(), 2);
}

/// A thousand plateaus without drift, with separate noise in each value.
#[test]
fn noise_is_seldom_taken_for_drift() {
    let (seed, rounds) = (7_u64, 1_000);
    let mut state = seed;
    let mut draw = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let mut alarms = 0;
    for _ in 0..rounds {
        let seconds = 30 + (draw() * 60.0) as i64;
        let mut sluggish = 0.0;
        let noisy: Vec<_> = (0..seconds)
            .map(|_| {
                sluggish = 0.7 * sluggish + draw() - 0.5;
                let spike = if draw() < 0.05 { 20.0 } else { 1.0 };
                Seen {
                    in_flight: (50.0 * (1.0 + sluggish)).max(0.0) as u64,
                    p99_ms: (10.0 * spike * (0.5 + draw())) as u64 + 1,
                    slab: 85 * MB + (draw() * 20e6) as u64,
                    rss: 5 * MB,
                }
            })
            .collect();
        alarms += u32::from(!drifts(seconds, |at| noisy[at as usize]).is_empty());
    }
    println!("seed {seed}: {alarms} false alarms in {rounds} plateaus");
    assert!(alarms <= rounds / 50, "{alarms} of {rounds}");
}
