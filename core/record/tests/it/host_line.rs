//! `hosts/<host>.jsonl` and `truth.jsonl`: golden files, reading back, and the responses of a
//! target.

use crate::support;

use support::golden;
use wavetank_measure::{
    DestinationSample, HostCounters, HostSample, LinkSample, ListenerSample, TargetSample,
};
use wavetank_record::{HostLine, HostLineDecoder, HostLineEncoder, TargetCount, TargetLine};
use wavetank_units::Nanos;

fn host() -> HostLine {
    let sample = HostSample {
        at: Nanos(2_000_107_000),
        tcp_inuse: 2_000_006,
        tcp6_inuse: 1,
        tcp_orphan: 2,
        tcp_tw: 3,
        tcp_alloc: 2_000_011,
        tcp_mem_pages: 4,
        tcp_established: 2_000_001,
        listen_overflows: 5,
        accept_queue: 6,
        net_in_bytes: 7_000_000_000,
        net_out_bytes: 900_000_000,
        mem_free_bytes: 12_000_000_000,
        mem_available_bytes: 14_000_000_000,
        slab_bytes: 8_200_000_000,
        mem_used_bytes: 9_900_000_000,
        mem_all_bytes: 24_000_000_000,
        swap_bytes: 8,
        rss_bytes: 337_000_000,
        cpu_user_ns: 5_000_000_000,
        cpu_system_ns: 31_000_000_000,
        cpu_load_ns: 9_000_000_000,
        cpus_milli: 0,
        cores: vec![(700, 1_000), (650, 1_000)],
        counters: counters(),
    };
    HostLine { sample, offset_ns: 0, error_ns: 0 }
}

fn counters() -> HostCounters {
    let named = |all: &[(&str, u64)]| all.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    let address = |text: &str| text.parse().expect("an address");
    let link = LinkSample {
        interface: "eth0".to_owned(),
        bits_per_s: 20_000_000,
        in_bytes: 9_000,
        out_bytes: 2_500_000,
    };
    HostCounters {
        rises: named(&[("Tcp.ActiveOpens", 200), ("TcpExt.ListenOverflows", 31)]),
        levels: named(&[("state.established", 12), ("state.time_wait", 1_000)]),
        listeners: vec![ListenerSample { address: address("0.0.0.0:8080"), queue: 9, limit: 8, drops: 31 }],
        destinations: vec![DestinationSample {
            address: address("10.40.1.3:8080"),
            ports: 1_000,
            resting: 990,
            range: 1_000,
        }],
        links: vec![link],
    }
}

/// Lines of versions that did not count are read as well.
#[test]
fn a_line_without_counters_is_read() {
    let sample = HostSample { counters: HostCounters::default(), ..host().sample };
    let line = HostLine { sample, ..host() };
    assert!(!line.encode().contains("counters"), "{}", line.encode());
    assert_eq!(HostLine::decode(line.encode().as_bytes()), Ok(line));
}

fn target() -> TargetSample {
    let (asked, at) = (Nanos(2_000_200_000), Nanos(2_000_310_000));
    TargetSample { asked, at, error: Nanos::ZERO, open: 9, accepted: 12, closed: 3, reset: 1, peak: 10 }
}

#[test]
fn lines_are_as_described_and_come_back() {
    golden("host.jsonl", &(host().encode() + "\n"));
    assert_eq!(HostLine::decode(host().encode().as_bytes()), Ok(host()));
    golden("truth.jsonl", &(TargetLine(target()).encode() + "\n"));
    assert_eq!(TargetLine::decode(TargetLine(target()).encode().as_bytes()), Ok(TargetLine(target())));
}

/// Samples of which each changes something else: levels, listeners, or nothing.
fn series() -> Vec<HostSample> {
    let changed = |change: fn(&mut HostCounters)| {
        let mut sample = host().sample;
        change(&mut sample.counters);
        sample
    };
    let idle = HostSample { at: Nanos::SECOND, ..HostSample::default() };
    vec![
        host().sample,
        host().sample,
        changed(|counters| counters.levels[0].1 = 13),
        changed(|counters| drop(counters.levels.remove(0))),
        changed(|counters| counters.levels.clear()),
        changed(|counters| counters.listeners[0].queue = 0),
        changed(|counters| counters.listeners.clear()),
        idle.clone(),
        idle,
        host().sample,
    ]
}

#[test]
fn a_line_does_not_repeat_the_line_before() {
    let mut encoder = HostLineEncoder::default();
    let lines: Vec<String> = series().iter().map(|sample| encoder.encode(sample)).collect();
    golden("hosts.jsonl", &(lines[..4].join("\n") + "\n"));
    let mut decoder = HostLineDecoder::default();
    for (line, sample) in lines.iter().zip(series()) {
        assert_eq!(decoder.decode(line.as_bytes()).map(|line| line.sample), Ok(sample), "{line}");
    }
    // A whole line is read by itself, after a lost one and every minute.
    encoder.forget();
    let whole = encoder.encode(&host().sample);
    assert_eq!(HostLine::decode(whole.as_bytes()), Ok(host()));
    let later: Vec<String> = (0..180).map(|_| encoder.encode(&host().sample)).collect();
    assert_eq!(later.iter().filter(|line| **line == whole).count(), 3);
    assert_eq!(later.iter().filter(|line| line.contains("\"same\":true")).count(), 177);
    // What follows a damaged line has what it has itself.
    assert!(decoder.decode(b"{").is_err());
    let next = decoder.decode(later[0].as_bytes()).map(|line| line.sample.counters);
    assert!(next.is_ok_and(|counters| counters.levels.is_empty() && !counters.rises.is_empty()));
}

/// Damaged lines are refused or read, in any order.
#[test]
fn damaged_lines_do_no_harm() {
    let mut encoder = HostLineEncoder::default();
    let lines: Vec<String> = series().iter().map(|sample| encoder.encode(sample)).collect();
    for seed in 0..2_000_u64 {
        let mut decoder = HostLineDecoder::default();
        let mut state = seed;
        for line in &lines {
            let mut bytes = line.clone().into_bytes();
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            match state % 3 {
                0 => bytes[at] = (state >> 20) as u8,
                1 => bytes.truncate(at),
                _ => {}
            }
            if let Ok(read) = decoder.decode(&bytes) {
                assert!(HostLine::decode(read.encode().as_bytes()).is_ok(), "seed {seed}: {read:?}");
            }
        }
    }
}

#[test]
fn lines_of_other_versions_and_torn_ones_are_refused() {
    let (host, target) = (host().encode(), TargetLine(target()).encode());
    for line in [host.replace("\"v\":1", "\"v\":2"), host[..host.len() - 5].to_owned(), String::new()] {
        assert!(HostLine::decode(line.as_bytes()).is_err(), "{line}");
    }
    for line in [target.replace("\"v\":1", "\"v\":2"), target[..9].to_owned()] {
        assert!(TargetLine::decode(line.as_bytes()).is_err(), "{line}");
    }
}

/// Only a `wavetank serve` is accepted; any server may answer 200.
#[test]
fn a_target_is_known_by_the_schema_of_its_answer() {
    fn check(body: &str, open: Option<u64>) {
        assert_eq!(TargetCount::decode(body.as_bytes()).ok().map(|count| count.open), open, "{body}");
    }
    let known = r#"{"schema":"wavetank.truth_connections/1","open":7,"accepted":9,"closed":2,"reset":1,"peak":8,"monotonic_ns":5,"unix_ns":6,"later":{}}"#;
    check(known, Some(7));
    check(&known.replace("connections/1", "connections/2"), None);
    check(r#"{"open":7}"#, None);
    check("Wavetank OK\n", None);
    check("", None);
}
