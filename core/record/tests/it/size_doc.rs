//! `wavetank.size/1`: its golden, and reading back.

use crate::support;

use support::golden;
use wavetank_record::{
    AnswerDoc, ColumnDoc, LackDoc, LimitDoc, Number, SIZE_SCHEMA, SettingDoc, SizeDoc, TierDoc, TuningDoc,
};

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
            limits: vec![LimitDoc {
                what: "requests".to_owned(),
                hosts: 125,
                formula: "⌈5M/s ÷ 40k/s⌉".to_owned(),
            }],
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
        tunings: vec![TuningDoc {
            role: "load".to_owned(),
            name: "fs.file-max".to_owned(),
            value: "1110000".to_owned(),
            at_least: true,
            command: "least fs.file-max 1110000".to_owned(),
            formula: "1.1 × 1,000,000 sockets + 10,000".to_owned(),
        }],
        compare: vec![ColumnDoc {
            name: "1M online".to_owned(),
            rows: vec![("requests a second".to_owned(), "16.7 k/s".to_owned())],
        }],
        lacking: vec![LackDoc {
            code: "too_few_hosts".to_owned(),
            message: "7 hosts in the role load × 40k/s = 280k/s, not 5M/s".to_owned(),
            hint: "it takes 125 hosts: ⌈5M/s ÷ 40k/s⌉".to_owned(),
        }],
        settings: vec![SettingDoc {
            name: "service".to_owned(),
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
    golden("size.json", &(text.clone() + "\n"));
    assert_eq!(SizeDoc::from_json(&text), Ok(doc()));
    let later = text.replacen("\"target\"", "\"invented_later\":[{}],\"target\"", 1);
    assert_eq!(SizeDoc::from_json(&later), Ok(doc()));
    assert!(SizeDoc::from_json(&text.replacen("size/1", "size/2", 1)).is_err());
    assert!(SizeDoc::from_json("").is_err());
}
