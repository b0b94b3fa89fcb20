//! `run.json` and the other small documents: goldens, key order, and reading back.

use crate::support;

use support::{finding, golden, hosts};
use wavetank_record::{
    Blame, CheckDoc, ClientWindowDoc, ConnectionMemory, Connections, EnvironmentDoc, ErrorDoc, EventKind,
    EventLine, Generator, GroupDoc, HoldDoc, HookCheckDoc, HookDoc, HookFailureDoc, HostDoc, ImpactDoc,
    ImpactOutcome, KernelCount, LabDoc, LabHostDoc, LoadDoc, NearestLimitDoc, Number, PhaseConnections,
    PhaseDoc, Probe, RUN_SCHEMA, RecoveryDoc, RendezvousDoc, RendezvousReleaseDoc, Requests, RunRecord,
    SampleLine, Sessions, Spread, Status, StepDoc, TargetDoc, Threshold, Times, TlsDoc, VerdictDoc, Warmup,
};
use wavetank_units::{Code, Sentence, UserError};

fn times() -> Times {
    let spread = Spread {
        censored: 2,
        clipped: 0,
        min: Number::micros(812_345),
        mean: Number(1_000.0 / 3.0),
        p50: Number::micros(1_000_000),
        p75: Number::micros(1_500_000),
        p90: Number::micros(1_900_001),
        p95: Number::micros(2_000_000),
        p99: Number::micros(9_000_000),
        p99_9: Number::micros(10_000_000),
        p99_99: Number::micros(10_000_000),
        max: Number::micros(10_000_000),
        uncertain: vec!["p99_9".to_owned(), "p99_99".to_owned()],
        unknown: vec!["p99_99".to_owned()],
    };
    Times { count: 1_000, spread: Some(spread) }
}

fn probe() -> Probe {
    Probe {
        method: "GET".to_owned(),
        path: "/".to_owned(),
        status: 200,
        body_bytes: 1_300,
        content_type: "application/json".to_owned(),
        version: "HTTP/1.1".to_owned(),
        address: "127.0.0.1:8080".to_owned(),
        time_us: Number(2_100.5),
        error: Sentence::empty(),
    }
}

fn tls() -> TlsDoc {
    TlsDoc {
        handshakes: 12,
        resumed: 2,
        failed: 1,
        version: [("TLSv1.3".to_owned(), 12)].into(),
        cipher: [("TLS_AES_128_GCM_SHA256".to_owned(), 12)].into(),
        group: [("X25519".to_owned(), 12)].into(),
        alpn: [("http/1.1".to_owned(), 12)].into(),
    }
}

fn record() -> RunRecord {
    let requests =
        Requests { offered: 1_003, sent: 1_002, done: 998, failed: 2, late: 1, dropped: 1, open: 2 };
    RunRecord {
        connections: Connections { held_min: Some(0), ..Connections::default() },
        schema: RUN_SCHEMA.to_owned(),
        name: "shop".to_owned(),
        id: "7f3a21".to_owned(),
        version: "0.1.0".to_owned(),
        command: "wavetank run localhost:8080".to_owned(),
        seed: u64::MAX,
        plan_hash: "ab".repeat(32),
        started_at: "2026-11-21T19:00:00Z".to_owned(),
        duration_s: Number(10.0),
        verdict: VerdictDoc {
            status: Status::Fail,
            reasons: vec!["p99 < 5ms".to_owned()],
            blame: Blame::Target,
            headline: Sentence::quoted("p99 9.00 ms, not < 5ms"),
            exit: 1,
        },
        requests,
        errors: [("request_timeout".to_owned(), 2)].into(),
        dropped_by: [("max_open".to_owned(), 1)].into(),
        status: [(200, 998), (99, 1)].into(),
        response_us: times(),
        thresholds: vec![Threshold {
            expr: "p99 < 5ms".to_owned(),
            value: Some(Number(9_000.0)),
            ok: Some(false),
            implicit: false,
            unit: "us".to_owned(),
            why: Sentence::empty(),
        }],
        steps: vec![StepDoc {
            name: "GET /".to_owned(),
            requests,
            response_us: times(),
            ..StepDoc::default()
        }],
        warmup: Warmup { requests: Some(requests), ..Warmup::default() },
        events: vec![EventLine {
            at_ns: -5,
            kind: "phase_started".to_owned(),
            text: Sentence::quoted("warmup"),
            phase: Some(0),
            ..EventLine::default()
        }],
        findings: vec![finding()],
        notes: vec![Sentence::quoted("same machine")],
        load: LoadDoc {
            model: "closed".to_owned(),
            text: Sentence::quoted("50 connections"),
            defaults: true,
        },
        probe: Some(probe()),
        tags: [("k".to_owned(), "v".to_owned())].into(),
        generator: generator(),
        tls: Some(tls()),
        ..journeyed()
    }
}

fn generator() -> Generator {
    Generator {
        connection_memory: Some(ConnectionMemory {
            connections: 2_000,
            grown_bytes: 40_960_000,
            bytes_per_connection: 20_480,
        }),
        cpu_over_s: Some(Number(12.5)),
        ..Generator::default()
    }
}

/// A record with session data.
fn journeyed() -> RunRecord {
    let (name, step) = ("fresh".to_owned(), "POST /cart".to_owned());
    let sample = SampleLine { kind: "slow".to_owned(), phase: "main".to_owned(), ..SampleLine::default() };
    RunRecord {
        hosts: vec![hosts::sampled_host()],
        nearest_limit: Some(NearestLimitDoc { host: "local".to_owned(), limit: hosts::host_limit() }),
        rehearsal: Some(Sentence::quoted("a rehearsal of shop.yaml with --scale 1/10")),
        sessions: Sessions { offered: 9, started: 8, done: 4, failed: 1, dropped: 1, open: 3 },
        sessions_dropped_by: [("max_open".to_owned(), 1)].into(),
        checks: vec![CheckDoc { name, step, scenario: "buyer".to_owned(), held: 7, failed: 1 }],
        counts: [("sold".to_owned(), 4)].into(),
        groups: vec![GroupDoc { name: "checkout".to_owned(), time_us: times(), ..GroupDoc::default() }],
        rendezvous: vec![RendezvousDoc {
            name: "doors".to_owned(),
            met: 1,
            by_wait: 1,
            present: 8,
            skew_us: Some(Number(4_000.0)),
            meetings: vec![RendezvousReleaseDoc {
                phase: "main".to_owned(),
                of: 10,
                present: 8,
                by_wait: true,
                sent: 2,
                at_s: Some(Number(3.1)),
                skew_us: Some(Number(4_000.0)),
            }],
        }],
        before: Some(HookDoc::default()),
        after: Some(HookDoc {
            checks: vec![HookCheckDoc {
                step: "GET /sale".to_owned(),
                name: "json $.sold <= ${stock}".to_owned(),
                ok: false,
                found: Sentence::quoted("1003"),
            }],
            faults: vec![HookFailureDoc {
                step: "GET /sale".to_owned(),
                what: Sentence::quoted("status 500"),
            }],
        }),
        samples: vec![sample],
        impacts: impacts(),
        ..holding()
    }
}

/// Impacts of events: one that affected clients, and one that was not carried out.
fn impacts() -> Vec<ImpactDoc> {
    let before = ClientWindowDoc {
        seconds: Number(10.0),
        offered: 1_000,
        done: 1_000,
        done_per_s: Number(100.0),
        p50_us: Some(Number(5_000.0)),
        p99_us: Some(Number(5_003.5)),
        max_us: Some(Number(5_003.5)),
        ..ClientWindowDoc::default()
    };
    let during =
        ClientWindowDoc { seconds: Number(5.0), failed: 200, failed_share: Number(0.4), lost: 3, ..before };
    let seen = ImpactDoc {
        event: 0,
        host: "app1".to_owned(),
        what: "kill serve".to_owned(),
        from_s: Number(10.0),
        until_s: Some(Number(15.013)),
        outcome: ImpactOutcome::Undone,
        before: Some(before),
        during: Some(during),
        after: Some(ClientWindowDoc { p50_us: None, ..before }),
        hurt_s: Number(7.0),
        recovery: RecoveryDoc::After,
        recovery_s: Some(Number(1.987)),
        ..ImpactDoc::default()
    };
    let failed = ImpactDoc {
        event: 1,
        host: "app2".to_owned(),
        what: "systemctl stop app".to_owned(),
        from_s: Number(20.0),
        outcome: ImpactOutcome::Failed,
        why: Sentence::quoted("app2: systemctl stop app could not be done"),
        ..ImpactDoc::default()
    };
    vec![seen, failed]
}

/// A record with hold phases.
fn holding() -> RunRecord {
    let counts = Connections {
        planned: 2_000,
        offered: 5,
        opened: 6,
        lost: 5,
        reopened: 5,
        late: 1,
        open: 2_000,
        peak: 2_000,
        held_min: Some(1_995),
        ..Connections::default()
    };
    let connections = PhaseConnections { opening_before: 1, open_before: 1_999, counts };
    let (name, connections) = ("keep".to_owned(), Some(connections));
    RunRecord {
        phases: vec![PhaseDoc { name: name.clone(), connections, ..PhaseDoc::default() }],
        held: vec![HoldDoc {
            phase: name,
            planned: 2_000,
            seconds: 120,
            lowest: 1_995,
            lowest_at_s: Number(52.0),
            lost: 5,
            reopened: 5,
            kernel: Some(KernelCount {
                after_ms: Number(0.107),
                tcp_inuse: 4_004,
                tcp_inuse_before: 2,
                tcp_asking: 2,
                tcp_alloc: 4_010,
                ..KernelCount::default()
            }),
            target: Some(TargetDoc {
                after_ms: Number(-0.5),
                open: 1_995,
                accepted: 2_000,
                closed: 5,
                reset: 5,
                ..TargetDoc::default()
            }),
        }],
        ..RunRecord::default()
    }
}

/// Reading back gives the same value, and writing that the same bytes: `report` prints what the run
/// printed.
fn check(record: &RunRecord) {
    let text = record.to_json();
    let again = RunRecord::from_json(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&again, record);
    assert_eq!(again.to_json(), text);
}

#[test]
fn the_record_is_as_described() {
    golden("run.json", &(record().to_json() + "\n"));
    check(&record());
    check(&RunRecord { schema: RUN_SCHEMA.to_owned(), ..RunRecord::default() });
}

/// The documented order, then the additions.
#[test]
fn keys_stand_in_the_contracts_order() {
    let text = record().to_json();
    let top = "schema name id version command seed plan_hash started_at duration_s verdict requests dropped_by rate \
               errors status wire sessions sessions_dropped_by connections bytes response_us service_us lag_us wait_us \
               connect_us tls_us ttfb_us transfer_us failed_us generator thresholds checks phases scenarios steps warmup setup events \
               findings notes target load probe next tags";
    let mut at = 0;
    for key in top.split_whitespace() {
        let found =
            text[at..].find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("`{key}` is out of order"));
        at += found;
    }
    let block = "{\"count\":1000,\"censored\":2,\"clipped\":0,\"min\":812.345,\"mean\":333.3333333333333,\"p50\":1000,\
                 \"p75\":1500,\"p90\":1900.001,\"p95\":2000,\"p99\":9000,\"p99_9\":10000,\"p99_99\":10000,\"max\":10000,\
                 \"uncertain\":[\"p99_9\",\"p99_99\"],\"unknown\":[\"p99_99\"]}";
    assert!(text.contains(&format!("\"response_us\":{block}")), "{text}");
    assert!(text.contains("\"service_us\":{\"count\":0},\"lag_us\":{\"count\":0}"), "{text}");
}

#[test]
fn fields_of_later_versions_are_skipped_and_other_schemas_refused() {
    let text = record().to_json();
    let later = text.replacen("\"name\"", "\"invented_later\":[{}],\"name\"", 1);
    assert_eq!(RunRecord::from_json(&later), Ok(record()));
    assert!(RunRecord::from_json(&text.replacen("run/1", "run/2", 1)).is_err());
    assert!(RunRecord::from_json("").is_err());
}

/// Every double is read back bit for bit; whole ones are written without a fraction.
#[test]
fn numbers_come_back_exactly() {
    let mut random = support::Random(5);
    for _ in 0..20_000 {
        let value = match random.below(3) {
            0 => f64::from_bits(random.next()),
            1 => random.magnitude(60) as f64 / 1e3,
            _ => random.magnitude(50) as f64,
        };
        if value.is_finite() {
            let text = serde_json::to_string(&Number(value)).unwrap();
            let again: Number = serde_json::from_str(&text).unwrap();
            assert_eq!(again.0.to_bits(), value.to_bits(), "{text}");
            assert_eq!(
                text.contains(['.', 'e']),
                value.fract() != 0.0 || value.abs() >= 9_007_199_254_740_992.0,
                "{text}"
            );
        }
    }
}

#[test]
fn the_small_documents_are_as_described() {
    let refused = UserError::refused(
        Code::TargetNotAllowed,
        "`example.org` is not a private address",
        "add `--allow-target`",
    );
    golden("error.json", &(ErrorDoc::from(&refused).to_json() + "\n"));
    let event = EventLine {
        at_ns: 10_000_000_000,
        kind: EventKind::PhaseEnded.name().to_owned(),
        text: Sentence::quoted("main"),
        phase: Some(1),
        ..EventLine::default()
    };
    golden("event.jsonl", &(event.encode() + "\n"));
    assert_eq!(EventLine::decode(event.encode().as_bytes()), Ok(event));
    let sample = SampleLine {
        kind: "failed".to_owned(),
        class: "request_timeout".to_owned(),
        phase: "main".to_owned(),
        step: "GET /".to_owned(),
        intended_ns: 2_000_000_000,
        lag_us: Number(1.25),
        wait_us: Some(Number(0.0)),
        total_us: Number(60_000_000.0),
        address: "127.0.0.1:8080".to_owned(),
        ..SampleLine::default()
    };
    golden("sample.jsonl", &(sample.encode() + "\n"));
    assert_eq!(SampleLine::decode(sample.encode().as_bytes()), Ok(sample));
    let environment = EnvironmentDoc {
        id: "7f3a21".to_owned(),
        version: "0.1.0".to_owned(),
        command: "wavetank run localhost:8080".to_owned(),
        started_at: "2026-11-21T19:00:00Z".to_owned(),
        load: record().load,
        rehearsal: Some(Sentence::quoted("a rehearsal of shop.yaml with --scale 1/10")),
        probe: Some(probe()),
        engine: "epoll".to_owned(),
        engine_why: Some("io_uring_setup EPERM: sysctl kernel.io_uring_disabled=0".to_owned()),
        host: HostDoc {
            hostname: "load01".to_owned(),
            cpus: vec![0, 1],
            port_range: (32_768, 60_999),
            ..HostDoc::default()
        },
        lab: Some(LabDoc {
            name: "shop".to_owned(),
            hosts: vec![LabHostDoc {
                name: "lb1".to_owned(),
                role: "balancer".to_owned(),
                services: vec!["haproxy 2.6.12".to_owned()],
                congestion_control: Some("cubic".to_owned()),
            }],
        }),
    };
    golden("environment.json", &(environment.to_json() + "\n"));
    assert_eq!(EnvironmentDoc::from_json(&environment.to_json()), Ok(environment));
}
