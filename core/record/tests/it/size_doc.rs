//! `wavetank.size/1`: its golden.

use crate::support;

use support::golden;
use wavetank_capacity::size::{ComparisonColumn, Limit, Role, Setting, Tuning};
use wavetank_record::{AnswerDoc, LackDoc, Number, SIZE_SCHEMA, SizeDoc, TierDoc};

fn doc() -> SizeDoc {
    SizeDoc {
        schema: SIZE_SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        target: "http://127.0.0.1:8080/".to_owned(),
        asked: vec![AnswerDoc {
            role: String::new(),
            group: "load".to_owned(),
            what: "opens_per_s".to_owned(),
            value: Number(10_000.0),
            unit: "per_s".to_owned(),
            shown: "10k/s".to_owned(),
            formula: "1,000,000 ÷ 1m40s".to_owned(),
        }],
        hosts: vec![TierDoc {
            role: "load".to_owned(),
            needed: 125,
            spare: 0,
            have: Some(7),
            bounded: true,
            limits: vec![Limit { what: "requests", hosts: 125, formula: "⌈5M/s ÷ 40k/s⌉".to_owned() }],
        }],
        answers: vec![AnswerDoc {
            role: "load".to_owned(),
            group: "ports".to_owned(),
            what: "source_addresses".to_owned(),
            value: Number(17.0),
            unit: "count".to_owned(),
            shown: "17".to_owned(),
            formula: "⌈(1,000,000 + 10,000 that rest 1 s) ÷ 60,481 ports⌉".to_owned(),
        }],
        tunings: vec![Tuning {
            role: Role::Load,
            name: "fs.file-max",
            value: "1110000".to_owned(),
            at_least: true,
            command: "least fs.file-max 1110000".to_owned(),
            formula: "1.1 × 1,000,000 sockets + 10,000".to_owned(),
        }],
        compare: vec![ComparisonColumn {
            name: "1M online".to_owned(),
            rows: vec![("requests a second", "16.7 k/s".to_owned())],
        }],
        lacking: vec![LackDoc {
            code: "too_few_hosts".to_owned(),
            message: "7 hosts in the role load × 40k/s = 280k/s, not 5M/s".to_owned(),
            hint: "it takes 125 hosts: ⌈5M/s ÷ 40k/s⌉".to_owned(),
        }],
        settings: vec![Setting {
            name: "service",
            value: "100 ms".to_owned(),
            given: false,
            why: "taken for granted".to_owned(),
        }],
        notes: vec!["1M/s over 50 connections needs each response within 50us".to_owned()],
    }
}

#[test]
fn the_object_is_as_described() {
    let text = doc().to_json();
    golden("size.json", &(text + "\n"));
}
