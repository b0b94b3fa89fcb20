//! `wavetank.search/1`: its golden, and reading back.

use crate::support;

use support::golden;
use wavetank_record::{
    Blame, Number, RateDoc, Requests, SEARCH_SCHEMA, SearchAnswerDoc, SearchDoc, SearchPointDoc,
    SearchRunDoc, SearchSetupDoc, Spread, Status, Threshold, Times,
};
use wavetank_units::Sentence;

fn times(p99: f64) -> Times {
    let spread = Spread {
        min: Number(4_000.5),
        mean: Number(4_200.25),
        p50: Number(4_100.0),
        p75: Number(4_200.0),
        p90: Number(4_500.0),
        p95: Number(p99 / 2.0),
        p99: Number(p99),
        p99_9: Number(p99 * 1.25),
        p99_99: Number(p99 * 1.5),
        max: Number(p99 * 1.5),
        uncertain: vec!["p99_9".to_owned(), "p99_99".to_owned()],
        ..Spread::default()
    };
    Times { count: 5_000, spread: Some(spread) }
}

fn run(level: f64, p99: f64) -> SearchRunDoc {
    let held = p99 < 50_000.0;
    SearchRunDoc {
        level: Number(level),
        stage: "measure".to_owned(),
        result: if held { "pass" } else { "fail" }.to_owned(),
        why: if held { Sentence::empty() } else { Sentence::quoted("`p99 < 50ms` broke: 61.0 ms") },
        status: if held { Status::Pass } else { Status::Fail },
        blame: if held { Blame::None } else { Blame::Target },
        id: "a1b2c3".to_owned(),
        archive: Some("20261122T120000Z-localhost-8080-a1b2c3".to_owned()),
        started_at: "2026-11-22T12:00:00Z".to_owned(),
        duration_s: Number(2.0),
        requests: Requests { offered: 5_000, sent: 5_000, done: 5_000, ..Requests::default() },
        rate: RateDoc { offered_per_s: Number(level), done_per_s: Number(level - 0.5) },
        response_us: times(p99),
        service_us: times(p99),
        lag_us: Times::default(),
        busiest_thread: Number(0.12),
        thresholds: vec![Threshold {
            expr: "p99 < 50ms".to_owned(),
            value: Some(Number(p99)),
            ok: Some(held),
            unit: "us".to_owned(),
            ..Threshold::default()
        }],
    }
}

fn doc() -> SearchDoc {
    let point = |level: f64, passed: u32, p99: f64| SearchPointDoc {
        unknown: Vec::new(),
        level: Number(level),
        runs: 3,
        passed,
        generator: 0,
        chance: Some(Number(f64::from(passed) / 3.0)),
        done_per_s: Number(level - 0.5),
        p50_us: Some(Number(4_100.0)),
        p95_us: Some(Number(p99 / 2.0)),
        p99_us: Some(Number(p99)),
        p99_9_us: None,
    };
    SearchDoc {
        schema: SEARCH_SCHEMA.to_owned(),
        name: "localhost:8080".to_owned(),
        id: "0f1e2d".to_owned(),
        version: "0.1.0".to_owned(),
        command: "wavetank search localhost:8080/ --threshold 'p99 < 50ms' -d 2s".to_owned(),
        seed: 1,
        target: "http://localhost:8080/".to_owned(),
        started_at: "2026-11-22T12:00:00Z".to_owned(),
        took_s: Number(95.5),
        of: "rate".to_owned(),
        unit: "per_s".to_owned(),
        answer: SearchAnswerDoc {
            end: "found".to_owned(),
            exit: 0,
            headline: "knee estimated at 2,480/s (2,450 to 2,510, 95 %) for p99 < 50ms: 3 of 3 runs held at 2,450/s, 0 of 3 from 2,510/s up".to_owned(),
            knee: Some(Number(2_480.0)),
            low: Some(Number(2_450.0)),
            low_level: Some(Number(2_475.0)),
            low_proven: true,
            high: Some(Number(2_510.0)),
            high_proven: true,
            confidence: Number(0.95),
            generator_at: None,
            blame: Blame::Target,
            limit: Sentence::quoted("`p99 < 50ms` broke: 61.0 ms"),
        },
        thresholds: vec!["p99 < 50ms".to_owned()],
        setup: SearchSetupDoc {
            from: Number(100.0),
            to: Number(1_000_000.0),
            factor: Number(2.0),
            levels: 5,
            repeats: 3,
            step: Number(0.01),
            level_s: Number(2.0),
            warmup_s: Number(0.5),
            settle_s: Number(0.5),
            max_time_s: None,
            quick: false,
        },
        curve: vec![point(2_450.0, 3, 12_000.0), point(2_510.0, 0, 61_000.0)],
        runs: vec![run(2_450.0, 12_000.0), run(2_510.0, 61_000.0)],
        notes: vec![Sentence::quoted("load and target share this host")],
    }
}

#[test]
fn the_document_is_as_described() {
    let json = doc().to_json() + "\n";
    golden("search.json", &json);
    assert_eq!(SearchDoc::from_json(&json), Ok(doc()));
}

#[test]
fn what_is_no_such_document_is_refused() {
    for text in ["", "{", "[]", "{\"schema\":\"wavetank.run/1\"}", "{\"schema\":\"wavetank.search/1\"}"] {
        assert!(SearchDoc::from_json(text).is_err(), "{text}");
    }
    let newer = |text: &str| SearchDoc::from_json(text).is_err_and(|error| error.is_newer());
    assert!(newer("{\"schema\":\"wavetank.search/2\"}") && !newer("{\"schema\":\"wavetank.run/2\"}"));
    let later = doc().to_json().replacen('{', "{\"later\":{\"x\":1},", 1);
    assert_eq!(SearchDoc::from_json(&later), Ok(doc()));
}
