//! Shared parts of this crate's tests: example records and goldens.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod compared;
pub(crate) mod measured;

use std::path::PathBuf;

use wavetank_record::{
    Blame, Bytes, Connections, CutShortDoc, Finding, Generator, HoldDoc, KernelCount, LoadDoc, Number,
    PhaseConnections, PhaseDoc, Probe, RUN_SCHEMA, RateDoc, Requests, RunRecord, Spread, Status, StepDoc,
    TargetDoc, Threshold, Times, VerdictDoc, Wire,
};
use wavetank_units::Sentence;

/// Compares `actual` with the golden file `name`; `WAVETANK_GOLDEN=update` writes it instead.
pub(crate) fn golden(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("WAVETANK_GOLDEN").is_some_and(|value| value == "update") {
        std::fs::write(&path, actual).expect("the golden can be written");
        return;
    }
    let expected =
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(actual, expected, "{name} differs; to accept the change: WAVETANK_GOLDEN=update");
}

/// A block with these percentiles in µs: p50, p90, p99, p99.9, max.
pub(crate) fn times(count: u64, us: [f64; 5]) -> Times {
    let [p50, p90, p99, p99_9, max] = us.map(Number);
    let spread = Spread {
        min: Number(p50.0 / 4.0),
        mean: p50,
        p50,
        p75: p90,
        p90,
        p95: p99,
        p99,
        p99_9,
        p99_99: max,
        max,
        ..Spread::default()
    };
    Times { count, spread: Some(spread) }
}

/// The first example of the design: defaults against a fast server on the same machine.
pub(crate) fn closed() -> RunRecord {
    let requests = Requests { offered: 124_312, sent: 124_312, done: 124_312, ..Requests::default() };
    RunRecord {
        schema: RUN_SCHEMA.to_owned(),
        name: "localhost:8080/api/users".to_owned(),
        id: "7f3a21".to_owned(),
        version: "0.1.0".to_owned(),
        command: "wavetank run localhost:8080/api/users".to_owned(),
        started_at: "2026-11-21T19:00:00Z".to_owned(),
        duration_s: Number(10.0),
        verdict: VerdictDoc { status: Status::Pass, blame: Blame::None, ..VerdictDoc::default() },
        requests,
        rate: RateDoc { offered_per_s: Number(12_431.2), done_per_s: Number(12_431.2) },
        status: [(200, 124_312)].into(),
        wire: Wire { sent: 124_312, ..Wire::default() },
        connections: Connections {
            planned: 50,
            offered: 50,
            opened: 50,
            closed: 50,
            peak: 50,
            ..Connections::default()
        },
        bytes: Bytes { sent: 12_431_200, received: 179_009_280 },
        response_us: times(124_312, [3_900.0, 6_040.0, 11_000.0, 31_000.0, 91_200.0]),
        service_us: times(124_312, [3_890.0, 6_000.0, 10_900.0, 30_900.0, 91_100.0]),
        lag_us: times(124_312, [3.0, 9.0, 38.0, 120.0, 900.0]),
        wait_us: times(124_312, [0.4, 0.5, 0.9, 2.0, 8.0]),
        connect_us: times(50, [88.0, 120.0, 180.0, 180.0, 180.0]),
        generator: Generator {
            connection_memory: None,
            cpu_over_s: None,
            cpu_user_s: Number(2.1),
            cpu_system_s: Number(5.4),
            peak_rss_bytes: 12_345_678,
            threads: 2,
            engine: "epoll".to_owned(),
            busiest_thread: Number(0.423),
        },
        thresholds: vec![
            implicit("done > 0", Some(true), 124_312.0),
            implicit("failed < 1%", Some(true), 0.0),
        ],
        steps: vec![StepDoc { name: "GET /api/users".to_owned(), requests, ..StepDoc::default() }],
        notes: vec![Sentence::quoted(
            "same machine: server and wavetank shared 8 CPUs, so the server alone can do this or more",
        )],
        target: "http://localhost:8080/api/users".to_owned(),
        load: LoadDoc {
            model: "closed".to_owned(),
            text: Sentence::quoted("50 connections, 10 s, closed loop"),
            defaults: true,
        },
        probe: Some(probe()),
        next: vec![Sentence::quoted(
            "response times at a fixed rate: wavetank run localhost:8080/api/users -r 6.2k/s",
        )],
        ..RunRecord::default()
    }
}

pub(crate) fn probe() -> Probe {
    Probe {
        method: "GET".to_owned(),
        path: "/api/users".to_owned(),
        status: 200,
        body_bytes: 1_300,
        content_type: "application/json".to_owned(),
        version: "HTTP/1.1".to_owned(),
        address: "127.0.0.1".to_owned(),
        time_us: Number(2_100.0),
        error: Sentence::empty(),
    }
}

/// An open run at a fixed rate with thresholds of the user, all of which passed.
pub(crate) fn open() -> RunRecord {
    let requests =
        Requests { offered: 50_000, sent: 50_000, done: 49_988, failed: 12, late: 3, ..Requests::default() };
    let mut response = times(49_990, [1_200.0, 2_000.0, 8_400.0, 31_000.0, 60_000_000.0]);
    let spread = response.spread.as_mut().expect("it has one");
    (spread.censored, spread.uncertain) = (2, vec!["p99_9".to_owned()]);
    RunRecord {
        command: "wavetank run localhost:8080/api/users -r 5k/s --threshold 'p99 < 250ms'".to_owned(),
        verdict: VerdictDoc { status: Status::Pass, blame: Blame::None, ..VerdictDoc::default() },
        requests,
        rate: RateDoc { offered_per_s: Number(5_000.0), done_per_s: Number(4_998.8) },
        errors: [("status".to_owned(), 10), ("request_timeout".to_owned(), 2)].into(),
        status: [(200, 49_988), (503, 10)].into(),
        response_us: response,
        service_us: times(49_988, [1_190.0, 1_900.0, 8_300.0, 30_000.0, 31_000.0]),
        failed_us: times(10, [900.0, 1_000.0, 1_100.0, 1_100.0, 1_100.0]),
        thresholds: vec![
            asked("p99 < 250ms", Some(true), 8_400.0, "us"),
            asked("done_rate > 4.9k/s", Some(true), 4_998.8, "per_s"),
            implicit("done > 0", Some(true), 49_988.0),
            implicit("failed < 1%", Some(true), 0.000_24),
        ],
        load: LoadDoc {
            model: "open".to_owned(),
            text: Sentence::quoted("5,000 req/s evenly, 10 s, open loop"),
            defaults: false,
        },
        notes: Vec::new(),
        next: Vec::new(),
        ..closed()
    }
}

pub(crate) fn asked(expr: &str, ok: Option<bool>, value: f64, unit: &str) -> Threshold {
    Threshold {
        expr: expr.to_owned(),
        value: Some(Number(value)),
        ok,
        implicit: false,
        unit: unit.to_owned(),
        why: Sentence::empty(),
    }
}

pub(crate) fn implicit(expr: &str, ok: Option<bool>, value: f64) -> Threshold {
    let unit = if expr.contains('%') { "share" } else { "count" };
    Threshold { implicit: true, ..asked(expr, ok, value, unit) }
}

pub(crate) fn verdict(status: Status, reasons: &[&str], blame: Blame, headline: &str) -> VerdictDoc {
    let exit = match status {
        Status::Pass => 0,
        Status::Fail => 1,
        Status::Invalid => 3,
        Status::Incomplete => 4,
    };
    let reasons = reasons.iter().map(|&reason| reason.to_owned()).collect();
    VerdictDoc { status, reasons, blame, headline: Sentence::quoted(headline), exit }
}

pub(crate) fn finding(code: &str, blame: Blame, message: &str, evidence: &str, hint: &str) -> Finding {
    let [message, evidence, hint] = [message, evidence, hint].map(Sentence::quoted);
    Finding { code: code.to_owned(), blame, decisive: true, message, evidence, hint, ..Finding::default() }
}

/// A threshold failed.
pub(crate) fn failed() -> RunRecord {
    RunRecord {
        verdict: verdict(Status::Fail, &["p99 < 5ms"], Blame::Target, "p99 8.40 ms, not < 5ms"),
        thresholds: vec![
            asked("p99 < 5ms", Some(false), 8_400.0, "us"),
            Threshold {
                value: None,
                why: Sentence::quoted("only 12 samples"),
                ..asked("p99.9(cart) < 1s", None, 0.0, "us")
            },
            implicit("failed < 1%", Some(false), 0.02),
        ],
        ..open()
    }
}

/// The generator could not follow the schedule.
pub(crate) fn invalid() -> RunRecord {
    let requests = Requests {
        offered: 50_000,
        sent: 46_000,
        done: 46_000,
        late: 9_000,
        dropped: 4_000,
        ..Requests::default()
    };
    let mut response = times(46_000, [1_200.0, 2_000.0, 8_400.0, 31_000.0, 91_000.0]);
    response.spread.as_mut().expect("it has one").unknown =
        ["p95", "p99", "p99_9", "p99_99"].map(str::to_owned).into();
    RunRecord {
        verdict: verdict(
            Status::Invalid,
            &["dropped"],
            Blame::Generator,
            "wavetank dropped 8 % of the requests itself",
        ),
        requests,
        rate: RateDoc { offered_per_s: Number(5_000.0), done_per_s: Number(4_600.0) },
        errors: std::collections::BTreeMap::new(),
        status: [(200, 46_000)].into(),
        dropped_by: [("behind".to_owned(), 3_000), ("no_files".to_owned(), 1_000)].into(),
        response_us: response.clone(),
        service_us: response.clone(),
        lag_us: times(46_000, [300.0, 9_000.0, 90_000.0, 900_000.0, 999_000.0]),
        failed_us: Times::default(),
        findings: vec![finding(
            "behind",
            Blame::Generator,
            "a load thread could not keep up",
            "thread 0 was busy 99 % of the time, 3,000 requests were dropped a second after their instant",
            "give it more threads (`--threads 4`) or ask for less than 4.6k/s",
        )],
        generator: Generator { busiest_thread: Number(0.99), ..closed().generator },
        ..open()
    }
}

/// A load of ten seconds that ended before.
fn cut_short(why: &str) -> CutShortDoc {
    CutShortDoc { planned_s: Some(Number(10.0)), why: Sentence::quoted(why) }
}

/// Ctrl-C after some seconds.
pub(crate) fn interrupted() -> RunRecord {
    RunRecord {
        verdict: VerdictDoc {
            exit: 130,
            ..verdict(Status::Incomplete, &["signal"], Blame::Unknown, "interrupted by a signal")
        },
        cut_short: Some(cut_short("interrupted by a signal")),
        duration_s: Number(4.0),
        requests: Requests { offered: 1_005, sent: 1_004, done: 1_000, open: 5, ..Requests::default() },
        ..closed()
    }
}

/// There was no response in the first seconds.
pub(crate) fn hopeless() -> RunRecord {
    RunRecord {
        verdict: verdict(
            Status::Fail,
            &["hopeless"],
            Blame::Target,
            "nothing was done in 5 s: every connection to 127.0.0.1:8080 is refused",
        ),
        cut_short: Some(cut_short("gave up because no request was done: connection refused")),
        duration_s: Number(5.0),
        requests: Requests { offered: 25_000, sent: 0, failed: 25_000, ..Requests::default() },
        rate: RateDoc { offered_per_s: Number(5_000.0), done_per_s: Number(0.0) },
        errors: [("connect_refused".to_owned(), 25_000)].into(),
        status: std::collections::BTreeMap::new(),
        bytes: Bytes::default(),
        response_us: Times::default(),
        service_us: Times::default(),
        wait_us: Times::default(),
        failed_us: times(25_000, [80.0, 90.0, 100.0, 110.0, 120.0]),
        connections: Connections { planned: 50, offered: 25_000, failed: 25_000, ..Connections::default() },
        findings: vec![finding(
            "connect_refused",
            Blame::Target,
            "nothing listens on 127.0.0.1:8080",
            "",
            "start the server, or practise with `wavetank serve`",
        )],
        next: Vec::new(),
        notes: Vec::new(),
        ..closed()
    }
}

/// The probe received no response, so nothing was sent.
pub(crate) fn unanswered() -> RunRecord {
    let probe = Probe {
        status: 0,
        error: Sentence::quoted("connection refused"),
        address: "127.0.0.1:8080".to_owned(),
        ..probe()
    };
    RunRecord {
        verdict: verdict(
            Status::Fail,
            &["probe"],
            Blame::Target,
            "no answer to the first request: connection refused",
        ),
        cut_short: None,
        thresholds: vec![implicit("done > 0", Some(false), 0.0), implicit("failed < 1%", Some(true), 0.0)],
        findings: vec![finding(
            "connect_refused",
            Blame::Target,
            "no answer to the first request: connection refused",
            "connection refused",
            "nothing listens there: is the server up, and is the port right?",
        )],
        duration_s: Number(0.0),
        requests: Requests::default(),
        rate: RateDoc::default(),
        errors: std::collections::BTreeMap::new(),
        failed_us: Times::default(),
        lag_us: Times::default(),
        connections: Connections::default(),
        probe: Some(probe),
        ..hopeless()
    }
}

/// A million connections held, of which five were lost and opened again.
pub(crate) fn held() -> RunRecord {
    let connections = Connections {
        planned: 1_000_000,
        offered: 1_000_005,
        opened: 1_000_005,
        closed: 1_000_000,
        lost: 5,
        reopened: 5,
        late: 1_204,
        peak: 1_000_000,
        held_min: Some(999_995),
        ..Connections::default()
    };
    let phase = |name: &str| PhaseDoc {
        name: name.to_owned(),
        connections: Some(PhaseConnections {
            counts: Connections { planned: 1_000_000, ..Connections::default() },
            ..PhaseConnections::default()
        }),
        ..PhaseDoc::default()
    };
    let load = LoadDoc {
        model: "hold".to_owned(),
        text: Sentence::quoted("1,000,000 connections held"),
        ..closed().load
    };
    RunRecord {
        connections,
        load,
        phases: ["open", "keep", "close"].map(phase).into(),
        held: vec![HoldDoc {
            phase: "keep".to_owned(),
            planned: 1_000_000,
            seconds: 120,
            lowest: 999_995,
            lowest_at_s: Number(52.0),
            lost: 5,
            reopened: 5,
            kernel: Some(KernelCount {
                after_ms: Number(0.107),
                tcp_inuse: 1_999_996,
                tcp_inuse_before: 4,
                tcp_asking: 2,
                tcp_alloc: 2_000_010,
                tcp_tw: 12,
                ..KernelCount::default()
            }),
            target: Some(TargetDoc {
                after_ms: Number(12.0),
                open: 999_998,
                open_before: 3,
                ..TargetDoc::default()
            }),
        }],
        ..closed()
    }
}
