//! Reports before anything is sent: conditions that are already in doubt, and what else a reader of
//! a plan should know.

use crate::support;

use support::example_text;
use support::plans::{host, plan_of};
use wavetank_capacity::forecast::{ConditionForecast, Forecast, needs, notes};
use wavetank_plan::{ConnectionEnd, HostFacts, MemoryModel, Transport, plannable_bytes};
use wavetank_units::Ports;

/// Kind, reason and hint of the forecast for the only threshold of a file.
#[track_caller]
fn reported(text: &str) -> (&'static str, String) {
    let plan = plan_of("small.yaml", text);
    let forecast = Forecast::for_plan(&plan);
    let outlook = ConditionForecast::for_threshold(&plan.thresholds[0], &plan, &forecast);
    match outlook {
        ConditionForecast::Open => ("open", String::new()),
        ConditionForecast::Unreachable(why, hint) => ("unreachable", format!("{why} | {hint}")),
        ConditionForecast::Undecided(why, hint) => ("undecided", format!("{why} | {hint}")),
        ConditionForecast::Doubtful(why, hint) => ("doubtful", format!("{why} | {hint}")),
    }
}

/// The same of a threshold of a file with these lines.
#[track_caller]
fn check(lines: &str, threshold: &str, kind: &str, mentions: &[&str]) {
    let text =
        format!("wavetank: 1\ntarget: http://127.0.0.1:8080\nthresholds: [\"{threshold}\"]\n{lines}\n");
    let (found, words) = reported(&text);
    assert_eq!(found, kind, "{threshold} of {lines}: {words}");
    for mention in mentions {
        assert!(words.contains(mention), "`{mention}` is not mentioned: {words}");
    }
}

const OPEN: &str =
    "steps: [{get: /sleep10}]\nphases: [{name: a, rate: 100/s, for: 60s}, {name: b, rate: 100/s, for: 60s}]";
const HELD: &str = "steps: [{get: /}, {think: 10s}]\nphases: [{name: open, hold: 0 to 1k, at: 100/s}, {name: keep, hold: 1k, for: 60s}]";
const FIVE: &str = "steps: [{repeat: 5, steps: [{get: /, name: one}]}]\nphases: [{rate: 100/s, for: 20s}]";

#[test]
fn the_second_mistake_is_reported() {
    // A rate copied from one host of twenty.
    let text = example_text("lb-million-by-rate.yaml").replace("rate: 10k/s", "rate: 500/s");
    let (kind, words) = reported(&text);
    assert_eq!(kind, "unreachable", "{words}");
    assert!(words.contains("500/s × 100 s answers = 50,000"), "{words}");
    assert!(
        words.contains("rates are for the whole run") && words.contains("20 × 500/s = 10,000/s"),
        "{words}"
    );
}

#[test]
fn requests_in_flight_come_from_rate_and_time() {
    check(OPEN, "in_flight >= 1k in b", "open", &[]);
    check(OPEN, "in_flight > 1k in b", "unreachable", &["100/s × 10 s answers = 1,000"]);
    check(OPEN, "in_flight >= 1k in a", "unreachable", &["in the first second", "before it"]);
    check(OPEN, "in_flight < 1k in a", "open", &[]);
    // Without a delay in its path an answer may take until its timeout.
    let plain = OPEN.replace("/sleep10", "/");
    check(&plain, "in_flight >= 6k in b", "open", &[]);
    check(&plain, "in_flight >= 7k in b", "unreachable", &["timeout"]);
    check(
        "steps: [{get: /}]\nphases: [{users: 5, for: 9s}]",
        "in_flight >= 6",
        "unreachable",
        &["at most 5 users"],
    );
    let tight = "steps: [{get: /sleep10}]\nphases: [{rate: 100/s, for: 60s, max_open: 50}]";
    check(tight, "in_flight >= 500", "unreachable", &["max_open is 50"]);
}

#[test]
fn levels_are_held_where_the_plan_keeps_them() {
    check(HELD, "held >= 1k in keep", "open", &[]);
    check(HELD, "held >= 1001 in keep", "unreachable", &["1,000 connections", "a phase that keeps"]);
    check(HELD, "held >= 1k", "unreachable", &["in the first second the plan has 100", "in keep"]);
    check(
        "steps: [{get: /}]\nphases: [{users: 0 to 10, at: 1/s}]",
        "users >= 10",
        "unreachable",
        &["1 users"],
    );
}

#[test]
fn counts_and_rates_are_bounded_by_what_is_sent() {
    check(OPEN, "done_rate >= 100/s", "open", &[]);
    check(OPEN, "done_rate > 101/s", "unreachable", &["at most 100 req/s"]);
    check(OPEN, "done >= 12k", "open", &[]);
    check(OPEN, "done > 12k in a", "unreachable", &["6,000 requests"]);
    check(HELD, "done_rate > 500/s in keep", "unreachable", &["if responses took no time", "shorter pauses"]);
    check("steps: [{get: /}]\nphases: [{users: 5, for: 9s}]", "done_rate > 1M/s", "open", &[]);
}

#[test]
fn percentiles_need_samples() {
    check(OPEN, "p99.9 < 1s", "open", &[]);
    check(OPEN, "p99.99 < 1s", "undecided", &["p99.99 needs about 100,000 samples", "sends 12,000"]);
    check(FIVE, "p99.9(one) < 1s", "open", &[]);
    check(FIVE, "p99.9(connect) < 1s", "undecided", &["the plan opens 2,000"]);
    let orders = "steps: [{get: /}, {choose: [{weight: 1, steps: [{post: /buy, name: buy}]}, {weight: 3, steps: [{get: /more}]}]}]\n\
                  phases: [{rate: 100/s, for: 20s}]";
    check(orders, "p99.9(buy) < 1s", "undecided", &["needs about 10,000", "sends 500"]);
    check(&orders.replace("100/s", "1999/s"), "p99(buy) < 1s", "open", &[]);
    check(&orders.replace("100/s", "1990/s"), "p99.9(buy) < 1s", "doubtful", &["sends 9,950"]);
}

#[test]
fn hosts_and_windows_without_samples() {
    check(OPEN, "cpu(lb1) < 96%", "undecided", &["lb1 is not sampled", "--scale"]);
    check(OPEN, "failed < 1% in a for 120s", "undecided", &["never fills"]);
    check(OPEN, "failed < 1% for 120s", "open", &[]);
}

/// What is noted of a file on a host.
#[track_caller]
fn noted(lines: &str, host: &HostFacts, mention: &str) {
    let plan = plan_of("small.yaml", &format!("wavetank: 1\ntarget: http://127.0.0.1:8080\n{lines}\n"));
    let all = notes(&plan, &Forecast::for_plan(&plan), host);
    assert!(all.iter().any(|note| note.contains(mention)), "`{mention}` is not noted: {all:?}");
}

#[test]
fn what_looks_unintended_is_noted() {
    let all = host();
    let five = format!("thresholds: [\"done_rate >= 95/s\"]\n{FIVE}");
    noted(&five, &all, "rate: 100 requests/s?");
    noted("steps: [{get: /delay/100s}]\nphases: [{users: 1, for: 1s}]", &all, "raise http.timeout");
    noted("steps: [{get: /delay/3s, timeout: 2s}]\nphases: [{users: 1, for: 1s}]", &all, "raise its timeout");
    noted(
        "steps: [{get: /}]\nphases: [{users: 10k, for: 1s}]",
        &all,
        "10,000 connections are opened in the 2s before t0",
    );
    noted(
        "before: [{get: /}]\nsteps: [{get: /}]\nphases: [{users: 1, for: 1s}]",
        &all,
        "before the load: 1 request,",
    );
    let few = HostFacts { ports: Ports::range(1_024, 11_023), ..host() };
    noted(
        "steps: [{get: /}]\nphases: [{users: 9k, for: 1s}]",
        &few,
        "pairs of address and port will be in use",
    );
}

#[test]
fn a_plan_takes_so_much_of_its_host() {
    let plan = plan_of("lb-million.yaml", &example_text("lb-million.yaml"));
    let all = needs(&plan, &host()).expect("a plan of few threads");
    let of = |what: &str| {
        let need = all.iter().find(|need| need.what == what).expect(what);
        (need.needed, need.available)
    };
    assert_eq!(of("connections").0, 1_000_000);
    assert_eq!(of("source_ports"), (1_000_000, Some(64_512)));
    // Of a million users who think for a minute, one in 61 has an open request if responses take a
    // second.
    let each = MemoryModel::for_end(ConnectionEnd::Client, plan.engine, Transport::Tcp);
    let busy = 1_000_000_u64.div_ceil(61);
    let memory = (
        1_000_000 * each.idle() + busy * each.under_way,
        Some(plannable_bytes(host().memory_available_bytes)),
    );
    assert_eq!(of("memory"), memory, "the target is another host: one end");
}
