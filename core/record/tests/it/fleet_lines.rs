//! Lines of a fleet: intervals with extras, and an agent's spool.

use crate::support;

use wavetank_measure::HostSample;
use wavetank_units::{Nanos, Sentence};

use support::{golden, interval};
use wavetank_record::{
    AgentDoc, AgentEndDoc, AgentHealth, AgentLossDoc, ConnectionMemory, EndRunRequest, EventLine, FleetDoc,
    FleetStatusDoc, HostLine, IntervalExtras, IntervalLine, LoggedLine, Number, RUN_SCHEMA, RunRecord,
    SampleLine, SpoolEnd, SpoolHead, SpoolLine, SpoolState,
};

fn extras() -> IntervalExtras {
    let sample = SampleLine {
        kind: "failed".to_owned(),
        class: "reset".to_owned(),
        phase: "main".to_owned(),
        step: "GET /".to_owned(),
        intended_ns: 3_100_000_000,
        lag_us: Number(12.5),
        total_us: Number(900.0),
        ..SampleLine::default()
    };
    IntervalExtras {
        samples: vec![sample],
        logs: vec![LoggedLine { phase: 1, at_ns: 3_200_000_000, text: "cart 7".to_owned() }],
        logs_dropped: 2,
        events: vec![EventLine {
            at_ns: 3_300_000_000,
            kind: "names_failed".to_owned(),
            text: Sentence::quoted("a look-up failed"),
            agent: "load-1".to_owned(),
            ..EventLine::default()
        }],
        accounting: vec!["2 requests are open, and 1 is counted".to_owned()],
        memory: Some(ConnectionMemory {
            connections: 1_000,
            grown_bytes: 900_000,
            bytes_per_connection: 900,
        }),
        drained_ns: Some(3_400_000_000),
        end_run: Some(EndRunRequest { scenario: 0, failed: Some(2) }),
        health: Some(AgentHealth {
            cpu_user_s: Number(1.5),
            cpu_system_s: Number(2.25),
            cpu_over_s: Some(Number(4.0)),
            peak_rss_bytes: 48_000_000,
            steal: Some(Number(0.01)),
            throttled_ns: Some(0),
            retransmitted_segments: Some(3),
            sent_segments: Some(90_000),
        }),
        host_samples: vec![HostLine {
            sample: HostSample {
                at: Nanos::from_secs(3),
                cores: vec![(40, 100), (10, 100)],
                ..HostSample::default()
            },
            ..HostLine::default()
        }],
    }
}

fn line(extras: &IntervalExtras) -> String {
    IntervalLine::encode_interval_with_extras("load-1", 1, 7, &interval(), extras)
}

#[test]
fn extras_are_the_last_key_and_read_by_nothing_else() {
    let text = line(&extras());
    golden("agent-interval.jsonl", &(text.clone() + "\n"));
    let plain = line(&IntervalExtras::default());
    assert_eq!(plain, IntervalLine::encode_interval("load-1", 1, 7, false, &interval()));
    assert!(text.starts_with(plain.strip_suffix('}').expect("an object")));
    let bytes = text.as_bytes();
    assert_eq!(IntervalLine::decode(bytes), IntervalLine::decode(plain.as_bytes()));
    assert_eq!(IntervalLine::decode_counts(bytes), IntervalLine::decode_counts(plain.as_bytes()));
    assert_eq!(IntervalLine::place(bytes), IntervalLine::place(plain.as_bytes()));
    assert_eq!(IntervalLine::number(bytes), Ok((1, 7)));
    assert_eq!(IntervalExtras::decode(bytes), Ok(extras()));
    assert_eq!(IntervalExtras::decode(plain.as_bytes()), Ok(IntervalExtras::default()));
}

#[test]
fn damaged_extras_are_refused() {
    let text = line(&extras());
    for (from, to) in [
        ("\"logs_dropped\":2", "\"logs_dropped\":-2"),
        ("\"samples\":[", "\"samples\":7,\"other\":["),
        ("\"at_ns\":3200000000", "\"at_ns\":9200000000000000000"),
        ("\"connections\":1000", "\"connections\":10000000000000000000"),
    ] {
        let bad = text.replace(from, to);
        assert_ne!(bad, text, "{from}");
        assert!(IntervalExtras::decode(bad.as_bytes()).is_err(), "{to}");
    }
    let later = text.replace("\"logs_dropped\"", "\"later_key\":{\"x\":1},\"logs_dropped\"");
    assert_eq!(IntervalExtras::decode(later.as_bytes()), Ok(extras()));
    for end in 0..text.len() {
        assert!(IntervalExtras::decode(&text.as_bytes()[..end]).is_err(), "{end}");
    }
}

#[test]
fn a_number_is_read_without_the_rest() {
    let text = line(&extras());
    for (from, to) in [("\"v\":2", "\"v\":3"), ("\"seq\":7", "\"seq\":-7"), ("\"seq\":7", "\"seq\":9e30")] {
        assert!(IntervalLine::number(text.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
    }
}

fn spool() -> [SpoolLine; 3] {
    let head = SpoolHead {
        v: SpoolHead::VERSION,
        run: 12_345_678_901_234_567_890,
        epoch: 1,
        plan_hash: "7f3a".repeat(16),
        share: (0, 4, 12),
        agent: "load-1".to_owned(),
    };
    let state = SpoolState { epoch: 2, received: 3, refused: 1 };
    let end = SpoolEnd { cause: "plan".to_owned(), received: 3, refused: 1 };
    [SpoolLine::Spool(head), SpoolLine::State(state), SpoolLine::End(end)]
}

#[test]
fn a_spool_is_as_described() {
    let lines: String = spool().iter().map(|line| line.encode() + "\n").collect();
    golden("spool.jsonl", &lines);
    for line in spool() {
        assert_eq!(SpoolLine::decode(line.encode().as_bytes()), Ok(Some(line)));
    }
    assert_eq!(SpoolLine::decode(line(&extras()).as_bytes()), Ok(None));
    let bad = |at: usize, from: &str, to: &str| {
        let text = spool()[at].encode();
        assert!(text.contains(from), "{from}");
        SpoolLine::decode(text.replacen(from, to, 1).as_bytes()).is_err()
    };
    assert!(bad(0, "\"v\":1", "\"v\":2"));
    assert!(bad(0, "[0,4,12]", "[9,4,12]"));
    assert!(bad(0, "[0,4,12]", "[0,0,0]"));
    assert!(bad(1, "\"received\":3", "\"received\":99999999999999999"));
    assert!(bad(2, "{\"end\"", "{\"fin\""));
}

#[test]
fn the_agents_of_a_run_are_as_described() {
    let whole = AgentDoc {
        name: "load-1".to_owned(),
        share: (0, 4, 8),
        weight: 4,
        cores: 8,
        sent: 12_000,
        intervals: 12,
        first_sent_ns: Some(1_200_000),
        clock_uncertainty_us: Some(Number(140.5)),
        cpu_user_s: Number(1.5),
        cpu_system_s: Number(2.0),
        peak_rss_bytes: 48_000_000,
        ..AgentDoc::default()
    };
    let lost = AgentDoc {
        name: "load-2".to_owned(),
        share: (4, 4, 8),
        intervals: 5,
        unstored: 1,
        end: AgentEndDoc::Lost,
        losses: vec![AgentLossDoc {
            at_ns: 8_000_000_000,
            phase: Some("main".to_owned()),
            last_interval: Some(4),
        }],
        refusals: vec!["the change came too late".to_owned()],
        ..AgentDoc::default()
    };
    let fleet = FleetDoc {
        status: FleetStatusDoc::Incomplete,
        rebalanced: vec!["full".to_owned()],
        start_skew_us: Some(Number(900.0)),
        start_uncertainty_us: Number(281.0),
        agents: vec![whole, lost],
    };
    let mut record = RunRecord { schema: RUN_SCHEMA.to_owned(), ..RunRecord::default() };
    let plain = record.to_json();
    assert!(!plain.contains("fleet"), "a single host has no such section");
    record.fleet = Some(fleet);
    golden("run-fleet.json", &(record.to_json() + "\n"));
    assert_eq!(RunRecord::from_json(&record.to_json()), Ok(record));
}
