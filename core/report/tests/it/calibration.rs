//! Calibrations as text, and plans compared with them: every state, every circumstance that
//! differs.

use std::net::SocketAddr;

use wavetank_experiment::plan_url;
use wavetank_plan::{HostFacts, Plan, RunOptions, TargetUrl};
use wavetank_record::{
    CalibratedHostDoc, CalibrationDoc, CalibrationMarginDoc, CalibrationTargetDoc, CalibrationsDoc,
    CountedDoc, ForecastDoc, HeldMemoryDoc, LagDoc, Number, ThroughputDoc,
};
use wavetank_report::{CalibrationLookup, calibration_margin, calibration_text, forecast_text, overload};
use wavetank_units::Rate;

const NOW_S: u64 = 1_795_300_000;
const VERSION: &str = "0.1.0";

fn figure(measured: f64, alone: f64) -> ThroughputDoc {
    ThroughputDoc {
        unit: "per_s".to_owned(),
        measured: Number(measured),
        least: Number(measured * 0.9),
        most: Number(measured * 1.1),
        rounds: vec![Number(measured)],
        cpu_us_each: Number(2e6 / alone),
        alone: Number(alone),
        busiest_thread: Number(1.0),
        failed: 0,
        against: "own".to_owned(),
    }
}

fn calibration(host: &str, engine: &str) -> CalibrationDoc {
    CalibrationDoc {
        version: VERSION.to_owned(),
        measured_at: "2026-11-21T19:00:00Z".to_owned(),
        measured_at_s: 1_795_287_600,
        took_s: Number(58.5),
        host: CalibratedHostDoc {
            hostname: host.to_owned(),
            cpus: 2,
            cpu_model: "Example 7713".to_owned(),
            kernel: "6.18.44".to_owned(),
        },
        engine: engine.to_owned(),
        target: CalibrationTargetDoc {
            kind: "own".to_owned(),
            layout: "shared".to_owned(),
            load_cpus: vec![0, 1],
            target_cpus: vec![0, 1],
            url: String::new(),
        },
        users: 50,
        requests: figure(100_000.0, 200_000.0),
        connections: figure(20_000.0, 40_000.0),
        handshakes_full: figure(2_000.0, 4_000.0),
        handshakes_resumed: figure(3_000.0, 6_000.0),
        memory: Some(HeldMemoryDoc {
            from: 5_000,
            connections: 10_000,
            user_bytes: Number(340.4),
            kernel_bytes: Some(Number(4_100.0)),
        }),
        open_per_s: Number(80_000.0),
        lag: [0.5, 0.95].map(lag).to_vec(),
        counted: CountedDoc { sent: 1_234_567, target: 1_234_567 },
        steal: Number(0.0),
        others_cpus: Number(0.0),
        notes: vec!["load and target shared 2 CPUs".to_owned()],
    }
}

fn lag(share: f64) -> LagDoc {
    LagDoc {
        share: Number(share),
        offered_per_s: Number(share * 1e5),
        done_per_s: Number((share * 1e5).min(80_000.0)),
        p50_us: Number(1.5),
        p99_us: Number(80.0),
        p99_9_us: Number(1_200.0),
        p99_least_us: Number(70.0),
        p99_most_us: Number(90.0),
        late: Number(share - 0.5),
        dropped: Number(0.0),
    }
}

fn host() -> HostFacts {
    HostFacts {
        hostname: "load01".to_owned(),
        kernel: "6.18.44".to_owned(),
        cpu_model: "Example 7713".to_owned(),
        ..HostFacts::for_tests(2)
    }
}

fn plan(address: &str, options: RunOptions) -> Plan {
    let address: SocketAddr = address.parse().expect("an address");
    let url = TargetUrl::parse(&format!("http://{address}/")).expect("a URL");
    let options = RunOptions { engine: Some(wavetank_plan::EngineChoice::Epoll), ..options };
    plan_url(&options, &url, &[address], &host()).expect("a plan").plan
}

fn open(address: &str, per_s: u64) -> Plan {
    plan(address, RunOptions { rate: Some(Rate::per_second(per_s)), ..RunOptions::default() })
}

fn here(per_s: u64) -> Plan {
    open("127.0.0.1:8080", per_s)
}

fn of(all: Vec<CalibrationDoc>, plan: &Plan, host: &HostFacts) -> CalibrationMarginDoc {
    calibration_margin((plan, host), CalibrationLookup::Of(&CalibrationsDoc::new(all)), VERSION, NOW_S)
}

/// Checks the state and a part of the reason.
#[track_caller]
fn check(doc: &CalibrationMarginDoc, state: &str, why: &str) {
    assert_eq!(doc.state, state, "{doc:?}");
    assert!(doc.why.contains(why) && doc.why.is_empty() == why.is_empty(), "{doc:?}");
    let text = forecast_text(&ForecastDoc { calibration: Some(doc.clone()), ..ForecastDoc::default() }, 80);
    assert!(text.contains("calibrated ") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(why), "{text}");
}

#[test]
fn every_state_is_reported() {
    let plan = here(8_000);
    let known = |known| calibration_margin((&plan, &host()), known, VERSION, NOW_S);
    check(&known(CalibrationLookup::Nothing), "none", "this host is not calibrated");
    check(
        &known(CalibrationLookup::Damaged("`x` holds no calibrations")),
        "damaged",
        "`x` holds no calibrations",
    );
    check(&of(Vec::new(), &plan, &host()), "none", "this host is not calibrated");
    let elsewhere = ["a", "b", "c", "d", "e"].map(|name| calibration(name, "epoll")).to_vec();
    check(
        &of(elsewhere, &plan, &host()),
        "none",
        "load01, is not calibrated; others are: a, b, c and 2 more",
    );
    check(&of(vec![calibration("load01", "uring")], &plan, &host()), "none", "calibrated with uring only");
    check(&of(vec![calibration("load01", "epoll")], &plan, &host()), "fresh", "");
}

#[test]
fn other_circumstances_make_it_stale() {
    let stale = |change: &dyn Fn(&mut CalibrationDoc), why: &str| {
        let mut one = calibration("load01", "epoll");
        change(&mut one);
        check(&of(vec![one], &here(8_000), &host()), "stale", why);
    };
    stale(&|one| one.host.cpus = 4, "CPUs: 4 then, 2 now");
    stale(&|one| one.host.kernel = "6.1".to_owned(), "kernel: 6.1 then, 6.18.44 now");
    stale(&|one| one.host.cpu_model = "Other".to_owned(), "CPU model: Other then");
    stale(&|one| one.version = "0.0.9".to_owned(), "wavetank 0.0.9 then, 0.1.0 now");
    stale(&|one| one.measured_at_s = NOW_S - 31 * 86_400, "it is 31 days old");
    let mut old = calibration("load01", "epoll");
    old.measured_at_s = NOW_S - 31 * 86_400 + 1;
    check(&of(vec![old], &here(8_000), &host()), "fresh", "");
}

/// Checks the share that `plan` asks for, its basis, and whether a run prints a warning.
#[track_caller]
fn check_share(plan: &Plan, share: f64, basis: &str, warned: bool) {
    let doc = of(vec![calibration("load01", "epoll")], plan, &host());
    assert!((doc.share.expect("known").0 - share).abs() < 2e-3, "{doc:?}");
    assert_eq!((doc.basis.as_str(), overload(&doc).is_some()), (basis, warned), "{doc:?}");
    assert_eq!(doc.hint.is_empty(), share <= 0.8, "{doc:?}");
}

#[test]
fn a_plan_takes_its_part() {
    // On a schedule 80,000 requests a second were done with the target on the same host, of 100,000
    // in a closed loop.
    check_share(&here(8_000), 0.1, "measured", false);
    check_share(&here(70_000), 0.875, "measured", false);
    check_share(&here(160_000), 2.0, "measured", true);
    check_share(&open("10.0.0.5:80", 16_000), 0.1, "alone", false);
    let each =
        RunOptions { rate: Some(Rate::per_second(5_000)), no_keepalive: true, ..RunOptions::default() };
    check_share(&plan("127.0.0.1:8080", each), 0.25, "measured", false);
    // A rate that depends on responses cannot be computed. Only the 50 connections are known.
    check_share(&plan("127.0.0.1:8080", RunOptions::default()), 0.0025, "measured", false);
    let many = RunOptions { connections: Some(10_000), ..RunOptions::default() };
    check_share(&plan("127.0.0.1:8080", many), 0.25, "measured", false);
}

#[test]
fn a_calibration_reads_well_at_any_width() {
    for columns in [40, 80, 160] {
        let doc = CalibrationsDoc::new(vec![calibration("load01", "epoll"), calibration("load01", "uring")]);
        let text = calibration_text(&doc, columns);
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for shown in [
            "CALIBRATED load01, uring",
            "requests 100,000 req/s · 90,000 to 110,000",
            "TLS, full 4,000 req/s · 500.0 µs of CPU each",
            "at 95 % 95,000 req/s",
            "only 80,000 req/s done",
            "1,234,567 requests, confirmed by the target's count",
        ] {
            assert!(words.contains(shown) || columns == 40, "{shown}: {text}");
        }
    }
}
