//! `wavetank.compare/1`: its golden, and reading back.

use crate::support;

use support::golden;
use wavetank_record::{
    COMPARE_SCHEMA, CompareAnswer, CompareDoc, ComparedRunDoc, MetricDoc, Number, SideDoc,
};
use wavetank_units::Sentence;

fn side(id: &str) -> SideDoc {
    SideDoc {
        runs: vec![ComparedRunDoc {
            id: id.to_owned(),
            name: "shop".to_owned(),
            started_at: "2026-11-22T13:25:24Z".to_owned(),
            target: "http://127.0.0.1:8080/".to_owned(),
            load: "100/s evenly, 30 s, open loop".to_owned(),
            verdict: "pass".to_owned(),
            duration_s: Number(30.0),
            version: "0.1.0".to_owned(),
        }],
    }
}

fn doc() -> CompareDoc {
    CompareDoc {
        schema: COMPARE_SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        answer: CompareAnswer::Regression,
        exit: 1,
        level: Number(0.95),
        seed: 1,
        draws: 1_000,
        max_regression: Some(Number(0.1)),
        a: side("7f3a11"),
        b: side("a1b2c3"),
        metrics: vec![MetricDoc {
            name: "p99".to_owned(),
            unit: "us".to_owned(),
            better: "less".to_owned(),
            a: Some(Number(40_108.031)),
            b: Some(Number(48_234.495)),
            ratio: Some(Number(1.2026)),
            low: Some(Number(1.17)),
            high: Some(Number(1.236)),
            basis: "runs".to_owned(),
            p: Some(Number(0.000_01)),
            p_corrected: Some(Number(0.000_08)),
            judged: true,
            verdict: "difference".to_owned(),
            regression: Some("shown".to_owned()),
            smallest_seen: Some(Number(0.05)),
            runs_needed: None,
            block_s: Number(2.0),
            why: Sentence::empty(),
        }],
        warnings: vec![Sentence::quoted("CPUs: 2 for run 7f3a11, 4 for run a1b2c3")],
        notes: vec![Sentence::quoted("two runs say little about how much runs differ: intervals are wide")],
        next: Vec::new(),
    }
}

#[test]
fn the_object_is_as_described() {
    let text = doc().to_json();
    golden("compare.json", &(text.clone() + "\n"));
    assert_eq!(CompareDoc::from_json(&text), Ok(doc()));
    let later = text.replacen("\"metrics\"", "\"invented_later\":[{}],\"metrics\"", 1);
    assert_eq!(CompareDoc::from_json(&later), Ok(doc()));
    assert!(CompareDoc::from_json(&text.replacen("compare/1", "compare/2", 1)).is_err());
    assert!(CompareDoc::from_json("").is_err());
}
