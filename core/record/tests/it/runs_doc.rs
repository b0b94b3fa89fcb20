//! `wavetank.runs/1`, `wavetank.archive/1`, `wavetank.pack/1`: their goldens, and reading a pack.

use crate::support;

use support::golden;
use wavetank_record::{
    ARCHIVE_SCHEMA, ArchiveDoc, Blame, FileDoc, ForeignEntryDoc, ForeignEntryKind, HostDoc, Number,
    PACK_SCHEMA, PackDoc, PackedFile, RUNS_SCHEMA, RunLine, RunRecord, RunState, RunsDoc, Spread, Status,
};

fn run() -> RunLine {
    RunLine {
        id: "7f3a21".to_owned(),
        folder: "20261121T190000Z-shop-7f3a21".to_owned(),
        name: "shop".to_owned(),
        started_at: "2026-11-21T19:00:00Z".to_owned(),
        state: RunState::Finished,
        problem: None,
        bytes: 1_204_224,
        load: "50 connections, 10 s, closed loop".to_owned(),
        target: "http://127.0.0.1:8080/".to_owned(),
        tags: [("build".to_owned(), "1204".to_owned())].into(),
        duration_s: Some(Number(10.0)),
        verdict: Some(Status::Pass),
        blame: Some(Blame::None),
        offered_per_s: Some(Number(12_400.5)),
        done_per_s: Some(Number(12_400.0)),
        failed: Some(0),
        p50_us: Some(Number(3_900.0)),
        p99_us: Some(Number(11_000.0)),
    }
}

#[test]
fn the_list_is_as_described() {
    let killed = RunLine {
        state: RunState::Unfinished,
        problem: Some("it has no `run.json`".to_owned()),
        folder: "20261121T200000Z-shop-81aa00".to_owned(),
        id: "81aa00".to_owned(),
        ..RunLine::default()
    };
    let doc = RunsDoc {
        schema: RUNS_SCHEMA.to_owned(),
        runs_dir: "runs".to_owned(),
        total: 3,
        runs: vec![run(), killed],
        foreign: vec![ForeignEntryDoc { name: "shop.wtrun".to_owned(), kind: ForeignEntryKind::Pack }],
    };
    golden("runs.json", &(doc.to_json() + "\n"));
}

#[test]
fn one_archive_is_as_described() {
    let doc = ArchiveDoc {
        schema: ARCHIVE_SCHEMA.to_owned(),
        run: run(),
        path: "runs/20261121T190000Z-shop-7f3a21".to_owned(),
        command: "wavetank run shop.yaml".to_owned(),
        repeat: "wavetank run shop.yaml --seed 42".to_owned(),
        seed: Some(42),
        plan_hash: "9f".repeat(32),
        plan_fits: Some(true),
        version: "0.1.0".to_owned(),
        engine: "uring".to_owned(),
        host: Some(HostDoc { hostname: "load1".to_owned(), ..HostDoc::default() }),
        notes: vec!["same machine".to_owned()],
        files: vec![FileDoc { path: "intervals/local.jsonl".to_owned(), bytes: 1_200_000 }],
        problems: vec!["`notes.txt` is not one of the archive's files".to_owned()],
        ..ArchiveDoc::default()
    };
    golden("archive.json", &(doc.to_json() + "\n"));
}

#[test]
fn what_a_pack_begins_with_is_as_described() {
    let doc = PackDoc {
        schema: PACK_SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        folder: "20261121T190000Z-shop-7f3a21".to_owned(),
        files: vec![PackedFile {
            path: "intervals/local.jsonl".to_owned(),
            bytes: 1_200_000,
            sha256: "9f".repeat(32),
        }],
    };
    let text = doc.to_json();
    golden("pack.json", &(text.clone() + "\n"));
    assert_eq!(PackDoc::from_json(&text).as_ref(), Ok(&doc));
    let later = text.replacen("\"schema\"", "\"invented_later\":[{}],\"schema\"", 1);
    assert_eq!(PackDoc::from_json(&later).as_ref(), Ok(&doc));
    let newer = PackDoc::from_json(&text.replacen("/1\"", "/2\"", 1)).expect_err("a later version");
    assert!(newer.is_newer(), "{newer}");
    for other in ["", "{\"schema\":\"wavetank.other/7\"}"] {
        assert!(!PackDoc::from_json(other).expect_err("another object").is_newer());
    }
}

/// A percentile that dropped requests would have affected is a lower bound; a list would present it
/// as the measured time.
#[test]
fn times_that_are_not_known_are_not_reported() {
    let check = |unknown: &[&str], p50: Option<f64>, p99: Option<f64>| {
        let mut record = RunRecord::default();
        let unknown = unknown.iter().map(|name| (*name).to_owned()).collect();
        let (fast, slow) = (Number(10.0), Number(20.0));
        record.response_us.spread = Some(Spread { p50: fast, p99: slow, unknown, ..Spread::default() });
        let mut line = RunLine::default();
        line.fill_from(&record);
        assert_eq!((line.p50_us, line.p99_us), (p50.map(Number), p99.map(Number)));
    };
    check(&[], Some(10.0), Some(20.0));
    check(&["p99", "p99_9"], Some(10.0), None);
    check(&["p50", "p99"], None, None);
}
