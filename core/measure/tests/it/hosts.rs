//! Conditions on hosts: values at an instant, rates, windows, phases, patterns, stop conditions.

use crate::common;

use common::{Second, condition, phase, plan};
use wavetank_measure::{HostSample, Ledger, ThresholdResult};
use wavetank_plan::Plan;
use wavetank_units::Nanos;

/// Ten seconds, the last five of them phase `keep`.
fn two_phases() -> Plan {
    let mut plan = plan(5);
    plan.phases.push(phase("keep", 5, 5));
    plan
}

/// A little after the second, as samples are taken.
fn at(second: i64) -> Nanos {
    Nanos(second * 1_000_000_000 + 400_000)
}

/// A lab host with two CPUs at the end of second `second`, with the CPU time used so far and the
/// bytes received so far.
fn host(second: i64, cpu_ms: u64, in_bytes: u64) -> HostSample {
    HostSample {
        at: at(second),
        cpu_user_ns: cpu_ms * 1_000_000,
        cpus_milli: 2_000,
        cores: vec![(cpu_ms * 1_000_000, second.unsigned_abs() * 1_000_000_000), (0, second.unsigned_abs())],
        net_in_bytes: in_bytes,
        tcp_established: in_bytes,
        mem_used_bytes: 3 << 30,
        mem_all_bytes: 4 << 30,
        ..HostSample::default()
    }
}

/// Returns the result of `text` with the samples `seen` of hosts.
fn judged(text: &str, seen: &[(&str, HostSample)]) -> ThresholdResult {
    let mut plan = two_phases();
    plan.thresholds = vec![condition(text)];
    let mut book = Ledger::new(&plan);
    for second in 0..10 {
        let _ = book.add(&Second::at(second).done(1, 1).seal());
    }
    for (name, sample) in seen {
        book.observe_other(name, sample);
    }
    book.results().into_iter().next().expect("the one condition")
}

/// Value and verdict of `text`.
#[track_caller]
fn check(text: &str, seen: &[(&str, HostSample)], value: Option<f64>, ok: Option<bool>) {
    let result = judged(text, seen);
    assert_eq!(result.ok, ok, "{result:?}");
    match (result.value, value) {
        (Some(found), Some(wanted)) => assert!((found - wanted).abs() < 1e-6, "{result:?}"),
        (found, wanted) => assert_eq!(found, wanted, "{result:?}"),
    }
}

/// One host with this CPU time, in milliseconds, in each second.
fn busy(name: &'static str, each: &[u64]) -> Vec<(&'static str, HostSample)> {
    let sums = each.iter().scan(0, |sum, ms| {
        *sum += ms;
        Some(*sum)
    });
    let after = (1_i64..).zip(sums).map(|(second, sum)| (name, host(second, sum, 0)));
    std::iter::once((name, host(0, 0, 0))).chain(after).collect()
}

#[test]
fn what_flows_is_judged_by_its_mean_over_the_span() {
    let half = busy("lb1", &[1_000; 10]);
    check("cpu(lb1) < 51%", &half, Some(0.5), Some(true));
    check("cpu(lb1) < 50%", &half, Some(0.5), Some(false));
    check("hottest_core(lb1) < 99%", &half, Some(1.0), Some(false));
    let rising = busy("lb1", &[0, 0, 0, 0, 0, 2_000, 2_000, 2_000, 2_000, 0]);
    check("cpu(lb1) < 50%", &rising, Some(0.4), Some(true));
    check("cpu(lb1) < 50% in keep", &rising, Some(0.8), Some(false));
    check("cpu(lb1) < 50% in main", &rising, Some(0.0), Some(true));
    let bytes = |second: i64| ("lb1", host(second, 0, second.unsigned_abs() * 125_000_000));
    check("net_in(lb1) > 900Mbit/s", &[bytes(0), bytes(5), bytes(10)], Some(1e9), Some(true));
}

#[test]
fn a_condition_on_uncounted_cpus_says_so() {
    let bare = |(name, sample)| (name, HostSample { cores: Vec::new(), ..sample });
    let seen: Vec<_> = busy("lb1", &[1_000; 10]).into_iter().map(bare).collect();
    for text in ["hottest_core(lb1) < 90%", "hottest_core(lb1) < 90% for 2s"] {
        check(text, &seen, None, None);
        assert_eq!(judged(text, &seen).why.as_deref(), Some("lb1: its CPUs are not counted individually"));
    }
    check("cpu(lb1) < 51%", &seen, Some(0.5), Some(true));
}

#[test]
fn a_window_that_does_not_hold_breaks_what_holds_on_the_whole() {
    let burst = busy("lb1", &[0, 0, 0, 2_000, 2_000, 0, 0, 0, 0, 0]);
    check("cpu(lb1) < 90%", &burst, Some(0.2), Some(true));
    check("cpu(lb1) < 90% for 2s", &burst, Some(1.0), Some(false));
    check("cpu(lb1) < 70% for 3s", &burst, Some(2.0 / 3.0), Some(true));
    assert_eq!(judged("cpu(lb1) < 90% for 2s", &burst).at, Some(at(3)));
    check("cpu(lb1) < 90% for 1m", &burst, None, None);
}

#[test]
fn what_is_at_an_instant_is_judged_by_its_worst_sample() {
    let held = |counts: &'static [u64]| -> Vec<_> {
        (0_i64..).zip(counts).map(|(second, &count)| ("lb1", host(second, 0, count))).collect()
    };
    let seen = held(&[0, 10, 20, 30, 40, 50, 50, 49, 50, 50, 3]);
    check("established(lb1) >= 49 in keep", &seen, Some(49.0), Some(true));
    check("established(lb1) >= 50 in keep", &seen, Some(49.0), Some(false));
    check("established(lb1) <= 50", &seen, Some(50.0), Some(true));
    check("memory(lb1) < 4GB", &seen, Some((3_u64 << 30) as f64), Some(true));
    check("memory(lb1) < 70%", &seen, Some(0.75), Some(false));
    check("swap(lb1) = 0", &seen, Some(0.0), Some(true));
}

#[test]
fn of_several_hosts_the_worst_counts_and_is_named() {
    let mut seen = busy("app1", &[200; 10]);
    seen.extend(busy("app2", &[1_800; 10]));
    seen.extend(busy("lb1", &[2_000; 10]));
    check("cpu(app[1-2]) < 80%", &seen, Some(0.9), Some(false));
    assert_eq!(judged("cpu(app[1-2]) < 80%", &seen).why.as_deref(), Some("on app2"));
    check("cpu(app[1-2]) < 95%", &seen, Some(0.9), Some(true));
    check("cpu(app3) < 95%", &seen, None, None);
    assert_eq!(judged("cpu(app3) < 95%", &seen).why.as_deref(), Some("no samples of app3"));
}

/// Checks the second at which `text` fires at the seal.
fn stops(text: &str, seen: &[(&str, HostSample)], fires_at: Option<i64>) {
    let mut plan = two_phases();
    plan.stop = vec![condition(text)];
    let mut book = Ledger::new(&plan);
    for second in 0..10 {
        let now = |sample: &HostSample| sample.at.0.div_euclid(1_000_000_000) == second + 1;
        let early = |sample: &HostSample| second == 0 && sample.at < at(1);
        let new = seen.iter().filter(|(_, sample)| now(sample) || early(sample));
        for (name, sample) in new {
            book.observe_other(name, sample);
        }
        let _ = book.add(&Second::at(second).done(1, 1).seal());
    }
    assert_eq!(book.stop_fired(), fires_at.map(|at| (text, Nanos::from_secs(at))), "{text}");
}

#[test]
fn a_stop_fires_when_it_has_been_true_for_its_window() {
    let late = busy("lb1", &[0, 0, 0, 0, 2_000, 2_000, 2_000, 2_000, 0, 0]);
    stops("cpu(lb1) > 90% for 3s", &late, Some(7));
    stops("cpu(lb1) > 90% for 5s", &late, None);
    stops("cpu(lb1) > 30%", &late, Some(6));
    stops("cpu(lb2) > 1%", &late, None);
    let counts = [0, 0, 9, 9, 1, 9, 9, 9, 9, 9, 9];
    let seen: Vec<_> = (0_i64..).zip(counts).map(|(second, count)| ("lb1", host(second, 0, count))).collect();
    stops("established(lb1) > 5", &seen, Some(2));
    stops("established(lb1) > 5 for 3s", &seen, Some(7));
}
